"""Commands, which a user calls as `/name` in an agent program, and their arguments (`$ARGUMENTS`)."""

from __future__ import annotations

from prosa.convert.body import as_template
from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import Row, joined_by
from prosa.convert.markdown import read_markdown, write_markdown
from prosa.convert.neutral import Carry, Marks, Piece
from prosa.convert.skill import tools_in
from prosa.source import SourceText

ROWS = (
    Row("name", "name"),
    Row("description", "description"),
    Row("argument-hint", "hint"),
    Row("allowed-tools", "tools", tools_in, joined_by(", ")),
    Row("model", "host-model"),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the command. Raises `NotConvertible`."""
    return read_markdown(source, marks, "command", ROWS, as_template)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the command. Its name is that of its file, so it is only written if the author did, or if another form
    has a different one."""
    del context
    return write_markdown(piece, carry, "command", ROWS, piece.slots, as_template, tells=True)


FORM = Form(name="command", read=read, write=write, carrier="/prosa")
