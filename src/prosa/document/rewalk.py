"""The walk of a text that differs in one place from one that was walked before: only what stands around the change is
parsed again.

In: a text, an earlier one, and what was found in that. Out: what `walk` finds in the text, exactly. A heading of `#` at
the beginning of a line, in no other block, closes every block before it, so the parser reads a section that begins
there as it reads a text. Three things reach from one section into another: definitions of links and footnotes, which
are parsed along with a changed section; how far references may expand; and how many cells of tables may be missing.
Where the last two could matter, the whole text is walked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from prosa.document.walk import FoundCode, FoundHeading, FoundLink, Piece, WalkResult, walk
from prosa.regex import regex

if TYPE_CHECKING:
    from pyromark.event import Range

T = TypeVar("T")

MIN_TEXT = 4_000
"""Bytes of a text that is worth remembering: a shorter one is walked in less than half a millisecond."""

MAX_TEXT = 1_000_000
"""Bytes of the largest text that is remembered, which bounds the memory that it takes."""

MAX_TEXTS = 2
"""Texts that are remembered: an editor changes one, and perhaps one beside it."""

_HEADING = regex(rb"#{1,6}[ \t\n]")
_LONGEST_MARK = 7
"""Bytes of the mark of a heading, with the blank behind it."""

_AFTER = b"# -\n"
"""A heading that closes what is open at the end of a part."""

_DEFINES = b"]:"
"""What every definition of a link or a footnote holds."""

_EXPANSION = 100_000
"""Bytes that the parser lets references of one text expand to, at least."""

_CELLS = 1 << 18
"""Cells that the parser adds to the tables of one text, at most."""


class Change(Struct, frozen=True):
    """The part of a text that is parsed again: bytes from ``start`` to ``end``, which were up to ``old_end`` before."""

    start: int
    old_end: int
    end: int


def rewalk(data: bytes, before: bytes, found: WalkResult) -> WalkResult | None:
    """Return what the parser finds in a text, from what it ``found`` in the text ``before``, both as UTF-8; None where
    only a walk of the whole text shows that."""
    if (b"[^" in data) != (b"[^" in before) or _may_lack_cells(data) or _may_lack_cells(before):
        return None
    starts = _sections(before, found)
    change = _changed(data, before, starts)
    parts = _defining(before, starts, change) if _DEFINES in before or _DEFINES in data else ()
    own = data[change.start : change.end]
    if parts is None or _DEFINES in own:
        return None
    if change.old_end == len(before):  # it ends the text
        new = walk(own.decode(), footnotes=b"[^" in data) if not parts else None
    else:
        new = walk(b"".join((own, _AFTER, *parts)).decode(), footnotes=b"[^" in data)
        new = new if _closes(new, len(own)) else None
    joined = _joined(found, new, change, len(own)) if new is not None else None
    return None if joined is None or (parts and _may_expand(joined, sum(map(len, parts)))) else joined


def _may_lack_cells(data: bytes) -> bool:
    """Return whether the tables of a text may lack as many cells as the parser adds at most."""
    if b"|" not in data or data.count(b"|") * data.count(b"\n") < _CELLS:
        return False
    lines = data.split(b"\n")
    return (max(line.count(b"|") for line in lines) + 1) * len(lines) >= _CELLS


def _sections(data: bytes, found: WalkResult) -> list[int]:
    """Return where the sections of a text begin that are parsed as texts of their own; the first begins with it."""
    match, last = _HEADING.match, b"\n"[0]
    starts = (each.where["start"] for each in found.headings if each.outer is None)
    return [0, *(at for at in starts if at and data[at - 1] == last and match(data, at) is not None)]


def _changed(data: bytes, before: bytes, starts: Sequence[int]) -> Change:
    """Return the sections that a change touches."""
    most = min(len(data), len(before))
    same = _common(most, lambda count: data[:count] == before[:count])
    ending = _common(most - same, lambda count: data[len(data) - count :] == before[len(before) - count :])
    first = max(bisect_right(starts, same - _LONGEST_MARK) - 1, 0)
    after = bisect_right(starts, len(before) - ending, first + 1)  # the line end in front of it is the same too
    old_end = starts[after] if after < len(starts) else len(before)
    return Change(starts[first], old_end, old_end + len(data) - len(before))


def _common(most: int, same: Callable[[int], bool]) -> int:
    """Return the largest count up to ``most`` for which ``same`` is true."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(middle) else (low, middle - 1)
    return low


def _defining(before: bytes, starts: Sequence[int], change: Change) -> list[bytes] | None:
    """Return the sections with definitions; None where one of them changed."""
    parts: list[bytes] = []
    at = before.find(_DEFINES)
    while at >= 0:
        number = bisect_right(starts, at)
        start, end = starts[number - 1], starts[number] if number < len(starts) else len(before)
        if change.start <= start < change.old_end:
            return None
        parts.append(before[start:end])
        at = before.find(_DEFINES, end)
    return parts


def _closes(found: WalkResult, end: int) -> bool:
    """Return whether the heading behind a part is one: nothing that began in it is open."""
    at = bisect_left(found.headings, end, key=lambda each: each.where["start"])
    return at < len(found.headings) and found.headings[at].where["start"] == end and found.headings[at].outer is None


