"""The interface of a form: a reader and a writer in one frozen record, with their inputs and results.

In: a source, or a neutral value. Out: the value with the places of its parts, or a text. A source that cannot be read
completely is refused, because unread parts would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from prosa.convert.neutral import NO_CARRY, NO_MARKS, Carry, FormName, Marks, Note, Piece
from prosa.source import SourceText


class NotConvertible(ValueError):
    """A source that is not of the form that it should be, or cannot be read whole. ``offset`` is where."""

    def __init__(self, message: str, offset: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


class At(Struct, frozen=True):
    """The place of a part in the source."""

    offset: int
    pointer: str = ""


class TargetContext(Struct, frozen=True):
    """The data about the target: ``path`` is the name of its file, ``stem`` the name of a document without one.
    ``programs`` are those that a program there could import: the path by the name."""

    stem: str = "document"
    path: str = "document.md"
    programs: Mapping[str, str] = field(default_factory=dict)


class FormReading(Struct, frozen=True):
    """A source as its form reads it. ``piece`` is its own content, ``carry`` the data that it stores for other
    forms."""

    piece: Piece
    carry: Carry = NO_CARRY
    places: Mapping[str, At] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


class NewDocument(Struct, frozen=True):
    """A new document. ``marks`` are the hints for its reader. ``added`` explains slots that only the writer made up,
    for the report."""

    text: str
    marks: Marks = NO_MARKS
    notes: tuple[Note, ...] = ()


class Form(Struct, frozen=True, kw_only=True):
    """One form. ``read`` takes the marks of a document that has just been written, else finds them itself; it raises
    `NotConvertible`. ``carrier`` is where a carry is stored, empty if there is no place for one; ``room`` is its
    maximum length. ``file_name`` returns the path of a document of that name below a folder."""

    name: FormName
    read: Callable[[SourceText, Marks | None], FormReading]
    write: Callable[[Piece, Carry, TargetContext], NewDocument]
    carrier: str
    room: int = 200_000
