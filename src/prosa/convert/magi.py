"""MAGI documents: Markdown with metadata, instructions for models and typed relationships (M5–M22).

A text of another form that would be a broken script or a broken relationship here is escaped with a backslash; a text
in which both are valid stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from prosa.convert.body import write_body
from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import Row, texts_in
from prosa.convert.markdown import read_markdown, well_formed, write_markdown
from prosa.convert.neutral import Carry, Marks, Note, Piece
from prosa.dialects.magi.fields import FRONT
from prosa.dialects.reading import open_as
from prosa.dialects.table import MAGI
from prosa.regex import regex
from prosa.source import SourceText

ROWS = (
    Row("doc-id", "id"),
    Row("title", "title"),
    Row("description", "description"),
    Row("author", "author"),
    Row("tags", "tags", texts_in),
    Row("created-date", "created"),
    Row("updated-date", "updated"),
    Row("source-url", "url"),
)

_NAME = Row("name", "name")
"""A field that MAGI does not have: it is written only where the document had it."""

_STRUCTURE = regex(
    r"(?P<before>^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*)(?P<fence>\\*)(?=ai-script)"
    r"|(?P<margin>^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?P<note>\\*)(?=\[\^)"
    r"|(?P<less><)(?P<comment>\\*)(?=!--)",
    re.MULTILINE,
)


def _escaped(text: str) -> str:
    return _STRUCTURE.sub(lambda match: _with(match, lambda n: 2 * n + 1), text)


def _unescaped(text: str) -> str:
    return _STRUCTURE.sub(lambda match: _with(match, lambda n: n // 2), text)


def _with(match: re.Match[str], number: Callable[[int], int]) -> str:
    for before, slashes in (("before", "fence"), ("margin", "note"), ("less", "comment")):
        if match[slashes] is not None:
            return match[before] + "\\" * number(len(match[slashes]))
    return match[0]


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the document. Raises `NotConvertible`."""
    reading = read_markdown(source, marks, "magi", ROWS, loose=False, table=FRONT, unescaped=_unescaped)
    name = reading.piece.own_of("magi").get("name")
    if not isinstance(name, str):
        return reading
    return replace(reading, piece=replace(reading.piece, slots={**reading.piece.slots, "name": name}))


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the document."""
    del context
    notes: list[Note] = []
    slots = well_formed(piece, "magi", ROWS, FRONT, notes)
    body, marks = write_body(piece, "magi", guards=False)
    if "magi" not in piece.own and _is_broken(body):
        body, marks = _escaped(body), replace(marks, escaped=True)
    rows = (_NAME, *ROWS) if "name" in piece.own_of("magi") else ROWS
    return write_markdown(piece, carry, "magi", rows, slots, notes=notes, body=(body, marks))


def _is_broken(text: str) -> bool:
    """Return whether the scripts or the relationships of a body have faults."""
    reading = open_as(SourceText(f"---\n---\n{text}", "document.mda"), MAGI)
    return any(problem.span.start >= reading.front.body.start for problem in reading.problems)


FORM = Form(name="magi", read=read, write=write, carrier="/prosa")
