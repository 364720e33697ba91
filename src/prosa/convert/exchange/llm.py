"""Logs of the tool `llm`: a JSON list with one object for each reply, as `llm logs --json` prints it.

In: text or messages. Out: messages or text. A row holds the question (`prompt`), the instructions (`system`) and the
answer (`response`). Anything else, such as names or consecutive messages, is in `messages`, which other tools ignore.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from prosa.convert.exchange import ExchangeProblem, Imported, known_settings, named
from prosa.convert.exchange.openai import as_data, json_of, messages_of
from prosa.data import Value, are_mappings
from prosa.dialects.prapti.write import NewMessage

_KEYS = {"system": "system", "user": "prompt", "assistant": "response"}


def export(messages: Sequence[NewMessage], model_name: str | None) -> str:
    """Return the rows as a JSON list with a final line feed. ``model_name`` is the model that the chat names."""
    rows: list[dict[str, Value]] = []
    system = None
    for part in _parts(messages):
        rows.append(_row(part, model_name, system))
        system = next((message.content for message in reversed(part) if message.role == "system"), system)
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def read(text: str) -> Imported:
    """Return the conversation. Raises `ExchangeProblem`."""
    return rows_of(json_of(text))


def rows_of(data: Value) -> Imported:
    """Return the conversation in rows. Raises `ExchangeProblem`."""
    if not are_mappings(data):
        raise ExchangeProblem("expected a JSON list of objects, as `llm logs --json` prints it")
    rows = data
    several = {row.get("conversation_id") for row in rows if isinstance(row.get("conversation_id"), str)}
    if len(several) > 1:
        raise ExchangeProblem(f"{len(several)} conversations in one file; choose one: llm logs --json --cid ID")
    if all(isinstance(row.get("datetime_utc"), str) for row in rows):
        rows = sorted(rows, key=lambda row: str(row["datetime_utc"]))
    messages: list[NewMessage] = []
    notes: list[str] = []
    system = None
    for number, row in enumerate(rows, 1):
        new_messages, new_notes = _messages(number, row, system)
        messages += new_messages
        notes += new_notes
        system = next((message.content for message in reversed(new_messages) if message.role == "system"), system)
    models = {row["model"] for row in rows if isinstance(row.get("model"), str)}
    settings = known_settings({"model": models.pop()}) if len(models) == 1 else {}
    return Imported(named(messages), settings, tuple(notes))


def _parts(messages: Sequence[NewMessage]) -> Iterator[list[NewMessage]]:
    """Yield the messages, cut behind every answer."""
    part: list[NewMessage] = []
    for message in messages:
        part.append(message)
        if message.role == "assistant":
            yield part
            part = []
    if part:
        yield part


def _row(part: Sequence[NewMessage], model_name: str | None, system: str | None) -> dict[str, Value]:
    texts = {role: [message.content for message in part if message.role == role] for role in _KEYS}
    row: dict[str, Value] = {
        "model": model_name,
        "prompt": "\n\n".join(texts["user"]),
        "system": "\n\n".join(texts["system"]) or None,
        "response": "\n\n".join(texts["assistant"]) or None,
    }
    if list(_messages_of_row(row, system)) != list(part):
        row["messages"] = [as_data(message) for message in part]
    return row


def _messages(number: int, row: dict[str, Value], system: str | None) -> tuple[Sequence[NewMessage], Sequence[str]]:
    """Return the messages of a row."""
    own = row.get("messages")
    if isinstance(own, list):
        messages, notes = messages_of(own)
        return messages, [f"row {number}: {note}" for note in notes]
    for name in _KEYS.values():
        if not isinstance(row.get(name), str | None):
            raise ExchangeProblem(f"row {number}: `{name}` is not a text")
    if row.get("prompt") is None and row.get("response") is None:
        raise ExchangeProblem(f"row {number} has neither `prompt` nor `response`")
    return list(_messages_of_row(row, system)), [f"row {number}: what was attached is left out"] if row.get(
        "attachments"
    ) else []


def _messages_of_row(row: dict[str, Value], system: str | None) -> Iterator[NewMessage]:
    """Yield what the three texts of a row say; instructions that stand already are not repeated."""
    for role, key in _KEYS.items():
        text = row.get(key)
        if isinstance(text, str) and text and not (role == "system" and text == system):
            yield NewMessage(role, text)
