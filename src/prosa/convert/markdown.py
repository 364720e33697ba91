"""Markdown with front matter, the default form; and the code that similar forms share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from prosa.convert.body import AsTemplate, no_template, read_body, unescaped_headings, write_body
from prosa.convert.form import Form, FormReading, NewDocument, TargetContext
from prosa.convert.front import (
    WORDED,
    Row,
    document,
    is_bare,
    node_of,
    own_and_slots,
    read_part,
    texts_in,
    titled,
    with_carry,
)
from prosa.convert.neutral import NO_CARRY, Carry, FormName, Marks, Note, Piece, carry_of
from prosa.data import Mapping as Fields
from prosa.data import Value
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.source import SourceText

ROWS = (
    Row("title", "title"),
    Row("description", "description"),
    Row("author", "author"),
    Row("tags", "tags", texts_in),
    Row("created", "created"),
    Row("updated", "updated"),
    Row("lang", "lang"),
    Row("canonical_url", "url"),
)


def read_markdown(
    source: SourceText,
    marks: Marks | None,
    form: FormName,
    rows: Iterable[Row],
    as_template: AsTemplate = no_template,
    *,
    loose: bool = True,
    table: tuple[Field, ...] = (),
    unescaped: Callable[[str], str] = unescaped_headings,
) -> FormReading:
    """Return a document of a form that is front matter and Markdown. Raises `NotConvertible`."""
    part = read_part(source, form, rows, loose=loose)
    carry = carry_of(part.carry) or NO_CARRY
    reading = read_body(part.body, marks or carry.marks, as_template, unescaped)
    own = {**part.own, **reading.own}
    slots = part.slots | ({"input": reading.input} if reading.input is not None else {})
    mark_unsound(slots, own, rows, table)
    others = {**reading.others, form: own} if own else reading.others
    piece = Piece(form, slots, reading.said, reading.template, others, part.bare)
    return FormReading(piece, carry, part.places)


def write_markdown(
    piece: Piece,
    carry: Carry,
    form: FormName,
    rows: Iterable[Row],
    slots: Mapping[str, Value],
    as_template: AsTemplate = no_template,
    *,
    tells: bool = False,
    notes: Sequence[Note] = (),
    more: Mapping[str, Value] | None = None,
    body: tuple[str, Marks] | None = None,
) -> NewDocument:
    """Return a document of such a form with these slots."""
    text, marks = body or write_body(piece, form, as_template, tells=tells)
    written = [*notes]
    if piece.is_conversation:
        written.append(Note("guessed", "roles", "the messages are the text of the document", "the body"))
    fields = own_and_slots(piece, form, rows, slots) | dict(more or {})
    return NewDocument(
        document(with_carry(fields, carry), text, bare=is_bare(piece), worded=piece.own_of(form).get(WORDED)),
        marks,
        tuple(written),
    )


UNSOUND = "=unsound"
"""The field of a form for fields that the author wrote malformed: they stay unchanged."""


def ill_formed(slots: Mapping[str, Value], rows: Iterable[Row], table: tuple[Field, ...]) -> list[str]:
    """Return the slots whose fields would be malformed by the table of a dialect."""
    fields = {row.field: row.write(slots[row.slot]) for row in rows if slots.get(row.slot) is not None}
    whole = node_of(fields)
    assert isinstance(whole, Fields)
    entries, _ = read_fields(whole, table, Owner("a document", whole.span, other=lambda _: True))
    known = {field.name for field in table}
    return [row.slot for row in rows if row.field in fields and row.field in known and row.field not in entries]


def mark_unsound(
    slots: Mapping[str, Value], own: dict[str, Value], rows: Iterable[Row], table: tuple[Field, ...]
) -> None:
    """Mark the fields of a form that its author wrote and that are not well-formed."""
    if ill_formed(slots, rows, table):
        own[UNSOUND] = True


def well_formed(
    piece: Piece, form: FormName, rows: Iterable[Row], table: tuple[Field, ...], notes: list[Note]
) -> dict[str, Value]:
    """Return the slots that a dialect allows; others are left out with a note, unless its own author wrote them."""
    slots = dict(piece.slots)
    if piece.own_of(form).get(UNSOUND):
        return slots
    fields = {row.slot: row.field for row in rows}
    for slot in ill_formed(slots, rows, table):
        notes.append(Note("manual", slot, f"this form cannot have this `{fields[slot]}`", f"/{fields[slot]}"))
        del slots[slot]
    return slots


def entitled(slots: dict[str, Value], piece: Piece, context: TargetContext, notes: list[Note]) -> None:
    """Return a document that has no title one: its name, its first heading, or the name of its file."""
    if not str(slots.get("title") or "").strip():
        slots["title"] = piece.slot("name") or titled(piece.text, piece.template) or context.stem
        notes.append(Note("guessed", "title", "the title is the name, or the first heading"))


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """Return the document. Raises `NotConvertible`."""
    return read_markdown(source, marks, "markdown", ROWS)


def write(piece: Piece, carry: Carry, context: TargetContext) -> NewDocument:
    """Return the document."""
    del context
    return write_markdown(piece, carry, "markdown", ROWS, piece.slots)


FORM = Form(name="markdown", read=read, write=write, carrier="/prosa")
