"""The piece of a section that shows why it was found: one line of plain text with the places that matched.

In: the source text of a section and the offsets of what matched in it. Out: a `Snippet`. What a reader sees of the text
decides (`document.shown`), so that no link, picture or code is ever shown in half; an address that does not fit is left
out whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prosa.document.shown import Shown, shown_pieces

MAX_SNIPPET = 180
"""Characters of a snippet: two lines of a terminal."""

_BEFORE = 40
"""Characters shown in front of the first match."""

MAX_PARSED = 50_000
"""Characters of a section that are parsed for its snippet, around the match."""

MAX_MARKS = 500
"""Matches of one section that are considered; the best piece is near the first ones."""

_SPACES = re.compile(r"\s+")
_ADDRESS = "://"

Mark = tuple[int, int]


class Snippet(NamedTuple):
    """``text`` has no line end; ``marks`` are offsets in it; ``at`` is the offset in the section of its first mark, or
    of the section itself where nothing in its text matched."""

    text: str
    marks: tuple[Mark, ...]
    at: int


def snippet(text: str, marks: Sequence[Mark] = (), *, heading: bool = True) -> Snippet:
    """The densest piece of ``text`` around ``marks``, which are in order and apart.

    ``heading`` says that the first line is the heading of the section, which people see elsewhere: it is left out where
    the rest has something to show.
    """
    body = _end_of_first_line(text) if heading else 0
    first = marks[0][0] if marks else 0
    inside = [mark for mark in marks[:MAX_MARKS] if mark[0] >= body]
    at = inside[_densest(text, inside)][0] if inside else body
    kept = _Kept(_pieces(text, at), body)
    seen = [mark for mark in inside if kept.shows(mark)]
    if seen:
        return _piece(kept, seen[_densest(text, seen)][0], seen)
    if kept.plain:
        return _piece(kept, body, ())._replace(at=first)
    whole = _Kept(_pieces(text, first), 0)
    if not whole.plain:  # markup alone
        whole = _Kept([Shown(0, text)], 0)
    return _piece(whole, first, [mark for mark in marks[:MAX_MARKS] if whole.shows(mark)])._replace(at=first)


def _end_of_first_line(text: str) -> int:
    found = re.search(r"\r\n|\n|\r", text)
    return found.end() if found else len(text)


def _densest(text: str, marks: Sequence[Mark]) -> int:
    """The mark after which most different matches follow within a snippet; the first one of equals."""
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


def _pieces(text: str, at: int) -> Iterable[Shown]:
    """What is seen of a text; of a very long one of the lines around an offset."""
    if len(text) <= MAX_PARSED:
        return shown_pieces(text)
    low = max(0, at - MAX_PARSED // 2)
    low = 0 if low == 0 else (text.rfind("\n\n", low, at) + 1 or text.rfind("\n", low, at) + 1 or low)
    high = text.find("\n", min(len(text), at + MAX_PARSED // 2), at + MAX_PARSED)
    window = text[low : high if high >= 0 else at + MAX_PARSED // 2]
    return (each._replace(at=each.at + low) for each in shown_pieces(window))


def _piece(kept: _Kept, at: int, marks: Sequence[Mark]) -> Snippet:
    """Plain text from a little before ``at``, at most `MAX_SNIPPET` characters."""
    plain = kept.plain
    begin = _cut_before(plain, min(kept.place(at), max(0, len(plain) - MAX_SNIPPET + 2 + _BEFORE)))
    lead = "…" if begin else ""
    shown = plain[begin : begin + MAX_SNIPPET - len(lead) - 1]
    if begin + len(shown) < len(plain):
        shown = _cut_after(shown, plain[begin + len(shown)], kept.place(at) - begin)
    tail = "…" if shown and begin + len(shown) < len(plain) else ""
    found: list[Mark] = []
    for start, end in marks:
        first, last = kept.place(start) - begin, min(kept.place(end) - begin, len(shown))
        if 0 <= first < last:
            at = at if found else start
            found.append((first + len(lead), last + len(lead)))
    return Snippet(f"{lead}{shown}{tail}", tuple(found), at)


class _Kept:
    """What is seen of a text from an offset on, blanks as one space, and where each piece of it came from."""

    def __init__(self, pieces: Iterable[Shown], floor: int) -> None:
        self._parts: list[str] = []
        self._from: list[int] = []
        self._until: list[int] = []
        self._to: list[int] = []
        self._length = 0
        for piece in pieces:
            if piece.at >= floor:
                self._add(piece)
        self.plain = "".join(self._parts).rstrip()

    def _add(self, piece: Shown) -> None:
        done = 0
        for match in _SPACES.finditer(piece.text):
            self._keep(piece, done, match.start())
            if self._parts and not self._parts[-1].endswith(" "):
                self._put(piece.at + match.start() if piece.same else piece.at, " ", 0)
            done = match.end()
        self._keep(piece, done, len(piece.text))

    def _keep(self, piece: Shown, start: int, end: int) -> None:
        if start < end:
            at, length = (piece.at + start, end - start) if piece.same else (piece.at, 0)
            self._put(at, piece.text[start:end], length)

    def _put(self, at: int, text: str, length: int) -> None:
        self._parts.append(text)
        self._from.append(at)
        self._until.append(at + length)
        self._to.append(self._length)
        self._length += len(text)

    def shows(self, mark: Mark) -> bool:
        """Whether the beginning of a match is seen."""
        index = bisect_right(self._from, mark[0]) - 1
        return index >= 0 and mark[0] < self._until[index]

    def place(self, offset: int) -> int:
        """Where a character has come to; one that is not seen, where the next one has."""
        index = bisect_right(self._from, offset) - 1
        if index < 0:
            return 0
        return self._to[index] + min(offset - self._from[index], len(self._parts[index]))


def _cut_before(plain: str, at: int) -> int:
    """Where a snippet begins that shows what is at ``at``: after a blank if one is near, never inside an address."""
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
    """A text that goes on, cut behind a word if one ends after ``keep``; an address that does not fit goes whole."""
    blank = shown.rfind(" ")
    if following == " ":
        return shown
    if _ADDRESS in shown[blank + 1 :] and blank >= keep:
        return shown[:blank]
    return shown[:blank] if blank >= max(keep, len(shown) - 30) else shown
