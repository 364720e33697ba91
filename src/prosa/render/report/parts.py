"""The parts of a page, and how texts of any size share the room that it has (X37).

A page is finished HTML, and blocks that take what room there is. Answers share the room equally: one that needs less
leaves the rest to the others. What is cut says how large it is, and which SHA-256 the whole has.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from prosa.render.plain import with_escapes
from prosa.source.url import quoted_relative

Whole: TypeAlias = Mapping[str, str]
"""The SHA-256 of texts that are whole in files, with the paths of these from the page."""

Mark: TypeAlias = Literal["", "ins", "del", "plus", "minus", "at", "said", "call", "result", "wrong"]

NOTE = 420
"""Bytes that a block takes at most where nothing of it is shown."""

MAX_BRIEF = 300
"""Characters of a text that stands on one line."""

_TAGS: Mapping[Mark, tuple[str, str]] = {
    "": ("", ""),
    "ins": ("<ins>", "</ins>"),
    "del": ("<del>", "</del>"),
    **{
        name: (f'<span class="{name}">', "</span>")
        for name in ("plus", "minus", "at", "said", "call", "result", "wrong")
    },
}

_PICTURES: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "png"),
    (b"\xff\xd8\xff", 0, "jpeg"),
    (b"GIF87a", 0, "gif"),
    (b"GIF89a", 0, "gif"),
    (b"WEBP", 8, "webp"),
)


class TextBlock(Struct, frozen=True):
    """A text in pieces, each with its mark. ``is_first`` is for answers, which get room before anything else; ``where``
    says which command has it whole."""

    pieces: tuple[tuple[str, Mark], ...]
    is_first: bool = False
    kind: str = ""
    where: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(text for text, _ in self.pieces)

    def need(self, most: int) -> int:
        """Return the bytes that it takes whole, if these are at most ``most``; else some number above that."""
        return sum(len(piece) for piece in self._open()) + _taken(self.pieces, most)

    def html(self, room: int, whole: Whole) -> str:
        """Return it in at most so many bytes, which are at least `NOTE`."""
        start, end = self._open()
        if self.need(room) <= room:
            return start + "".join(_piece(text, mark) for text, mark in self.pieces) + end
        data = self.text.encode("utf-8", "surrogatepass")
        shown = "".join(_fitting(self.pieces, room - NOTE))
        note = cut_note(len(data), sha256(data).hexdigest(), whole, self.where)
        return f"{start}{shown}{end}{note}" if shown else note

    def _open(self) -> tuple[str, str]:
        # The line end after the tag is dropped by readers of HTML; without it they would drop one of the text.
        return f'<pre class="{self.kind}">\n' if self.kind else "<pre>\n", "</pre>"


class PictureBlock(Struct, frozen=True):
    """A picture, shown whole or not at all; ``name`` is its path."""

    name: str
    content: bytes
    is_first: bool = False

    @property
    def type(self) -> str:
        """The kind of picture that its first bytes say it is; empty for any other content, SVG too."""
        starts = (name for magic, at, name in _PICTURES if self.content[at : at + len(magic)] == magic)
        return next(starts, "")

    def need(self, most: int) -> int:
        """Return the bytes that it takes."""
        return (
            len(self.content) * 4 // 3 + 100 + len(brief(self.name).encode()) if len(self.content) < most else most + 1
        )

    def html(self, room: int, whole: Whole) -> str:
        """Return it, or how large it is."""
        if not self.type or self.need(room) > room:
            return cut_note(len(self.content), sha256(self.content).hexdigest(), whole)
        data = b64encode(self.content).decode()
        return f'<img alt="{attribute(self.name)}" src="data:image/{self.type};base64,{data}">'


class Block(Protocol):
    """A part whose size depends on the room. ``is_first`` is for answers, which get room before anything else."""

    @property
    def is_first(self) -> bool:
        """Whether it is an answer."""
        ...

    def need(self, most: int) -> int:
        """Return the bytes that it takes whole, if these are at most ``most``; else some number above that."""
        ...

    def html(self, room: int, whole: Whole) -> str:
        """Return it in at most so many bytes, which are at least `NOTE`."""
        ...


Part: TypeAlias = str | Block


def text_block(text: str, *, is_first: bool = False, kind: str = "", where: str = "") -> TextBlock:
    """Return a text without marks."""
    return TextBlock(((text, ""),), is_first, kind, where)


def brief(text: str, most: int = MAX_BRIEF) -> str:
    """Return a text for one line: escaped, isolated from the direction of what is around it, and cut."""
    return f"<bdi>{escape(one_line(text, most), quote=False)}</bdi>"


def attribute(text: str, most: int = MAX_BRIEF) -> str:
    """Return a text for the value of an attribute in double quotes."""
    return escape(one_line(text, most))


def one_line(text: str, most: int) -> str:
    """Return a text on one line, with escapes for what is not seen, and cut."""
    line = " ".join(with_escapes(text[: 4 * most]).split())
    return line if len(text) <= 4 * most and len(line) <= most else f"{line[:most]}…"


def cut_note(size: int, digest: str, whole: Whole, where: str = "") -> str:
    """Return what is said of a text that is cut: its bytes, its SHA-256, and where it is whole."""
    path = whole.get(digest)
    more = f"; <code>{where}</code> has the full text" if where else ""
    if path is not None:
        more = f'; <a href="./{escape(quoted_relative(path.lstrip("/")))}">the full text is in a file</a>'
    return f'<p class="cut">Cut here. All of it has {size:,} bytes and the SHA-256 <code>{digest}</code>{more}.</p>'


def table(label: str, kind: str, heads: Sequence[str], rows: Iterable[Part]) -> Iterator[Part]:
    """Yield a table that scrolls by itself. ``heads`` and ``rows`` are HTML, ``label`` is plain and ours."""
    yield f'<div class="scroll" role="group" tabindex="0" aria-label="{label}"><table class="{kind}">\n<thead><tr>'
    yield from (f'<th scope="col">{head}</th>' for head in heads)
    yield "</tr></thead>\n<tbody>\n"
    yield from rows
    yield "</tbody></table></div>\n"


def table_row(head: str, cells: Iterable[str]) -> str:
    """Return a row of a table with its head; all of it is HTML."""
    return f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'


def weight(parts: Iterable[Part]) -> int:
    """Return the bytes that parts take at least."""
    return sum(len(part.encode()) if isinstance(part, str) else min(NOTE, part.need(NOTE)) for part in parts)


def fitting(sections: Iterable[Sequence[Part]], room: int) -> list[Sequence[Part]]:
    """Return as many of the first sections as have room."""
    fitted: list[Sequence[Part]] = []
    for section in sections:
        room -= weight(section)
        if room < 0:
            break
        fitted.append(section)
    return fitted


def within(sections: Iterable[Iterable[Part]], room: int, noun: str) -> Iterator[Part]:
    """Yield as many of the first sections as have room, and how many have none."""
    kept, missing = with_room(sections, room)
    yield from kept
    if missing:
        yield f'<p class="cut">No room for {missing:,} {noun}{"s" * (missing > 1)}.</p>\n'


def with_room(sections: Iterable[Iterable[Part]], room: int) -> tuple[list[Part], int]:
    """Return the parts of as many of the first sections as have room, and how many have none: these are not made."""
    kept: list[Part] = []
    left = iter(sections)
    for section in left:
        made = list(section)
        room -= weight(made)
        if room < 0:
            return kept, 1 + sum(1 for _ in left)
        kept += made
    return kept, 0


def assemble(parts: Sequence[Part], limit: int, whole: Whole) -> str:
    """Return the parts in at most ``limit`` bytes, provided that their weight is not more."""
    blocks = [part for part in parts if not isinstance(part, str)]
    rooms = iter(_rooms(blocks, limit - sum(len(part.encode()) for part in parts if isinstance(part, str))))
    return "".join(part if isinstance(part, str) else part.html(next(rooms), whole) for part in parts)


def _rooms(blocks: Sequence[Block], room: int) -> list[int]:
    """Return the bytes for each block. A quarter is kept for what surrounds the answers, if that needs so much."""
    needs = [block.need(max(room, NOTE)) for block in blocks]
    least = [min(need, NOTE) for need in needs]
    left = max(0, room - sum(least))
    more = [need - low for need, low in zip(needs, least, strict=True)]
    others = sum(extra for extra, block in zip(more, blocks, strict=True) if not block.is_first)
    answers = level(
        [extra for extra, block in zip(more, blocks, strict=True) if block.is_first], left - min(others, left // 4)
    )
    used = sum(min(extra, answers) for extra, block in zip(more, blocks, strict=True) if block.is_first)
    rest = level([extra for extra, block in zip(more, blocks, strict=True) if not block.is_first], left - used)
    tops = (answers if block.is_first else rest for block in blocks)
    return [low + min(extra, top) for low, extra, top in zip(least, more, tops, strict=True)]


def level(needs: Sequence[int], room: int) -> int:
    """Return the most that each may have, so that all together have the room."""
    for at, need in enumerate(ordered := sorted(needs)):
        if need * (len(ordered) - at) > room:
            return room // (len(ordered) - at)
        room -= need
    return max(needs, default=0)


def _piece(text: str, mark: Mark) -> str:
    start, end = _TAGS[mark]
    return f"{start}{escape(with_escapes(text), quote=False)}{end}" if text else ""


def _taken(pieces: Sequence[tuple[str, Mark]], most: int) -> int:
    taken = 0
    for text, mark in pieces:
        taken += len(text) if len(text) > most else len(_piece(text, mark).encode())
        if taken > most:
            break
    return taken


def _fitting(pieces: Sequence[tuple[str, Mark]], room: int) -> Iterator[str]:
    """Yield what fits of the pieces, the last one cut."""
    for text, mark in pieces:
        size = _taken([(text, mark)], room)
        if size > room:
            yield _piece(_beginning(text, mark, room), mark)
            return
        yield _piece(text, mark)
        room -= size


def _beginning(text: str, mark: Mark, room: int) -> str:
    """Return as much of a text as takes so many bytes as HTML."""
    low, high = 0, max(0, min(len(text), room))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_piece(text[:middle], mark).encode()) <= room else (low, middle - 1)
    return text[:low]
