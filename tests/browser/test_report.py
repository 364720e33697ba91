"""A report as people meet it: from a disk, without a network and without a script, on a phone and a desk, in the dark
and on paper. With `PROSA_PICTURES=FOLDER` in the environment the pictures of it are written there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from prosa.render.report import tests as pages
from prosa.render.report.batches import batch_page
from prosa.render.report.runs import run_page
from tests.browser.browsing import DESK, LOOKS, SCHEMES, Browsing, Scheme, looked_at
from tests.browser.looking import alive, faint, nameless, stops, too_wide
from tests.browser.test_docs import violations
from tests.depth import DEEP
from tests.render.report.samples import shown_answers, shown_skill
from tests.render.report.test_run_pages import BATCH, CALLS, COUNTS, RUN, rows

PHONE = (360, 780)
OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
DRAWN = "document.querySelectorAll('.case').forEach((each) => { each.style.contentVisibility = 'visible'; })"
PICTURES = os.environ.get("PROSA_PICTURES", "")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report with a bit of everything."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(pages.test_page(shown_skill()), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of 600 answers of 1 KB."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(pages.test_page(shown_answers(100, 3, 1_000)), encoding="utf-8")
    return file.as_uri()


def offline(browse: Browsing, address: str, *, size: tuple[int, int] = DESK, scheme: Scheme = "light") -> Page:
    """The page without a network."""
    page = browse.window(size=size, scheme=scheme, offline=True)
    page.goto(address)
    return page


def kept(page: Page, name: str) -> None:
    """Writes a picture where one is asked for."""
    if PICTURES:
        page.evaluate(DRAWN)
        page.screenshot(path=str(Path(PICTURES) / f"report-{name}.png"), full_page=True)


@pytest.mark.parametrize(("name", "scheme"), LOOKS)
def test_x37_a_report_fits_can_be_read_and_asks_nothing(name: str, scheme: Scheme, browse: Browsing, report: str):
    """X37. No page is wider than its window, every text stands out, axe finds nothing, and nothing is requested. Axe
    looks at this page on a desk by day, at the next two on a phone by night, in a deep run in all looks."""
    page = offline(browse, report, size=DESK if name == "desk" else PHONE, scheme=scheme)
    kept(page, f"{name}-{scheme}")
    page.evaluate(OPEN)
    kept(page, f"{name}-{scheme}-open")
    assert too_wide(page) == [] and faint(page) == {}
    assert not (DEEP or name == "desk") or violations(page) == []
    assert nameless(page) == []
    assert [each.url for each in browse.requests if not each.url.startswith("data:image/")] == [report]
    assert alive(page) == {"handlers": [], "scripts": [], "links": [], "foreign": []}


@pytest.mark.parametrize(
    ("name", "text"), [("run", run_page(RUN, CALLS)), ("batch", batch_page(BATCH, COUNTS, rows(30)))]
)
def test_x37_runs_and_batches_fit_and_can_be_read(name: str, text: str, browse: Browsing, tmp_path: Path):
    """X37."""
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    page = offline(browse, (tmp_path / "page.html").as_uri())
    page.evaluate(OPEN)
    kept(page, name)
    for size, scheme in LOOKS:
        looked_at(page, DESK if size == "desk" else PHONE, scheme)
        assert too_wide(page) == [] and faint(page) == {}
        assert not (DEEP or size == "phone") or violations(page) == []
    assert [each.url for each in browse.requests] == [(tmp_path / "page.html").as_uri()]


def test_x37_600_answers_are_found_without_a_script(browse: Browsing, answers: str):
    """X37. And the choice of cases works."""
    page = browse.window(script=False, offline=True)
    page.goto(answers)
    text = page.locator("body").evaluate("(body) => body.textContent")
    wanted = [f"answer-{side}-{at}-{n} " for side in ("with", "without") for at in range(100) for n in range(3)]
    assert [each for each in wanted if each not in text] == []
    assert [each.url for each in browse.requests] == [answers]
    cases = page.locator("details.case:visible")
    assert cases.count() == 100
    page.get_by_label("sides differ").check()
    assert cases.count() == 15
    page.get_by_label("not passed").check()
    assert cases.count() == 0


def test_a_case_is_reached_from_the_matrix_by_keyboard(browse: Browsing, report: str):
    page = offline(browse, report)
    reached = stops(page, 40)
    assert [each for each in reached if not (each["outline"] and each["seen"])] == []
    page.get_by_role("link", name="Delay over").press("Enter")
    assert page.evaluate("document.querySelector(':target').id") == "case-1-8"


def test_paper_shows_what_is_closed(browse: Browsing, report: str):
    page = offline(browse, report)
    page.emulate_media(media="print")
    kept(page, "print")
    closed = page.locator("#case-1-1 .answer").first
    assert closed.bounding_box() is not None and (closed.bounding_box() or {})["height"] > 20
    assert not page.get_by_label("all cases").is_visible()
    if PICTURES:
        page.pdf(path=str(Path(PICTURES) / "report.pdf"))


def test_the_dark_changes_nothing_but_colours(browse: Browsing, report: str):
    page = offline(browse, report)
    heights = []
    for scheme in SCHEMES:
        looked_at(page, DESK, scheme)
        heights.append(page.evaluate("document.documentElement.scrollHeight"))
    assert heights[0] == heights[1]