def _may_expand(found: WalkResult, defined: int) -> bool:
    """Return whether the references of a text may expand to more than the parser allows."""
    tags = (each.tag for each in found.links)
    used = sum(len(tag["dest_url"]) + len(tag["title"]) for tag in tags if tag["link_type"] not in _WRITTEN_OUT)
    return 4 * (used + defined) >= _EXPANSION  # a character has at most four bytes


_WRITTEN_OUT = ("Inline", "Autolink", "Email")


def _joined(old: WalkResult, new: WalkResult, change: Change, own: int) -> WalkResult:
    """Return what stands before the change, in it, and behind it."""
    by, moved = change.start, change.end - change.old_end

    def join(old: Sequence[T], new: Sequence[T], start: Callable[[T], int], shifted: Callable[[T, int], T]) -> list[T]:
        first = bisect_left(old, change.start, key=start)
        rest = old[bisect_left(old, change.old_end, lo=first, key=start) :]
        inside = new[: bisect_left(new, own, key=start)]
        return [
            *old[:first],
            *([shifted(each, by) for each in inside] if by else inside),
            *([shifted(each, moved) for each in rest] if moved else rest),
        ]

    start = itemgetter("start")
    return WalkResult(
        headings=join(old.headings, new.headings, lambda each: each.where["start"], _heading),
        paragraphs=join(old.paragraphs, new.paragraphs, _start_of_first, _marked),
        code_blocks=join(old.code_blocks, new.code_blocks, lambda each: each.where["start"], _code),
        links=join(old.links, new.links, lambda each: each.where["start"], _link),
        quotes=join(old.quotes, new.quotes, start, _shifted),
        lists=join(old.lists, new.lists, start, _shifted),
        items=join(old.items, new.items, start, _shifted),
        footnotes=join(old.footnotes, new.footnotes, _start_of_second, _named),
        footnote_references=join(old.footnote_references, new.footnote_references, _start_of_second, _named),
        brackets=join(old.brackets, new.brackets, start, _shifted),
        code_spans=join(old.code_spans, new.code_spans, _start_of_second, _named),
        html_blocks=join(old.html_blocks, new.html_blocks, _start_of_first, _html),
        inline_html=join(old.inline_html, new.inline_html, _start_of_second, _named),
    )


def _start_of_first(found: tuple[Range, object]) -> int:
    return found[0]["start"]


def _start_of_second(found: tuple[object, Range]) -> int:
    return found[1]["start"]


def _shifted(where: Range, by: int) -> Range:
    return {"start": where["start"] + by, "end": where["end"] + by}


def _pieces(pieces: Sequence[Piece], by: int) -> list[Piece]:
    return [(kind, text, {"start": at["start"] + by, "end": at["end"] + by}) for kind, text, at in pieces]


def _heading(found: FoundHeading, by: int) -> FoundHeading:
    outer = _shifted(found.outer, by) if found.outer is not None else None
    return FoundHeading(found.level, _shifted(found.where, by), _pieces(found.pieces, by), found.end + by, outer)


def _code(found: FoundCode, by: int) -> FoundCode:
    return FoundCode(found.info, _shifted(found.where, by), _pieces(found.pieces, by), found.containers)


def _link(found: FoundLink, by: int) -> FoundLink:
    return FoundLink(found.tag, _shifted(found.where, by), found.text_end + by, found.image)


def _marked(found: tuple[Range, bool], by: int) -> tuple[Range, bool]:
    return _shifted(found[0], by), found[1]


def _named(found: tuple[str, Range], by: int) -> tuple[str, Range]:
    return found[0], _shifted(found[1], by)


def _html(found: tuple[Range, list[Piece]], by: int) -> tuple[Range, list[Piece]]:
    return _shifted(found[0], by), _pieces(found[1], by)


# The texts that an editor changes, with what was found in them.


class RecentWalks(Struct, eq=False):
    """The walks of the last texts of a few documents, the latest at the end."""

    _known: list[tuple[bytes, WalkResult]] = field(default_factory=list)

    def walk(self, text: str) -> WalkResult:
        """Return what `walk` returns. A text that resembles an earlier one takes its place. No caller changes it."""
        data = text.encode()
        if not MIN_TEXT <= len(data) <= MAX_TEXT:
            return walk(text)
        known = next((each for each in reversed(self._known) if _resembles(data, each[0])), None)
        if known is not None and known[0] == data:
            return known[1]
        found = (rewalk(data, *known) if known is not None else None) or walk(text)
        self._known = [*(each for each in self._known if each is not known), (data, found)][-MAX_TEXTS:]
        return found

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let all texts that are parsed in this thread meanwhile be walked here."""
        token = _USED.set(self)
        try:
            yield
        finally:
            _USED.reset(token)


def walk_recently(text: str) -> WalkResult:
    """Return what the parser finds in a text, from an earlier text where these are remembered."""
    recent = _USED.get()
    return walk(text) if recent is None else recent.walk(text)


_USED: ContextVar[RecentWalks | None] = ContextVar("prosa_recent_walks", default=None)


def _resembles(data: bytes, before: bytes) -> bool:
    """Return whether two texts are perhaps the same document: they begin or end alike."""
    part = min(len(data), len(before)) // 4
    return data[:part] == before[:part] or data[-part:] == before[-part:]
