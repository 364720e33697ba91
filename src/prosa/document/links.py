"""Links, images, wikilinks and link definitions made of what the walk found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyromark
from msgspec import Struct

from prosa.document.model import Link, LinkDefinition, LinkForm, Wikilink
from prosa.document.walk import OPTIONS, FoundLink, Parsed
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.document.events import LinkTag

_LABEL = regex(r"\[(?:[^\[\]\\]|\\.)*\]:", re.DOTALL)

_FOOTNOTES = regex(r"\[\^(?<!\\\[\^)[^\s\[\]\\]+\]:")
"""What defines a footnote, and nothing else: the parser takes it for no link definition, wherever it stands. It begins
with two signs, which a search jumps to; what stands before them is checked then."""

_NO_TARGET = regex(r"[\[\]`]")
"""Signs that the parser took the brackets of something else for a wikilink: such a thing names no file."""

_CODE = regex(r"(?<!`)(`+)(?!`)[^`]+\1(?!`)")
"""Code in a heading: `[[a#`b`]]` leads to the heading `b`."""

_BLOCK = regex(r"([^^\n]+)(\^[A-Za-z0-9-]+)\s*")
"""A document and a block of it; no file name that a wikilink can name holds a circumflex."""

_FORMS: dict[str, LinkForm] = {"Inline": "inline", "Autolink": "autolink", "Email": "autolink"}
"""Every other type of the parser is some kind of reference."""


def links(parsed: Parsed, *, images: bool) -> tuple[Link, ...]:
    """Return the links, or the images; wikilinks are neither."""
    return tuple(
        _link(parsed, link, kind)
        for link in parsed.found.links
        if link.image is images and isinstance(kind := link.tag["link_type"], str)
    )


class InlinePlace(Struct, frozen=True):
    """Where a link or image is written in place. ``start`` and ``end`` are the offsets of its destination, or of all of
    it where that cannot be told; ``at`` is where it begins. ``empty`` is true if it shows nothing."""

    destination: str
    start: int
    end: int
    at: int
    image: bool
    empty: bool


def inline_place(parsed: Parsed, found_link: FoundLink, wanted: Callable[[str], bool]) -> InlinePlace | None:
    """Return the place of an inline link or image whose destination is ``wanted``, without making the link; None for
    any other. If parts of the text were hidden from the parser, it may not know the destination before the link is
    made."""
    tag = found_link.tag
    if tag["link_type"] != "Inline" or not (parsed.masked or wanted(tag["dest_url"])):
        return None
    text, base, offset = parsed.text, parsed.base, parsed.bytes.offset_of_byte
    destination = tag["dest_url"]
    start, end, mark = offset(found_link.where["start"]), offset(found_link.where["end"]), offset(found_link.text_end)
    mark = text.find("](", mark, end)
    stop = mark + 2 + len(destination)
    usual = mark >= 0 and destination[:1] not in _UNUSUAL and stop < end and text[stop] in _ENDS
    if usual and not parsed.masked and text.startswith(destination, mark + 2):
        empty = mark == start + (2 if found_link.image else 1)
        return InlinePlace(destination, base + mark + 2, base + stop, base + start, found_link.image, empty)
    link = _link(parsed, found_link, "Inline")
    if parsed.masked and not wanted(link.destination):
        return None
    span = link.destination_span or link.span
    return InlinePlace(
        link.destination, span.start, span.end, link.span.start, found_link.image, len(link.text_span) == 0
    )


_UNUSUAL = frozenset(("", "<", *" \t\f\v\r\n"))
"""What a destination begins with that is not written right behind the parenthesis, as it is."""


def wikilinks(parsed: Parsed) -> tuple[Wikilink, ...]:
    """Return the wikilinks, embeds among them."""
    return tuple(_wikilinks(parsed))


def definitions(parsed: Parsed) -> tuple[LinkDefinition, ...]:
    """Return the link definitions that count: the first of each label."""
    text = parsed.text
    if ":" not in text or (many := text.count("]:")) == 0:
        return ()
    if many == len(parsed.found.footnotes) or many == len(_FOOTNOTES.findall(text)):
        return ()  # the parser would read the whole text again
    rows = pyromark.reference_definitions(text, options=OPTIONS)
    made = []
    for label, row in rows.items():
        span = parsed.block(row["span"])
        written = _defined_at(parsed, span, row["dest"])
        destination = row["dest"] if written is None else parsed.shown(row["dest"], written)
        made.append(LinkDefinition(label, destination, span, row["title"] or "", written))
    return tuple(made)


def _link(parsed: Parsed, link: FoundLink, kind: str) -> Link:
    span = parsed.span(link.where)
    text = Span(span.start + (2 if link.image else 1), parsed.place(link.text_end))
    destination, title = link.tag["dest_url"], link.tag["title"]
    form: LinkForm = _FORMS.get(kind, "reference")
    if form == "reference":
        return Link(form, destination, title, span, text, None, _label(parsed, kind, text, span))
    if form == "autolink":
        shown = parsed.shown(destination, text)
        return Link(form, f"mailto:{shown}" if kind == "Email" else shown, title, span, text, text)
    return _inline(parsed, link.tag, span, text)


def _inline(parsed: Parsed, tag: LinkTag, span: Span, text: Span) -> Link:
    """Return an inline link. The parser's own view of the text is searched: hidden parts hold no brackets there."""
    base, end = parsed.base, span.end - parsed.base
    destination = tag["dest_url"]
    at = parsed.text.find("](", text.end - base, end)
    written = destination_at(parsed.text, at + 2, end, destination) if at >= 0 else None
    if written is not None:
        text = Span(text.start, at + base)
        written = written.shift(base)
        destination = parsed.shown(destination, written)
    return Link("inline", destination, tag["title"], span, text, written)


