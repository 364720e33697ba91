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

    ``origin`` is never sent. It identifies the tool outside of the run: ``mcp``, the server and its own name;
    ``action``, its id and its page; ``visit`` and the current page.
    """

    name: str
    description: str
    parameters: Mapping[str, Value]
    origin: tuple[str, ...] = ()


class OutputFormat(Struct, frozen=True):
    """The schema as it goes over the wire (L11, LA4, LA5).

    ``strict`` is true if ``schema`` qualifies for strict mode; otherwise it is a lowered copy. Local validation never
    uses it: the program's own schema decides.
    """

    name: str
    schema: Mapping[str, Value]
    strict: bool


class ModelRequest(Struct, frozen=True):
    """One model call. ``program`` names the calling program, for scripted replies, events and errors.

    ``max_output`` bounds the tokens of the reply, reasoning included; every wire has its own name for it, which wins
    over the same among ``parameters``. ``schema`` is that of the output as its author wrote it, for engines that
    enforce more of it than ``output``; ``sample`` is the number of a repeat, None if a request is made once;
    ``repeats`` counts the equal refused answers before it, if the model drops repeats; ``implied`` are the tools that
    are offered although the document does not request them. A recording compares none of them.
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

    ``model_name`` is the model that the server reports, ``service`` its base URL; None for a provider without an
    address, such as a scripted one. Prices depend on the service that charges for a model (LA27). ``opaque`` is data
    that a service needs back unchanged with tool results, such as the signatures of its thoughts: JSON that only its
    own adapter reads. It is not part of the reply, so neither digests nor recordings include it. ``drops_repeats``
    says that of equal refused answers only one goes back to this model, which is then sampled otherwise; it is
    recorded, so that a replay sends what the run sent.
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
