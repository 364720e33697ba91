"""The walk of a text that differs in one place from one that was walked before: only what stands around the change is
parsed again.

In: a text, an earlier one, and what was found in that. Out: what `walk` finds in the text, exactly. A heading of `#` at
the beginning of a line, in no other block, closes every block before it, so the parser reads a section that begins
there as it reads a text. Three things reach from one section into another: definitions of links and footnotes, which
are parsed along with a changed section, and must be the same in it; how far references may expand; and how many cells
of tables may be missing. Where the last two could matter, the whole text is walked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast, overload

from msgspec import Struct, field

from prosa.document.walk import FoundCode, FoundHeading, FoundLink, Piece, WalkResult, moved_pieces, walk
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

_LINE_END = b"\n"[0]

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


def rewalk(data: bytes, before: bytes, result: WalkResult) -> WalkResult | None:
    """Return what the parser finds in a text, from its ``result`` for the text ``before``, both as UTF-8; None where
    only a walk of the whole text shows that."""
    notes = _has_notes(before)
    if _has_notes(data) != notes or _may_lack_cells(data) or _may_lack_cells(before):
        return None
    change = _changed(data, before, result.headings)
    own = data[change.start : change.end]
    if own.count(_DEFINES) != before.count(_DEFINES, change.start, change.old_end):
        return None
    parts = _defining(before, result, change) if b":" in before and _DEFINES in before else ()
    if change.old_end == len(before):  # it ends the text
        new = walk(own.decode(), footnotes=notes) if not parts else None
    else:
        new = walk(b"".join((own, _AFTER, *parts)).decode(), footnotes=notes)
        new = new if _closes(new, len(own)) else None
    if _DEFINES in own and (new is None or not _defines_the_same(result, new, change, own.count(_DEFINES))):
        return None
    joined = _joined(result, new, change, len(own)) if new is not None else None
    return None if joined is None or (parts and _may_expand(joined, sum(map(len, parts)))) else joined


def _has_notes(data: bytes) -> bool:
    """Return whether a text may hold footnotes. One byte is found much faster than two."""
    return b"^" in data and b"[^" in data


def _may_lack_cells(data: bytes) -> bool:
    """Return whether the tables of a text may lack as many cells as the parser adds at most."""
    if b"|" not in data or data.count(b"|") * data.count(b"\n") < _CELLS:
        return False
    lines = data.split(b"\n")
    return (max(line.count(b"|") for line in lines) + 1) * len(lines) >= _CELLS


def _sections(data: bytes, headings: Iterable[FoundHeading]) -> Iterator[int]:
    """Yield where the sections of a text begin that are parsed as texts of their own, but for the first one, which
    begins with the text."""
    for heading in headings:
        at = heading.where["start"]
        if at and heading.outer is None and data[at - 1] == _LINE_END and _HEADING.match(data, at) is not None:
            yield at


def _changed(data: bytes, before: bytes, headings: Sequence[FoundHeading]) -> Change:
    """Return the sections that a change touches."""
    most = min(len(data), len(before))
    same = _common(most, lambda low, high: data[low:high] == before[low:high])
    end, old_end = len(data), len(before)
    ending = _common(
        most - same, lambda low, high: data[end - high : end - low] == before[old_end - high : old_end - low]
    )
    at = bisect_right(headings, same - _LONGEST_MARK, key=_start_of_heading)
    start = next(_sections(before, reversed(headings[:at])), 0)
    at = bisect_right(headings, max(start, old_end - ending), lo=at, key=_start_of_heading)
    after = next(_sections(before, headings[at:]), old_end)  # the line end in front of it is the same too
    return Change(start, after, after + end - old_end)


def _common(most: int, same: Callable[[int, int], bool]) -> int:
    """Return the largest count up to ``most`` of which all is the ``same``, of what stands from one count to another.
    Nothing is compared twice."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(low, middle) else (low, middle - 1)
    return low


