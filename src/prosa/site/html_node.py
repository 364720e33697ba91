"""The Markdown behind a page of HTML (H8). In: the text of a page. Out: the address that its head names for Markdown,
and the Markdown in its `<pre>`, as the first site shows it.

Nothing of the page is run or shown. A page is read up to a limit; text outside `<pre>` is ignored.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from msgspec import Struct, field

from prosa.regex import regex

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
        told = parameters.lower()
        if re.search(r';\s*rel="?[^";]*\balternate\b', told) and re.search(r';\s*type="?text/markdown\b', told):
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
        stripped = (each.lstrip("\r\n") for each in every)
        return next((each for each in stripped if each.startswith("---")), "")


class _Reader(HTMLParser):
    """Keeps the first alternate and the texts of `<pre>`. A link in one becomes Markdown again, where the site has
    made an anchor of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = _Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found, values = self.found, {name: value or "" for name, value in attrs}
        if tag == "link" and not found.alternate and _is_alternate(values):
            found.alternate = values.get("href", "").strip()
        elif tag == "pre":
            found.depth += 1
        elif tag == "a" and found.depth:
            found.href, found.anchor_from = values.get("href", ""), len(found.texts)

    def handle_endtag(self, tag: str) -> None:
        found = self.found
        if tag == "a" and found.anchor_from >= 0:
            self._close_anchor()
        elif tag == "pre" and found.depth:
            found.depth -= 1
            if not found.depth:
                found.done.append("".join(found.texts))
                found.texts.clear()
                found.anchor_from = -1

    def handle_data(self, data: str) -> None:
        if self.found.depth:
            self.found.texts.append(data)

    def _close_anchor(self) -> None:
        found = self.found
        text = "".join(found.texts[found.anchor_from :])
        before = found.texts[found.anchor_from - 1] if found.anchor_from else ""
        # The brackets may be inside the anchor, or around it, or removed by the site.
        if found.href and "](" not in text and not before.endswith(("](", "[", "<")):
            found.texts[found.anchor_from :] = [f"[{text}]({found.href})"]
        found.anchor_from = -1


def _is_alternate(values: dict[str, str]) -> bool:
    kind = values.get("type", "").partition(";")[0].strip().lower()
    return "alternate" in values.get("rel", "").lower().split() and kind == MARKDOWN_TYPE
