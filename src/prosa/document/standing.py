"""Which part of a document an offset is in: front matter, a fence, or the rest of the body.

In: a text that is being edited, and an offset. Out: a `Standing`. It works on lines, so unclosed front matter and
fences count: front matter up to the next blank line, a fence up to the end. Never fails.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from prosa.regex import regex
from prosa.source import Span

_OPEN = regex(r"---[ \t]*(?=[\r\n]|\Z)")
_CLOSE = regex(r"(?>\r\n|\n|\r)(?:---|\.\.\.)[ \t]*(?=[\r\n]|\Z)")
_BLANK = regex(r"(?>\r\n|\n|\r)[ \t]*(?=(?>\r\n|\n|\r)|\Z)")
_LINE_END = regex(r"\r\n|\n|\r")
_FENCE = regex(
    r"(?:^|(?<=\r))[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<run>`{3,}|~{3,})(?P<info>[^\r\n]*)", re.MULTILINE
)


class Standing(Struct, frozen=True):
    """The part around an offset. ``region`` is the YAML of the front matter, the code of a fence, or the body;
    ``info`` the info string of a fence; ``line`` the line of the offset, without its end. ``last`` is true if no other
    fence follows."""

    part: Literal["front", "fence", "opening", "body", "mark"]
    region: Span
    line: Span
    info: str = ""
    last: bool = False


def standing(text: str, offset: int) -> Standing:
    """Return the part of the document at an offset. The lines of hyphens around front matter are a ``mark``, the line
    that opens a fence is an ``opening``."""
    line = _line_of(text, offset)
    front = _front(text)
    if front is not None and offset < front.start:
        return Standing("mark", front, line)
    if front is not None and offset <= front.end:
        return Standing("front", front, line)
    body = Span(_after_line(text, front.end) if front is not None else 0, len(text))
    if offset < body.start:
        return Standing("mark", body, line)
    return _fenced(text, offset, body, line) or Standing("body", body, line)


def _line_of(text: str, offset: int) -> Span:
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    ends = [at for at in (text.find("\n", offset), text.find("\r", offset)) if at >= 0]
    return Span(start, max(start, min(ends, default=len(text))))


def _front(text: str) -> Span | None:
    """Return the YAML of the front matter without the line end in front of its closing line."""
    opened = _OPEN.match(text, 1 if text.startswith("\ufeff") else 0)
    if opened is None:
        return None
    ended = _LINE_END.match(text, opened.end())
    start = ended.end() if ended else len(text)
    closed = _CLOSE.search(text, opened.end())
    if closed is not None:
        return Span(min(start, len(text)), max(start, closed.start())) if closed.start() >= start else None
    blank = _BLANK.search(text, start)
    return Span(start, blank.start() if blank else len(text)) if ended else None


def _after_line(text: str, offset: int) -> int:
    """Return where the line after the closing line of front matter starts."""
    closed = _CLOSE.match(text, offset)
    ended = _LINE_END.match(text, closed.end()) if closed else None
    return ended.end() if ended else closed.end() if closed else offset


def _fenced(text: str, offset: int, body: Span, line: Span) -> Standing | None:
    if all(text.find(run, body.start, line.end) < 0 for run in ("```", "~~~")):
        return None  # no fence up to this line; to look through all lines for one takes far longer
    run, info, start = "", "", 0
    result: Standing | None = None
    for match in _FENCE.finditer(text, body.start):
        if run and not (match["run"].startswith(run) and not match["info"].strip()):
            continue
        if run:
            if result is None and start <= offset < match.start():
                result = Standing("fence", Span(start, match.start()), line, info)
            run = ""
            if result is None and offset <= match.end():
                return Standing("mark", body, line)
            continue
        if result is not None:
            return result
        if match.start() <= offset <= match.end():
            return Standing("opening", body, line, match["info"])
        if match.start() > offset:
            return None
        run, info = match["run"], match["info"].strip()
        ended = _LINE_END.match(text, match.end())
        start = ended.end() if ended else len(text) + 1
    if result is not None:
        return Standing(result.part, result.region, line, result.info, last=True)
    return Standing("fence", Span(start, len(text)), line, info, last=True) if run and start <= offset else None
