"""Rows of a database: a table or a query of SQLite, a Parquet file.

In: a path, and what is asked. Out: rows. A query only reads the tables of its file (X10); nothing else is within reach.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.rows.row import Row
from prosa.adapters.sqlite.guard import select
from prosa.corpus.sql import Readable
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.runtime.errors import RowsRefused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 1_000


class SqliteRows(Struct, frozen=True):
    """The rows of a table, or those that a query gives."""

    path: Path
    table: str = ""
    query: str = ""

    @property
    def name(self) -> str:
        """The path, with the table."""
        return f"{self.path}::{self.table}" if self.table else str(self.path)

    def digest(self) -> str:
        """SHA-256 of the rows. Raises `RowsRefused`."""
        return _digest(self.rows())

    def rows(self) -> Iterator[Row]:
        """The rows. Raises `RowsRefused`."""
        if not self.path.is_file():
            raise RowsRefused(f"{self.path}: no such file")
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                connection.execute("BEGIN")  # one state of the file for all rows
                cursor = select(connection, Readable(direct=_tables(connection)), self._statement(connection))
                names = [each[0] for each in cursor.description or ()]
                yield from _numbered(self.name, names, iter(lambda: cursor.fetchmany(_AT_ONCE), []))
        except sqlite3.Error as error:
            raise RowsRefused(f"{self.name}: {error}", hint="--query takes one SELECT over the tables") from None

    def _statement(self, connection: sqlite3.Connection) -> str:
        if self.query:
            return self.query
        tables = sorted(_tables(connection))
        if not self.table or self.table not in tables:
            near = nearest(self.table, tables) if self.table else None
            hint = f"did you mean {near}?" if near else f"it has: {', '.join(tables[:20])}"
            what = f"no table {self.table!r}" if self.table else "which table? as in data.sqlite::TABLE, or --query"
            raise RowsRefused(f"{self.path}: {what}", hint=hint)
        quoted = self.table.replace('"', '""')
        return f'SELECT * FROM "{quoted}"'  # noqa: S608 - a name that the file has


class ParquetRows(Struct, frozen=True):
    """The rows of a Parquet file. Needs the extra `parquet`."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def digest(self) -> str:
        """SHA-256 of the rows. Raises `RowsRefused`."""
        return _digest(self.rows())

    def rows(self) -> Iterator[Row]:
        """The rows. Raises `RowsRefused`."""
        import duckdb

        if not self.path.is_file():
            raise RowsRefused(f"{self.path}: no such file")
        try:
            with closing(_duckdb()) as connection:
                found = connection.execute("SELECT * FROM read_parquet(?)", [str(self.path)])
                names = [each[0] for each in found.description or ()]
                yield from _numbered(self.name, names, iter(lambda: found.fetchmany(_AT_ONCE), []))
        except duckdb.Error as error:
            raise RowsRefused(f"{self.path}: {str(error).splitlines()[0]}") from None


def _duckdb() -> DuckDBPyConnection:
    """A database in memory that fetches no extensions."""
    import duckdb

    return duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})


def _tables(connection: sqlite3.Connection) -> frozenset[str]:
    text = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    return frozenset(name for (name,) in connection.execute(text))


def _numbered(name: str, columns: Sequence[str], blocks: Iterator[Sequence[Sequence[object]]]) -> Iterator[Row]:
    number = 0
    for block in blocks:
        for cells in block:
            number += 1
            place = f"{name}: row {number}"
            value: dict[str, Value] = {}
            problem = ""
            for column, cell in zip(columns, cells, strict=True):
                if isinstance(cell, bytes) or (isinstance(cell, float) and not math.isfinite(cell)):
                    problem = (
                        f"column {column} holds {'bytes' if isinstance(cell, bytes) else cell}, which JSON has not"
                    )
                elif cell is not None:
                    value[column] = _plain(cell)
            yield Row(number, place, problem=problem) if problem else Row(number, place, value)


def _plain(cell: object) -> Value:
    """A value of a database as JSON has it: what is neither number, text nor list, as a date, is its text."""
    if isinstance(cell, str | int | float | bool):
        return cell
    if isinstance(cell, list | tuple):
        return [_plain(each) if each is not None else None for each in cell]
    if isinstance(cell, dict):
        return {str(key): None if each is None else _plain(each) for key, each in cell.items()}
    return str(cell)


def _digest(rows: Iterator[Row]) -> str:
    found = hashlib.sha256()
    for row in rows:
        found.update(json.dumps([row.value, row.problem], sort_keys=True).encode("utf-8", "surrogatepass") + b"\n")
    return found.hexdigest()
