"""An answer of a site in any form, read as a node (H8, HA8). In: its bytes, media type and headers. Out: a `SiteNode`,
or the `Elsewhere` that a page of HTML names for its Markdown, or `NoNode`. Nothing is requested here."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import JsonError, parse_json
from prosa.site.body import is_json
from prosa.site.html_node import linked_markdown, read_html
from prosa.site.node import SiteNode, is_node_json, node_of_json, node_of_text
from prosa.site.page_link import led, same_site

NODE_FORMS = "text/markdown, application/json;q=0.8, text/plain;q=0.5, */*;q=0.1"
"""Markdown first; the answer of a site without negotiation is read in any form (H8, HA8)."""

IN_PRE = "the page is HTML; its Markdown was taken from its `<pre>`"
NOT_UTF8 = "the page is not UTF-8; what cannot be read is shown as \N{REPLACEMENT CHARACTER}"

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_UNNAMED = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""What servers say that do not know the suffix `.md`."""


class Elsewhere(Struct, frozen=True):
    """The Markdown of a page is at another URL of its site."""

    url: str


class NoNode(ValueError):
    """An answer that is no node. The message is the rest of a sentence that starts with the URL."""


def read_page(
    content: bytes, media_type: str, url: str, headers: Mapping[str, str] | None = None
) -> SiteNode | Elsewhere:
    """Return the node in an answer. Raises `NoNode`. ``headers`` have names in lower case."""
    said, kind = headers or {}, media_type.partition(";")[0].strip().lower()
    if is_json(kind):
        return _of_json(content, url)
    if kind in _HTML:
        return _of_html(content, url, said)
    if not (kind.startswith("text/") or "markdown" in kind or kind in _UNNAMED) or b"\0" in content:
        raise NoNode(f"is {kind or 'no text'}, not Markdown")
    place = led(url, said["content-location"]) if said.get("content-location") else ""
    node = node_of_text(_decoded(content), url, url=url, md_url=place if same_site(place, url) else url)
    return _noted(node, content)


def is_only_text(node: SiteNode, media_type: str) -> bool:
    """Return whether a page is some text that does not say it is Markdown: no front matter, no type, no name of one."""
    kind = media_type.partition(";")[0].strip().lower()
    named = node.url.partition("?")[0].lower().endswith((".md", ".markdown"))
    return node.form == "markdown" and "markdown" not in kind and not named and not node.markdown.startswith("---")


def _of_json(content: bytes, url: str) -> SiteNode:
    try:
        value = parse_json(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, JsonError):
        raise NoNode("says it is JSON, and cannot be read as that") from None
    if not is_node_json(value):
        raise NoNode("is JSON, but no node: it has none of `id`, `type`, `title`, `md_url`, `meta`, `actions`")
    node = node_of_json(value, url, url=url)
    return node if same_site(node.md_url, url) else replace(node, md_url=url)


def _of_html(content: bytes, url: str, headers: Mapping[str, str]) -> SiteNode | Elsewhere:
    page = read_html(_decoded(content))
    named = linked_markdown(headers.get("link", "")) or page.alternate
    place = led(url, named) if named else ""
    if place and place != url and same_site(place, url):
        return Elsewhere(place)
    if not page.pre:
        foreign = " on its own site" if place else ""
        raise NoNode(f"is HTML, and names no Markdown{foreign}")
    node = node_of_text(page.pre, url, url=url, form="html")
    return _noted(replace(node, notes=(IN_PRE, *node.notes)), content)


def _noted(node: SiteNode, content: bytes) -> SiteNode:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return replace(node, notes=(*node.notes, NOT_UTF8))
    return node


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")
