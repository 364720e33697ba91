"""What `prosa build` writes, on a host that only knows files: its links lead somewhere, and nothing complains."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from tests.browser.browsing import PHONE, Browsing
from tests.browser.looking import faint, too_wide

MOST = 60


class Quiet(SimpleHTTPRequestHandler):
    """A host of files that writes no log."""

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """The URL of a folder of files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_h8_every_link_of_a_built_site_leads_somewhere(browse: Browsing, built: Path):
    """H8."""
    with hosted(built) as url:
        page = browse.window(size=PHONE)
        waiting, seen = [f"{url}/"], set[str]()
        while waiting:
            at = waiting.pop()
            answer = page.goto(at)
            assert answer is not None and answer.ok, at
            seen.add(at)
            assert page.get_by_role("main").count() == 1
            found = [urljoin(at, each).partition("#")[0] for each in page.eval_on_selector_all(
                "a[href]:not([type])", "(all) => all.map((each) => each.getAttribute('href'))"
            )]  # fmt: skip
            new = {each for each in found if urlsplit(each).netloc == urlsplit(url).netloc} - seen
            waiting += new - set(waiting)
            assert len(seen) < MOST
        assert len({urlsplit(each).path for each in seen}) >= 14


def test_a_built_page_offers_what_it_can_do_alone(browse: Browsing, built: Path):
    """The text, its links and its other forms are there."""
    with hosted(built) as url:
        page = browse(f"{url}/booking.html", size=PHONE)
        assert page.get_by_role("search").count() == 1
        assert page.get_by_role("heading", level=1).inner_text().startswith("Booking")
        assert too_wide(page) == []
        assert faint(page) == {}
        page.get_by_role("main").get_by_role("link", name="timetable").first.click()
        assert "Ask for two harbours" in page.get_by_role("main").inner_text()
        answer = page.request.get(
            urljoin(page.url, page.get_by_role("link", name="Markdown").get_attribute("href") or "")
        )
        assert answer.text().startswith("---\n")


PICTURES = """() => Promise.all([...document.images].map((each) => {
  each.loading = "eager";
  return each.decode().then(() => each.naturalWidth > 0 ? "" : each.src, () => each.src);
}))"""
"""The addresses of pictures that do not come, however late they load."""


def test_h8_built_pages_work_from_a_disk(browse: Browsing, built: Path):
    """H8. They have their style and their pictures, and lead to one another, though nobody serves them."""
    start = (built / "index.html").as_uri()
    page = browse(start)
    assert page.evaluate("getComputedStyle(document.querySelector('header.top')).borderBottomStyle") == "solid"
    page.get_by_role("main").get_by_role("link").first.click()
    page.wait_for_url(lambda url: url.startswith("file:") and url != start)
    assert page.get_by_role("main").count() == 1
    for each in built.rglob("*.html"):
        if each.name != "404.html":
            page.goto(each.as_uri())
            assert "".join(page.evaluate(PICTURES)) == ""
