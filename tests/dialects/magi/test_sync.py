"""The list `relationships` of the front matter: made from footnotes, compared with them, written anew (M21, MA19b)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.magi.format import sentences
from prosa.rules.fix import format_text
from prosa.source import SourceText
from tests.depth import examples
from tests.dialects.magi.reading import PARENT, footnote, front, model, names

NOTE = footnote(f"`{PARENT}`")
MADE = "Parent: The guide"


def synced(text: str) -> str:
    made = format_text(SourceText(text, "a.mda"), Hints(), FormatOptions(sync=True))
    assert made.text is not None, made
    return made.text


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (PARENT, MADE),
        ('{"rel-type": "cites", "doc-id": "d", "rel-desc": "two\\n  lines"}', "Cites: two lines"),
        ('{"rel-type": "built_on-top", "doc-id": "d"}', "Built on top: d"),
        ('{"rel-type": "child", "source-url": "https://example.org/x"}', "Child: https://example.org/x"),
        ('{"doc-id": "d", "rel-desc": "x"}', None),
    ],
)
def test_m21_a_footnote_makes_a_sentence(data: str, sentence: str | None):
    """M21, MA19b."""
    assert sentences(model(footnote(f"`{data}`"))) == ((sentence,) if sentence else ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("relationships: [Old]",), ('relationships: ["Parent: The guide"]',)),
        (("relationships: Old", "title: T"), ('relationships: ["Parent: The guide"]', "title: T")),
        (("relationships:", "title: T"), ('relationships: ["Parent: The guide"]', "title: T")),
        (("relationships:", "- Old", "- Older", "title: T"), ('relationships: ["Parent: The guide"]', "title: T")),
        (("relationships: |", "  Old", "  text", "", "title: T"), None),
        (("Relationships: [Old]",), ('Relationships: ["Parent: The guide"]',)),
        (("title: T",), ("title: T", 'relationships: ["Parent: The guide"]')),
        ((), ('relationships: ["Parent: The guide"]',)),
    ],
)
def test_ma19b_sync_writes_the_list_anew(before: tuple[str, ...], after: tuple[str, ...] | None):
    """MA19b. Everything else stays as it is; a second time there is nothing to do."""
    text = synced(front("doc-id: d", *before) + NOTE)
    if after is not None:
        assert text == front("doc-id: d", *after) + NOTE
    assert f'"{MADE}"' in text
    assert synced(text) == text
    assert "stale-relationship-summary" not in names(text)


@pytest.mark.parametrize(
    "lines",
    [
        ('relationships: ["Parent: The guide"]',),
        ("relationships:", "  - 'Parent: The guide'"),
        ("relationships:", "  - Old # why", "  - Older"),
        ("relationships:", "  - {rel-type: parent}"),
        ("relationships: [Old] # why",),
        ("relationships: &list [Old]", "other: *list"),
    ],
)
def test_ma19b_sync_leaves_alone_what_agrees_or_holds_more(lines: tuple[str, ...]):
    """MA19b. A comment, a mapping and an anchor are the author's."""
    text = front("doc-id: d", *lines) + NOTE
    assert synced(text) == text


def test_ma19b_a_long_list_stands_on_lines_of_its_own():
    """MA19b. Footnotes that are gone leave an empty list."""
    notes = "".join(
        f'[^{at}]: `{{"rel-type": "supports", "doc-id": "d", "rel-desc": "{at} {"why " * 8}"}}`\n' for at in range(3)
    )
    text = synced(front("relationships: []", "title: T") + "A[^0] b[^1] c[^2].\n\n" + notes)
    assert text.count("\n  - ") == 3
    assert "relationships:\n  - " in text
    assert synced(front("relationships: [Old]") + "Text.\n") == front("relationships: []") + "Text.\n"


def test_ma19b_without_sync_and_without_front_matter_nothing_is_written():
    """MA19b."""
    text = front("relationships: [Old]") + NOTE
    assert format_text(SourceText(text, "a.mda"), Hints()).text == text
    assert synced(NOTE) == NOTE


def test_ma19b_line_ends_stay_as_the_author_has_them():
    """MA19b."""
    text = (front("relationships: [Old]", "title: T") + NOTE).replace("\n", "\r\n")
    assert synced(text) == text.replace("[Old]", '["Parent: The guide"]')


def test_ma19b_the_command_syncs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """MA19b. `prosa fmt --sync`; without the flag the list is left to the author."""
    path = tmp_path / "a.mda"
    path.write_text(front("doc-id: d", "relationships: [Old]") + NOTE, encoding="utf-8")
    assert main(["fmt", "--check", str(path)]) == 0
    assert main(["fmt", "--sync", str(path)]) == 0
    assert MADE in path.read_text(encoding="utf-8")
    assert "1 document changed" in capsys.readouterr().err


TEXTS = st.lists(st.sampled_from(["a", " ", "#", ":", '"', "'", "-", "\u2028", "\x85", "é", "{", "\\", "`", "%", "&"]))


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS.map("".join), st.lists(TEXTS.map("".join), max_size=3))
def test_ma19b_any_description_reads_back_as_written(said: str, old: list[str]):
    """MA19b. Whatever a footnote says, the list says it too, and formatting again changes nothing."""
    from json import dumps

    data = dumps({"rel-type": "parent", "doc-id": "d", "rel-desc": said})
    fence = "`" * (len(max(re.findall("`+", data), key=len, default="")) + 1)
    text = front("doc-id: d", f"relationships: {dumps(old)}") + footnote(f"{fence}{data}{fence}")
    once = synced(text)
    wanted = sentences(model(once))
    read = model(once).front.value
    assert read is not None
    assert tuple(read["relationships"]) == wanted
    assert synced(once) == once
