"""The replies of a chat on stdout: the text for a program that reads it, nothing where a person has seen it already.

In: replies. Out: text or JSON. A reply that could be saved nowhere is always printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.cli.chat_live import shown
from prosa.cli.console import Console
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.chat.answer import Reply


def deliver(args: argparse.Namespace, console: Console, replies: Sequence[Reply], *, lost: bool, live: bool) -> None:
    """Prints them. ``live`` says that a terminal has shown them, ``lost`` that they are in no file."""
    on_terminal = console.stdout.isatty()
    if args.form == "json":
        from prosa.cli.delivery import as_json

        console.out(as_json({"file": str(args.file), "replies": [_data(each) for each in replies]}))
    elif lost or not (on_terminal and live):
        text = as_text(replies)
        console.out(shown(text) if on_terminal else text, end="")


def as_text(replies: Sequence[Reply]) -> str:
    """One reply as it is; several below their names. Ends with a line feed."""
    if len(replies) == 1:
        return _ended(replies[0].text)
    return "\n".join(f"{_title(each)}\n\n{_ended(each.text)}" for each in replies)


def _title(reply: Reply) -> str:
    from prosa.dialects.prapti.write import heading

    parts = [part for part in (reply.name, str(reply.number) if reply.number else None) if part]
    return heading("assistant", "-".join(parts))


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _data(reply: Reply) -> dict[str, Value]:
    data = {"name": reply.name, "number": reply.number, "text": reply.text}
    told = {"model": reply.summary.model_name, "answered_by": reply.summary.answered_by}
    return {**data, **told, **({"cut": True} if reply.summary.cut else {})}
