"""Instructions: Markdown that an agent keeps in view while it works on files (`NAME.instructions.md`, `AGENTS.md`)."""

from __future__ import annotations

from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import Row, joined_by, texts_in
from prosa.convert.markdown import read_markdown, write_markdown
from prosa.convert.neutral import Carry, Marks, Piece
from prosa.source import SourceText

ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("applyTo", "globs", texts_in, joined_by(",")),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the instructions. Raises `NotConvertible`."""
    return read_markdown(source, marks, "instructions", ROWS)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the instructions."""
    del context
    return write_markdown(piece, carry, "instructions", ROWS, piece.slots)


FORM = Form(name="instructions", read=read, write=write, carrier="/prosa")
