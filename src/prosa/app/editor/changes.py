"""Places in documents and edits of them, as every answer to an editor names them, and the edits between two texts,
which touch only lines that differ."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from pathlib import Path

from msgspec import Struct

from prosa.source import LineIndex

MAX_COMPARED = 4_000
"""Lines between the first and the last that differ that are compared one by one; more are replaced as a whole."""


def edits_between(path: Path, before: str, after: str) -> tuple[Edit, ...]:
    """Return the edits that make ``after`` of ``before``."""
    if before == after:
        return ()
    old, new = _lines(before), _lines(after)
    head = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    most = min(len(old), len(new)) - head
    tail = next((at for at, (one, two) in enumerate(rest) if one != two), most)
    changed = old[head : len(old) - tail], new[head : len(new) - tail]
    starts = [*accumulate(map(len, old), initial=0)]
    return tuple(
        Edit(path, starts[head + first], starts[head + last], "".join(changed[1][begin:end]))
        for first, last, begin, end in _blocks(*changed)
    )


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the lines that are replaced, and by which."""
    if len(old) > MAX_COMPARED or len(new) > MAX_COMPARED:
        yield 0, len(old), 0, len(new)
        return
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield first, last, begin, end


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    starts = (*LineIndex(text).starts, len(text))
    return [text[start:end] for start, end in pairwise(starts)]


class DocumentSpan(Struct, frozen=True, order=True):
    """The characters from ``start`` up to, not including, ``end`` of the document at a real path. Offsets count code
    points in the text of the workspace."""

    path: Path
    start: int
    end: int


class Edit(Struct, frozen=True, order=True):
    """Put ``text`` in place of the characters from ``start`` to ``end`` of the document at a real path."""

    path: Path
    start: int
    end: int
    text: str
