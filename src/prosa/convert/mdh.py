"""MDH nodes: a page of a site for agents, under an id, a type and a title (H9–H15)."""

from __future__ import annotations

from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import Row, texts_in
from prosa.convert.markdown import entitled, read_markdown, well_formed, write_markdown
from prosa.convert.neutral import Carry, Marks, Note, Piece
from prosa.data import Value
from prosa.dialects.mdh.fields import NODE
from prosa.dialects.skill_md.model import as_name
from prosa.source import SourceText

ROWS = (
    Row("id", "id"),
    Row("title", "title"),
    Row("summary", "description"),
    Row("tags", "tags", texts_in),
    Row("updated", "updated"),
    Row("canonical_url", "url"),
)


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the node. Raises `NotConvertible`."""
    return read_markdown(source, marks, "mdh", ROWS, loose=False, table=NODE)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the node. Its type is a guess where the source is no node."""
    notes: list[Note] = []
    slots = well_formed(piece, "mdh", ROWS, NODE, notes)
    entitled(slots, piece, context, notes)
    if not str(slots.get("id") or "").strip():
        slots["id"] = as_name(str(piece.slot("name") or context.stem)) or "node"
        notes.append(Note("guessed", "id", f"the node is called `{slots['id']}`", "/id"))
    more: dict[str, Value] = {}
    if not isinstance(piece.own_of("mdh").get("type"), str) and "mdh" not in piece.own:
        more["type"] = "page"
        notes.append(Note("guessed", "own/mdh/type", "the node is of the type `page`", "/type"))
    return write_markdown(piece, carry, "mdh", ROWS, slots, notes=notes, more=more)


FORM = Form(name="mdh", read=read, write=write, carrier="/prosa")
