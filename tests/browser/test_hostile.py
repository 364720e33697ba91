"""Nothing that a document says runs in a browser: every vector in every field, body, name and query (HW3)."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import PHONE, Browsing
from tests.browser.looking import HARMLESS, alive
from tests.browser.vectors import LINES, SIGN, VECTORS

POKE = """
async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll("main *, aside *")) {
    for (const name of ["mouseover", "mouseenter", "focus", "load", "error", "toggle", "begin"]) {
      each.dispatchEvent(new Event(name, { bubbles: true }));
    }
  }
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
"""
NUMBERS = range(len(VECTORS))
TOGETHER = 6
"""Vectors that one test looks at; each has a page of its own."""


def inert(page: Page, url: str) -> None:
    """Opens a page, touches everything on it, and looks for traces."""
    page.goto(url)
    page.evaluate(POKE)
    assert alive(page) == HARMLESS
    assert page.url == url


@pytest.mark.parametrize("kind", ["field-{}", "body-{}"])
@pytest.mark.parametrize("first", NUMBERS[::TOGETHER])
def test_hw3_no_document_runs(first: int, kind: str, browse: Browsing, hostile: str):
    """HW3."""
    page = browse.window(size=PHONE)
    for number in NUMBERS[first : first + TOGETHER]:
        inert(page, f"{hostile}/{kind.format(number)}")
        assert SIGN in page.evaluate("document.querySelector('article').innerText")


@pytest.mark.parametrize(
    "path",
    [
        *("/chat", "/scripts.mda", "/program", "/record.ymj", "/"),
        *("/mdh/graph", "/mdh/graph?around=/body-3", "/mdh/graph.svg"),
    ],
)
def test_hw3_no_chat_program_record_list_or_graph_runs(path: str, browse: Browsing, hostile: str):
    """HW3."""
    page = browse.window(size=PHONE)
    page.goto(f"{hostile}{path}")
    if path != "/mdh/graph.svg":
        page.evaluate(POKE)
        assert alive(page) == HARMLESS


def test_hw3_names_in_the_graph_are_text(browse: Browsing, hostile: str):
    """HW3. Searching the graph and opening the panel of a document puts what it is called into the page."""
    page = browse(f"{hostile}/mdh/graph", still=True)
    for word in (SIGN, "onerror", "iframe", "textarea"):
        page.locator("#query").fill(word)
        assert alive(page) == HARMLESS
        page.keyboard.press("Enter")
        expect(page.locator("#side")).to_contain_text(word)
        assert alive(page) == HARMLESS


@pytest.mark.parametrize("first", NUMBERS[::TOGETHER])
def test_hw3_no_query_runs(first: int, browse: Browsing, hostile: str):
    """HW3. As an address, typed into the field, and typed into the form of an action."""
    page = browse.window(size=PHONE)
    for line in LINES[first : first + TOGETHER]:
        inert(page, f"{hostile}/mdh/search?q={quote(line)}")
    with page.expect_response("**/mdh/search?q=*"):
        page.locator("[id='page:query']").fill(f"{LINES[first]} x")
    page.evaluate(POKE)
    assert alive(page) == HARMLESS


def test_hw3_a_found_vector_is_text(browse: Browsing, hostile: str):
    """HW3. Titles and snippets of what was found, in the list below the field."""
    page = browse(f"{hostile}/chat")
    for word in ("onerror", "script", SIGN):
        page.locator("[id='page:query']").fill(word)
        expect(page.locator("[id='page:hits'] [role=option]").first).to_be_visible()
        assert alive(page) == HARMLESS


def test_hw3_forms_of_hostile_actions_send_nothing_elsewhere(browse: Browsing, hostile: str):
    """HW3. The preview of an action whose names and values are vectors is text, and its form stays here."""
    browse.expected.append("status of 4")
    page = browse.window(size=PHONE)
    for number in (0, 4, 6, 17, 18):
        page.goto(f"{hostile}/field-{number}")
        for form in page.locator(".call form:visible").all():
            for field in form.locator("input[type=text]").all():
                field.fill(LINES[number])
            form.locator("[type=submit]").click()
        assert alive(page) == HARMLESS
        assert page.url.startswith(hostile)


def test_hw3_an_address_that_is_a_vector_is_text(browse: Browsing, hostile: str):
    """HW3. The page that says that there is nothing."""
    browse.expected.append("status of 4")
    page = browse.window(size=PHONE)
    for line in LINES[::2]:
        page.goto(f"{hostile}/{quote(line, safe='')}")
        assert alive(page) == HARMLESS
