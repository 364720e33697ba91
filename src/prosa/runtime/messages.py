"""What goes to a model and what comes back: messages, requests, replies and token counts, as plain values that every
provider adapter and the loop share; and the order of messages that every service accepts (X24).

Nothing here knows a wire format; adapters translate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import chain, groupby
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Value

BATCHED = "#batch"
"""Ends the base URL of an answer that came with a batch of the service: its price is half (X29)."""


NANO = Decimal("1e-9")
"""What processes share is counted in billionths of a US dollar."""

MOST_TOKENS = 2**40
"""A count above it is none: no model reads or writes so much, and the sums of many runs fit into a store (X26)."""


class Usage(Struct, frozen=True):
    """Tokens in and out. ``cached_input_tokens`` are part of ``input_tokens``, billed at their own price; so are
    ``written_input_tokens``, which the service put into its cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    written_input_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.written_input_tokens + other.written_input_tokens,
        )


def nano(amount: Decimal) -> int:
    """Return US dollars as billionths, rounded up."""
    return int((amount / NANO).to_integral_value(ROUND_CEILING))


class Meter(Struct):
    """What one run took so far."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def add(self, usage: Usage, cost: Decimal) -> None:
        """Count one call."""
        self.tokens += usage.total_tokens
        self.cost += cost


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


def sequence(written: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages in the order in which they are sent (X24).

    All system messages are joined into the first message: chat templates refuse a later one, and a request never ends
    with one. Where nothing but system messages was written, their text is sent as that of a user. Neighbouring
    assistant messages are joined: services refuse two of them. Applied again it changes nothing.
    """
    all_of_it = tuple(written)
    system = [message for message in all_of_it if message.role == "system"]
    rest = join_neighbours((message for message in all_of_it if message.role != "system"), "assistant")
    if system and not rest:
        return (Message("user", joined(system).content),)
    return ((joined(system),) if system else ()) + rest


def join_neighbours(messages: Iterable[Message], role: Role) -> tuple[Message, ...]:
    """Return the messages with each run of neighbours of one role merged; all others unchanged."""
    runs = groupby(messages, key=lambda message: message.role)
    return tuple(chain.from_iterable((joined(list(run)),) if of == role else run for of, run in runs))


def joined(messages: Sequence[Message]) -> Message:
    """Return several messages of one role as one, with an empty line between them.

    A name shared by all of them stays the name; otherwise each name is the first line of its text.
    """
    first = messages[0]
    if len(messages) == 1:
        return first
    is_shared = len({message.name for message in messages}) == 1
    texts = (
        message.content if is_shared or not message.name else f"{message.name}:\n{message.content}"
        for message in messages
    )
    calls = tuple(call for message in messages for call in message.tool_calls)
    return Message(
        first.role, "\n\n".join(text for text in texts if text), calls, name=first.name if is_shared else None
    )