def _defining(before: bytes, result: WalkResult, change: Change) -> list[bytes]:
    """Return the sections with definitions, without those that changed."""
    starts = [0, *_sections(before, result.headings)]
    parts: list[bytes] = []
    at = before.find(_DEFINES)
    while at >= 0:
        number = bisect_right(starts, at)
        start, end = starts[number - 1], starts[number] if number < len(starts) else len(before)
        if not change.start <= start < change.old_end:
            parts.append(before[start:end])
        at = before.find(_DEFINES, end)
    return parts


def _defines_the_same(result: WalkResult, new: WalkResult, change: Change, count: int) -> bool:
    """Return whether changed sections hold ``count`` definitions, all of footnotes, with the labels that they had, and
    no other section has one of these."""
    first = bisect_left(result.footnotes, change.start, key=_start_of_second)
    after = bisect_left(result.footnotes, change.old_end, lo=first, key=_start_of_second)
    labels = [label for label, _ in result.footnotes[first:after]]
    others = (*result.footnotes[:first], *result.footnotes[after:])
    inside = bisect_left(new.footnotes, change.end - change.start, key=_start_of_second)
    same = labels == [label for label, _ in new.footnotes[:inside]]
    return (
        same and len(labels) == count and {*map(str.casefold, labels)}.isdisjoint(name.casefold() for name, _ in others)
    )


def _closes(result: WalkResult, end: int) -> bool:
    """Return whether the heading behind a part is one: nothing that began in it is open."""
    at = bisect_left(result.headings, end, key=lambda heading: heading.where["start"])
    return at < len(result.headings) and result.headings[at].where["start"] == end and result.headings[at].outer is None


def _may_expand(result: WalkResult, defined: int) -> bool:
    """Return whether the references of a text may expand to more than the parser allows."""
    tags = (link.tag for link in result.links)
    used = sum(len(tag["dest_url"]) + len(tag["title"]) for tag in tags if tag["link_type"] not in _WRITTEN_OUT)
    return 4 * (used + defined) >= _EXPANSION  # a character has at most four bytes


_WRITTEN_OUT = ("Inline", "Autolink", "Email")


