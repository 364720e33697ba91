"""What the wire formats share: a table of them, the bytes of a body, and careful reading of numbers and calls.

A wire turns a `ModelRequest` into a JSON body and an answer, whole or as events, into a `ModelReply`. Answers come from
outside: every step checks what it finds, and what cannot be a reply is an `ExchangeProblem`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeGuard
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem
from prosa.adapters.providers.request_shape import RequestShape
from prosa.data import Plain, Value
from prosa.regex import regex
from prosa.runtime.messages import MOST_TOKENS, ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.parameters import OUTPUT_NAMES, squashed

_STRUCTURE = frozenset(
    {"model", "messages", "input", "instructions", "prompt", "tools", "functions", "stream", "stream_options"}
)
_VERSIONED = regex(r"/v[0-9][0-9a-z]*/?$")
_LONE_SURROGATE = regex("[\ud800-\udfff]")


class Assembly(Protocol):
    """Puts a streamed reply together. ``complete`` says whether the service said that this was all."""

    complete: bool

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one event, and return the text it adds. Raises `ExchangeProblem` for an error event."""
        ...

    def finish(self) -> ModelReply:
        """Return the reply. Raises `ExchangeProblem` when the stream ended too early."""
        ...


class ServiceResponse(Struct, frozen=True):
    """A successful answer: its content type in lower case, and its bytes as they come."""

    content_type: str
    chunks: AsyncIterator[bytes]


def bearer(key: str) -> dict[str, str]:
    """Return the header that carries a key to most services."""
    return {"Authorization": f"Bearer {key}"}


def _as_it_is(problem: StatusProblem) -> StatusProblem:
    return problem


def _no_other(shape: RequestShape, request: ModelRequest, problem: StatusProblem) -> None:
    del shape, request, problem


class Wire(Struct, frozen=True):
    """One wire format: where it lives under the base URL, and its three translations.

    ``path`` may depend on the name of the model and on whether the answer streams. ``version`` is added to a base URL
    that ends in none; ``key`` makes the header of a key, and ``headers`` go with every request. ``refusal`` moves the
    refusal data of this interface to the common fields, and ``downgrade`` is the shape to try after a refusal in words
    of its own. ``last_reply`` says how a last message of the assistant is treated: every service continues it, or some
    do and the answer shows it, or it is part of a prompt.
    """

    path: str | Callable[[str, bool], str]
    body: Callable[[ModelRequest, RequestShape, bool], dict[str, Plain]]
    reply: Callable[[Mapping[str, Value]], ModelReply]
    assembly: Callable[[], Assembly]
    last_reply: Literal["judged", "continued", "sent"] = "judged"
    version: str = ""
    key: Callable[[str], dict[str, str]] = bearer
    headers: Mapping[str, str] = field(default_factory=dict)
    refusal: Callable[[StatusProblem], StatusProblem] = _as_it_is
    downgrade: Callable[[RequestShape, ModelRequest, StatusProblem], RequestShape | None] = _no_other

    def path_of(self, model_name: str, *, stream: bool) -> str:
        """Return the path below the base URL at which a model is asked."""
        return self.path if isinstance(self.path, str) else self.path(model_name, stream)

    def endpoint(self, endpoint: Endpoint) -> Endpoint:
        """Return where requests go: with the version of the interface, and with its headers, the key's among them."""
        parts = urlsplit(endpoint.base_url)
        if self.version and not _VERSIONED.search(parts.path):
            parts = parts._replace(path=f"{parts.path.rstrip('/')}/{self.version}")
        key = self.key(endpoint.api_key) if endpoint.api_key else {}
        return replace(endpoint, base_url=urlunsplit(parts), headers={**endpoint.headers, **self.headers, **key})


