"""Markdown with front matter: the form of whatever has no form of its own; and what the forms like it share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prosa.convert.body import AsTemplate, no_template, read_body, write_body
from prosa.convert.form import Around, Form, FormReading, Written
from prosa.convert.front import WORDED, Row, document, own_and_slots, read_part, texts_in, with_carry
from prosa.convert.neutral import NO_CARRY, Carry, FormName, Marks, Piece, carry_of
from prosa.convert.report import Note
from prosa.data import Value
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
) -> FormReading:
    """A document of a form that is front matter and Markdown. Raises `NotConvertible`."""
    part = read_part(source, form, rows, loose=loose)
    carry = carry_of(part.carry) or NO_CARRY
    found = read_body(part.body, marks or carry.marks, as_template)
    own = {**part.own, **found.own}
    slots = part.slots | ({"input": found.input} if found.input is not None else {})
    others = {**found.others, form: own} if own else found.others
    piece = Piece(form, slots, found.said, found.template, others, part.bare)
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
) -> Written:
    """A document of such a form that says these slots."""
    body, marks = write_body(piece, form, as_template, tells=tells)
    notes: tuple[Note, ...] = ()
    if piece.is_conversation:
        notes = (Note("guessed", "roles", "the messages are the text of the document", "the body"),)
    fields = own_and_slots(piece, form, rows, slots)
    return Written(
        document(with_carry(fields, carry), body, bare=piece.bare, worded=piece.own_of(form).get(WORDED)), marks, notes
    )


def read(source: SourceText, marks: Marks | None = None) -> FormReading:
    """The document. Raises `NotConvertible`."""
    return read_markdown(source, marks, "markdown", ROWS)


def write(piece: Piece, carry: Carry, around: Around) -> Written:
    """The document."""
    del around
    return write_markdown(piece, carry, "markdown", ROWS, piece.slots)


FORM = Form(name="markdown", read=read, write=write, carrier="/prosa")