def _joined(old: WalkResult, new: WalkResult, change: Change, own: int) -> WalkResult:
    """Return what stands before the change, in it, and behind it."""
    by, moved = change.start, change.end - change.old_end

    def join(
        old: list[T], new: list[T], start: Callable[[T], int], shifted: Callable[[Iterable[T], int], list[T]]
    ) -> list[T]:
        first = bisect_left(old, change.start, key=start)
        rest = old[bisect_left(old, change.old_end, lo=first, key=start) :]
        inside = new[: bisect_left(new, own, key=start)]
        if by and inside:
            inside = shifted(inside, by)
        return [*old[:first], *inside, *(shifted(rest, moved) if moved else rest)]

    start = itemgetter("start")
    return WalkResult(
        headings=join(old.headings, new.headings, _start_of_heading, _headings),
        paragraphs=_paragraphs(old, new, change, own),
        code_blocks=join(old.code_blocks, new.code_blocks, lambda code: code.where["start"], _code),
        links=join(old.links, new.links, lambda link: link.where["start"], _links),
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


def _paragraphs(old: WalkResult, new: WalkResult, change: Change, own: int) -> MovedParagraphs:
    """Return the same of paragraphs, of which there are most, and which few ask for."""
    before = old.paragraphs if isinstance(old.paragraphs, MovedParagraphs) else MovedParagraphs.of(old.paragraphs)
    first = bisect_left(before, change.start, key=_start_of_first)
    after = bisect_left(before, change.old_end, lo=first, key=_start_of_first)
    inside = new.paragraphs[: bisect_left(new.paragraphs, own, key=_start_of_first)]
    parts = (
        *before.parts_of(0, first, 0),
        (inside, 0, len(inside), change.start),
        *before.parts_of(after, len(before), change.end - change.old_end),
    )
    paragraphs = MovedParagraphs(tuple(part for part in parts if part[1] < part[2]))
    return paragraphs if len(paragraphs.parts) <= MAX_PARTS else MovedParagraphs.of([*paragraphs])


MAX_PARTS = 8
"""Parts of which the paragraphs of a text are made. A text that is edited in many places has them put together."""

_Part: TypeAlias = "tuple[Sequence[tuple[Range, bool]], int, int, int]"
"""Paragraphs, the first and the one behind the last of those that count, and by how many bytes they moved."""


class MovedParagraphs(Sequence["tuple[Range, bool]"]):
    """The paragraphs of a changed text: those of earlier texts, and by how much they moved."""

    def __init__(self, parts: tuple[_Part, ...]) -> None:
        self.parts = parts
        self._ends = (*accumulate(last - first for _, first, last, _ in parts),)

    @classmethod
    def of(cls, paragraphs: Sequence[tuple[Range, bool]]) -> MovedParagraphs:
        """Return those of a text that was walked."""
        return cls(((paragraphs, 0, len(paragraphs), 0),))

    def parts_of(self, start: int, end: int, by: int) -> Iterator[_Part]:
        """Yield the parts of those from one number up to another, moved by so many bytes more."""
        at = 0
        for paragraphs, first, last, moved in self.parts:
            low, high = max(start - at, 0), min(end - at, last - first)
            if low < high:
                yield paragraphs, first + low, first + high, moved + by
            at += last - first

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[tuple[Range, bool]]:
        for paragraphs, first, last, moved in self.parts:
            yield from _marked(paragraphs[first:last], moved) if moved else paragraphs[first:last]

    @overload
    def __getitem__(self, at: int) -> tuple[Range, bool]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Range, bool]]: ...
    def __getitem__(self, at: int | slice) -> tuple[Range, bool] | list[tuple[Range, bool]]:
        if isinstance(at, slice):
            return [*self][at]
        at = at + len(self) if at < 0 else at
        number = bisect_right(self._ends, at)
        if at < 0 or number == len(self._ends):
            raise IndexError(at)
        paragraphs, _, last, moved = self.parts[number]
        one = paragraphs[last - (self._ends[number] - at)]
        return _marked([one], moved)[0] if moved else one


def _start_of_heading(heading: FoundHeading) -> int:
    return heading.where["start"]


def _start_of_first(pair: tuple[Range, object]) -> int:
    return pair[0]["start"]


def _start_of_second(pair: tuple[object, Range]) -> int:
    return pair[1]["start"]


# Written out, since a call for each of what stands behind a change takes as long as all the rest.


def _shifted(ranges: Iterable[Range], by: int) -> list[Range]:
    return [{"start": span["start"] + by, "end": span["end"] + by} for span in ranges]


def _headings(headings: Iterable[FoundHeading], by: int) -> list[FoundHeading]:
    return [
        FoundHeading(
            heading.level,
            {"start": heading.where["start"] + by, "end": heading.where["end"] + by},
            heading.pieces,
            heading.end + by,
            _shifted([heading.outer], by)[0] if heading.outer is not None else None,
            heading.moved + by,
        )
        for heading in headings
    ]


def _code(codes: Iterable[FoundCode], by: int) -> list[FoundCode]:
    return [
        FoundCode(code.info, _shifted([code.where], by)[0], moved_pieces(code.pieces, by), code.containers)
        for code in codes
    ]


def _links(links: Iterable[FoundLink], by: int) -> list[FoundLink]:
    return [
        FoundLink(
            link.tag,
            {"start": link.where["start"] + by, "end": link.where["end"] + by},
            link.text_end + by,
            link.image,
        )
        for link in links
    ]


def _marked(paragraphs: Iterable[tuple[Range, bool]], by: int) -> list[tuple[Range, bool]]:
    return [({"start": where["start"] + by, "end": where["end"] + by}, mark) for where, mark in paragraphs]


def _named(names: Iterable[tuple[str, Range]], by: int) -> list[tuple[str, Range]]:
    return [(name, {"start": where["start"] + by, "end": where["end"] + by}) for name, where in names]


