"""Suppressions: what a comment covers, in Markdown and in front matter."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.front import read_front
from prosa.document import parse
from prosa.rules.engine import check_documents, check_text
from prosa.rules.suppressions import MAX_SUPPRESSIONS, find_suppressions
from prosa.source import SourceText
from tests.depth import DEEP, examples
from tests.rules.literate import MemoryFiles


def covered(text: str) -> list[str]:
    """What each suppression of a text covers, without its own comment."""
    front = read_front(SourceText(text))
    found = find_suppressions(front, parse(front.source, body=front.body))
    return [each.covers.of(text).removeprefix(each.comment.of(text)).strip() for each in found]


def left(text: str) -> list[tuple[str, int]]:
    """Rule and line of what is found in a document."""
    files = MemoryFiles({"/project/p.md": text})
    return [(each.rule, each.start.line) for each in check_documents([Path("/project/p.md")], files).diagnostics]


C = "<!-- prosa-ignore MD020 -->"


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        (f"{C}\nOne\ntwo.\n\nThree.", "One\ntwo."),
        (f"{C}\n\n\nOne.\n\nTwo.", "One."),
        (f"{C}\n# Heading\nText.", "# Heading"),
        (f"{C}\n- a\n\n- b\n\nText.", "- a\n\n- b"),
        (f"{C}\n> quoted\n> more\n\nText.", "> quoted\n> more"),
        (f"{C}\n```\ncode\n\nmore\n```\nText.", "```\ncode\n\nmore\n```"),
        (f"{C}\n    code\n\nText.", "code"),
        (f"{C}\n\n| a |\n|---|\n| b |\n\nText.", "| a |\n|---|\n| b |"),
        (f"{C}\n<div>\nx\n</div>\n\nText.", "<div>\nx\n</div>"),
        (f"{C}\n<!-- another -->\nOne.", "<!-- another -->\nOne."),
        (f"{C}\n<!-- another -->\nOne.\n<!-- more -->\nTwo.", "<!-- another -->\nOne."),
        (f"- a\n\n  {C}\n\n  b\n\n  c\n", "b"),
        (f"> {C}\n> a\n>\n> b", "> a"),
        (f"One. {C} Two.\nThree.", f"One. {C} Two."),
        (f"{C} Two.\nThree.", "Two."),
        (f"Text.\n\n{C}", ""),
        (f"{C}", ""),
        (f"One\r\n\r\n{C}\r\nTwo\r\nthree.\r\n\r\nFour.", "Two\r\nthree."),
        ("A.\n\n<!-- prosa-ignore-file MD020 -->\n\nB.", "A.\n\n<!-- prosa-ignore-file MD020 -->\n\nB."),
        ("---\na: 1 # prosa-ignore MD020\nb: 2\n---\n", "a: 1 # prosa-ignore MD020"),
        ("---\n# prosa-ignore MD020\na:\n  - 1\n  - 2\nb: 2\n---\n", "a:\n  - 1\n  - 2"),
        ("---\na: 1\n# prosa-ignore MD020\n---\nb\n", ""),
        ("---\na: 1\n# prosa-ignore-file MD020\n---\nb", "---\na: 1\n# prosa-ignore-file MD020\n---\nb"),
    ],
)
def test_what_a_suppression_covers(text: str, covers: str):
    assert covered(text) == [covers]


@pytest.mark.parametrize(
    "text",
    [
        f"`{C}`",
        f"```\n{C}\n```",
        f"    {C}",
        "<!-- prosa-ignored MD020 -->",
        "<!-- please prosa-ignore MD020 -->",
        '---\na: "x # prosa-ignore MD020"\nb: |\n  # prosa-ignore MD020\n---\n',
        "---\na: b# prosa-ignore MD020\n---\n",
        "# prosa-ignore MD020\n",
    ],
)
def test_what_is_no_suppression(text: str):
    assert covered(text) == []


def test_x4_a_line_a_block_a_document_and_nothing_more():
    """X4."""
    gone = "[a](gone.md)"
    assert left(f"{gone}\n\n{gone} {C}\n\n{gone}") == [("unresolved-link", 1), ("unresolved-link", 5)]
    assert left(f"{C}\n{gone}\n{gone}\n\n{gone}") == [("unresolved-link", 5)]
    assert left(f"{gone}\n\n<!-- prosa-ignore-file unresolved-link -->") == []
    assert left(f"<!-- prosa-ignore merge-key, MD02: made by the build -->\n{gone}")[0][0] == "unused-suppression"


def test_front_matter_is_suppressed_by_its_own_comments_and_by_the_whole_document():
    double = "---\na: 1\na: 2{0}\n---\n{1}"
    assert left(double.format("", "")) == [("duplicate-key", 3)]
    assert left(double.format(" # prosa-ignore duplicate-key", "")) == []
    assert left(double.format("", "<!-- prosa-ignore-file MD002 -->")) == []
    assert [rule for rule, _ in left(double.format("", "<!-- prosa-ignore MD002 -->\ntext"))] == [
        "duplicate-key",
        "unused-suppression",
    ]


def test_a_rule_that_nobody_checks_is_not_called_unused():
    files = MemoryFiles({"/project/p.md": f"{C}\ntext"})
    path = [Path("/project/p.md")]
    assert [each.rule for each in check_documents(path, files).diagnostics] == ["unused-suppression"]
    assert check_documents(path, files, ignore=["MD020"]).diagnostics == ()
    assert check_documents(path, files, select=["MD001", "MD030"]).diagnostics == ()


def test_suppressions_can_be_kept_on_purpose():
    assert left(f"<!-- prosa-ignore-file unused-suppression -->\n\n{C}\ntext") == []


def test_suppressions_have_a_limit_and_take_linear_time():
    times = MAX_SUPPRESSIONS * (4 if DEEP else 2)
    many = f"{C}\ntext\n\n" * times
    assert len(covered(many)) == MAX_SUPPRESSIONS
    assert len(covered(f"{C} " * times)) == MAX_SUPPRESSIONS
    assert covered(f"---\n{'# prosa-ignore MD020' * 4000}\n---\n")


PIECES = st.sampled_from(
    [
        C,
        "<!-- prosa-ignore",
        "-->",
        "<!-- prosa-ignore-file ALL -->",
        "# prosa-ignore MD",
        "---",
        "a: 1",
        "`",
        "```",
        "> ",
        "- ",
        "\n",
        "\n\n",
        " ",
        "text",
        "[a](gone.md)",
        "\r",
        "\ufeff",
        "<div>",
        "| a |\n|---|",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_a_suppression_covers_a_part_of_the_text_whatever_it_says(text: str):
    front = read_front(SourceText(text))
    for each in find_suppressions(front, parse(front.source, body=front.body)):
        assert each.covers.end <= len(text)
        assert each.comment.of(text).startswith(("<!--", "#"))
        assert all(span.of(text) == name for name, span in each.names)
    assert check_text(SourceText(text, "p.md")) is not None
