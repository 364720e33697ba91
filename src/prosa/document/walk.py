"""One pass over the parser's events, which only sorts them: what was found, by kind, in the parser's own terms.

In: the text of a body. Out: `Found`. Ranges stay UTF-8 bytes and nothing is built, because this loop sees every event
of every document; elements are made of it when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pyromark

if TYPE_CHECKING:
    from pyromark.event import Range

OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_WIKILINKS
)
"""GFM plus footnotes and wikilinks. Metadata blocks and heading attributes stay off: both would take text away."""

_CONTAINERS = {"BlockQuote": "quote", "List": "list", "FootnoteDefinition": "footnote", "Table": "table"}

Piece: TypeAlias = "tuple[str, str, Range]"
"""An event inside a block: its kind, its text and where it is."""


@dataclass(slots=True)
class FoundHeading:
    """``outer`` is the outermost block around it, or None; ``end`` where its last piece ends."""

    level: int
    where: Range
    pieces: list[Piece]
    end: int
    outer: Range | None


@dataclass(slots=True)
class FoundCode:
    """A code block; ``info`` is None where it is indented."""

    info: str | None
    where: Range
    pieces: list[Piece]
    containers: tuple[str, ...]


@dataclass(slots=True)
class FoundLink:
    """A link, image or wikilink. ``text_end`` is where its text ends."""

    tag: dict[str, Any]
    where: Range
    text_end: int
    image: bool


@dataclass(slots=True)
class Found:
    """Everything one walk found, each list in document order."""

    headings: list[FoundHeading] = field(default_factory=list)
    paragraphs: list[tuple[Range, bool]] = field(default_factory=list)
    code_blocks: list[FoundCode] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    quotes: list[Range] = field(default_factory=list)
    lists: list[Range] = field(default_factory=list)
    items: list[Range] = field(default_factory=list)
    footnotes: list[tuple[str, Range]] = field(default_factory=list)
    footnote_references: list[tuple[str, Range]] = field(default_factory=list)
    brackets: list[Range] = field(default_factory=list)
    code_spans: list[tuple[str, Range]] = field(default_factory=list)
    html_blocks: list[tuple[Range, list[Piece]]] = field(default_factory=list)
    inline_html: list[tuple[str, Range]] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    """Where a walk stands: the containers around it, the links it is in, the block whose pieces are collected."""

    found: Found
    containers: list[str] = field(default_factory=list)
    outer: Range | None = None
    opened: list[FoundLink] = field(default_factory=list)
    pieces: list[Piece] | None = None


def walk(text: str) -> Found:
    """What the parser finds in ``text``."""
    found = Found()
    state = _Walk(found)
    leaves: dict[str, Callable[[tuple[str, Range]], None]] = {
        "Code": found.code_spans.append,
        "InlineHtml": found.inline_html.append,
        "FootnoteReference": found.footnote_references.append,
    }
    brackets = found.brackets if "[^" in text else None
    last: Range = {"start": 0, "end": 0}
    events: Iterator[tuple[Any, Range]] = pyromark.events_with_range(text, options=OPTIONS)
    for event, where in events:
        if isinstance(event, str):  # a line break, or a rule between blocks
            if state.pieces is not None:
                state.pieces.append((event, " ", where))
        else:
            kind, value = event.popitem()  # the event is ours alone, and this is the quickest look
            if kind == "Start":
                _start(state, value, where)
            elif kind == "End":
                last = _end(state, value, where, last)
                continue
            else:
                if kind in leaves:
                    leaves[kind]((value, where))
                elif brackets is not None and value == "[":
                    brackets.append(where)
                if state.pieces is not None:
                    state.pieces.append((kind, value, where))
        last = where
    return found


def _start(state: _Walk, tag: Any, where: Range) -> None:
    name: str = tag
    value: Any = None
    if not isinstance(tag, str):
        name, value = tag.popitem()
    if state.pieces is not None:  # inside a heading
        state.pieces.append((name, "", where))
    if name == "Link" or name == "Image":
        link = FoundLink(value, where, where["start"], name == "Image")
        state.found.links.append(link)
        state.opened.append(link)
    elif name == "Paragraph":
        state.found.paragraphs.append((where, state.outer is not None))
    elif name == "Item":
        state.found.items.append(where)
    elif name in _CONTAINERS:
        _container(state, name, value, where)
    elif name in _BLOCKS:
        state.pieces = []
        _BLOCKS[name](state, value, where, state.pieces)


def _end(state: _Walk, tag: Any, where: Range, last: Range) -> Range:
    """Close what ends at an event; the answer is the range that counts as the last one seen."""
    name = tag if isinstance(tag, str) else next(iter(tag))
    if name == "Link" or name == "Image":
        return _end_link(state, where, last)
    if name in _CONTAINERS:
        state.containers.pop()
        if not state.containers:
            state.outer = None
    elif name in _BLOCKS:
        if name == "Heading" and state.pieces:
            state.found.headings[-1].end = last["end"]
        state.pieces = None
    return where


def _end_link(state: _Walk, where: Range, last: Range) -> Range:
    link = state.opened.pop()
    if last is link.where:  # nothing between the brackets
        link.text_end += 2 if link.image else 1
    else:
        link.text_end = last["end"]
    if link.tag["link_type"] == "Collapsed":  # the parser leaves the empty brackets out
        where = {"start": where["start"], "end": where["end"] + 2}
        link.where = where
    return where


def _container(state: _Walk, name: str, value: Any, where: Range) -> None:
    if not state.containers:
        state.outer = where
    state.containers.append(_CONTAINERS[name])
    if name == "BlockQuote":
        state.found.quotes.append(where)
    elif name == "List":
        state.found.lists.append(where)
    elif name == "FootnoteDefinition":
        state.found.footnotes.append((value, where))


def _heading(state: _Walk, value: Any, where: Range, pieces: list[Piece]) -> None:
    level = int(value["level"][1:])
    state.found.headings.append(FoundHeading(level, where, pieces, where["start"], state.outer))


def _code_block(state: _Walk, value: Any, where: Range, pieces: list[Piece]) -> None:
    info = value["Fenced"] if isinstance(value, dict) else None
    state.found.code_blocks.append(FoundCode(info, where, pieces, tuple(state.containers)))


def _html_block(state: _Walk, _: Any, where: Range, pieces: list[Piece]) -> None:
    state.found.html_blocks.append((where, pieces))


_BLOCKS: dict[str, Callable[[_Walk, Any, Range, list[Piece]], None]] = {
    "Heading": _heading,
    "CodeBlock": _code_block,
    "HtmlBlock": _html_block,
}
"""The blocks whose pieces are collected."""
