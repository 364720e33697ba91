"""Messages of the OpenAI API (Chat Completions): a JSON list, or a request that holds one under `messages`.

In: text or messages. Out: messages or text. Roles that a chat does not have become hidden messages, pictures become
links; each such change is reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from prosa.convert.exchange import ExchangeProblem, Imported, known_settings, named
from prosa.data import JsonError, Value, parse_json
from prosa.dialects.prapti.commands import fenced
from prosa.dialects.prapti.write import NewMessage

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_HIDDEN = ("tool", "function")
_TEXTS = ("text", "input_text", "output_text")


def export(messages: Sequence[NewMessage]) -> str:
    """Return the messages as a JSON list with a final line feed."""
    return json.dumps([as_data(message) for message in messages], ensure_ascii=False, indent=2) + "\n"


def as_data(message: NewMessage) -> dict[str, Value]:
    """Return one message."""
    data: dict[str, Value] = {"role": message.role, "content": message.content}
    return data | ({"name": message.name} if message.name else {})


def read(text: str) -> Imported:
    """Return the conversation. Raises `ExchangeProblem`."""
    data = json_of(text)
    settings = known_settings(data) if isinstance(data, dict) else {}
    items = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise ExchangeProblem("expected a JSON list of messages, or an object with `messages`")
    messages, notes = messages_of(items)
    return Imported(messages, settings, notes)


def json_of(text: str) -> Value:
    """Return the JSON value of a text. Raises `ExchangeProblem`."""
    try:
        return parse_json(text.removeprefix("\ufeff"))
    except JsonError as error:
        raise ExchangeProblem(f"not valid JSON: line {error.line}, column {error.column}: {error.message}") from None


def messages_of(items: Sequence[Value]) -> tuple[tuple[NewMessage, ...], tuple[str, ...]]:
    """Return the messages in a list, and what could not be kept. Raises `ExchangeProblem`."""
    reading = _Reading()
    messages = [made for number, item in enumerate(items, 1) for made in reading.message(number, item)]
    return named(messages), tuple(reading.notes)


class _Reading(Struct):
    """One list being read."""

    notes: list[str] = field(default_factory=list)

    def message(self, number: int, data: Value) -> Iterator[NewMessage]:
        """Yield the message, and a hidden one for calls of tools."""
        role = data.get("role") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(role, str):
            raise ExchangeProblem(f"message {number} is not an object with a role")
        if role not in _ROLES and role not in _HIDDEN:
            raise ExchangeProblem(f"message {number} has the role `{role[:64]}`; known are {', '.join(_ROLES)}, tool")
        value = data.get("name")
        name = value if isinstance(value, str) else None
        text = self._text(number, data.get("content"))
        if role in _HIDDEN:
            self._note(number, f"is of the role {role}: kept as a hidden message, which is not sent")
            yield NewMessage("_tool", fenced(text, "text"), name)
            return
        if not text.strip() and not data.get("tool_calls"):
            self._note(number, "is empty and left out")
        yield NewMessage(_ROLES[role], text, name)
        if data.get("tool_calls"):
            self._note(number, "calls tools: the calls are kept in a hidden message, which is not sent")
            yield NewMessage("_tools", fenced(json.dumps(data["tool_calls"], ensure_ascii=False, indent=2), "json"))

    def _text(self, number: int, content: Value) -> str:
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        if not isinstance(content, list):
            raise ExchangeProblem(f"message {number} has a content that is neither text nor a list of parts")
        return "\n\n".join(filter(None, (self._part(number, part) for part in content)))

    def _part(self, number: int, part: Value) -> str:
        fields = part if isinstance(part, dict) else {}
        kind, text = fields.get("type"), fields.get("text")
        if kind in _TEXTS and isinstance(text, str):
            return text
        url = _picture(fields) if kind == "image_url" else None
        if url is not None and url.startswith(("http://", "https://")) and not set(url) & set("()<> \n"):
            self._note(number, "holds a picture: kept as a link, which is sent as text")
            return f"![picture]({url})"
        self._note(number, f"holds a part of the kind {str(kind)[:64]}, which is left out")
        return ""

    def _note(self, number: int, what: str) -> None:
        self.notes.append(f"message {number} {what}")


def _picture(part: Mapping[str, Value]) -> str | None:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) else None
