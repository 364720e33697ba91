"""Where the footer of a record is (Y9, YA8–YA10). In: a text and the span after its header. Out: the place of the last
block where it is a JSON fence, or the reason why there is none.

It scans backwards: the last line with anything on it must close the fence, and the nearest line above it that looks
like a fence must open it. A line of JSON never begins with three backticks, so no example in the body can be mistaken
for the footer, whatever fences it holds. Nothing is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prosa.source import Span

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^\r\n]*")
_OPEN = re.compile(r" {0,3}(?P<run>`{3,}|~{3,})[ \t]*json[ \t]*", re.IGNORECASE)
_CLOSE = re.compile(r" {0,3}(?P<run>`{3,}|~{3,})[ \t]*")
_LINE = re.compile(r"[^\r\n]*")
_RUNS = ("```", "~~~")
_BLANK = " \t\r\n"

CANONICAL_OPEN = "```json"
CANONICAL_CLOSE = "```"


@dataclass(frozen=True, slots=True)
class FooterPlace:
    """A JSON fence. ``open`` and ``close`` cover the fence lines without their line ends, ``content`` what lies between
    them. ``closed`` is False where the text ends first; ``tail`` is what follows, blank for a footer in its place.
    """

    open: Span
    content: Span
    close: Span
    tail: Span
    closed: bool = True

    def is_canonical(self, text: str) -> bool:
        """Whether both fence lines are exactly what Strict form asks for."""
        return self.open.of(text) == CANONICAL_OPEN and self.close.of(text) == CANONICAL_CLOSE


def find_footer(text: str, after: Span) -> FooterPlace | None:
    """The last JSON fence of the record when no other fence and no closing line follows it, else None.

    Whether it is a footer in its place is said by ``closed`` and by a blank ``tail``.
    """
    lines = _fence_lines(text, after)
    last = next(lines, None)
    if last is None:
        return None
    if _OPEN.fullmatch(last.of(text)):
        end = Span(after.end, after.end)
        return FooterPlace(last, Span(_next_line(text, last.end), after.end), end, end, closed=False)
    before = next(lines, None)
    if before is None or not _pair(before.of(text), last.of(text)):
        return None
    content = Span(_next_line(text, before.end), last.start)
    return FooterPlace(before, content, last, Span(last.end, after.end))


def _pair(opening: str, closing: str) -> bool:
    """Whether two lines open and close one JSON fence; a run that closes may be shorter than the one that opens."""
    first, last = _OPEN.fullmatch(opening), _CLOSE.fullmatch(closing)
    return first is not None and last is not None and first["run"][0] == last["run"][0]


def _fence_lines(text: str, within: Span) -> Iterator[Span]:
    """The lines that look like a fence, the last one first. Each kind of run is searched for once per place."""
    at = {run: text.rfind(run, within.start, within.end) for run in _RUNS}
    while (place := max(at.values())) >= 0:
        start = _line_start(text, place, within.start)
        line = _LINE.match(text, start, within.end)
        end = line.end() if line else within.end
        if _FENCE.fullmatch(text, start, end):
            yield Span(start, end)
        for run, found in at.items():
            if found >= start:
                at[run] = text.rfind(run, within.start, start)


def _line_start(text: str, offset: int, least: int) -> int:
    return max(text.rfind("\n", least, offset), text.rfind("\r", least, offset), least - 1) + 1


def _next_line(text: str, offset: int) -> int:
    if text.startswith("\r\n", offset):
        return offset + 2
    return min(offset + 1, len(text))


def is_blank(text: str) -> bool:
    """Whether there is nothing but spaces, tabs and line ends."""
    return not text.strip(_BLANK)
