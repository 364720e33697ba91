"""An answer of a site in any form, read as a node (H8, HA8): Markdown, JSON, or the Markdown behind a page of HTML.

Nothing is requested here. Nothing of a page is run or shown; it is read up to a limit, and text outside `<pre>` is
ignored. A page that names another address for its Markdown is an `Elsewhere`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import JsonError, parse_json
from prosa.regex import regex
from prosa.site.node import SiteNode, is_node_json, led, node_of_json, node_of_text, same_site
from prosa.site.values import is_json

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
    fields, kind = headers or {}, media_type.partition(";")[0].strip().lower()
    if is_json(kind):
        return _of_json(content, url)
    if kind in _HTML:
        return _of_html(content, url, fields)
    if not (kind.startswith("text/") or "markdown" in kind or kind in _UNNAMED):
        raise NoNode(f"is {kind}, not Markdown")
    if b"\0" in content:
        raise NoNode(f"claims to be {kind or 'text'}, and is not")
    place = led(url, fields["content-location"]) if fields.get("content-location") else ""
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
        raise NoNode("claims to be JSON, and is not") from None
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


MAX_HTML = 2 * 1024 * 1024
"""Characters of a page that are read."""

_STEP = 64 * 1024
"""Characters that are handed to the reader of HTML at once."""

MAX_PENDING = 4 * _STEP
"""Maximum length of one tag: the reader scans an open one again with every step."""

_LINK = regex(r"<([^<>]{1,2000})>([^<>]{0,1000})")
MARKDOWN_TYPE = "text/markdown"


class HtmlPage(Struct, frozen=True):
    """``alternate`` is the page's address for its Markdown, as written; ``pre`` the text of its first `<pre>` that
    starts with front matter. Both may be empty."""

    alternate: str
    pre: str


def read_html(text: str) -> HtmlPage:
    """Return the addresses of Markdown in a page of HTML. Never fails."""
    reader = _Reader()
    for start in range(0, min(len(text), MAX_HTML), _STEP):
        reader.feed(text[start : min(start + _STEP, MAX_HTML)])
        if len(reader.rawdata) > MAX_PENDING:
            break
    return HtmlPage(reader.found.alternate, reader.found.markdown())


def linked_markdown(header: str) -> str:
    """Return the destination that an HTTP `Link` header names for the Markdown of a page (RFC 8288); empty without
    one."""
    for target, parameters in _LINK.findall(header[:MAX_PENDING]):
        lowered = parameters.lower()
        if re.search(r';\s*rel="?[^";]*\balternate\b', lowered) and re.search(r';\s*type="?text/markdown\b', lowered):
            return str(target).strip()
    return ""


class _Found(Struct):
    alternate: str = ""
    texts: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    depth: int = 0
    href: str = ""
    anchor_from: int = -1

    def markdown(self) -> str:
        every = (*self.done, "".join(self.texts))
        stripped = (text.lstrip("\r\n") for text in every)
        return next((text for text in stripped if text.startswith("---")), "")


class _Reader(HTMLParser):
    """Keeps the first alternate and the texts of `<pre>`. A link in one becomes Markdown again, where the site has
    made an anchor of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = _Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        state, values = self.found, {name: value or "" for name, value in attrs}
        if tag == "link" and not state.alternate and _is_alternate(values):
            state.alternate = values.get("href", "").strip()
        elif tag == "pre":
            state.depth += 1
        elif tag == "a" and state.depth:
            state.href, state.anchor_from = values.get("href", ""), len(state.texts)

    def handle_endtag(self, tag: str) -> None:
        state = self.found
        if tag == "a" and state.anchor_from >= 0:
            self._close_anchor()
        elif tag == "pre" and state.depth:
            state.depth -= 1
            if not state.depth:
                state.done.append("".join(state.texts))
                state.texts.clear()
                state.anchor_from = -1

    def handle_data(self, data: str) -> None:
        if self.found.depth:
            self.found.texts.append(data)

    def _close_anchor(self) -> None:
        state = self.found
        text = "".join(state.texts[state.anchor_from :])
        before = state.texts[state.anchor_from - 1] if state.anchor_from else ""
        # The brackets may be inside the anchor, or around it, or removed by the site.
        if state.href and "](" not in text and not before.endswith(("](", "[", "<")):
            state.texts[state.anchor_from :] = [f"[{text}]({state.href})"]
        state.anchor_from = -1


def _is_alternate(values: dict[str, str]) -> bool:
    kind = values.get("type", "").partition(";")[0].strip().lower()
    return "alternate" in values.get("rel", "").lower().split() and kind == MARKDOWN_TYPE
