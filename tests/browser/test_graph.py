"""The graph of three hundred documents: drawn, zoomed, searched, and a way to every page."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import LOOKS, SIZES, Browsing, Scheme, looked_at
from tests.browser.looking import faint, nameless, too_wide
from tests.browser.sites import COUNT

COLOURS = """
() => {
  const canvas = document.getElementById("picture");
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size;
}
"""
RESTED = """() => new Promise((done) => {
  let before = "";
  const look = () => {
    const now = document.getElementById("picture").toDataURL();
    if (now === before) return done(now);
    before = now;
    setTimeout(look, 130);
  };
  look();
})"""


def drawn(page: Page) -> str:
    """A hash of the picture, once it has come to rest."""
    return sha256(page.evaluate(RESTED).encode()).hexdigest()


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_three_hundred_nodes_are_drawn(size: str, scheme: Scheme, browse: Browsing, linked: str):
    browse.expected.append("willReadFrequently")  # about our own look at the pixels
    page = browse(f"{linked}/mdh/graph", size=SIZES[size], still=True)
    data = json.loads(page.locator("#data").text_content() or "")
    assert len(data["nodes"]) == COUNT
    assert f"{COUNT} documents" in page.get_by_role("banner").inner_text()
    assert nameless(page) == []
    looked_at(page, SIZES[size], scheme)
    drawn(page)
    assert page.evaluate(COLOURS) > 20
    assert too_wide(page) == []
    assert faint(page) == {}


def test_buttons_wheel_and_keys_zoom(browse: Browsing, linked: str):
    page = browse(f"{linked}/mdh/graph", still=True)
    seen = [drawn(page)]
    for name in ("Zoom in", "Zoom out", "Zoom out"):
        page.get_by_role("button", name=name).click()
        seen.append(drawn(page))
    page.mouse.move(700, 500)
    page.mouse.wheel(0, -600)
    seen.append(drawn(page))
    page.locator("#picture").focus()
    page.keyboard.press("ArrowLeft")
    seen.append(drawn(page))
    page.get_by_role("button", name="Show everything").click()
    seen.append(drawn(page))
    assert all(one != other for one, other in pairwise(seen))


@pytest.mark.parametrize("size", SIZES)
def test_a_search_finds_a_node_and_leads_to_its_page(size: str, browse: Browsing, linked: str):
    page = browse(f"{linked}/mdh/graph", size=SIZES[size], still=True)
    page.keyboard.press("/")
    page.keyboard.type("note 21")
    options = page.get_by_role("option")
    expect(options).to_have_count(12)
    page.keyboard.press("ArrowDown")
    assert page.locator("#query").get_attribute("aria-activedescendant") == "hit-1"
    page.keyboard.type("1")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    side = page.get_by_role("complementary", name="Document")
    expect(side.get_by_role("heading", level=2)).to_have_text("Note 211")
    expect(page.get_by_role("status")).to_contain_text("Note 211")
    side.get_by_role("link", name="Open").click()
    page.wait_for_url("**/note-211")


@pytest.mark.parametrize(("query", "leads_to"), [("", "/"), ("?around=/booking", "/booking")])
def test_a_graph_leads_back_to_its_site(browse: Browsing, ferries: str, query: str, leads_to: str):
    page = browse(f"{ferries}/mdh/graph{query}", still=True)
    page.get_by_role("heading", level=1).get_by_role("link").click()
    page.wait_for_url(f"{ferries}{leads_to}")
