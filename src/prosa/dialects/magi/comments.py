"""Take comments and last commas out of an ai-script block (MA1, X22): edits that make its content pure JSON.

The words of the comments move, as one HTML comment, above the fence; nothing else changes. In: the block's fence and
what a lenient reading passed over. Out: the edits, or None where there is no room for a comment above.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from prosa.dialects.magi.lenient import Lenient, comment_lines
from prosa.dialects.magi.pieces import Pieces
from prosa.document import Fence
from prosa.source import Edit, SourceText, Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_CLOSES = re.compile(r"--(!?)>")


def comment_edits(source: SourceText, fence: Fence, pieces: Pieces, lenient: Lenient) -> tuple[Edit, ...] | None:
    """The edits that move the comments; None where the fence begins a footnote and leaves no line above it."""
    line_start = source.lines.starts[source.position(fence.span.start).line - 1]
    prefix = source.text[line_start : fence.span.start]
    if "[^" in prefix:
        return None
    lines = [line for comment in lenient.comments for line in comment_lines(comment.of(pieces.text))]
    removals = tuple(Edit(span, "") for span in _removals(source, pieces, lenient))
    return (_insertion(source, fence, lines, prefix), *removals) if lines else removals


def comma_edits(pieces: Pieces, lenient: Lenient) -> tuple[Edit, ...]:
    """The edits that remove the last commas."""
    return tuple(Edit(pieces.span(comma.start, comma.end), "") for comma in lenient.commas)


def _insertion(source: SourceText, fence: Fence, lines: list[str], prefix: str) -> Edit:
    """The comment in front of the fence; further lines repeat the marks of the containers around it."""
    line_end = _LINE_END.search(source.text, fence.span.start)
    next_line = (line_end[0] if line_end else "\n") + re.sub(r"[^>\s]", " ", prefix)
    safe = [_CLOSES.sub(r"-- \1>", line) for line in lines]
    words = f"<!-- {safe[0]} -->" if len(safe) == 1 else next_line.join(("<!--", *safe, "-->"))
    return Edit(Span(fence.span.start, fence.span.start), words + next_line)


def _removals(source: SourceText, pieces: Pieces, lenient: Lenient) -> list[Span]:
    """Where the comments stand: whole lines where these have nothing else, else with the space in front of them."""
    spans: list[Span] = []
    for lines, comments in _by_lines(pieces.text, lenient.comments):
        if lines.of(lenient.text).strip():
            spans += (pieces.span(_before_space(pieces.text, each.start), each.end) for each in comments)
        else:
            spans.append(_source_lines(source, pieces, lines.start, lines.end))
    return spans


def _by_lines(text: str, comments: Iterable[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """The comments in groups that share no line, each with the lines it touches."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    lines = Span(0, 0)
    group: list[Span] = []
    for comment in comments:
        first = starts[bisect_right(starts, comment.start) - 1]
        after = bisect_right(starts, comment.end - 1)
        end = starts[after] if after < len(starts) else len(text)
        if group and first >= lines.end:
            yield lines, group
            group = []
        lines = Span(lines.start if group else first, end)
        group.append(comment)
    if group:
        yield lines, group


def _before_space(text: str, offset: int) -> int:
    while offset and text[offset - 1] in " \t":
        offset -= 1
    return offset


def _source_lines(source: SourceText, pieces: Pieces, start: int, end: int) -> Span:
    """Whole lines of the source, the marks of containers in front of them included."""
    lines = source.lines
    first = lines.starts[source.position(pieces.place(start)).line - 1]
    last = source.position(pieces.place(max(start, end - 1))).line
    return Span(first, lines.starts[last] if last < lines.count else len(source.text))
