"""Metadata inherited from meta files (MA18): fields that fill the gaps of other documents, as rows with `lent_by`.

In: the numbers of documents, or nothing for all. Out: rows of `metadata`, and the columns of `document` that follow
from them. `dialects.magi.meta` defines which meta file applies.
"""

from __future__ import annotations

import json
import posixpath
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct, field

from prosa.adapters.sqlite.packing import Row
from prosa.corpus.extracted import FieldRow
from prosa.corpus.facets import facets_of
from prosa.corpus.fields import TAG, by_name
from prosa.dialects.magi.meta import MetaFile, effective_fields

_FACETS = """UPDATE document SET kind = ?, classification = ?, visibility = ?, language = ?, updated = ?, published = ?,
  expired = ? WHERE id = ?"""


def lend_all(connection: sqlite3.Connection) -> None:
    """Rewrite all inherited metadata."""
    before = [number for (number,) in connection.execute("SELECT DISTINCT document FROM metadata WHERE lent_by > 0")]
    connection.execute("DELETE FROM metadata WHERE lent_by IS NOT NULL")
    lenders = _lenders(connection)
    lent: set[int] = set()
    if lenders:
        lent = _lend(connection, connection.execute("SELECT id, path FROM document").fetchall(), lenders)
    _set_facets(connection, lent.union(before))


def lend_some(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    """Write the inherited metadata of new documents, none of them a meta file."""
    lenders = _lenders(connection)
    if lenders:
        rows = [
            connection.execute("SELECT id, path FROM document WHERE id = ?", (each,)).fetchone() for each in documents
        ]
        _set_facets(connection, _lend(connection, rows, lenders))


class _Lender(Struct, frozen=True):
    """A meta file. Its fields, by the first part of their keys, are rows; ``wide`` says that it may cover documents
    outside its folder."""

    number: int
    file: MetaFile[Sequence[FieldRow]]

    @property
    def wide(self) -> bool:
        return any("://" in glob or glob.startswith("/") for glob in self.file.globs)


class _Lenders(Struct):
    """Meta files by the folder they stand in, and those that look beyond it."""

    near: dict[str, list[_Lender]] = field(default_factory=dict)
    wide: list[_Lender] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.near or self.wide)

    def for_path(self, path: str) -> Iterator[_Lender]:
        """Yield those that may cover the document at a path."""
        yield from self.wide
        folder = posixpath.dirname(path)
        while True:
            yield from self.near.get(folder, ())
            if not folder:
                return
            folder = posixpath.dirname(folder)


def _lenders(connection: sqlite3.Connection) -> _Lenders:
    found = _Lenders()
    rows = connection.execute("SELECT id, path, globs FROM document WHERE globs IS NOT NULL").fetchall()
    for number, path, globs in rows:
        lender = _Lender(number, MetaFile(PurePosixPath(path), tuple(json.loads(globs)), _own(connection, number)))
        if lender.wide:
            found.wide.append(lender)
        else:
            found.near.setdefault(posixpath.dirname(path), []).append(lender)
    return found


def _own(connection: sqlite3.Connection, number: int) -> Mapping[str, Sequence[FieldRow] | None]:
    """Return a document's own fields by the first part of their keys; None for one that is null, which is a gap."""
    question = "SELECT key, n, kind, text, number FROM metadata WHERE document = ? AND lent_by IS NULL ORDER BY key, n"
    return by_name(FieldRow(*row) for row in connection.execute(question, (number,)))


def _lend(connection: sqlite3.Connection, documents: Iterable[tuple[int, str]], lenders: _Lenders) -> set[int]:
    """Write the inherited metadata of documents, and return those that have any."""
    lent: set[int] = set()
    for number, path in documents:
        near = {each.number: each for each in lenders.for_path(path)}
        rows = _lent_rows(connection, number, path, near) if near else []
        connection.executemany("INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        if rows:
            lent.add(number)
    return lent


def _lent_rows(connection: sqlite3.Connection, number: int, path: str, near: Mapping[int, _Lender]) -> list[Row]:
    own = _own(connection, number)
    url = own.get("source-url")
    by_fields = {id(rows): each for each in near.values() for rows in each.file.fields.values()}
    effective = effective_fields(
        {name: rows for name, rows in own.items() if name != TAG},
        PurePosixPath(path),
        [each.file for each in near.values()],
        url=url[0].text if url else None,
    )
    rows: list[Row] = []
    for name, fields in effective.items():
        if name == TAG or fields is None or own.get(name) is not None:
            continue
        lender = by_fields[id(fields)]
        tags = lender.file.fields.get(TAG) or () if name == "tags" else ()
        rows += [(number, *each, lender.number) for each in (*fields, *tags)]
    return rows


def _set_facets(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    question = "SELECT key, n, kind, text, number FROM metadata WHERE document = ? ORDER BY key, n"
    for number in sorted(documents):
        fields = [FieldRow(*row) for row in connection.execute(question, (number,))]
        connection.execute(_FACETS, (*facets_of(fields), number))
