"""What goes to a model and what comes back: plain values that every provider adapter and the loop share.

Nothing here knows a wire format; adapters translate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Value
from prosa.runtime.usage import Usage

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["stop", "tool_calls", "length", "refusal", "filter"]


class ToolCall(Struct, frozen=True):
    """A tool call as the model wrote it; ``arguments`` is the raw JSON text, not yet parsed."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True):
    """One message of a conversation. ``tool_call_id`` belongs to role ``tool``, ``tool_calls`` to ``assistant``.

    ``opaque`` is that of the reply which this message repeats.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    opaque: str = ""


class ToolSpec(Struct, frozen=True):
    """A tool as offered to a model: wire name (at most 64 of ``[A-Za-z0-9_-]``), description, JSON Schema.

    ``origin`` is never sent. It says what the tool is outside of the run: ``mcp``, the server and its own name;
    ``action``, its id and its page; ``visit`` and where the run is.
    """

    name: str
    description: str
    parameters: Mapping[str, Value]
    origin: tuple[str, ...] = ()


class OutputFormat(Struct, frozen=True):
    """The schema as it goes over the wire (L11, LA4, LA5).

    ``strict`` says that ``schema`` qualifies for strict mode; otherwise it is a lowered copy. Local validation never
    uses it: the program's own schema decides.
    """

    name: str
    schema: Mapping[str, Value]
    strict: bool


class ModelRequest(Struct, frozen=True):
    """One model call. ``program`` names the program that asks, for scripted replies, events and errors.

    ``max_output`` bounds the tokens of the reply, reasoning included; every wire has its own name for it, which wins
    over the same among ``parameters``. ``schema`` is that of the output as its author wrote it, for engines that
    enforce more of it than ``output`` says; ``sample`` is the number of a repeat, None where a request is made once;
    ``repeats`` counts the answers before it that were refused and equal, where the model drops repeats; ``implied``
    are the tools that are offered though the document did not ask for them.
    None of them is part of what a recording compares.
    """

    model_name: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    output: OutputFormat | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    program: str = ""
    max_output: int | None = None
    schema: Mapping[str, Value] | bool | None = None
    sample: int | None = None
    repeats: int = 0
    implied: tuple[str, ...] = ()


class ModelReply(Struct, frozen=True):
    """One answer. ``content`` is empty when the model only called tools.

    ``model_name`` is what the server says answered, ``service`` the base URL that was asked; None where the provider
    asks no address, as a scripted one. Only the service that charges for a model gives it a price (LA27).
    ``opaque`` is what a service wants back, as it was, with the results of the tools that it asked for, such as the
    signatures of its thoughts: JSON that only the adapter reads which wrote it. It is no part of what was said, so
    neither digests nor recordings have it. ``drops_repeats`` says that of equal refused answers only one goes back to
    this model, which is then sampled otherwise; it is recorded, so that a replay sends what the run sent.
    """

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model_name: str | None = None
    finish: Finish = "stop"
    refusal: str | None = None
    service: str | None = None
    opaque: str = ""
    drops_repeats: bool = False