def _defined_at(parsed: Parsed, span: Span, destination: str) -> Span | None:
    label = _LABEL.match(parsed.text, span.start - parsed.base, span.end - parsed.base)
    written = destination_at(parsed.text, label.end(), span.end - parsed.base, destination) if label else None
    return written.shift(parsed.base) if written is not None else None


def _label(parsed: Parsed, link_type: str, text: Span, span: Span) -> str:
    """Return the label as written: between the second brackets, or the text itself where there is no second label."""
    if link_type.startswith("Reference"):
        return parsed.source.text[text.end + 2 : span.end - 1]
    return parsed.source.slice(text)


def _wikilinks(parsed: Parsed) -> Iterator[Wikilink]:
    for link in parsed.found.links:
        if isinstance(link.tag["link_type"], str):
            continue
        span = parsed.span(link.where)
        written = span.of(parsed.source.text)
        target, bar, label = written[3 if link.image else 2 : -2].partition("|")
        if _is_no_target(target) or not written.startswith("[[", link.image):
            continue
        target, part = wikilink_target(target.removesuffix("\\") if bar else target)  # in a table the bar is `\|`
        yield Wikilink(target, label if bar else None, part, link.image, span)


def _is_no_target(written: str) -> bool:
    name, _, heading = written.partition("#")
    return _NO_TARGET.search(name + _CODE.sub("", heading)) is not None


def wikilink_target(written: str) -> tuple[str, str | None]:
    """Return the target of `target#fragment`, and its fragment, None without one. A block is referenced as
    `target#^id` or `target^id`; its fragment begins with `^`."""
    target, mark, fragment = written.partition("#")
    if not mark and (short := _BLOCK.fullmatch(written)):
        target, fragment = short[1], short[2]
    return _one_line(target), _one_line(fragment) if mark or fragment else None


def _one_line(text: str) -> str:
    """Without blank space around it; a line end inside counts as a space, as everywhere in running text."""
    return " ".join(text.split()) if "\n" in text or "\r" in text else text.strip()


# Where a link writes its destination: the grammar of CommonMark 6.3 and 4.7, applied to one place of a text.  In: a
# text, the place behind `](` or `]:`, and the destination as the parser decoded it. Out: the span of the destination
# as written, without angle brackets around it. It decides nothing about structure: that there is a link, and its
# destination, is known.

_GAP = regex(r"[ \t\f\v]*(?:(?:\r\n|\n|\r)[ \t\f\v>]*)?")
"""Blank space with at most one line end, behind which the marks of quotations are no part of the destination."""

_ANGLE = regex(r"<((?:[^<>\\\r\n]|\\[^\r\n])*)>")
_PLAIN = regex(r"(?:[^\x00-\x20\x7f()\\]|\\[^\x00-\x20\x7f]|\\)+")
_ENDS = frozenset(" \t\f\v\r\n)")


def destination_at(text: str, start: int, end: int, destination: str) -> Span | None:
    """Return the span of ``destination`` in ``text``, which starts at ``start`` or after blank space, and ends by
    ``end``."""
    gap = _GAP.match(text, start, end)
    start = gap.end() if gap else start
    if text.startswith("<", start):
        angle = _ANGLE.match(text, start, end)
        return Span(*angle.span(1)) if angle else None
    stop = start + len(destination)
    if destination and text.startswith(destination, start) and (stop >= end or text[stop] in _ENDS):
        return Span(start, min(stop, end))  # the common case: nothing escaped
    return Span(start, _end_of_plain(text, start, end))


def _end_of_plain(text: str, start: int, end: int) -> int:
    """Return where a destination without angle brackets ends: at blank space, or at a parenthesis that it did not
    open."""
    depth = 0
    while start < end:
        if text[start] == "(":
            depth += 1
        elif text[start] == ")":
            depth -= 1
            if depth < 0:
                break
        else:
            run = _PLAIN.match(text, start, end)
            if run is None:
                break
            start = run.end() - 1
        start += 1
    return start
