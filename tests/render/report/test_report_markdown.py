"""A test as Markdown: short enough for a comment, and nothing of an answer is markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from prosa.evaluation.case import Case
from prosa.evaluation.report import CaseReport, Report
from prosa.records.test import ShownTest
from prosa.render.report import markdown
from tests.depth import examples
from tests.render.report.reading import HOSTILE, hostile_test
from tests.render.report.samples import RECORD, attempt, shown_answers, shown_skill, suite

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MARKUP = (
    *HOSTILE,
    "@octocat #1 https://evil.example www.evil.example a@evil.example",
    "```\n</details>\n# head\n```",
    "~~~\n````\n~~~",
    "` `` ``` ```` |",
    "| a | b |\n|---|---|",
    "![x](https://evil.example/x.png) [x]: https://evil.example",
    "\\`\\|\\",
    "- [ ] a\n> b\n    c",
    "`" * 60,
)


@cache
def harmless() -> list[tuple[str, str, str]]:
    """The structure of a test whose texts are words."""
    return structure(markdown.test_markdown(hostile_test("plain")))


def structure(text: str) -> list[tuple[str, str, str]]:
    """The tokens without the texts in them."""
    return [(each.type, each.tag, _kept(each)) for each in _all(READER.parse(text))]


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for each in tokens:
        yield each
        yield from _all(each.children or ())


def _kept(token: Token) -> str:
    return token.content if token.type in ("html_block", "html_inline", "text") else token.info


@pytest.mark.parametrize("text", MARKUP)
def test_x37_nothing_of_an_answer_is_markup(text: str):
    """X37, X39. The structure is that of a harmless test, and foreign text stands in code alone."""
    made = markdown.test_markdown(hostile_test(text))
    assert structure(made) == harmless()
    assert {each.type for each in _all(READER.parse(made))}.isdisjoint({"link_open", "image"})
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", made)


@settings(max_examples=examples(300))
@given(st.text(alphabet=st.sampled_from("`~|\\<>&\"'/=#@*_-+. \n\tab1![]():\x1b\u202e"), min_size=1, max_size=40))
def test_x37_no_text_changes_the_structure(text: str):
    """X37."""
    assert structure(markdown.test_markdown(hostile_test(text))) == harmless()


def test_x37_a_comment_says_what_came_out():
    """X37, X34."""
    made = markdown.test_markdown(shown_skill())
    for words in (
        "### ▲ `delay-notice`: better, +0.76 [+0.54, +1.00]",
        "p = 0.0039 (sign-flip test, 9 of 9 cases differ)",
        "| `with the skill` | 0.94 | $0.0185 |",
        '  - 1× `/language` expected `"nb"`, found `"en" (string)`',
        "| `late boat` | ✓ 3 of 3 passed |",
        "with changes",
    ):
        assert words in made
    assert made.index("#### Not passed") < made.index("#### Cases of")


def test_x37_each_suite_has_a_row_of_its_own():
    """X37."""
    made = markdown.test_markdown(shown_skill())
    head, rule, *rows = made[made.index("| Suite |") :].split("\n\n")[0].splitlines()
    assert len(rows) == len(shown_skill().report.suites) > 1
    assert {each.count(" | ") for each in (head, *rows)} == {4} and rule == "|---|---|---|---|---|"


@pytest.mark.parametrize("limit", [5_000, 20_000, 60_000])
def test_x37_a_comment_keeps_its_limit(limit: int):
    """X37. What is cut says its size and its SHA-256."""
    failed = (attempt("word ` & " * 100_000, "failed"),) * 3
    cases = [CaseReport(Case(f"case {at}", "x"), failed) for at in range(300)]
    made = markdown.test_markdown(ShownTest(RECORD, Report((suite(cases),))), limit=limit)
    assert len(made.encode()) <= limit
    assert "No room for" in made and (limit < 20_000 or "All of it has 900,000 bytes" in made)
    assert len(markdown.test_markdown(shown_answers(100, 3, 1_000), limit=limit).encode()) <= limit
