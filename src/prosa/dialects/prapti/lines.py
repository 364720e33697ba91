"""Which lines of a chat are configuration lines (P9, P12, P13, PA1, PA7, PA13, PA14).

In: the document of a chat. Out: raw configuration lines in order. Code and HTML comments are opaque: the Markdown parse
says where they are, a pattern only looks at one line that is neither.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from prosa.document import Document
from prosa.source import Span

_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<quote>(?:>[ \t]{0,4})*)(?P<off>//)?(?P<sign>%%?)(?P<command>[^\r\n]*)")
MAX_INDENT = 3
"""Spaces in front of a configuration line (PA7); more is code, or the continuation of a list."""

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class RawLine:
    """A configuration line before its command is read. ``command`` is the span of what follows the percent signs."""

    span: Span
    command: Span
    disabled: bool
    quoted: bool
    multiline: bool


@dataclass(frozen=True, slots=True)
class Lines:
    """The configuration lines of a document; ``opaque`` are those inside code, which are text."""

    config: tuple[RawLine, ...]
    opaque: tuple[Span, ...]


def find_lines(document: Document, stops: tuple[int, ...]) -> Lines:
    """All configuration lines of a body. ``stops`` are the offsets at which message headings begin."""
    text = document.source.text
    config: list[RawLine] = []
    opaque: list[Span] = []
    skip_to = 0
    for start, end in _line_spans(text, document.body):
        found = _LINE.match(text, start, end)
        if found is None or start < skip_to:
            continue
        at = found.start("sign")
        if document.in_comment(at):
            continue
        if document.in_code(at):
            opaque.append(Span(start, end))
            continue
        if len(found["indent"].expandtabs(4)) > MAX_INDENT:
            continue
        at_stop = bisect_right(stops, start)
        limit = stops[at_stop] if at_stop < len(stops) else document.body.end
        line = _raw(found, Span(start, end), text, limit)
        config.append(line)
        skip_to = line.span.end
    return Lines(tuple(config), tuple(opaque))


def _line_spans(text: str, body: Span) -> Iterator[tuple[int, int]]:
    """Start and end of every line of the body, without line ends."""
    start = body.start
    while start < body.end:
        found = _LINE_BREAK.search(text, start, body.end)
        yield start, found.start() if found else body.end
        start = found.end() if found else body.end


def _raw(found: re.Match[str], line: Span, text: str, limit: int) -> RawLine:
    multiline = found["sign"] == "%%"
    end = _block_end(text, line.end, limit) if multiline else line.end
    command = Span(found.start("command"), end)
    return RawLine(Span(line.start, end), command, bool(found["off"]), bool(found["quote"]), multiline)


def _block_end(text: str, at: int, limit: int) -> int:
    """The end of the last line before the next blank line or message heading (PA14)."""
    while at < limit:
        broken = _LINE_BREAK.match(text, at)
        if broken is None:
            return limit
        ended = _LINE_BREAK.search(text, broken.end(), limit)
        end = ended.start() if ended else limit
        if broken.end() >= limit or not text[broken.end() : end].strip():
            return at
        at = end
    return at