def _html(blocks: Iterable[tuple[Range, list[Piece]]], by: int) -> list[tuple[Range, list[Piece]]]:
    return [(_shifted([where], by)[0], moved_pieces(pieces, by)) for where, pieces in blocks]


# The texts that an editor changes, with what was found in them.


class KnownWalk(Struct, eq=False):
    """A text as UTF-8, the number of its characters, what was found in it, and what was ``made`` of each of its links.
    ``before`` is the text that this one was before its last change."""

    data: bytes
    length: int
    found: WalkResult
    before: KnownWalk | None = None
    made: dict[str, list[object]] = field(default_factory=dict)


class RecentWalks(Struct, eq=False):
    """The walks of the last texts of a few documents, the latest at the end; texts of fewer bytes than ``least`` are
    not remembered."""

    least: int = MIN_TEXT
    _known: list[KnownWalk] = field(default_factory=list)

    @classmethod
    def after(cls, text: str, result: WalkResult) -> RecentWalks:
        """Return the walks of texts that are made of another one, in which something was ``found``."""
        return cls(0, [KnownWalk(text.encode(), len(text), result)])

    def walk(self, text: str) -> WalkResult:
        """Return what `walk` returns. A text that resembles an earlier one takes its place. No caller changes it."""
        data = text.encode()
        if not self.least <= len(data) <= MAX_TEXT:
            return walk(text)
        known = next((candidate for candidate in reversed(self._known) if _resembles(data, candidate.data)), None)
        if known is not None and known.data == data:
            return known.found
        result = rewalk(data, known.data, known.found) if known is not None else None
        if known is not None:
            known.before = None  # one is enough
        new = KnownWalk(data, len(text), result or walk(text), known if result is not None else None)
        self._known = [*(candidate for candidate in self._known if candidate is not known), new][-MAX_TEXTS:]
        return new.found

    def of(self, result: WalkResult) -> KnownWalk | None:
        """Return the text in which something was found; None for one that is not remembered."""
        return next((candidate for candidate in self._known if candidate.found is result), None)

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


def made_of_links(
    result: WalkResult, name: str, make: Callable[[FoundLink], T], moved: Callable[[Sequence[T], int], list[T]]
) -> list[T]:
    """Return what ``make`` makes of each link, which looks at nothing but the link and its text. In a text that was
    changed, only the links in the changed sections are looked at; those behind them are ``moved`` by some characters.
    """
    recent = _USED.get()
    known = recent.of(result) if recent is not None else None
    if known is None:
        return [make(link) for link in result.links]
    made = cast("list[T] | None", known.made.get(name))
    if made is None:
        made = _made_again(known, name, make, moved)
        known.made[name] = cast("list[object]", made)
    return made


def _made_again(
    known: KnownWalk, name: str, make: Callable[[FoundLink], T], moved: Callable[[Sequence[T], int], list[T]]
) -> list[T]:
    links, before = known.found.links, known.before
    made = cast("list[T] | None", before.made.get(name)) if before is not None else None
    if before is None or made is None:
        return [make(link) for link in links]
    by = known.length - before.length
    if by and len(known.data) == len(before.data):  # what stands behind the change is the same, and yet moved
        return [make(link) for link in links]
    old = before.found.links
    most, first, last = min(len(links), len(old)), 0, 0
    while first < most and links[first] is old[first]:
        first += 1
    while last < most - first and links[-1 - last].tag is old[-1 - last].tag:  # a link that moves keeps its tag
        last += 1
    rest = made[len(old) - last :]
    inside = (make(link) for link in links[first : len(links) - last])
    return [*made[:first], *inside, *(moved(rest, by) if by else rest)]


_USED: ContextVar[RecentWalks | None] = ContextVar("prosa_recent_walks", default=None)


def _resembles(data: bytes, before: bytes) -> bool:
    """Return whether two texts are perhaps the same document: they begin or end alike."""
    part = min(len(data), len(before)) // 4
    return data[:part] == before[:part] or data[-part:] == before[-part:]
