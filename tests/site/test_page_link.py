"""Where links lead: the short way over URLs that are plain says the same as RFC 3986 over all."""

from __future__ import annotations

from urllib.parse import urldefrag, urljoin, urlsplit

from hypothesis import example, given
from hypothesis import strategies as st

from prosa.site.node import led
from prosa.source import url as urls
from prosa.source.url import normal_url, origin_of

PARTS = [
    *"aZ9-_~.%2e%41 :@;=&*?#\\é\u2028/[]",
    "..",
    "../",
    "./",
    "//",
    "http:",
    "HTTPS://",
    "h.example",
    ":80",
    ":443",
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=9).map("".join)
ORIGINS = ("http://h.example", "https://H.example:443", "http://127.0.0.1:8000", "http://h:080", "https://u@h", "")
URLS = st.builds(str.__add__, st.sampled_from(ORIGINS), TEXTS)


def in_full(url: str) -> str:
    """The one spelling by the long way, an empty text for none."""
    kept, urls.is_normal = urls.is_normal, lambda url: False
    try:
        return normal_url(url)
    except ValueError:
        return ""
    finally:
        urls.is_normal = kept


def joined(base: str, href: str) -> str:
    try:
        return in_full(urldefrag(urljoin(base, href.strip()))[0])
    except ValueError:
        return ""


@given(URLS)
@example("http://h.example:80/a")
@example("https://h.example/a/../b")
def test_a_url_that_is_seen_to_be_normal_is(url: str):
    if urls.is_normal(url):
        assert in_full(url) == url


@given(URLS, TEXTS)
@example("http://h.example/a/b", "../../../c")
@example("http://h.example/a//b", "c/d.md#e")
@example("http://h.example/a/", "/c")
@example("http://h.example/a/b?q", "../c/")
def test_a_link_leads_where_rfc_3986_says(base: str, href: str):
    assert led(base, href) == joined(base, href)


@given(URLS)
@example("http://h\u2028example/")
def test_an_origin_is_that_of_the_whole_url(url: str):
    def found(of, url: str):
        try:
            return of(url)
        except ValueError:
            return None

    origin = found(origin_of, url)
    assert origin is None or (origin.scheme, origin.host) == (urlsplit(url).scheme, urlsplit(url).hostname)


def test_plain_links_take_the_short_way(monkeypatch):
    monkeypatch.setattr("prosa.site.node.urljoin", None)
    base = "http://h.example/guide/start.md"
    wanted = ["http://h.example/guide/a.md", "http://h.example/b/", "http://h.example/c.md"]
    assert [led(base, href) for href in ("a.md", "/b/", "../c.md#part")] == wanted
