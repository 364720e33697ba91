"""Chats to and from other forms: messages of the OpenAI API, logs of the tool `llm`, YMJ records. Values only.

Exact up to line ends, blank lines at both ends, blank space at the very end, and a line that closes an open fence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from prosa.data import Value
from prosa.dialects.prapti.content import escaped
from prosa.dialects.prapti.fields import setting_of, wrong_type
from prosa.dialects.prapti.read import wire_names
from prosa.dialects.prapti.write import NewMessage, heading
from prosa.regex import regex

__all__ = ["ExchangeProblem", "Imported", "chat_text"]

# A conversation that was read from another form, and the new chat file that it becomes (P3, PA6).

_NAME = regex(r"[\w.-]+")


class ExchangeProblem(ValueError):
    """The input is not a conversation in the expected form; the message says why."""


class Imported(Struct, frozen=True):
    """``settings`` are well-known variables such as the model; ``notes`` say what could not be kept as it was."""

    messages: tuple[NewMessage, ...]
    settings: Mapping[str, Value] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def chat_text(imported: Imported) -> str:
    """Return the chat. It ends with an empty message of the user if no message is left to answer."""
    lines = [f"% {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in imported.settings.items()]
    blocks = ["\n".join(lines)] if lines else []
    messages = [message for message in imported.messages if message.content.strip()]
    blocks += [f"{heading(message.role, message.name)}\n\n{escaped(message.content)}" for message in messages]
    spoken = [message for message in messages if not message.role.startswith("_")]
    end = "" if spoken and spoken[-1] is messages[-1] and spoken[-1].role == "user" else f"{heading('user')}\n\n"
    return "\n\n".join([*blocks, end]) if end else "\n\n".join(blocks) + "\n"


def known_settings(data: Mapping[str, Value]) -> dict[str, Value]:
    """Return what of these values a chat has a well-known variable for, of the right type."""
    settings: dict[str, Value] = {}
    for name, value in data.items():
        setting = setting_of(f"vars.{name}")
        if setting is not None and name not in ("tools", "stream", "provider") and wrong_type(setting, value) is None:
            settings[name] = value
    return settings


def named(messages: Iterable[NewMessage]) -> tuple[NewMessage, ...]:
    """Return the messages with names that a heading can carry; others are reduced, two names staying two."""
    all_messages = tuple(messages)
    reduced = wire_names(message.name for message in all_messages if message.name and not _NAME.fullmatch(message.name))
    return tuple(
        NewMessage(message.role, message.content, reduced.get(message.name or "", message.name or None))
        for message in all_messages
    )
