"""Rows as a table, JSON, lines of JSON or CSV, and mailboxes with their messages (L47).

Numbers stand to the right. A long value is cut in a table and nowhere else.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.render.json import dump
from prosa.render.plain import safe, width

if TYPE_CHECKING:
    from prosa.runtime.mail import BoxCounts, MessageRecord, Worked, WorkerEnd


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
    return "\n".join([_line(names, widths, right), "  ".join("─" * length for length in widths), *lines])


def rows_objects(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[dict[str, Value]]:
    """Return each row as an object; no two columns have one name."""
    return [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]


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


MAX_SHOWN = 2_000
"""Characters of a payload; `--format json` has all of it."""

_COLUMNS = ("mailbox", "new", "leased", "handled", "dead", "oldest new (UTC)")


def boxes_table(boxes: Sequence[BoxCounts]) -> str:
    """Return a line for each mailbox."""
    rows = [(box.mailbox, box.new, box.leased, box.handled, box.dead, _moment(box.oldest)) for box in boxes]
    return render_table(_COLUMNS, rows)


def message_lines(message: MessageRecord) -> list[str]:
    """Return a message: its sender and time, its result, and below that its content."""
    state = message.state if message.attempts < 2 else f"{message.state}, given out {message.attempts} times"
    answers = "" if message.reply_to is None else f", answers {safe(message.reply_to)}"
    lines = [f"{message.id}  {_moment(message.time)}  from {safe(message.sender)}  ({state}{answers})"]
    if message.error:
        lines.append(f"  why: {safe(message.error)}")
    payload = dump(message.value)
    cut = payload if len(payload) <= MAX_SHOWN else f"{payload[:MAX_SHOWN]}… ({len(payload):,} characters)"
    return [*lines, f"  {cut}"]


def worked_line(worked: Worked) -> str:
    """Return the result of a message that was not handled, or whose answer was not sent; empty if all is well."""
    message = worked.message
    who = f"message {message.id} from {safe(message.sender)}"
    if worked.end == "handled":
        return f"{who}: handled, but its answer was not sent: {worked.unsent}" if worked.unsent else ""
    why = safe(worked.error)
    if worked.end == "dead":
        return f"{who} is a dead letter now: {why}; to try it again: prosa mail --retry {message.id}"
    from prosa.runtime.mail import MAX_ATTEMPTS  # what runs mail is not loaded to print rows

    return f"{who} failed, attempt {message.attempts} of {MAX_ATTEMPTS}: {why}"


def end_words(end: WorkerEnd) -> str:
    """Return what a worker did."""
    parts = [f"{end.handled:,} handled"]
    parts += [f"{end.failed:,} failed attempts"] if end.failed else []
    parts += [f"{end.dead:,} dead letters"] if end.dead else []
    return ", ".join(parts)


def _moment(text: str | None) -> str:
    return "-" if text is None else text[:19].replace("T", " ")
