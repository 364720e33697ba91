"""The conversion of a document from one form to another (X31): read, write, read the result, and carry what is missing
in it.

In: a source and two forms. Out: the new text and a report computed from both: a part is kept if the new document
expresses it, moved if the document carries it along, otherwise lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.convert.form import At, Form, FormReading, NewDocument, NotConvertible, TargetContext
from prosa.convert.neutral import (
    NO_CARRY,
    Carry,
    FormName,
    Item,
    Note,
    Piece,
    Report,
    carried,
    flat,
    in_words,
    restored,
    same,
)
from prosa.convert.table import form_of
from prosa.data import Value
from prosa.source import SourceText

T = TypeVar("T")

MAX_ROUNDS = 3
"""Maximum number of times a document is written with its carry, whose presence may change the wording of the rest."""


class Converted(Struct, frozen=True):
    """A new document, the name that it has in its own words, and the report of how it came to be."""

    text: str
    report: Report
    name: str | None = None


def convert(source: SourceText, origin: FormName, target: FormName, context: TargetContext) -> Converted:
    """Return the document in another form. Raises `NotConvertible` for a source that cannot be read whole, and where a
    fault of our own shows in it."""
    return guarded(lambda: _converted(source, origin, target, context))


def guarded(work: Callable[[], T]) -> T:
    """Return what a conversion gives. Raises `NotConvertible` in place of anything that is a fault of our own."""
    try:
        return work()
    except (NotConvertible, MemoryError):
        raise
    except Exception as error:
        from prosa.diagnostics.crash import crash  # only here: nothing fails as a rule

        problem = crash("the conversion", error)
        raise NotConvertible(f"{problem.message}; {problem.notes[0]}") from None


def _converted(source: SourceText, origin: FormName, target: FormName, context: TargetContext) -> Converted:
    reading = form_of(origin).read(source, None)
    piece, edited = restored(reading.piece, reading.carry)
    if origin == target:
        return Converted(source.text, Report(len(_counted(piece))))
    form = form_of(target)
    written, back, carry = _written(form, piece, context)
    whole, _ = restored(back, carry)
    notes = (*reading.notes, *edited, *written.notes)
    report = _report(source, reading, (piece, back, whole), carry, notes, form)
    name = back.slot("name")
    return Converted(written.text, report, name if isinstance(name, str) else None)


def _written(form: Form, piece: Piece, context: TargetContext) -> tuple[NewDocument, Piece, Carry]:
    """Return the document, its own content, and its carry."""
    bare = form.write(piece, NO_CARRY, context)
    back = form.read(SourceText(bare.text, context.path), bare.marks).piece
    carry = _fitting(carried(piece, back, bare.marks), form)
    if not carry:
        return bare, back, NO_CARRY
    for _ in range(MAX_ROUNDS):
        written = form.write(piece, carry, context)
        again = form.read(SourceText(written.text, context.path), None)
        whole = _fitting(carried(piece, again.piece, bare.marks), form)
        if whole == carry:
            break
        carry = whole
    return replace(written, notes=bare.notes), again.piece, again.carry


def _fitting(carry: Carry, form: Form) -> Carry:
    """As much of a carry as there is room for, large parts left out first."""
    if not form.carrier:
        return NO_CARRY
    keep = dict(carry.keep)
    size = {key: len(json.dumps(value, ensure_ascii=False)) for key, value in keep.items()}
    while keep and sum(size[key] for key in keep) > form.room:
        del keep[max(keep, key=lambda key: size[key])]
    return replace(carry, keep=keep)


def _counted(piece: Piece) -> list[str]:
    return [key for key in flat(piece) if not _is_silent(key)]


def _report(
    source: SourceText,
    reading: FormReading,
    pieces: tuple[Piece, Piece, Piece],
    carry: Carry,
    notes: tuple[Note, ...],
    form: Form,
) -> Report:
    """Return the report. ``pieces`` are the content of the source, the own content of the new document, and
    that with its carry."""
    wanted, stated, final = flat(pieces[0]), aligned(*pieces[:2]), aligned(pieces[0], pieces[2])
    kept = 0
    made: list[Note] = []
    noted = {note.key for note in notes}
    for key, value in wanted.items():
        silent = _is_silent(key)
        if (key in stated and same(stated[key], value)) or (
            key.startswith("text/") and isinstance(carry.keep.get(key), dict)
        ):
            kept += not silent
        elif key in final and same(final[key], value):
            made += [] if silent else [Note("moved", key, f"{in_words(key)} is carried along", form.carrier)]
        elif not (silent and key in noted) and not (key.startswith("text/") and not value):
            made.append(Note("lost", key, f"{in_words(key)} has no place in a document of this form"))
    for key in stated:
        if key not in wanted and key not in noted and not key.startswith(("text/", "own/")):
            made.append(Note("guessed", key, f"{in_words(key)} is stated, though the source does not state it"))
    return Report(kept, tuple(_items(source, reading, (*notes, *made))))


def aligned(wanted: Piece, piece: Piece) -> dict[str, Value]:
    """Return the parts of ``piece``, its texts under the numbers that they have in ``wanted`` where some are left
    out."""
    parts = flat(piece)
    if len(piece.said) >= len(wanted.said):
        return parts
    parts = {key: value for key, value in parts.items() if not key.startswith("text/")}
    rest = list(piece.said)
    for number, message in enumerate(wanted.said):
        if rest and message == rest[0]:
            parts[f"text/{number}"] = rest.pop(0).text
    return parts if rest else parts | {"roles": flat(wanted)["roles"]}


def _is_silent(key: str) -> bool:
    """Return whether a part is not a field, but a marker for interpreting others."""
    return key in ("template", "roles") or key.endswith(("/=bare", "/=unsound", "/=roles", "/=front"))


def _items(source: SourceText, reading: FormReading, notes: tuple[Note, ...]) -> Iterator[Item]:
    for note in notes:
        at = reading.places.get(note.key, At(0))
        offset = note.offset if note.offset is not None else at.offset
        line = source.position(min(offset, len(source.text))).line
        yield Item(note.level, source.path, line, at.pointer, note.to, note.message, note.key)
