"""Rows of a table or of a query of SQLite, for a batch (X29).

In: a path, and a table or query. Out: rows. A query only reads the tables of its file (X10); nothing else is
accessible.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from prosa.adapters.sqlite.guard import select
from prosa.corpus.sql import Readable
from prosa.diagnostics.nearest import nearest
from prosa.records.batch import Row, digest_of_rows, numbered_rows, require_columns
from prosa.runtime.errors import RowsRefused

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
        return digest_of_rows(self.rows())

    def rows(self) -> Iterator[Row]:
        """Yield the rows. Raises `RowsRefused`."""
        if not self.path.is_file():
            raise RowsRefused(f"{self.path}: no such file")
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                connection.execute("BEGIN")  # one state of the file for all rows
                cursor = select(connection, Readable(direct=_tables(connection)), self._statement(connection))
                names = [column[0] for column in cursor.description or ()]
                require_columns(self.name, names)
                yield from numbered_rows(self.name, names, iter(lambda: cursor.fetchmany(_AT_ONCE), []))
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


def _tables(connection: sqlite3.Connection) -> frozenset[str]:
    text = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    return frozenset(name for (name,) in connection.execute(text))
