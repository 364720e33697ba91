"""What the index keeps of one document, as plain values: cheap to send between processes and to write as rows.

`corpus.extract` makes it of a text. Nothing in it depends on another document.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from prosa.graph.record import Record


class FieldRow(NamedTuple):
    """One value of the front matter. ``key`` is its dotted path, ``n`` counts the values of that key from 0.

    ``kind`` is `text`, `number`, `boolean`, `null`, `list` or `mapping`; the last two only if they are empty. ``text``
    is the source text, ``number`` the value of a number.
    """

    key: str
    n: int
    kind: str
    text: str
    number: float | None = None


class SectionRow(NamedTuple):
    """A piece of the body: a heading outside quotations and lists with the text up to the next such heading, or, as
    number 0 and level 0, the text above the first.

    ``text`` is the source from ``start`` to ``end``, its heading included, so an offset in it is an offset in the file
    less ``start``; ``line`` counts from 1. ``heading`` is the path of headings, `A › B`. ``cjk`` is true if it
    contains words written without spaces; ``seen`` is the visible text of a long section (`corpus.snippet.seen_of`).
    """

    number: int
    level: int
    heading: str
    anchor: str
    start: int
    end: int
    line: int
    text: str
    cjk: bool
    seen: str | None


class Facets(NamedTuple):
    """The common facts of documents, which each dialect stores in its own fields (`corpus.facets`); None if absent.

    Dates are ISO 8601: a day, or a time in UTC, so that they order as texts.
    """

    kind: str | None = None
    classification: str | None = None
    visibility: str | None = None
    language: str | None = None
    updated: str | None = None
    published: str | None = None
    expired: str | None = None


class CarriedVector(NamedTuple):
    """An embedding that a YMJ record carries in its footer (Y10). ``vector`` are 32-bit floats, little endian;
    ``sha256`` is the digest of the embedded text according to the footer, ``fresh`` is whether it still matches."""

    model_name: str
    dimension: int
    vector: bytes
    sha256: str
    fresh: bool


class Extracted(Struct, frozen=True):
    """One document. ``digest`` is the SHA-256 of its bytes; ``tags`` are those of its dialect without `#`;
    ``globs`` are the patterns of a meta file (MA18), None where it is none."""

    record: Record
    digest: str
    fields: tuple[FieldRow, ...]
    facets: Facets
    tags: tuple[str, ...]
    sections: tuple[SectionRow, ...]
    words: int
    lines: int
    globs: tuple[str, ...] | None = None
    carried: CarriedVector | None = None
