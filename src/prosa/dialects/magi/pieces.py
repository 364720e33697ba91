"""A text that lies in several stretches of a source: the code of a fence in a list, a code span over two lines.

In: the source and the stretches. Out: one text, and the way back: every offset, span, node and problem found in that
text at its place in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from prosa.data import Entry, Mapping, Node, Scalar
from prosa.data import Sequence as Items
from prosa.diagnostics import Problem
from prosa.source import SourceText, Span

_LINE = re.compile(r"[^\r\n]+|\r\n|\n|\r")
_MARKS = re.compile(r"[ \t>]*")


@dataclass(frozen=True, slots=True)
class Pieces:
    """``text`` is the stretches ``spans`` of a source put together, character for character; ``starts`` are the
    offsets in ``text`` at which they begin."""

    text: str
    spans: tuple[Span, ...]
    starts: tuple[int, ...]

    def place(self, offset: int) -> int:
        """Where a character of the text stands in the source; the end of the text is the end of the last stretch."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        span = self.spans[index]
        return min(span.start + offset - self.starts[index], span.end)

    def span(self, start: int, end: int) -> Span:
        """The stretch of the source from the first to the last of these characters."""
        first = self.place(start)
        return Span(first, max(first, self.place(end - 1) + 1 if end > start else first))

    def node(self, node: Node) -> Node:
        """A tree read from the text, with its spans in the source. Depth is bounded by the reader."""
        span = self.span(node.span.start, node.span.end)
        if isinstance(node, Scalar):
            return replace(node, span=span)
        if isinstance(node, Items):
            return Items(tuple(self.node(item) for item in node.items), span)
        return Mapping(tuple(self._entry(entry) for entry in node), span)

    def problem(self, problem: Problem) -> Problem:
        """A problem found in the text, with its places in the source. It has no fix yet."""
        annotations = tuple(
            replace(each, span=self.span(each.span.start, each.span.end)) for each in problem.annotations
        )
        return replace(problem, span=self.span(problem.span.start, problem.span.end), annotations=annotations)

    def _entry(self, entry: Entry) -> Entry:
        key = replace(entry.key, span=self.span(entry.key.span.start, entry.key.span.end))
        return Entry(key, self.node(entry.value))


def joined(source: SourceText, spans: Sequence[Span], empty: int) -> Pieces:
    """The stretches of a fence. ``empty`` is where an empty text would stand."""
    merged = list(_merged(spans)) or [Span(empty, empty)]
    texts = [source.slice(span) for span in merged]
    return Pieces("".join(texts), tuple(merged), tuple(accumulate((len(text) for text in texts[:-1]), initial=0)))


def unfolded(source: SourceText, span: Span) -> Pieces:
    """Inline text over several lines, as a code span reads it: each line end is one space, and what containers put in
    front of the next line (white space, `>`) is left out."""
    if "\n" not in (text := source.slice(span)) and "\r" not in text:
        return Pieces(text, (span,), (0,))
    spans: list[Span] = []
    texts: list[str] = []
    for match in _LINE.finditer(text):
        line_end = match[0][0] in "\r\n"
        marks = 0 if line_end or match.start() == 0 else len(_leading(match[0]))
        start = span.start + (match.end() - 1 if line_end else match.start() + marks)
        spans.append(Span(start, span.start + match.end()))
        texts.append(" " if line_end else match[0][marks:])
    return Pieces("".join(texts), tuple(spans), tuple(accumulate((len(text) for text in texts[:-1]), initial=0)))


def _leading(line: str) -> str:
    match = _MARKS.match(line)
    return match[0] if match else ""


def _merged(spans: Iterable[Span]) -> Iterable[Span]:
    """Stretches that touch become one: most fences are a single stretch."""
    pending: Span | None = None
    for span in spans:
        if pending is not None and pending.end == span.start:
            pending = Span(pending.start, span.end)
            continue
        if pending is not None:
            yield pending
        pending = span
    if pending is not None:
        yield pending
