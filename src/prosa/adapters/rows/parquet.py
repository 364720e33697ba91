"""Rows of a Parquet file, for a batch (X29). Needs the extra `parquet`; nothing is fetched.

A file of some kilobytes may hold rows of gigabytes: a value shared by many rows is stored once. So the sizes of rows
are computed first, without copying, and rows are read a few megabytes at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prosa.extras import lacking
from prosa.records.batch import MAX_ROW, Cell, Row, digest_of_rows, numbered_rows, require_columns
from prosa.runtime.errors import RowsRefused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

_AT_ONCE = 1_000
_SIZES = 10_000

MAX_MEMORY = "1GB"
"""Memory for the library besides the rows themselves."""

MAX_SLICE = 64 * 1024 * 1024
"""Bytes of rows that are read at once."""

MAX_SLICE_ROWS = 100_000
MAX_NESTED = 16
"""Levels of lists and structures whose texts are counted."""


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
        """Yield the rows. Raises `RowsRefused`."""
        try:
            import duckdb
        except ModuleNotFoundError:
            raise lacking(RowsRefused, f"{self.path}", "parquet") from None
        if not self.path.is_file():
            raise RowsRefused(f"{self.path}: no such file")
        try:
            with closing(_duckdb()) as connection:
                yield from self._rows(connection)
        except duckdb.OutOfMemoryException:
            hint = "write it as JSON lines (.jsonl), which are read one by one"
            raise RowsRefused(f"{self.path} needs more memory to be read than {MAX_MEMORY}", hint=hint) from None
        except duckdb.Error as error:
            raise RowsRefused(f"{self.path}: {str(error).splitlines()[0]}") from None

    def _rows(self, connection: DuckDBPyConnection) -> Iterator[Row]:
        table = connection.table_function("read_parquet", [str(self.path)])
        names, types = list(table.columns), list(table.types)
        require_columns(self.name, names)
        quoted = [_quoted(name) for name in names]
        sizes = " + ".join(["0", *(_size(column, kind, 0) for column, kind in zip(quoted, types, strict=True))])

        def blocks() -> Iterator[Sequence[Sequence[Cell] | None]]:
            asked = connection.cursor().execute(_SIZES_OF.format(sizes), [str(self.path)])
            for start, end, fits in _slices(cast("int", size) for (size,) in _fetched(asked, _SIZES)):
                if fits:
                    parameters = [str(self.path), start, end]
                    yield list(_fetched(connection.execute(_SLICE.format(", ".join(quoted)), parameters), _AT_ONCE))
                else:
                    yield [None]

        yield from numbered_rows(self.name, names, blocks())


_SIZES_OF = "SELECT {} FROM read_parquet(?)"
_SLICE = """SELECT {} FROM read_parquet(?, file_row_number = true)
    WHERE file_row_number >= ? AND file_row_number < ? ORDER BY file_row_number"""


def _slices(sizes: Iterable[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield the first row of each slice, the one behind its last, and whether it may be read: a row that is too large
    is a slice of its own."""
    start = at = held = 0
    for size in sizes:
        full = held + size > MAX_SLICE or at - start >= MAX_SLICE_ROWS
        if at > start and (full or size > MAX_ROW):
            yield start, at, True
            start, held = at, 0
        at += 1
        held += size
        if size > MAX_ROW:
            yield start, at, False
            start, held = at, 0
    if at > start:
        yield start, at, True


def _fetched(cursor: DuckDBPyConnection, most: int) -> Iterator[tuple[Cell, ...]]:
    while some := cursor.fetchmany(most):
        yield from some


_FIXED = frozenset(
    ("bigint", "boolean", "date", "decimal", "double", "enum", "float", "hugeint", "integer", "interval", "smallint")
) | frozenset(("time", "timestamp", "tinyint", "ubigint", "uhugeint", "uinteger", "usmallint", "utinyint", "uuid"))


def _size(value: str, kind: DuckDBPyType, depth: int) -> str:
    """Return the expression for the bytes of a value, which measures texts in place."""
    if kind.id in _FIXED or kind.id.startswith(("time", "timestamp")):
        return "16"
    if kind.id == "varchar":
        return f"coalesce(strlen({value}), 0)"
    if kind.id == "blob":
        return f"coalesce(octet_length({value}), 0)"
    children = _children(kind)
    if kind.id in ("list", "array") and depth < MAX_NESTED:
        listed = value if kind.id == "list" else f"{value}::{children[0][1]}[]"
        return _size_of_list(listed, children[0][1], depth)
    if kind.id == "struct" and depth < MAX_NESTED:
        parts = (_size(f"{value}.{_quoted(name)}", child, depth + 1) for name, child in children)
        return f"({' + '.join(['0', *parts])})"
    if kind.id == "map" and depth < MAX_NESTED:
        (_, key), (_, item) = children[:2]
        keys, items = f"map_keys({value})", f"map_values({value})"
        return f"({_size_of_list(keys, key, depth)} + {_size_of_list(items, item, depth)})"
    return f"coalesce(strlen({value}::VARCHAR), 0)"


def _children(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    """Return the types within a nested type by their names; an array has its length beside them."""
    nested = ("list", "array", "struct", "map")
    return cast("list[tuple[str, DuckDBPyType]]", kind.children) if kind.id in nested else []


def _size_of_list(value: str, kind: DuckDBPyType, depth: int) -> str:
    item = f"x{depth}"
    return f"coalesce(list_sum(list_transform({value}, lambda {item}: {_size(item, kind, depth + 1)})), 0)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duckdb() -> DuckDBPyConnection:
    """Return a database in memory that fetches no extensions."""
    import duckdb

    bounded = {"memory_limit": MAX_MEMORY, "threads": "1"}
    return duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false", **bounded})
