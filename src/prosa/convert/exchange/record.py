"""A chat as a YMJ record of the kind `trace`: the chat is the body, unchanged (Y2, Y18).

In: the text of a chat. Out: a record in Strict form with the hash of its body; and the chat from a record. Nothing
about the user or the machine is written (PW8).
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.convert.exchange import ExchangeProblem
from prosa.data import Value
from prosa.dialects.front import read_front
from prosa.dialects.prapti.write import NewMessage
from prosa.dialects.ymj.fields import LATEST
from prosa.dialects.ymj.format import payload_hash
from prosa.dialects.ymj.read import read as read_record
from prosa.dialects.ymj.sections import MAX_SUMMARY, normalised
from prosa.dialects.ymj.write import write
from prosa.document import parse
from prosa.source import SourceText

UNKNOWN = "unknown"
"""The maintainer in a record of a chat without names."""


def export(text: str, subject: str, messages: Iterable[NewMessage]) -> str:
    """Return the record. ``subject`` is the title of the chat; the summary is the first line of the user."""
    asked = [message for message in messages if message.role == "user"]
    first = asked[0].content if asked else ""
    names = [message.name for message in asked if message.name]
    title = _one_line(subject) or "Conversation"
    header: dict[str, Value] = {
        "doc_summary": _one_line(first)[:MAX_SUMMARY].rstrip() or "A conversation",
        "kind": "trace",
        "version": "1.0.0",
        "subject": title,
        "maintained_by": names[0] if names else UNKNOWN,
        "ymj_spec": LATEST,
        "provenance": {"tool": "prosa chat"},
    }
    footer: dict[str, Value] = {"index": {"tags": ["trace", "chat"]}, "ops": {"trace": {"lineage_id": title}}}
    return write(header, text.removeprefix("\ufeff"), footer)


def read(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return the chat in a record, and notes about it. Raises `ExchangeProblem`."""
    source = SourceText(text, path)
    front = read_front(source)
    model, problems = read_record(front, parse(source, body=front.body))
    if model.header_value is None or model.footer_value is None:
        raise ExchangeProblem(problems[0].message if problems else "this is not a YMJ record")
    notes = () if payload_hash(model).verified else ("the hash of the record does not match its body",)
    return normalised(model.body_text), notes


def _one_line(text: str) -> str:
    """Return the first line with printable text, without unprintable characters."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return "".join(char if char.isprintable() else " " for char in line).strip()
