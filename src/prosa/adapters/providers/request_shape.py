"""What a service refused, remembered: how output is asked for (LA4), and the shape of the messages (X24).

What comes in: the refusals of one provider object. What goes out: the shape of the next request. The bound on an answer
has two names, of which a service may know one only (X26). Output steps down
grammar → json_schema → json_object → prompt, on a 400 that speaks of the format. Two user messages in a row, the system
role and several tool calls in one message are given up when the service says that it does not take them, and only where
the request has them. Words of one service alone stand with its wire. Tools are never taken away; nothing is remembered
before the lower shape worked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.providers.failures import StatusProblem, is_context_length
from prosa.runtime.messages import Message, ModelRequest

FormatKind: TypeAlias = Literal["grammar", "json_schema", "json_object", "prompt"]
"""How output is asked for; ``grammar`` is for an engine that decodes by LLGuidance (`prosa.schema.decodable`)."""

CallsKind: TypeAlias = Literal["several", "one", "apart"]
"""Tool calls of one message: as they are; one each, and only one is asked for; one each."""

_LEVELS: tuple[FormatKind, ...] = ("grammar", "json_schema", "json_object", "prompt")
_DOWN: dict[FormatKind, FormatKind] = dict(pairwise(_LEVELS))

_FORMAT_WORDS = (
    "response_format",
    "response format",
    "text.format",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "schema",
    "structured output",
    "guided",
    "grammar",
    "output_config",
    "output format",
)
_TOOL_WORDS = ("for function", "tools[", "tools.", "tool_choice", "does not support tools")
NEW_LIMIT, OLD_LIMIT = "max_completion_tokens", "max_tokens"
ANY_LIMIT = (NEW_LIMIT, OLD_LIMIT)
"""Both names for the most tokens of an answer: a service that does not know one of them may pass over it in silence,
and then only the other one bounds."""

_LIMIT_STATUSES = frozenset({400, 422})
_LARGE_WORDS = ("too large", "at most", "less than or equal", "must be <=", "in the completion")
_SCHEMA_WORDS = ("format.schema", "invalid schema", "invalid_json_schema", "unsupported schema", "schema is not")
_APART_WORDS = ("function calling with a response mime type", "tool use with a response mime type")
_SHAPE_STATUSES = frozenset({400, 422, 500})  # a chat template that raises is a 500 at some servers
_USER_WORDS = ("alternat", "consecutive", "in a row", "same role", "after user", "successive")
_SYSTEM_WORDS = ("system", "developer instruction", "only user and assistant", "unsupported role", "unknown role")
_CALL_WORDS = ("single tool", "one tool", "parallel tool", "multiple tool", "several tool", "parallel function")
_PREFILL_WORDS = (
    "prefill",
    "last role",
    "last message",
    "final message",
    "end of the list",
    "end with",
    "must be user",
)


class RequestShape(Struct, frozen=True):
    """How a request is put: the output format, whether a stream asks for its usage, the shape of the messages, the
    names under which a bound on the answer is sent. ``most`` is the bound of a service that wants one, ``room``
    what its context window leaves for one answer. ``apart`` asks for a format only where no tools are offered,
    ``signed`` marks tool calls that another model made."""

    output: FormatKind = "json_schema"
    stream_usage: bool = True
    joined_users: bool = False
    system_role: bool = True
    calls: CallsKind = "several"
    limits: tuple[str, ...] = ANY_LIMIT
    most: int | None = None
    room: int | None = None
    apart: bool = False
    signed: bool = False


FIRST = RequestShape()
"""How a request is put to a model that has refused nothing."""


class Refusals:
    """The memory of one provider object, per model name; a refused schema is remembered for that schema only.
    ``first`` is the shape of a model that has refused nothing."""

    def __init__(self, first: RequestShape = FIRST) -> None:
        self._first = first
        self._formats: dict[tuple[str, str | None], FormatKind] = {}
        self._shapes: dict[str, RequestShape] = {}

    def shape(self, request: ModelRequest) -> RequestShape:
        """Return the highest shape that this model has not refused."""
        known: list[FormatKind] = [self._first.output]
        if self._formats:
            keys = ((request.model_name, None), (request.model_name, _schema_key(request)))
            known += [self._formats[key] for key in keys if key in self._formats]
        return replace(self._shapes.get(request.model_name, self._first), output=max(known, key=_LEVELS.index))

    def remember(self, request: ModelRequest, shape: RequestShape, refused: Sequence[StatusProblem]) -> None:
        """Keep a shape that worked after refusals."""
        if not refused:
            return
        shape = replace(shape, room=None)
        self._shapes[request.model_name] = shape if shape.limits else replace(shape, limits=self.shape(request).limits)
        if shape.output != self._first.output:
            key = _schema_key(request) if any(map(_is_about_this_schema, refused)) else None
            self._formats[request.model_name, key] = shape.output


def downgrade(
    shape: RequestShape, request: ModelRequest, problem: StatusProblem, *, streams: bool
) -> RequestShape | None:
    """Return the shape to try after a refusal in words that many services use, or None when it is about something
    else."""
    if request.max_output is not None and shape.most is None and problem.status in _LIMIT_STATUSES:
        names = _next_limits(shape.limits, f"{problem.param} {problem.raw}".lower())
        if names is not None:
            return replace(shape, limits=names)
    if is_context_length(problem):
        return None
    if problem.status == 400:
        if streams and shape.stream_usage and "stream_options" in f"{problem.param} {problem.raw}":
            return replace(shape, stream_usage=False)
        beside = not shape.apart and request.tools and request.output is not None
        if beside and says(problem.raw.lower(), _APART_WORDS):
            return replace(shape, apart=True)
        if _is_about_format(problem) and (lower := lower_output(shape, request)) is not None:
            return lower
    return _next_shape(shape, request.messages, problem) if problem.status in _SHAPE_STATUSES else None


def lower_output(shape: RequestShape, request: ModelRequest) -> RequestShape | None:
    """Return the shape that asks for the output in the next way; None where there is none, or no output is wanted."""
    if request.output is None or shape.output not in _DOWN:
        return None
    return replace(shape, output=_DOWN[shape.output])


def _next_limits(names: tuple[str, ...], text: str) -> tuple[str, ...] | None:
    """Return the names to try after a complaint about a bound; None where it is about something else.

    A model that cannot write so much keeps to less by itself, and is asked without a bound.
    """
    speaks = NEW_LIMIT in text or OLD_LIMIT in text or "max_output_tokens" in text
    is_large = says(text, _LARGE_WORDS) and (speaks or "in the completion" in text)
    if names and (is_large or "maxoutputtokens" in text):
        return ()
    if not speaks:
        return None
    if names == ANY_LIMIT:
        return (OLD_LIMIT,) if OLD_LIMIT not in text else (NEW_LIMIT,)
    return (OLD_LIMIT,) if names == (NEW_LIMIT,) else None


def _next_shape(shape: RequestShape, messages: Sequence[Message], problem: StatusProblem) -> RequestShape | None:
    """Return the shape without what the service does not take, where the messages have it."""
    text = f"{problem.code} {problem.param} {problem.raw}".lower()
    if shape.calls == "one" and "parallel_tool_calls" in text:
        return replace(shape, calls="apart")
    if (
        shape.calls == "several"
        and says(text, _CALL_WORDS)
        and any(len(message.tool_calls) > 1 for message in messages)
    ):
        return replace(shape, calls="one")
    if not shape.joined_users and says(text, _USER_WORDS) and _has_neighbours(messages):
        return replace(shape, joined_users=True)
    if shape.system_role and says(text, _SYSTEM_WORDS) and any(message.role == "system" for message in messages):
        return replace(shape, system_role=False)
    return None


def is_prefill_refusal(problem: StatusProblem) -> bool:
    """Return whether an answer says that the last message must not be one of the assistant."""
    text = f"{problem.code} {problem.param} {problem.raw}".lower()
    return problem.status in _SHAPE_STATUSES and says(text, _PREFILL_WORDS)


def _has_neighbours(messages: Sequence[Message]) -> bool:
    """Return whether two user messages stand in a row, or would without the system message between them."""
    roles = [message.role for message in messages if message.role != "system"]
    return any(pair == ("user", "user") for pair in pairwise(roles))


def says(text: str, words: Sequence[str]) -> bool:
    """Return whether one of the words is in a text."""
    return any(word in text for word in words)


def _is_about_format(problem: StatusProblem) -> bool:
    param = problem.param or ""
    if param.startswith(("response_format", "text")):
        return True
    if param.startswith(("tool", "messages", "input")):
        return False
    text = f"{problem.code} {problem.raw}".lower()
    return any(word in text for word in _FORMAT_WORDS) and not any(word in text for word in _TOOL_WORDS)


def _is_about_this_schema(problem: StatusProblem) -> bool:
    text = f"{problem.code} {problem.raw}".lower()
    return any(word in text for word in _SCHEMA_WORDS)


def _schema_key(request: ModelRequest) -> str:
    return "" if request.output is None else json.dumps(request.output.schema, sort_keys=True, default=str)
