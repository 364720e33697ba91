"""HTML of a document, and Markdown that a model wrote, made harmless: an allow-list of elements and attributes (HW3).

Every element is closed, every address was checked, and ids, classes and labels are the writer's own: their values start
with a key that the author cannot have known, which is removed. Text of a model has only absolute links and no pictures:
these would make a reader's browser contact other hosts.
"""

from __future__ import annotations

from collections.abc import Callable
from re import Match

import nh3

from prosa.regex import regex
from prosa.render.page.model import SCHEMES, Href, is_external, link_url, picture_url
from prosa.render.page.writer import write

OUTSIDE = "noopener noreferrer nofollow ugc"
"""`rel` of a link that leaves the site: the site does not vouch for what a document points at."""

_NAMES = """
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption
    figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub
    summary sup table tbody td tfoot th thead time tr u ul var wbr"""
_TAGS = frozenset(_NAMES.split())
_ATTRIBUTES = {
    "*": {"id", "class", "tabindex", "role", "aria-label", "title", "lang", "dir"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "loading"},
    "input": {"checked"},
    "ol": {"start", "reversed"},
    "li": {"value"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    "details": {"open"},
    "time": {"datetime"},
}
_FORCED = {"a": {"rel": OUTSIDE}, "input": {"type": "checkbox", "disabled": "", "aria-label": "Task"}}
_OURS = frozenset({"id", "class", "tabindex", "role", "loading"})
_NUMBERS = frozenset({"width", "height", "start", "value", "colspan", "rowspan"})
_NUMBER = regex(r"[0-9]{1,9}")
_LANGUAGE = regex(r"language-[A-Za-z0-9_+#.-]{1,40}")
_INPUT = regex(r'<input((?: [a-z-]+="[^"]*")+)>')
_ATTRIBUTE = regex(r' [a-z-]+="[^"]*"')

Cleaner = Callable[[str], str]
Filter = Callable[[str, str, str], str | None]


class _Reused:
    """The library's cleaner, which takes longer to make than to clean a page; ``check`` is the filter of the text at
    hand."""

    __slots__ = ("check", "made")

    def __init__(self) -> None:
        self.check: Filter = _refused
        self.made = nh3.Cleaner(
            tags=_TAGS,
            clean_content_tags=set(),
            attributes=_ATTRIBUTES,
            attribute_filter=self.passed,
            link_rel=None,
            set_tag_attribute_values=_FORCED,
            url_schemes={*SCHEMES, "data"},
        )

    def passed(self, tag: str, name: str, value: str) -> str | None:
        """Return what the filter of now makes of an attribute."""
        return self.check(tag, name, value)


_free: list[_Reused] = []
"""Idle cleaners: each thread takes one, and returns it."""


def _refused(_: str, __: str, ___: str) -> None:
    """No attribute passes."""


def cleaner(key: str, link: Href, embed: Href) -> Cleaner:
    """Return a cleaner of HTML whose trusted values start with ``key``; ``link`` and ``embed`` resolve addresses."""
    check = _filter(key, link, embed)

    def clean(html: str) -> str:
        try:
            used = _free.pop()
        except IndexError:
            used = _Reused()
        used.check = check
        try:
            return _INPUT.sub(_in_order, used.made.clean(html))
        finally:
            used.check = _refused
            _free.append(used)

    return clean


def _in_order(tag: Match[str]) -> str:
    """Return an `input` with its attributes sorted: the library orders the forced ones differently in each process."""
    return f"<input{''.join(sorted(_ATTRIBUTE.findall(tag[1])))}>"


def _filter(key: str, link: Href, embed: Href) -> Filter:
    leads_out: bool | None = None  # of the current link; its forced `rel` comes last

    def checked(tag: str, name: str, value: str) -> str | None:
        nonlocal leads_out
        if name == "rel":
            kept, leads_out = (value if leads_out else None), None
            return kept
        if value.startswith(key):
            return value[len(key) :]
        if name == "href":
            url = link_url(link(value))
            leads_out = is_external(url)
            return url if url or not value else None
        if name == "src":
            return picture_url(embed(value)) or None
        return _plain(tag, name, value)

    return checked


def _plain(tag: str, name: str, value: str) -> str | None:
    """Return an attribute that is neither an address nor ours."""
    if name == "class":
        return value if tag == "code" and _LANGUAGE.fullmatch(value) else None
    if name == "aria-label":
        return value if tag == "input" else None  # the forced one
    if name in _OURS:
        return None
    if name in _NUMBERS:
        return value if _NUMBER.fullmatch(value) else None
    return value


def safe_html(markdown_text: str) -> str:
    """Return the fragment: headings without ids, pictures as links to them."""
    written = write(markdown_text, link=_outside, embed=_nothing, scope="result:")
    clean = cleaner(written.key, _outside, _nothing)
    return "".join(clean(piece) for piece in written.pieces if isinstance(piece, str))


def _outside(destination: str) -> str:
    return destination if is_external(destination) else ""


def _nothing(_: str) -> str:
    return ""
