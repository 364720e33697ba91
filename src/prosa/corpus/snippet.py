"""The piece of a section that shows why it matched: one line of plain text with the places of the matches.

In: the source text of a section, the offsets of the matches in it, and its visible text if the index stores that. Out:
a `Snippet`. No link, picture or code is ever shown in half; an address that does not fit is left out whole. A section
is parsed when it is shown, as few ever are; the visible text of a long one is computed once, when it is indexed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from prosa.document.shown import Runs, paired, shown_runs
from prosa.regex import regex

MAX_SNIPPET = 180
"""Characters of a snippet: two lines of a terminal."""

_BEFORE = 40
"""Characters shown in front of the first match."""

MAX_SEEN = 50_000
"""Characters of a section that are considered for its snippet, around the match."""

MAX_MARKS = 500
"""Matches of one section that are considered; the best piece is near the first ones."""

LONG = 5_000
"""Characters from which on a section is parsed when it is indexed: of a shorter one that takes a fifth of a millisecond
at most."""

_UNEVEN = regex(r"\s{2,}|[^\S ]")
"""Blank space that is not one space."""
_ADDRESS = "://"
_RUNS = msgspec.json.Decoder(Runs)

Mark = tuple[int, int]

Piece: TypeAlias = tuple[int, int, str]
"""A piece of the visible text: its offset in the section, its length there, and its text. One of no characters is an
entity or an escape."""


class Snippet(NamedTuple):
    """``text`` has no line end; ``marks`` are offsets in it; ``at`` is the offset in the section of its first mark, or
    of the section itself where nothing in its text matched."""

    text: str
    marks: tuple[Mark, ...]
    at: int


def seen_of(text: str) -> str | None:
    """Return what a reader sees of a long section, as JSON (`document.shown.shown_runs`); None of one that is not."""
    return msgspec.json.encode(shown_runs(text)).decode() if len(text) > LONG else None


def snippet(text: str, seen: str | None, marks: Sequence[Mark] = (), *, heading: bool = True) -> Snippet:
    """Return the densest piece of ``text`` around ``marks``, which are in order and disjoint. ``seen`` is the result
    of `seen_of`.

    With ``heading``, the first line is the heading of the section, which is shown elsewhere: it is left out if the
    rest has text to show.
    """
    body = _end_of_first_line(text) if heading else 0
    first = marks[0][0] if marks else 0
    inside = [mark for mark in marks[:MAX_MARKS] if mark[0] >= body]
    at = inside[_densest(text, inside)][0] if inside else body
    pieces = _pieces(text, seen)
    kept = _Kept(_near(pieces, len(text), at), body)
    visible = [mark for mark in inside if kept.shows(mark)]
    if visible:
        return _piece(kept, visible[_densest(text, visible)][0], visible)
    if kept.plain:
        return _piece(kept, body, ())._replace(at=first)
    whole = _Kept(_near(pieces, len(text), first), 0)
    if not whole.plain:  # markup alone
        whole = _Kept(_near([(0, len(text), text)], len(text), first), 0)
    return _piece(whole, first, [mark for mark in marks[:MAX_MARKS] if whole.shows(mark)])._replace(at=first)


def _end_of_first_line(text: str) -> int:
    match = re.search(r"\r\n|\n|\r", text)
    return match.end() if match else len(text)


def _densest(text: str, marks: Sequence[Mark]) -> int:
    """Return the mark after which most different matches follow within a snippet; the first one of equals."""
    best, most = 0, 0
    for first, (start, _) in enumerate(marks):
        near = set()
        for low, high in marks[first : first + 12]:
            if high - start > MAX_SNIPPET - _BEFORE:
                break
            near.add(text[low:high].casefold())
        if len(near) > most:
            best, most = first, len(near)
    return best


def _pieces(text: str, seen: str | None) -> list[Piece]:
    """Return the pieces of the visible text, in order."""
    return [
        (at, 0, what) if isinstance(what, str) else (at, what, text[at : at + what])
        for at, what in paired(shown_runs(text) if seen is None else _RUNS.decode(seen))
    ]


def _near(pieces: Sequence[Piece], length: int, at: int) -> Iterator[Piece]:
    """Yield those of them that lie around an offset, cut between words where a text is very long."""
    if length <= MAX_SEEN:
        yield from pieces
        return
    low, high = at - MAX_SEEN // 2, at + MAX_SEEN // 2
    for start, count, text in pieces:
        if low < start + count and start < high and (count or start >= low):
            first, last = max(0, low - start), min(len(text), high - start) if count else len(text)
            first = text.find(" ", first) + 1 if first else 0
            yield start + first, count and last - first, text[first:last]


def _piece(kept: _Kept, at: int, marks: Sequence[Mark]) -> Snippet:
    """Return plain text from a little before ``at``, at most `MAX_SNIPPET` characters."""
    plain = kept.plain
    begin = _cut_before(plain, min(kept.place(at), max(0, len(plain) - MAX_SNIPPET + 2 + _BEFORE)))
    lead = "…" if begin else ""
    shown = plain[begin : begin + MAX_SNIPPET - len(lead) - 1]
    if begin + len(shown) < len(plain):
        shown = _cut_after(shown, plain[begin + len(shown)], kept.place(at) - begin)
    tail = "…" if shown and begin + len(shown) < len(plain) else ""
    shifted: list[Mark] = []
    for start, end in marks:
        first, last = kept.place(start) - begin, min(kept.place(end) - begin, len(shown))
        if 0 <= first < last:
            at = at if shifted else start
            shifted.append((first + len(lead), last + len(lead)))
    return Snippet(f"{lead}{shown}{tail}", tuple(shifted), at)


class _Kept:
    """The visible text from an offset on, runs of blanks as one space, and the source of each piece of it."""

    def __init__(self, pieces: Iterable[Piece], floor: int) -> None:
        self._parts: list[str] = []
        self._from: list[int] = []
        self._until: list[int] = []
        self._to: list[int] = []
        self._length = 0
        for at, length, text in pieces:
            if at >= floor:
                self._add(at, length, text)
            elif at + length > floor:
                self._add(floor, at + length - floor, text[floor - at :])
        self.plain = "".join(self._parts).rstrip()

    def _add(self, at: int, length: int, text: str) -> None:
        done = 0
        for match in _UNEVEN.finditer(text):
            self._keep(at, length, text, done, match.start())
            if not self._is_blank:
                self._put(at + match.start() if length else at, " ", 0)
            done = match.end()
        self._keep(at, length, text, done, len(text))

    @property
    def _is_blank(self) -> bool:
        """Whether another space would be one too many."""
        return not self._parts or self._parts[-1].endswith(" ")

    def _keep(self, at: int, length: int, text: str, start: int, end: int) -> None:
        start += text.startswith(" ", start, end) and self._is_blank
        if start < end:
            self._put(at + start if length else at, text[start:end], end - start if length else 0)

    def _put(self, at: int, text: str, length: int) -> None:
        self._parts.append(text)
        self._from.append(at)
        self._until.append(at + length)
        self._to.append(self._length)
        self._length += len(text)

    def shows(self, mark: Mark) -> bool:
        """Return whether the beginning of a match is seen."""
        index = bisect_right(self._from, mark[0]) - 1
        return index >= 0 and mark[0] < self._until[index]

    def place(self, offset: int) -> int:
        """Return where a character has come to; one that is not seen, where the next one has; of an entity, its
        beginning."""
        index = bisect_right(self._from, offset) - 1
        if index < 0:
            return 0
        if self._until[index] == self._from[index]:
            index = bisect_left(self._from, self._from[index])
        return self._to[index] + min(offset - self._from[index], len(self._parts[index]))


def _cut_before(plain: str, at: int) -> int:
    """Return where a snippet that shows ``at`` starts: after a blank if one is near, never inside an address."""
    start = max(at - _BEFORE, 0)
    blank = plain.find(" ", start, at)
    begin = start if start == 0 or blank < 0 else blank + 1
    word = plain.rfind(" ", 0, begin) + 1
    if word == begin or _ADDRESS not in plain[word : _word_end(plain, begin)]:
        return begin
    return min(_word_end(plain, begin) + 1, at) if _word_end(plain, begin) < at else word


def _word_end(plain: str, at: int) -> int:
    end = plain.find(" ", at)
    return end if end >= 0 else len(plain)


def _cut_after(shown: str, following: str, keep: int) -> str:
    """Return a text cut after a word, if one ends after ``keep``; an address that does not fit is removed whole."""
    blank = shown.rfind(" ")
    if following == " ":
        return shown
    if _ADDRESS in shown[blank + 1 :] and blank >= keep:
        return shown[:blank]
    return shown[:blank] if blank >= max(keep, len(shown) - 30) else shown
