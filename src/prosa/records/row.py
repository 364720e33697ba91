"""A row as it was read, and what gives rows (X29)."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.errors import RowsRefused

MAX_ROW = 10 * 1024 * 1024
"""Bytes of one row: a larger one is refused as it is read, and costs nothing."""


MAX_COLUMNS = 16_384
"""Columns of a table of rows: as many as a spreadsheet has."""


class Row(Struct, frozen=True):
    """One row. ``number`` counts from 1, ``place`` says where it stands. ``texts`` says that its values are texts,
    which a schema types; ``problem`` is why there is no value."""

    number: int
    place: str
    value: Mapping[str, Value] | None = None
    texts: bool = False
    problem: str = ""


class RowSource(Protocol):
    """Rows that can be read more than once."""

    @property
    def name(self) -> str:
        """What they are called: a path, with a table where there is one."""
        ...

    def digest(self) -> str:
        """SHA-256 of what the rows are. Raises `RowsRefused`."""
        ...

    def rows(self) -> Iterator[Row]:
        """Return the rows in their order. Raises `RowsRefused` where they cannot be read, or changed meanwhile."""
        ...


def require_columns(name: str, columns: Sequence[str]) -> None:
    """Raise `RowsRefused` for more than `MAX_COLUMNS` columns, and for two of one name."""
    if len(columns) > MAX_COLUMNS:
        hint = "take the columns that the program needs into a file of their own"
        raise RowsRefused(f"{name}: {len(columns):,} columns, and a table may have {MAX_COLUMNS:,}", hint=hint)
    twice = next((each for each, count in Counter(columns).items() if count > 1), None)
    if twice is not None:
        raise RowsRefused(f"{name}: two columns are called {twice!r}")


def too_large() -> str:
    """Return why a row is refused unread."""
    return f"the row is larger than {MAX_ROW // 2**20} MiB"


def numbered_rows(
    name: str, columns: Sequence[str], blocks: Iterator[Sequence[Sequence[Value] | None]]
) -> Iterator[Row]:
    """Yield rows of a database, in the order in which they come, without values that are null. None stands for a row
    that is too large to be read."""
    number = 0
    for block in blocks:
        for cells in block:
            number += 1
            place = f"{name}: row {number}"
            if cells is None:
                yield Row(number, place, problem=too_large())
                continue
            value: dict[str, Value] = {}
            problem = ""
            for column, cell in zip(columns, cells, strict=True):
                if isinstance(cell, bytes) or (isinstance(cell, float) and not math.isfinite(cell)):
                    kind = "bytes" if isinstance(cell, bytes) else cell
                    problem = f"column {column} holds {kind}, which JSON has not"
                elif cell is not None:
                    value[column] = _plain(cell)
            yield Row(number, place, problem=problem) if problem else Row(number, place, value)


def _plain(cell: Value) -> Value:
    """Return a value of a database as JSON has it: what is neither number, text nor list, as a date, is its text."""
    if isinstance(cell, str | int | float | bool):
        return cell
    if isinstance(cell, list | tuple):
        return [_plain(each) if each is not None else None for each in cell]
    if isinstance(cell, dict):
        return {str(key): None if each is None else _plain(each) for key, each in cell.items()}
    return str(cell)


def digest_of_rows(rows: Iterator[Row]) -> str:
    """SHA-256 of rows that have no bytes of their own."""
    found = hashlib.sha256()
    for row in rows:
        found.update(json.dumps([row.value, row.problem], sort_keys=True).encode("utf-8", "surrogatepass") + b"\n")
    return found.hexdigest()
