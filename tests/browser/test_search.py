"""Search as one types, with keys and with a pointer; and its page."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import PHONE, SIZES, Browsing

FIELD, BOX, OPTION = "[id='page:query']", "[id='page:hits']", "[id='page:hits'] [role=option]"


def typed(page: Page, text: str) -> None:
    """Types into the field, and waits until there is something below it."""
    page.locator(FIELD).press_sequentially(text)
    page.locator(OPTION).first.wait_for()


def state(page: Page) -> tuple[str | None, str | None, list[str]]:
    """Whether the list is open, which option is active, and which are selected."""
    field = page.locator(FIELD)
    chosen = [each.get_attribute("id") or "" for each in page.locator(f"{OPTION}[aria-selected=true]").all()]
    return field.get_attribute("aria-expanded"), field.get_attribute("aria-activedescendant"), chosen


@pytest.mark.parametrize("size", SIZES)
def test_hits_appear_while_one_types_and_keys_open_one(size: str, browse: Browsing, ferries: str):
    page = browse(f"{ferries}/fares", size=SIZES[size])
    page.keyboard.press("/")
    expect(page.locator(FIELD)).to_be_focused()
    assert page.locator(FIELD).input_value() == ""
    assert state(page) == ("false", None, [])
    typed(page, "gangway")
    assert state(page) == ("true", None, [])
    assert page.locator(f"{BOX} mark").first.inner_text().casefold() == "gangway"
    box = page.locator(BOX).bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= SIZES[size][0]
    page.keyboard.press("ArrowDown")
    first = page.locator(OPTION).first.get_attribute("id")
    assert state(page) == ("true", first, [first])
    page.keyboard.press("ArrowUp")
    assert state(page) == ("true", None, [])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/accessibility*")


def test_escape_closes_and_then_leaves(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/fares")
    typed(page, "harbour")
    page.keyboard.press("ArrowUp")
    last = page.locator(OPTION).last.get_attribute("id")
    assert state(page) == ("true", last, [last])
    page.keyboard.press("Escape")
    assert not page.locator(BOX).is_visible() and state(page)[:2] == ("false", None)
    assert page.locator(FIELD).input_value() == "harbour"
    page.keyboard.press("Escape")
    expect(page.locator(FIELD)).not_to_be_focused()


def test_a_pointer_opens_a_hit_and_leaving_closes_the_list(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/fares", size=PHONE)
    typed(page, "gangway")
    page.mouse.click(200, 800)
    expect(page.locator(BOX)).to_be_hidden()
    page.locator(FIELD).click()
    page.locator(OPTION).first.click()
    page.wait_for_url("**/accessibility*")


def test_enter_without_a_choice_asks_for_the_page(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/fares")
    typed(page, "fog & wind")
    page.keyboard.press("Enter")
    page.wait_for_url("**/mdh/search?*")
    assert parse_qs(urlsplit(page.url).query) == {"q": ["fog & wind"]}
    page.get_by_role("main").get_by_role("link", name="Fog, wind").first.click()
    page.wait_for_url("**/weather*")


def test_nothing_found_is_said(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/fares")
    page.locator(FIELD).fill("xylophone")
    expect(page.locator(BOX)).to_contain_text("Nothing found")
    page.keyboard.press("ArrowDown")
    assert state(page) == ("true", None, [])
    page.locator(FIELD).fill("")
    expect(page.locator(BOX)).to_be_hidden()


def test_a_slash_in_a_field_is_a_slash(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/timetable")
    field = page.locator("[data-place=query][name=cursor]")
    field.press_sequentially("a/b")
    assert field.input_value() == "a/b"
