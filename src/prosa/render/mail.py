"""Mailboxes and messages as text for people, and the progress lines of a worker (L47).

In: records. Out: lines. The output of programs is data: it is cut, and made safe for a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.render.rows import render_table
from prosa.runtime.mail import MAX_ATTEMPTS

if TYPE_CHECKING:
    from prosa.runtime.mail import BoxCounts, MessageRecord, Worked, WorkerEnd

MAX_SHOWN = 2_000
"""Characters of a payload; `--format json` has all of it."""

_COLUMNS = ("mailbox", "new", "leased", "handled", "dead", "oldest new (UTC)")


def boxes_table(boxes: Sequence[BoxCounts]) -> str:
    """Return a line for each mailbox."""
    rows = [(each.mailbox, each.new, each.leased, each.handled, each.dead, _moment(each.oldest)) for each in boxes]
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
    return f"{who} failed, attempt {message.attempts} of {MAX_ATTEMPTS}: {why}"


def end_words(end: WorkerEnd) -> str:
    """Return what a worker did."""
    parts = [f"{end.handled:,} handled"]
    parts += [f"{end.failed:,} failed attempts"] if end.failed else []
    parts += [f"{end.dead:,} dead letters"] if end.dead else []
    return ", ".join(parts)


def _moment(text: str | None) -> str:
    return "-" if text is None else text[:19].replace("T", " ")
