"""The page of a test: whole, small, and dead whatever an answer says."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.evaluation.case import Assertion, Case
from prosa.evaluation.report import CaseReport, Cut, Report
from prosa.evaluation.workspace import Expected
from prosa.records.test import ShownTest
from prosa.render.report import tests as pages
from prosa.render.report.frame import MAX_PAGE
from prosa.render.report.markdown import test_markdown as markdown_of
from prosa.render.report.parts import PictureBlock, TextBlock, assemble, brief, text_block
from tests.depth import DEEP, examples
from tests.render.page.elements import tree
from tests.render.report.reading import HOSTILE, dead, hostile_test, skeleton, text_of
from tests.render.report.samples import RECORD, attempt, picture, shown_answers, shown_skill, suite


def test_x37_all_of_600_answers_are_on_a_page_of_2_mb():
    """X37."""
    page = pages.test_page(shown_answers(100, 3, 1_000))
    assert len(page.encode()) <= MAX_PAGE
    seen = text_of(page)
    wanted = [f"answer-{side}-{at}-{n} " for side in ("with", "without") for at in range(100) for n in range(3)]
    assert [each for each in wanted if each not in seen] == [] and "Cut here" not in seen


def test_x37_a_page_says_what_the_issue_asks_for():
    """X37, X34, X36. The verdict and its basis, evidence, transcripts, files, costs, reasons, trend, feedback."""
    shown = shown_skill()
    found = dead(pages.test_page(shown))
    seen = " ".join(found.seen.split())
    for words in (
        "▲ better", "+0.76", "p = 0.0039 (sign-flip test, 9 of 9 cases differ)", "+0.54 to +1.00",
        "1 of 2 passed, 1 not measured",
        "It names 14:55 as the new time.", "/language expected", "→ skill_read", "permission denied: /etc/notices",
        "+It leaves at 14:55.", "openai/gpt-5-mini", "the service answered 529 (overloaded) five times",
        "not delay-notice",
        "20 of 27 (0.74)", "its own login was used", "Norwegian was asked for.", "9c1b7a40f2d1 with changes", "$0.0007",
    ):  # fmt: skip
        assert words in seen, words
    assert [each["alt"] for each in found.all("img")] == ["chart.png"]
    assert len(found.all("svg", role="img")) == len(found.all("desc")) == 5


def test_x37_a_case_shows_each_assertion_also_of_equal_names_and_about_the_workspace():
    """X37."""
    left = Expected("changed CHANGES.md", "changed", {"changed": ["CHANGES.md"], "only": True})
    asserted = (Assertion("contains", {"contains": "GROSS"}), Assertion("contains", {"contains": "38.13"}))
    case = Case("total", "x", assertions=asserted, workspace=(left,))
    seen = text_of(pages.test_page(ShownTest(RECORD, Report((suite([CaseReport(case, (attempt("a", "failed"),))]),)))))
    for words in ('"contains": "GROSS"', '"contains": "38.13"', '"CHANGES.md"', '"only": true'):
        assert words in seen, words


@cache
def harmless() -> list[tuple[str, tuple[str, ...]]]:
    """The elements of a test whose texts are words."""
    return skeleton(pages.test_page(hostile_test("plain")))


@pytest.mark.parametrize("text", HOSTILE)
def test_x37_nothing_of_an_answer_is_an_element(text: str):
    """X37, X39."""
    page = pages.test_page(hostile_test(text))
    dead(page)
    assert skeleton(page) == harmless()
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]", page
    )


@settings(max_examples=examples(300, share=20))
@given(st.text(alphabet=st.sampled_from("<>&\"'/= \n`\x1b\u202e\ud800ab-!;[]()"), min_size=1, max_size=40))
def test_x37_no_text_becomes_an_element_or_an_attribute(text: str):
    """X37."""
    dead(pages.test_page(hostile_test(text)))


def test_x37_answers_of_ten_megabytes_share_the_room():
    """X37. Each answer has as much as the others; what is cut says its size and its SHA-256."""
    large = "word & <b> " * 1_000_000
    cases = [CaseReport(Case(f"case {at}", "x"), (attempt(large), attempt(f"small {at}"))) for at in range(3)]
    page = pages.test_page(ShownTest(RECORD, Report((suite(cases),))))
    assert MAX_PAGE * 0.9 < len(page.encode()) <= MAX_PAGE
    lengths = {len(each) for each in re.findall(r'<pre class="answer">\n(word.*?)</pre>', page)}
    assert max(lengths) - min(lengths) < 20
    seen = text_of(page)
    assert seen.count(f"All of it has {len(large.encode()):,} bytes and the SHA-256") == 3
    assert all(f"small {at}" in seen for at in range(3))
    dead(page)


@pytest.mark.parametrize("limit", [60_000, 200_000, MAX_PAGE])
def test_x37_ten_thousand_cases_keep_the_limit_and_show_what_failed(limit: int):
    """X37. On one page those that failed come first, and the page says that cases are missing."""
    cases = [
        CaseReport(Case(f"case {at}", "x"), (attempt("y", "failed" if at == 9_990 else "passed"),))
        for at in range(10_000)
    ]
    page = pages.test_page(ShownTest(RECORD, Report((suite(cases),))), limit=limit)
    assert len(page.encode()) <= limit
    assert "case 9990" in text_of(page) and "of 10,000 cases have room here" in page


def test_x37_thousands_of_cases_are_paged_into_a_folder():
    """X37."""
    count = 10_000 if DEEP else 2_100
    cases = [CaseReport(Case(f"case {at}", "x"), (attempt(f"answer-{at}."),)) for at in range(count)]
    found = pages.test_pages(ShownTest(RECORD, Report((suite(cases),))), per_page=100)
    assert list(found) == ["index.html", *(f"cases-{n}.html" for n in range(1, count // 100 + 1))]
    assert all(len(page.encode()) <= MAX_PAGE for page in found.values())
    seen = {int(at) for page in found.values() for at in re.findall(r"answer-(\d+)\.", page)}
    assert seen == set(range(count))
    links = {each["href"].partition("#")[0] for each in dead(found["index.html"]).all("a")}
    assert links == set(found) - {"index.html"}
    dead(found["cases-20.html"])


def test_x37_hundreds_of_suites_and_trends_keep_the_limit():
    """X37. A page and a comment say what has no room."""
    shown = shown_skill()
    many = range(400 if DEEP else 200)
    suites = tuple(replace(shown.report.suites[at % 3], label=f"side {at} " + "ä" * 300) for at in many)
    comparisons = tuple(replace(shown.report.comparisons[0], first=f"side {at} " + "ä" * 300) for at in many)
    trends = tuple(replace(shown.trends[0], label=f"side {at}", points=shown.trends[0].points * 50) for at in many)
    large = ShownTest(RECORD, Report(suites, comparisons), trends)
    for limit in (200_000, MAX_PAGE):
        page = pages.test_page(large, limit=limit)
        assert len(page.encode()) <= limit
        assert all(f"further {noun}" in page for noun in ("comparison", "suite", "trend"))
    made = markdown_of(large)
    assert len(made.encode()) <= 60_000 and "further comparison" in made and "further suite" in made


def test_an_answer_that_is_nested_too_deeply_is_named():
    nested: object = "x"
    for _ in range(5_000):
        nested = [nested]
    cases = [CaseReport(Case("a", "x"), (attempt(nested),))]
    assert "nested too deeply" in pages.test_page(ShownTest(RECORD, Report((suite(cases),))))


def test_a_small_test_is_one_page_in_a_folder():
    assert list(pages.test_pages(shown_skill())) == ["index.html"]


def test_x37_an_answer_that_the_store_cut_says_so():
    """X37."""
    cases = [CaseReport(Case("a", "x"), (attempt("begin", cut=Cut(123_456, "ab" * 32)),))]
    seen = text_of(pages.test_page(ShownTest(RECORD, Report((suite(cases),)))))
    assert "All of it had 123,456 bytes" in seen and "ab" * 32 in seen


def test_a_test_that_is_not_over_says_so():
    shown = shown_skill()
    page = pages.test_page(replace(shown, record=replace(RECORD, state="interrupted", done=12)))
    assert "interrupted" in page and "12 of 60 attempts are over" in page


# ---- parts ----


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.text(max_size=2_000), st.booleans()), max_size=12), st.integers(6_000, 20_000))
def test_x37_blocks_keep_any_limit(texts: list[tuple[str, bool]], limit: int):
    """X37."""
    parts = ["<p>", *(text_block(text, is_first=first, kind="answer") for text, first in texts), "</p>"]
    page = assemble(parts, limit, {})
    assert len(page.encode()) <= limit
    assert tree(page).unbalanced == []


def test_what_is_whole_elsewhere_is_linked():
    block = text_block("x" * 5_000)
    digest = "".join(re.findall("<code>([0-9a-f]{64})", block.html(800, {})))
    assert 'href="./whole/a%20b.txt"' in block.html(800, {digest: "whole/a b.txt"})


def test_a_picture_is_known_by_its_bytes():
    assert PictureBlock("a.png", picture()).html(10_000, {}).startswith('<img alt="a.png" src="data:image/png;base64,')
    assert "<img" not in PictureBlock("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>").html(10_000, {})
    assert "<img" not in PictureBlock("a.png", picture() + b"x" * 90_000).html(10_000, {})


def test_a_line_is_isolated_and_cut():
    assert brief("a\n<b>\u202e") == "<bdi>a &lt;b&gt;\\u202e</bdi>"
    assert brief("x" * 1_000, 10) == f"<bdi>{'x' * 10}…</bdi>"


def test_a_first_line_end_is_kept():
    assert TextBlock((("\na", ""),)).html(100, {}) == "<pre>\n\na</pre>"
