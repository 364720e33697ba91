"""One request to a scripted service and one answer of it as values that all four wires share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, field

from prosa.data import Value
from prosa.records.agent import WireName
from prosa.runtime.messages import ModelReply, ToolCall, Usage

BYTES_OF_A_TOKEN: Final = 4
"""Tokens are counted as UTF-8 bytes divided by this, rounded up: near enough for English, and the same everywhere."""

PIECE: Final = 16
"""Characters of one event of a streamed text."""

CREATED: Final = 1_700_000_000
"""The time of every answer, in seconds since 1970: answers are the same at any time."""


class ToolOffer(Struct, frozen=True):
    """A tool that a request offers, with the JSON Schema of its arguments."""

    name: str
    description: str = ""
    schema: Mapping[str, Value] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments."""
        properties = self.schema.get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()


class ServiceTurn(Struct, frozen=True):
    """All neighbouring messages of one side. ``results`` are pairs of the id of a call and its text."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[tuple[str, str], ...] = ()


class Conversation(Struct, frozen=True):
    """What a request says, whatever its wire."""

    system: str = ""
    tools: tuple[ToolOffer, ...] = ()
    turns: tuple[ServiceTurn, ...] = ()


class ServiceRequest(Struct, frozen=True):
    """A request as it came to a `ScriptedService`. ``number`` counts from 1, ``conversation`` is what the body says,
    ``tokens`` are those of its input, ``refused`` is the sentence of a refusal."""

    number: int
    wire: WireName
    path: str
    model: str = ""
    streams: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    conversation: Conversation = field(default_factory=Conversation)
    tokens: int = 0
    refused: str = ""

    @property
    def system(self) -> str:
        """The system text."""
        return self.conversation.system

    @property
    def tools(self) -> tuple[ToolOffer, ...]:
        """The offered tools."""
        return self.conversation.tools

    @property
    def turns(self) -> tuple[ServiceTurn, ...]:
        """The turns so far; the last one is the user's."""
        return self.conversation.turns

    @property
    def text(self) -> str:
        """The text of the last turn, results of tools included."""
        if not self.turns:
            return ""
        last = self.turns[-1]
        return "\n".join(text for text in (*(text for _, text in last.results), last.text) if text)


class Refusal(Struct, frozen=True):
    """Why a service refuses a request, in its words."""

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400


class Answered(Struct, frozen=True):
    """A reply that a wire writes; ``usage`` holds its tokens."""

    number: int
    model: str
    reply: ModelReply
    usage: Usage
    body: Mapping[str, Value] = field(default_factory=dict)


class ServiceWire(Struct, frozen=True):
    """One wire as a service speaks it. ``counted`` are the fields of a body whose tokens are counted."""

    name: WireName
    counted: tuple[str, ...]
    refusal: Callable[[dict[str, Value], Mapping[str, str], str], Refusal | None]
    read: Callable[[Mapping[str, Value]], Conversation]
    whole: Callable[[Answered], dict[str, Value]]
    events: Callable[[Answered], Iterator[bytes]]
    error: Callable[[Refusal], dict[str, Value]]
    models: Callable[[Sequence[str]], dict[str, Value]]
    model: Callable[[str], dict[str, Value]]
    count: Callable[[int], dict[str, Value]]


def tokens_of(*texts: str) -> int:
    """Return the tokens of texts: their bytes divided by four, rounded up."""
    return -(-sum(len(text.encode("utf-8", "replace")) for text in texts) // BYTES_OF_A_TOKEN)


def input_tokens(body: Mapping[str, Value], counted: Sequence[str]) -> int:
    """Return the tokens of a request: of the compact JSON of its counted fields."""
    return max(1, tokens_of(*(compact(body[name]) for name in counted if body.get(name) is not None)))


def output_tokens(reply: ModelReply) -> int:
    """Return the tokens of a reply: of its text, and of the names and arguments of its calls."""
    calls = [text for call in reply.tool_calls for text in (call.name, call.arguments)]
    return max(1, tokens_of(reply.content, reply.refusal or "", *calls))


def compact(value: Value | Mapping[str, Value]) -> str:
    """Return JSON without spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(data: Value, event: str = "", end: str = "\n\n") -> bytes:
    """Return one server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {compact(data)}{end}".encode("utf-8", "replace")


def pieces(text: str) -> Iterator[str]:
    """Cut a text into the pieces of a stream."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def merged(turns: Sequence[ServiceTurn]) -> tuple[ServiceTurn, ...]:
    """Join neighbouring turns of one side."""
    made: list[ServiceTurn] = []
    for turn in turns:
        if made and made[-1].role == turn.role:
            last = made.pop()
            text = "\n".join(part for part in (last.text, turn.text) if part)
            turn = ServiceTurn(turn.role, text, last.calls + turn.calls, last.results + turn.results)
        made.append(turn)
    return tuple(made)


def text_of(content: Value | Sequence[Mapping[str, object]]) -> str:
    """Return the text of a content: a text, or parts of which those with a text count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def arguments_of(call: ToolCall) -> Value:
    """Return the arguments of a call as a value; a text that is not JSON stands for itself."""
    try:
        arguments: Value = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    return arguments
