"""One pass over the parser's events, which only sorts them: what was found, by kind, in the parser's own terms. Parts
that are not Markdown are masked by filler of the same length before, so that every offset stays true."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import pyromark
from msgspec import Struct, field

from prosa.regex import regex
from prosa.source import LineIndex, SourceText, Span

if TYPE_CHECKING:
    from pyromark.event import Range

    from prosa.document.events import Detail, Event, FencedCode, HeadingTag, LinkTag

T = TypeVar("T")

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


def moved_pieces(pieces: Sequence[Piece], by: int) -> list[Piece]:
    """Return the pieces of a block that lies so many bytes further on."""
    return [(kind, text, {"start": at["start"] + by, "end": at["end"] + by}) for kind, text, at in pieces]


class FoundHeading(Struct):
    """``outer`` is the outermost block around it, or None; ``end`` where its last piece ends. Its pieces lie ``moved``
    bytes further on than they say: few who ask want to know where (`document.rewalk`)."""

    level: int
    where: Range
    pieces: list[Piece]
    end: int
    outer: Range | None
    moved: int = 0


class FoundCode(Struct):
    """A code block; ``info`` is None where it is indented."""

    info: str | None
    where: Range
    pieces: list[Piece]
    containers: tuple[str, ...]


class FoundLink(Struct):
    """A link, image or wikilink. ``text_end`` is where its text ends."""

    tag: LinkTag
    where: Range
    text_end: int
    image: bool


class WalkResult(Struct):
    """Everything one walk found, each list in document order. ``paragraphs``, of which there are most, may be made of
    those of an earlier text (`document.rewalk`)."""

    headings: list[FoundHeading] = field(default_factory=list)
    paragraphs: Sequence[tuple[Range, bool]] = field(default_factory=list)
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

    def in_code(self, byte: int) -> bool:
        """Return whether a byte lies in code."""
        return _is_in(self.code_blocks, lambda code: code.where, byte) or _is_in(self.code_spans, _where, byte)

    def in_html(self, byte: int) -> bool:
        """Return whether a byte lies in HTML."""
        return _is_in(self.html_blocks, lambda block: block[0], byte) or _is_in(self.inline_html, _where, byte)


def _is_in(items: Sequence[T], where: Callable[[T], Range], byte: int) -> bool:
    """Return whether a byte lies in one of some ranges that stand in order, none in another."""
    at = bisect_right(items, byte, key=lambda item: where(item)["start"]) - 1
    return at >= 0 and byte < where(items[at])["end"]


def _where(item: tuple[str, Range]) -> Range:
    return item[1]


class _WalkState(Struct):
    """The state of a walk: the ``paragraphs`` of what it found, the containers around it, the links it is in, the block
    whose pieces are collected."""

    found: WalkResult
    paragraphs: list[tuple[Range, bool]]
    containers: list[str] = field(default_factory=list)
    outer: Range | None = None
    opened: list[FoundLink] = field(default_factory=list)
    pieces: list[Piece] | None = None


def walk(text: str, *, footnotes: bool = False) -> WalkResult:
    """Return what the parser finds in ``text``; with ``footnotes`` it is part of one that has some."""
    paragraphs: list[tuple[Range, bool]] = []
    result = WalkResult(paragraphs=paragraphs)
    state = _WalkState(result, paragraphs)
    leaves: dict[str, Callable[[tuple[str, Range]], None]] = {
        "Code": result.code_spans.append,
        "InlineHtml": result.inline_html.append,
        "FootnoteReference": result.footnote_references.append,
    }
    brackets = result.brackets if footnotes or ("^" in text and "[^" in text) else None
    pieces: list[Piece] | None = None  # those of the state: only what starts and ends changes them
    last: Range = {"start": 0, "end": 0}
    events = cast("Iterator[tuple[Event, Range]]", pyromark.events_with_range(text, options=OPTIONS))
    for event, where in events:
        if type(event) is str:  # a line break, or a rule between blocks
            if pieces is not None:
                pieces.append((event, " ", where))
        elif "Text" in event:  # most events are
            if pieces is not None:
                pieces.append(("Text", event["Text"], where))
            if brackets is not None and event["Text"] == "[":
                brackets.append(where)
        else:
            kind, value = event.popitem()  # only Prosa emits this event, and this is the fastest test
            if kind == "Start":
                name, detail = (value, None) if type(value) is str else value.popitem()
                if pieces is not None:  # inside a heading
                    pieces.append((name, "", where))
                if name in _STARTS:
                    _STARTS[name](state, name, detail, where)
                    pieces = state.pieces
            elif kind == "End":
                name = value if type(value) is str else next(iter(value))
                if name in _ENDS:
                    where = _ENDS[name](state, where, last)  # the range that counts as the last one
                    pieces = state.pieces
            else:
                if kind in leaves:
                    leaves[kind]((value, where))
                if pieces is not None:
                    pieces.append((kind, value, where))
        last = where
    return result


def _paragraph(state: _WalkState, _: str, __: Detail, where: Range) -> None:
    state.paragraphs.append((where, state.outer is not None))


def _item(state: _WalkState, _: str, __: Detail, where: Range) -> None:
    state.found.items.append(where)


def _link(state: _WalkState, name: str, value: LinkTag, where: Range) -> None:
    link = FoundLink(value, where, where["start"], name == "Image")
    state.found.links.append(link)
    state.opened.append(link)


def _end_link(state: _WalkState, where: Range, last: Range) -> Range:
    link = state.opened.pop()
    if last is link.where:  # nothing between the brackets
        link.text_end += 2 if link.image else 1
    else:
        link.text_end = last["end"]
    if link.tag["link_type"] == "Collapsed":  # the parser leaves the empty brackets out
        where = {"start": where["start"], "end": where["end"] + 2}
        link.where = where
    return where


def _container(state: _WalkState, name: str, value: Detail, where: Range) -> None:
    if not state.containers:
        state.outer = where
    state.containers.append(_CONTAINERS[name])
    if name == "BlockQuote":
        state.found.quotes.append(where)
    elif name == "List":
        state.found.lists.append(where)
    elif isinstance(value, str):  # the label of a footnote
        state.found.footnotes.append((value, where))


def _end_container(state: _WalkState, where: Range, _: Range) -> Range:
    state.containers.pop()
    if not state.containers:
        state.outer = None
    return where


def _heading(state: _WalkState, _: str, value: HeadingTag, where: Range) -> None:
    state.pieces = []
    level = int(value["level"][1:])
    state.found.headings.append(FoundHeading(level, where, state.pieces, where["start"], state.outer))


def _end_heading(state: _WalkState, where: Range, last: Range) -> Range:
    if state.pieces:
        state.found.headings[-1].end = last["end"]
    return _end_block(state, where, last)


def _code_block(state: _WalkState, _: str, value: FencedCode | str, where: Range) -> None:
    state.pieces = []
    info = value["Fenced"] if isinstance(value, dict) else None
    state.found.code_blocks.append(FoundCode(info, where, state.pieces, tuple(state.containers)))


def _html_block(state: _WalkState, _: str, __: Detail, where: Range) -> None:
    state.pieces = []
    state.found.html_blocks.append((where, state.pieces))


def _end_block(state: _WalkState, where: Range, _: Range) -> Range:
    state.pieces = None
    return where


_STARTS = cast(
    "dict[str, Callable[[_WalkState, str, Detail, Range], None]]",  # each gets the detail of its names
    {
        "Paragraph": _paragraph,
        "Item": _item,
        **dict.fromkeys(("Link", "Image"), _link),
        **dict.fromkeys(_CONTAINERS, _container),
        "Heading": _heading,
        "CodeBlock": _code_block,
        "HtmlBlock": _html_block,
    },
)
"""Handlers of start events; emphasis and table rows, for example, are skipped."""

_ENDS: dict[str, Callable[[_WalkState, Range, Range], Range]] = {
    **dict.fromkeys(("Link", "Image"), _end_link),
    **dict.fromkeys(_CONTAINERS, _end_container),
    "Heading": _end_heading,
    **dict.fromkeys(("CodeBlock", "HtmlBlock"), _end_block),
}
"""Handlers of end events, called with its range and the previous one; the result counts as the last one seen."""


# Masking: parts that are not Markdown are replaced by filler of the same length, so every offset stays true.

_FILLER = "x"
"""A letter: it is part of a word and has no other meaning. Filler has as many characters as the text it hides."""

_SURROGATE = regex("[\ud800-\udfff]")


def mask(text: str, spans: Sequence[Span]) -> str:
    """Return ``text`` with every span filled. Spans are ordered and do not overlap; line ends inside them are kept."""
    if not spans:
        return text
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], _fill(span.of(text)))
        done = span.end
    return "".join((*pieces, text[done:]))


def encodable(text: str) -> str:
    """Return ``text`` with lone surrogates replaced by U+FFFD, which takes as many bytes; parsers refuse surrogates."""
    try:
        _ = text.isascii() or text.encode()  # quicker than to search, and few texts hold any
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _fill(text: str) -> str:
    if "\r" in text:
        return re.sub(r"[^\r\n]", _FILLER, text)
    return "\n".join([_FILLER * len(line) for line in text.split("\n")])


class Parsed(Struct, frozen=True):
    """The body as the parser saw it: ``text`` is as long as the body of ``source``, which starts at ``base``;
    ``masked`` is true if parts of it were hidden from the parser. ``bytes`` counts its bytes."""

    source: SourceText
    text: str
    base: int
    masked: bool
    bytes: LineIndex
    found: WalkResult

    def place(self, byte: int) -> int:
        """Return the character of the source at a byte of the parsed text."""
        return self.base + self.bytes.offset_of_byte(byte)

    def span(self, where: Range) -> Span:
        """Return the characters of the source that a range of the parser covers."""
        base, offset = self.base, self.bytes.offset_of_byte
        return Span(base + offset(where["start"]), base + offset(where["end"]))

    def block(self, where: Range) -> Span:
        """Return the span of a block without the line ends that close it."""
        base, offset, text = self.base, self.bytes.offset_of_byte, self.source.text
        start, end = base + offset(where["start"]), base + offset(where["end"])
        while end > start and text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def before_line_ends(self, end: int) -> int:
        """Return ``end`` without the line ends right in front of it."""
        text = self.source.text
        while end > self.base and text[end - 1] in "\r\n":
            end -= 1
        return end

    def shown(self, decoded: str, span: Span) -> str:
        """Return ``decoded``, the parser's reading of ``span``; where part of it was hidden, the source itself."""
        if not self.masked:
            return decoded
        written = self.source.slice(span)
        return decoded if written == self.text[span.start - self.base : span.end - self.base] else written
