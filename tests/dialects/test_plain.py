"""Plain Markdown: names and references, and nothing that could be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.plain import PlainModel, definitions, facts, format_edits, read, references, write
from prosa.document import parse
from prosa.source import SourceText
from tests.depth import examples
from tests.document.markdown import SOUP


def model(text: str) -> PlainModel:
    front = read_front(SourceText(text))
    found, problems = read(front, parse(front.source, body=front.body))
    assert problems == ()
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# One *two*\n\n## Three\n", [("title", "One two")]),
        ("# One *two*\n\n# Three\n", []),
        ("---\ntitle: Words\n---\n# Other\n", [("title", "Words")]),
        (
            "---\ntitle: 1.10\naliases: [a, 2024-01-15]\n---\n",
            [("title", "1.10"), ("alias", "a"), ("alias", "2024-01-15")],
        ),
        ("---\naliases: only\n---\n", [("alias", "only")]),
        ("---\ntitle: [x]\naliases: {a: b}\n---\n", []),
        ("> # quoted\n\n## two\n", []),
    ],
)
def test_title_and_aliases_are_names_of_the_document(text: str, names: list[tuple[str, str]]):
    """What a graph can find it by."""
    found = definitions(model(text))
    assert [(each.kind, each.name) for each in found] == names
    assert all(each.span.of(text) for each in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b.md)", [("inline", "path", "b.md", "", "b.md")]),
        ("[a](b%20c.md?raw=1#d%20e)", [("inline", "path", "b c.md", "d e", "b%20c.md?raw=1#d%20e")]),
        ("[a](/b)", [("inline", "path", "/b", "", "/b")]),
        ("[a][k]\n\n[k]: b.md", [("inline", "path", "b.md", "", "[a][k]")]),
        ("<https://a.org/#b>", [("inline", "url", "https://a.org/", "b", "https://a.org/#b")]),
        ("[a](//a.org)", [("inline", "url", "//a.org", "", "//a.org")]),
        ("[[a#b|c]] ![[d]]", [("wikilink", "stem", "a", "b", "[[a#b|c]]"), ("wikilink", "stem", "d", "", "![[d]]")]),
        ("[a](#b) [a]() <a@b.org> [a](tel:1) ![a](b.png) [[#c]]", []),
    ],
)
def test_links_and_wikilinks_are_references(text: str, expected: list[tuple[str, ...]]):
    found = references(model(text))
    assert [(ref.origin, ref.kind, ref.target, ref.fragment, ref.span.of(text)) for ref in found] == expected


@settings(max_examples=examples(60), deadline=None)
@given(SOUP)
def test_any_text_is_plain_markdown(text: str):
    plain = model(text)
    assert facts(plain) == {"dialect": "plain"}
    assert format_edits(plain, FormatOptions(rehash=True)) == ()
    assert all(ref.target for ref in references(plain))
    assert all(each.name for each in definitions(plain))


def test_a_new_document_has_front_matter_only_with_fields():
    assert write({}, "\n\n# A\n") == "# A\n"
    assert write({"title": "A"}, "b\n") == "---\ntitle: A\n---\n\nb\n"
