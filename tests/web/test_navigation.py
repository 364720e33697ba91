"""The order of a site that is served: as its first page says it, and anew when that changes (X23)."""

from __future__ import annotations

from tests.web.asking import Files
from tests.web.conftest import Serve

FILES: Files = {
    "index.md": "---\nid: root\ntype: page\ntitle: Port\nnav: [hours.md, {Rules: [storm.md, secret.md]}]\n---\n# H\n",
    "hours.md": "# Hours\n",
    "storm.md": "# Storm\n\n```yaml\nwind: 12 # too much\n```\n",
    "secret.md": "---\nclassification: secret\n---\n# Hidden away\n",
}


def test_x23_a_page_is_served_with_its_place_in_the_order(look: Serve) -> None:
    """X23. The list beside it, the way to it and its neighbours; a page that may not be shown is in none of them."""
    page = look(FILES).get("/storm", "text/html").text
    assert '<a href="/hours">Hours</a>' in page and "<span>Rules</span>" in page
    assert '<a href="/storm" aria-current="page">Storm</a>' in page
    assert '<a rel="prev" href="/hours"><span>Previous</span> Hours</a>' in page
    assert "Hidden away" not in page and "/secret" not in page


def test_code_of_a_page_that_is_served_has_colours(look: Serve) -> None:
    page = look(FILES).get("/storm", "text/html")
    assert '<span class="t">wind</span>' in page.text
    assert "style-src 'self'" in page["content-security-policy"] and "unsafe" not in page["content-security-policy"]


def test_a_site_without_an_order_has_no_list(serve: Serve) -> None:
    files = {**FILES, "index.md": "# Harbour\n"}
    page = serve(files).get("/storm", "text/html").text
    assert 'class="nav"' not in page and "Menu" not in page and 'class="next"' not in page


def test_a_site_below_a_prefix_leads_there(look: Serve) -> None:
    page = look(FILES, prefix="/docs").get("/docs/storm", "text/html").text
    assert 'href="/docs/hours"' in page and 'href="/hours"' not in page
