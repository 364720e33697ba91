"""A row as it was read, and what gives rows (X29)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from prosa.data import Value

MAX_ROW = 10 * 1024 * 1024
"""Bytes of one row: a larger one is refused as it is read, and costs nothing."""


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
        """The rows in their order. Raises `RowsRefused` where they cannot be read, or changed meanwhile."""
        ...