def parameters(request: ModelRequest, limits: Sequence[str] = ()) -> dict[str, Value]:
    """Return what passes through as given: everything but the parts that make a request what it is.

    A program may set a temperature; it may not add a tool of the service, a message, or another model this way (X7).
    A bound on the answer is sent under the names ``limits``, in place of all others for the same (X26).
    """
    requested = {name: value for name, value in request.parameters.items() if name not in _STRUCTURE}
    if request.max_output is None:
        return requested
    others = {name: value for name, value in requested.items() if squashed(name) not in OUTPUT_NAMES}
    return {**others, **dict.fromkeys(limits, request.max_output)}


def encode(body: Mapping[str, Plain]) -> bytes:
    """Return a body as bytes. Mappings of any kind become objects. Raises `ExchangeProblem` for what JSON cannot carry.

    Half a surrogate pair, which a careless tool may print, cannot be sent as UTF-8 and becomes U+FFFD.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as problem:
        reason = f"was not called: the request cannot be written as JSON ({problem})"
        raise ExchangeProblem(reason, kind="bad-request") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text).encode()


def _plain(value: Plain) -> dict[str, Plain]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def decode(data: bytes | str) -> Mapping[str, Value]:
    """Return the JSON object of an answer. Raises `ExchangeProblem` for anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ExchangeProblem("sent a reply that is not JSON, or only a part of it", retryable=True) from None
    if not isinstance(value, Mapping):
        raise ExchangeProblem("sent JSON that is not a reply")
    return value


class NoCount(Exception):
    """A number in the place of a token count that is none."""


def count(value: Value, *path: str) -> int:
    """Return a token count inside an answer; 0 when it is missing. Raises `NoCount` for what cannot be one (X26)."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        raise NoCount
    return value


def counted(read: Callable[[Value], Usage]) -> Callable[[Value], Usage]:
    """Make a reader of token counts give none at all where one of them cannot be: then the text is counted."""

    def counts(value: Value) -> Usage:
        try:
            return read(value)
        except NoCount:
            return Usage()

    return counts


def usage(input_tokens: int, made: int, cached: int) -> Usage:
    """Return the usage. Cached tokens are part of the input, also where a service counts them apart."""
    return Usage(input_tokens, made, min(cached, input_tokens))


def text_of(content: Value) -> str:
    """Return the text of a message: a text, or a list of parts of which the text ones count. Raises `ExchangeProblem`
    for what is neither."""
    if isinstance(content, str):
        return content
    return "".join(plain_text(part.get("text")) for part in listed(content, "content"))


def plain_text(value: Value) -> str:
    """Return a text of an answer, empty where there is none. Raises `ExchangeProblem` for what is no text."""
    if value is None or isinstance(value, str):
        return value or ""
    raise ExchangeProblem("sent a reply whose text is none", retryable=True)


def listed(value: Value, name: str) -> list[Mapping[str, Value]]:
    """Return the objects of a list in an answer, none where it is missing. Raises `ExchangeProblem` for anything
    else."""
    if value is None:
        return []
    if not are_objects(value):
        raise ExchangeProblem(f"sent a reply whose `{name}` is not a list of objects", retryable=True)
    return value


def are_objects(value: Value) -> TypeGuard[list[Mapping[str, Value]]]:
    """Return whether a part of an answer is a list of objects."""
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def tool_call(made_id: Value, name: Value, arguments: Plain) -> ToolCall:
    """Return a tool call as the service wrote it; arguments that came as an object are dumped."""
    if not isinstance(name, str) or not name:
        raise ExchangeProblem("sent a tool call without a name", retryable=True)
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return ToolCall(id=made_id if isinstance(made_id, str) else "", name=name, arguments=arguments)


def with_ids(calls: list[ToolCall]) -> tuple[ToolCall, ...]:
    """Call with an id each, all different: some services send none, or the same for all."""
    seen: set[str] = set()
    result = []
    for number, call in enumerate(calls, 1):
        name = call.id or f"call_{number}"
        while name in seen:
            name = f"{name}_{number}"
        seen.add(name)
        result.append(call if name == call.id else ToolCall(name, call.name, call.arguments))
    return tuple(result)


def optional_text(value: Value) -> str | None:
    """Return a text, or None for anything else and for the empty text."""
    return value if isinstance(value, str) and value else None
