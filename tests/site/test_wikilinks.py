"""Ordinary links in the place of wikilinks (HA22): nothing else of a text changes, and no label ends its link early."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.document import Document, parse
from prosa.site.wikilinks import MISSING, Wiki, fragment_of, name_of, part_of, size_of, with_links
from prosa.source import SourceText
from tests.depth import examples


def document(text: str) -> Document:
    return parse(SourceText(text, "a.md"))


def wiki(written: str) -> Wiki:
    """Everything is a page but what begins with `gone`; pictures are shown."""
    if written.startswith("gone"):
        return MISSING
    return Wiki("picture", "/p(1).png") if written.endswith(".png") else Wiki("node", f"/x{fragment_of(written[1:])}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]] b", "[a](/x) b"),
        ("[[a|the *b*]]", "[the *b*](/x)"),
        ("[[a|b [c] d]]", "[b \\[c\\] d](/x)"),
        ("![[a]]", "[a](/x)"),
        ("![[a.png|300]]", "![a.png](/p%281%29.png)"),
        ("![[a.png|A pic]]", "![A pic](/p%281%29.png)"),
        ("[[a#B c]]", "[a > B c](/x#b-c)"),
        ("| a |\n|---|\n| [[a\\|b]] |", "| a |\n|---|\n| [b](/x) |"),
        ("`[[a]]` [[gone|l]] [[gone]]", "`[[a]]` l gone"),
        ("~~~\n[[a]]\n~~~", "~~~\n[[a]]\n~~~"),
        ("    [[a]]", "    [[a]]"),
    ],
)
def test_ha22_wikilinks_become_links(text: str, expected: str) -> None:
    assert with_links(document(text), wiki, vault=True) == expected


def test_ha22_outside_a_vault_what_leads_nowhere_stays() -> None:
    assert with_links(document("[[gone]] [[a]]"), wiki, vault=False) == "[[gone]] [a](/x)"


PIECES = (
    *("[[", "]]", "![[", "|", "a", "#", "`", "```\n", "\n", "\n\n", " ", "\\", "(", ")", "[", "]", "gone"),
    *("> ", "<b>"),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_ha22_nothing_outside_the_brackets_changes(text: str) -> None:
    before = document(text)
    after = with_links(before, wiki, vault=False)
    spans = [each.span for each in before.wikilinks]
    kept = zip([0, *(span.end for span in spans)], [*(span.start for span in spans), len(text)], strict=True)
    place = 0
    for start, end in kept:
        place = after.index(text[start:end], place) + max(end - start, 0)
    for code in before.code_spans:
        assert text[code.span.start : code.span.end] in after
    if not before.wikilinks:
        assert after == text


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="a []()\\`*!<|", max_size=20).filter(lambda label: "]]" not in f"{label}]" and label.strip()))
def test_ha22_no_label_ends_its_link(label: str) -> None:
    before = document(f"x [[a|{label}]] y")
    if len(before.wikilinks) == 1 and before.wikilinks[0].label is not None and "`" not in label and "<" not in label:
        made = document(with_links(before, wiki, vault=True))
        assert [each.destination for each in made.links] == ["/x"]


def test_parts_of_a_document_are_found_by_heading_and_by_block() -> None:
    text = (
        "# A\n\n## B: c\n\none ^x\n\n- item ^y\n  - inner ^z\n\n| a |\n|---|\n\n^t\n\n> quoted\n\n^q\n\n"
        "`no ^n`\n\n> [!info]\n> boxed ^r\n"
    )
    of = document(text)

    def part(name: str) -> str | None:
        span = part_of(of, name)
        return None if span is None else text[span.start : span.end].strip()

    assert (part("B c") or "").startswith("## B: c")
    assert (part("A#B c") or "").startswith("## B: c")
    assert part("^x") == "one ^x"
    assert (part("^y") or "").startswith("- item ^y")
    assert part("^z") == "- inner ^z"
    assert part("^q") == "> quoted"
    assert part("^r") == "> [!info]\n> boxed ^r"
    assert part("^n") is part("none") is part("^none") is part("") is None


def test_names_and_sizes() -> None:
    assert (name_of("a#b#c"), name_of("#b"), name_of("a")) == ("a > b > c", "b", "a")
    assert (size_of("300"), size_of("30x40")) == (("300", ""), ("30", "40"))
    assert size_of("0") is size_of("x") is size_of("99999") is None
    assert [fragment_of(each) for each in ("^id", "A b", None, "?")] == ["#%5Eid", "#a-b", "", ""]
