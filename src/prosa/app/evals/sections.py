"""The sections of a subject, each of which can be left out: its parts by headings, merged where there are too many.

In: the text of a skill, a program or a context file. Out: at most so many parts that share no text, and the text
without one of them. Front matter is in none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.context.view import tokens_of
from prosa.dialects.reading import open_document
from prosa.regex import regex
from prosa.source import SourceText

MOST_SECTIONS = 8
"""Sections that are left out one by one; more are merged."""

_WORD = regex(r"\w+")

BEGINNING = "the beginning"
"""The name of the text before the first heading."""

MAX_TITLE = 48
"""Characters of a heading in the name of its section."""


class SubjectSection(Struct, frozen=True):
    """A part of a subject: offsets of what is left out, and its name, which no other part has. ``merged`` is the number
    of further headings in it."""

    title: str
    start: int
    end: int
    merged: int = 0


class _Piece(Struct, frozen=True):
    """The text from one heading to the next; level 0 is that before the first one. The text starts after the
    heading."""

    level: int
    title: str
    start: int
    text: int
    end: int
    merged: int = 0


def sections_of(source: SourceText, most: int = MOST_SECTIONS) -> tuple[SubjectSection, ...]:
    """Return the sections of a subject in their order, at most ``most``. Of too many, those with the deepest headings
    are merged into the section before, the shortest first. One alone is the whole text, and none of its sections."""
    if source.path.endswith(".json"):
        return ()
    pieces = _merged(_with_text(source, list(_pieces(source))), most)
    placed = []
    for at, piece in enumerate(pieces):
        below = at + 1 < len(pieces) and pieces[at + 1].level > piece.level
        placed.append((piece, piece.text if below else piece.start))  # a heading stays where headings below it do
    if len(placed) < 2:
        return ()
    names = _names([piece for piece, _ in placed])
    return tuple(
        SubjectSection(name, start, piece.end, piece.merged) for name, (piece, start) in zip(names, placed, strict=True)
    )


def _pieces(source: SourceText) -> Iterator[_Piece]:
    """Yield the text before the first heading, and that of each heading up to the next one."""
    document = open_document(source).document
    headings = [heading for heading in document.headings if not heading.nested]
    starts = [*(heading.span.start for heading in headings), document.body.end]
    if source.text[document.body.start : starts[0]].strip():
        yield _Piece(0, BEGINNING, document.body.start, document.body.start, starts[0])
    for heading, end in zip(headings, starts[1:], strict=True):
        title = " ".join((heading.plain or heading.text).split())[:MAX_TITLE] or "an empty heading"
        line_end = source.text[heading.span.end : heading.span.end + 2]
        after = heading.span.end + (2 if line_end == "\r\n" else line_end[:1] in ("\r", "\n"))
        yield _Piece(heading.level, title, heading.span.start, after, end)


def _with_text(source: SourceText, pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces without headings that have nothing but other headings below them."""
    bare = {
        piece.start
        for piece, one in pairwise(pieces)
        if one.level > piece.level and not source.text[piece.text : piece.end].strip()
    }
    return [piece for piece in pieces if piece.start not in bare]


def _merged(pieces: list[_Piece], most: int) -> list[_Piece]:
    while len(pieces) > max(most, 1):
        at = min(range(1, len(pieces)), key=lambda at: (-pieces[at].level, pieces[at].end - pieces[at].start))
        before, gone = pieces[at - 1], pieces[at]
        pieces[at - 1 : at + 1] = [replace(before, end=gone.end, merged=before.merged + gone.merged + 1)]
    return pieces


def _names(pieces: list[_Piece]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for piece in pieces:
        name = f'"{piece.title}"' if piece.level else piece.title
        name += f" and {piece.merged} more" if piece.merged else ""
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def side_names(title: str) -> tuple[str, str]:
    """Return what the side without a section is called, and its program after its own name: as `NAME-without-units`."""
    return f"without {title}", "-".join(_WORD.findall(f"without {title}".lower()))


def without(source: SourceText, section: SubjectSection) -> str:
    """Return the text without a section."""
    return source.text[: section.start] + source.text[section.end :]


def emptied(source: SourceText) -> str:
    """Return the text with nothing but its front matter."""
    return source.text[: open_document(source).document.body.start]


def section_tokens(source: SourceText, section: SubjectSection) -> int:
    """Return about how many tokens a section takes."""
    return tokens_of(source.text[section.start : section.end])
