"""A node as people meet it: on a phone and a desk, by day and by night, without JavaScript, by keyboard, on paper."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Route

from tests.browser.browsing import DESK, LOOKS, PHONE, SIZES, Browsing, looked_at
from tests.browser.looking import faint, nameless, stops, too_wide

NODES = (
    ("ferries", "/booking"),
    ("ferries", "/fares"),
    ("ferries", "/no-such-page"),
    ("ferries", "/mdh/search?q=harbour"),
    ("idle", "/page.mda"),
    ("idle", "/greet"),
    ("running", "/mdh/sign-in"),
    ("vault", "/Home"),
    ("hostile", "/chat"),
    ("hostile", "/field-7"),
    ("hostile", "/body-3"),
)


@pytest.mark.parametrize(("site", "path"), NODES)
def test_a_page_fits_its_window_and_can_be_read(site: str, path: str, browse: Browsing, request: pytest.FixtureRequest):
    """H8. No page is wider than its window, and every text stands out from what is behind it."""
    browse.expected.append("status of 404")
    page = browse(f"{request.getfixturevalue(site)}{path}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for size, scheme in LOOKS:
        looked_at(page, SIZES[size], scheme)
        assert too_wide(page) == []
        assert faint(page) == {}


@pytest.mark.parametrize(("site", "path"), NODES)
def test_a_screen_reader_finds_its_way(site: str, path: str, browse: Browsing, request: pytest.FixtureRequest):
    """One main part, one first heading, and a name for all that can be used."""
    browse.expected.append("status of 404")
    page = browse(f"{request.getfixturevalue(site)}{path}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.get_by_role("main").count() == 1
    assert site == "hostile" or page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("search").count() == 1
    assert nameless(page, pictures=site != "hostile") == []
    assert page.evaluate("document.documentElement.lang") != ""


def test_the_keyboard_reaches_everything_and_shows_where_it_is(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/booking")
    reached = stops(page)
    assert "skip" in reached[0]["classes"]
    assert [each for each in reached if not (each["outline"] and each["seen"])] == []
    names = [each["name"] for each in reached]
    for name in ("Skerry Ferries", "page:query", "timetable", "Send POST", "Book", "Markdown", "JSON"):
        assert name in names
    page.goto(f"{ferries}/booking")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "page:main"


def test_the_drawing_of_the_surroundings_is_loaded_and_leads_to_the_graph(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/booking")
    drawing = page.get_by_role("img", name="Graph of the pages around Booking")
    drawing.scroll_into_view_if_needed()
    page.wait_for_function("(each) => each.complete && each.naturalWidth > 0", arg=drawing.element_handle())
    drawing.click()
    page.wait_for_url("**/mdh/graph?around=*")
    assert "Booking" in page.title()


def test_every_page_leads_to_the_graph_of_the_whole_site(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/booking")
    page.get_by_role("contentinfo").get_by_role("link", name="Graph").click()
    page.wait_for_url(f"{ferries}/mdh/graph")
    assert "14 documents" in page.get_by_role("banner").inner_text()


def test_a_page_is_whole_without_javascript(browse: Browsing, ferries: str):
    """H1, H8. The text, its links and the search need no script; what needs one is not there."""
    page = browse(f"{ferries}/timetable", script=False)
    assert "Ask for two harbours and a day." in page.get_by_role("main").inner_text()
    assert [each for each in page.locator(".needs-script").all() if each.is_visible()] == []
    assert page.locator(".copy").count() == 0
    assert "needs JavaScript" in page.locator(".action").nth(1).inner_text()
    page.get_by_role("main").get_by_role("link", name="the islands").click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/islands/")
    assert page.get_by_role("main").count() == 1
    page.get_by_role("combobox", name="Search this site").fill("gangway with steps")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name="Wheelchairs").click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/accessibility")
    assert page.get_by_role("main").count() == 1


def test_the_graph_is_a_list_without_javascript(browse: Browsing, linked: str):
    page = browse(f"{linked}/mdh/graph", script=False)
    page.get_by_role("link", name="Note 123").first.click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/note-123")
    assert page.get_by_role("main").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_there_is_the_text_alone(scheme: str, browse: Browsing, ferries: str, idle: str):
    for url in (f"{ferries}/booking", f"{idle}/page.mda"):
        page = browse(url, scheme=scheme)
        page.emulate_media(media="print", color_scheme=scheme)
        for part in ("header.top", "aside", "form", ".actions", ".script", "footer", ".copy", ".self"):
            assert not any(each.is_visible() for each in page.locator(part).all()), part
        assert page.get_by_role("heading", level=1).is_visible()
        look = page.evaluate(
            "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
        assert look == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
        ground = page.evaluate("[...document.querySelectorAll('.text pre')].map((e) => getComputedStyle(e).color)")
        assert set(ground) <= {"rgb(0, 0, 0)"}
        assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") == "#fff"


def test_who_wants_no_motion_gets_none(browse: Browsing, ferries: str):
    moving = "getComputedStyle(document.documentElement).scrollBehavior"
    assert browse(f"{ferries}/booking").evaluate(moving) == "smooth"
    page = browse(f"{ferries}/booking", still=True)
    assert page.evaluate(moving) == "auto"
    lasting = (
        "[...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).transitionDuration !== '0s').length"
    )
    assert page.evaluate(lasting) == 0


def test_code_is_copied_and_the_window_says_so(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/tokens")
    button = page.get_by_role("button", name="Copy").first
    button.hover()
    button.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "Authorization: Bearer skerry-demo"


def test_links_within_a_page_end_below_the_bar(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/booking", size=DESK, still=True)
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="Try again safely").click()
    bar, heading = (
        page.locator("header.top").bounding_box(),
        page.get_by_role("heading", name="Try again").bounding_box(),
    )
    assert bar and heading
    assert bar["y"] + bar["height"] <= heading["y"] <= 300


def test_a_phone_shows_the_text_before_what_stands_beside_it(browse: Browsing, ferries: str):
    page = browse(f"{ferries}/booking", size=PHONE)
    text, side = page.locator("article").bounding_box(), page.locator("aside").bounding_box()
    assert text and side
    assert text["y"] + text["height"] <= side["y"]
    assert text["width"] > 300


def test_h6_a_page_whose_connections_are_being_read_fills_itself(browse: Browsing, ferries: str):
    """H6. Nothing has to be loaded again by hand, and the text stays where it is."""
    page = browse.window()
    asked: list[str] = []

    def answer(route: Route) -> None:
        found = route.fetch()
        asked.append(route.request.url)
        said = '<aside class="side"><p class="building" role="status" data-building>Being read.</p></aside>'
        text = re.sub(r"<aside.*</aside>", said, found.text(), flags=re.DOTALL) if len(asked) < 3 else found.text()
        route.fulfill(response=found, body=text)

    page.route(f"{ferries}/booking", answer)
    page.goto(f"{ferries}/booking")
    page.get_by_text("Linked from").wait_for()
    assert page.get_by_text("Being read.").count() == 0
    assert len(asked) == 3


def test_ya21_a_vault_is_read_as_in_obsidian(browse: Browsing, vault: str):
    """YA21, HA22. Wikilinks lead to places, callouts fold by keyboard, embeds are seen."""
    page = browse(f"{vault}/Home")
    folded = page.locator("details.callout")
    assert not folded.locator(".tip").is_visible()
    folded.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert folded.locator(".tip .embed").inner_text().split("\n")[-1] == "A bell."
    picture = page.locator("article img").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("(each) => each.complete && each.naturalWidth > 0", arg=picture.element_handle())
    assert picture.evaluate("(each) => each.clientWidth") == 120
    assert page.locator("article .missing").all_inner_texts() == ["Gone"]
    page.get_by_role("link", name="Bell > How it rings").click()
    page.wait_for_url(lambda url: urlsplit(url).fragment == "how-it-rings")
    assert page.locator(":target").inner_text().startswith("How it rings")


def test_h8_a_long_word_in_the_name_of_a_site_fits_a_phone(browse: Browsing, idle: str):
    """H8. The name stands at the end of the page."""
    page = browse(f"{idle}/page.mda")
    looked_at(page, PHONE, "light")
    page.evaluate("document.querySelector('.end p').prepend('long'.repeat(40))")
    assert too_wide(page) == []
