"""Two texts word by word: which words only one of them has.

Words that occur once on both sides are matched in their order (patience diff), then what lies between them, to a fixed
depth. So the time is linear but for a logarithm, whatever the texts are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from prosa.regex import regex

MAX_COMPARED = 200_000
"""Characters of a text up to which it is compared."""

MAX_DEPTH = 12
"""How often what lies between matched words is looked at again."""

LEAST_ALIKE = 0.25
"""The share of words and blanks that two texts have in common, below which marks would cover everything."""

_WORDS = regex(r"\w+|\s+|[^\w\s]+")

Marked: TypeAlias = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether only this side has it."""

_Area: TypeAlias = tuple[int, int, int, int]
"""A part of both texts: first word and end in the one, first word and end in the other."""


class TwoTexts(Struct, frozen=True):
    """Two texts with what only one of them has; ``alike`` is the share that both have."""

    first: Marked
    second: Marked
    alike: float


def compare_texts(first: str, second: str, most: int = MAX_COMPARED) -> TwoTexts:
    """Return both texts in pieces. Of longer ones the first ``most`` characters are compared. Nothing is marked if they
    are too different."""
    unmarked = (((first, False),), ((second, False),))
    if first == second:
        return TwoTexts(*unmarked, 1.0)
    most = min(most, MAX_COMPARED)
    one, other = _WORDS.findall(first[:most]), _WORDS.findall(second[:most])
    pairs = sorted(_matched(one, other))
    words = max(len(one), len(other))
    alike = len(pairs) / words if words else 1.0
    if alike < LEAST_ALIKE:
        return TwoTexts(*unmarked, alike)
    cut = max(len(first), len(second)) > most
    return TwoTexts(
        _with_rest(_marked(one, [at for at, _ in pairs]), first[most:], cut=cut),
        _with_rest(_marked(other, [at for _, at in pairs]), second[most:], cut=cut),
        alike,
    )


def _with_rest(pieces: Marked, rest: str, *, cut: bool) -> Marked:
    """Return the pieces of a beginning with what follows it. Where a beginning was cut, its last words may only seem to
    be on one side."""
    if cut and pieces and pieces[-1][1]:
        pieces = (*pieces[:-1], (pieces[-1][0], False))
    return (*pieces, (rest, False)) if rest else pieces


def _matched(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of words that are the same in both, in no order."""
    areas: list[_Area] = [(0, len(one), 0, len(other))]
    for _ in range(MAX_DEPTH):
        inner: list[_Area] = []
        for area in areas:
            rest, ends = _trimmed(one, other, area)
            yield from ends
            inner += _between(rest, _unique(one, other, rest))
        areas = inner


def _trimmed(one: Sequence[str], other: Sequence[str], area: _Area) -> tuple[_Area, list[tuple[int, int]]]:
    """Return an area without the words that both sides begin and end with, and those words."""
    a, a_end, b, b_end = area
    ends: list[tuple[int, int]] = []
    while a < a_end and b < b_end and one[a] == other[b]:
        ends.append((a, b))
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and one[a_end - 1] == other[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
        ends.append((a_end, b_end))
    return (a, a_end, b, b_end), ends


def _unique(one: Sequence[str], other: Sequence[str], area: _Area) -> list[tuple[int, int]]:
    """Return the longest rising row of words that occur once on each side of an area."""
    a, a_end, b, b_end = area
    if a == a_end or b == b_end:
        return []
    counts, places = Counter(one[a:a_end]), Counter(other[b:b_end])
    at = {word: n for n, word in enumerate(other[b:b_end], b) if places[word] == 1}
    pairs = [(n, at[word]) for n, word in enumerate(one[a:a_end], a) if counts[word] == 1 and word in at]
    tops: list[int] = []  # the last position in the other text of the best row of each length
    rows: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(rows[length - 1] if length else -1)
        tops[length : length + 1] = [place]
        rows[length : length + 1] = [index]
    row: list[tuple[int, int]] = []
    index = rows[-1] if rows else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _between(area: _Area, row: Sequence[tuple[int, int]]) -> Iterator[_Area]:
    """Yield what lies between matched words, each with the word that it follows; nothing without any."""
    a, a_end, b, b_end = area
    for at, place in row:
        yield a, at, b, place
        a, b = at, place
    if row:
        yield a, a_end, b, b_end


def _marked(words: Sequence[str], same: Sequence[int]) -> Marked:
    """Return the pieces of a text, of which the words at ``same`` are on both sides. Blanks between two marked words
    are marked with them."""
    pieces: list[tuple[str, bool]] = []
    start = end = 0  # of the words on both sides that are being gathered
    for at, after in zip(same, (*same[1:], len(words) + 1), strict=True):
        if at == end:
            end = at + 1
            continue
        if words[at].isspace() and after != at + 1 and at + 1 < len(words):
            continue
        pieces += _run(words, start, end, at)
        start, end = at, at + 1
    return (*pieces, *_run(words, start, end, len(words)))


def _run(words: Sequence[str], start: int, end: int, after: int) -> Iterator[tuple[str, bool]]:
    """Yield words that both sides have, then those up to the next such ones."""
    if start < end:
        yield "".join(words[start:end]), False
    if end < after:
        yield "".join(words[end:after]), True
