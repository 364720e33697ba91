"""Rows of an answer as a table for people, as JSON, as lines of JSON, or as CSV. In: columns and rows. Out: text.

Numbers stand to the right. A long value is cut in the table and nowhere else.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import count

from prosa.data import Value
from prosa.render.json import dump
from prosa.render.plain import safe, width

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters of texts that spreadsheets take for a formula, including the full-width forms."""

MAX_CELL = 80
"""Terminal cells of a value in a table."""


def render_table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return a table with its column names above a line; nothing where there are no rows."""
    if not rows:
        return ""
    cells = [[_cell(value) for value in row] for row in rows]
    names = [_cut(safe(name)) for name in columns]
    widths = [max(map(width, column)) for column in zip(names, *cells, strict=True)]
    right = [all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))]
    lines = [_line(row, widths, right) for row in cells]
    return "\n".join([_line(names, widths, right), "  ".join("─" * each for each in widths), *lines])


def rows_objects(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[dict[str, Value]]:
    """Return each row as an object. The second column of a name is called `NAME_2`, and so on."""
    names: list[str] = []
    for name in columns:
        others = (f"{name}_{number}" for number in count(2))
        names.append(name if name not in names else next(each for each in others if each not in names))
    return [dict(zip(names, map(_plain, row), strict=True)) for row in rows]


def render_jsonl_rows(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return one object per line."""
    return "\n".join(map(dump, rows_objects(columns, rows)))


def render_csv(columns: Sequence[str], rows: Sequence[Sequence[Value]], *, guarded: bool = False) -> str:
    """RFC 4180 with plain line ends, the column names first. Null is an empty field. With ``guarded``, a text that a
    spreadsheet would take for a formula has an apostrophe in front."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    shown = _guarded if guarded else _plain
    writer.writerow(map(shown, columns))
    writer.writerows([["" if value is None else shown(value) for value in row] for row in rows])
    return text.getvalue().removesuffix("\n")


def _guarded(value: Value) -> Value:
    plain = _plain(value)
    return f"'{plain}" if isinstance(plain, str) and plain.startswith(_FORMULA) else plain


def _plain(value: Value) -> Value:
    """Return bytes as the text of their hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else value


def _cell(value: Value) -> str:
    return "" if value is None else _cut(safe(str(_plain(value))))


def _cut(text: str) -> str:
    if width(text) <= MAX_CELL:
        return text
    while width(text) >= MAX_CELL:
        text = text[: min(len(text) - 1, MAX_CELL)]
    return f"{text}…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        f"{' ' * (size - width(cell))}{cell}" if to_right else f"{cell}{' ' * (size - width(cell))}"
        for cell, size, to_right in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()
