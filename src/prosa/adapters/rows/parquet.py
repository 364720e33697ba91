"""Rows of a Parquet file, for a batch (X29). Needs the extra `parquet`; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.extras import lacking
from prosa.runtime.errors import RowsRefused
from prosa.runtime.rows import Row, digest_of_rows, numbered_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 1_000


class ParquetRows(Struct, frozen=True):
    """The rows of a Parquet file. Needs the extra `parquet`."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def digest(self) -> str:
        """SHA-256 of the rows. Raises `RowsRefused`."""
        return digest_of_rows(self.rows())

    def rows(self) -> Iterator[Row]:
        """The rows. Raises `RowsRefused`."""
        try:
            import duckdb
        except ModuleNotFoundError:
            raise lacking(RowsRefused, f"{self.path}", "parquet") from None
        if not self.path.is_file():
            raise RowsRefused(f"{self.path}: no such file")
        try:
            with closing(_duckdb()) as connection:
                found = connection.execute("SELECT * FROM read_parquet(?)", [str(self.path)])
                names = [each[0] for each in found.description or ()]
                yield from numbered_rows(self.name, names, iter(lambda: found.fetchmany(_AT_ONCE), []))
        except duckdb.Error as error:
            raise RowsRefused(f"{self.path}: {str(error).splitlines()[0]}") from None


def _duckdb() -> DuckDBPyConnection:
    """A database in memory that fetches no extensions."""
    import duckdb

    return duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
