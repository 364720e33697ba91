"""Documents of other dialects as nodes: fields are added to the front matter, and the body keeps every byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.front import read_front
from prosa.dialects.reading import DialectReading, open_document
from prosa.site.identity import view_of
from prosa.site.layout import NodeView, TypedLink
from prosa.site.negotiate import json_of
from prosa.source import SourceText

FIELDS = st.lists(
    st.sampled_from(
        [
            "title: Tide",
            "id: x",
            "type: note",
            "title:",
            "id: 7",
            "tags: [a, b]",
            "# a comment",
            "{a: 1}",
            "a: [",
            "---",
            "...",
            "- x",
            "a: |\n  b\n",
            "",
            "id: ''",
            "k: &a v\nl: *a",
        ]
    ),
    max_size=4,
)
BODIES = st.sampled_from(
    ["", "x", "x\n", "\n\nx\n", "---\nx\n---\n", "# H\n\n***\n", "\t x \n\n\n", "ä漢😀\n", "--- \n"]
)
TEXTS = st.builds(
    lambda bom, fields, body, closed, end: (
        bom + ("---\n" + "\n".join(fields) + "\n" + ("---\n" if closed else "") if fields else "") + body
    ).replace("\n", end),
    st.sampled_from(["", "\ufeff"]),
    FIELDS,
    BODIES,
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def reading_of(text: str) -> DialectReading[object]:
    return open_document(SourceText(text))


def view(text: str) -> NodeView:
    links = (TypedLink("mentions", "a: b"), TypedLink("supports", 'url:https://x.example/"\n'))
    return view_of(reading_of(text), "notes/tide.md", url="/notes/tide", links=links)


@given(st.one_of(TEXTS, st.text(max_size=80).filter(lambda text: "\x00" not in text)))
def test_h2_h9_hw5_the_body_stays_and_the_front_matter_says_both(text: str) -> None:
    """H2, H9, HW5. Whatever the front matter is, and whatever its line ends are."""
    made = view(text)
    out, before = made.markdown.decode("utf-8", "surrogatepass"), reading_of(text)
    if made.dialect == "mdh":
        assert out == text
        return
    after = read_front(SourceText(out))
    assert after.complete
    assert after.value is not None
    assert out.endswith(before.front.source.slice(before.front.body))
    assert after.source.slice(after.body) == made.body
    for name, value in made.derived.items():
        assert after.value[name] == value
    if before.front.complete:
        for name, value in (before.front.value or {}).items():
            assert after.value[name] == made.derived.get(name, value)
    else:
        assert out.endswith(text.removeprefix("\ufeff"))
    assert {name: " ".join(str(after.value[name]).split()) != "" for name in ("id", "type", "title")} == dict.fromkeys(
        ("id", "type", "title"), True
    )


@pytest.mark.parametrize("text", ["# Tide\n", "---\ntitle: T\n---\nx\n", "---\r\ntitle: T\r\n---\r\nx\r\n"])
def test_h2_what_is_spliced_is_spliced_once(text: str) -> None:
    """H2. A node made of a node's Markdown is the same node."""
    made = view(text)
    again = view(made.markdown.decode())
    assert (again.id, again.type, again.title, again.markdown) == (made.id, made.type, made.title, made.markdown)


def test_h9_the_author_s_text_stays_around_what_is_added() -> None:
    """H9. Comments, order and quotes."""
    text = "---\n# first\ntitle:   'T'  # the title\n\ntags: [ a,b ]\n---\nbody\n"
    out = view(text).markdown.decode()
    assert out.startswith("---\n# first\ntitle:   'T'  # the title\n\ntags: [ a,b ]\nid: ")
    assert out.endswith("---\nbody\n")


def test_ha8_json_has_the_fields_then_url_and_body() -> None:
    """HA8, H23."""
    told = json_of(view("---\ntitle: T\nbody: no\nmd_url: no\nx: 1\n---\nyes\n"), "/docs")
    assert list(told)[:3] == ["id", "type", "title"]
    assert (told["x"], told["md_url"], told["body"]) == (1, "/docs/notes/tide", "yes\n")
