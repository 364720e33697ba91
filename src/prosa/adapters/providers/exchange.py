"""Asking a service, behind the port `Provider` (LA3): any service whose wire format is known, over connections to it.

What comes in: a `ModelRequest`. What goes out: a `ModelReply`, or a `ProviderError` that names the service, never
contains the key, and says whether another attempt makes sense. It never retries, never waits between attempts, and
reads nothing from the environment.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from prosa.adapters.providers.asking import STREAM_SILENCE, asking, judged, prefilled
from prosa.adapters.providers.completion import events, shaped
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.failures import THREE_WAYS, ExchangeProblem, StatusProblem, page_instead
from prosa.adapters.providers.request_shape import Refusals, RequestShape, downgrade
from prosa.adapters.providers.secrets import HidingPieces
from prosa.adapters.providers.wire import ServiceResponse, Wire, decode, encode
from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.budget import may_ask_again
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.parameters import most_output
from prosa.runtime.ports import OnText

if TYPE_CHECKING:
    from prosa.adapters.providers.transport import Transport

DRAIN_SECONDS = 0.2  # how long to wait for the end of a stream whose reply is complete, to keep the connection

REPEAT_HEAT = 0.8
"""The least temperature at which a model is asked that has given the same refused answer twice."""


class ServiceProvider:
    """A model service that speaks ``wire``, at ``endpoint``, to which a connection is opened at the first question.

    ``timeout`` is the seconds one `complete` may take in all, and no single read of a stream may take longer than
    ``silence``. A service that refuses a way of asking for JSON is asked in the next way, and this object remembers it
    per model name (LA4); so does one that refuses the shape of the messages (X24). ``first`` is how a model is asked
    that has refused nothing; ``most`` says how many tokens a model writes at most, for a wire that wants to know;
    ``bound`` is how many a model on this machine may write where a request does not say; equal refused answers go back
    to such a model once (``ModelReply.drops_repeats``). ``names`` are models whose name in documents is
    not the one that the service knows. ``without_tools`` is there for a model that takes no tools: it hears which
    ones that a document asks for are not offered.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        *,
        first: RequestShape,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        most: Callable[[str], int | None] | None = None,
        bound: int | None = None,
        names: Mapping[str, str] | None = None,
        without_tools: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._wire = wire
        self._timeout = timeout
        self._silence = silence
        self._refusals = Refusals(first)
        self._secrets = endpoint.secrets
        self._most = most
        self._bound = bound
        self._names = names or {}
        self._without_tools = without_tools
        self._connection: Transport | None = None

    @property
    def service(self) -> str:
        """The base URL, as people may see it: what a price belongs to (LA27)."""
        return self._endpoint.shown

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt. With ``on_text`` the reply streams, and each piece of text is handed over as it comes.

        Raises `ProviderError`. Neither its text nor the reply contains the key: what holds it is journaled, recorded
        and shown.
        """
        async with asking(self._endpoint, timeout=self._timeout, model_name=request.model_name):
            hiding = HidingPieces(self._secrets, on_text) if on_text is not None and self._secrets.forms else None
            reply = await self._complete(request, hiding or on_text)
            if hiding is not None:
                hiding.end()
            return self._secrets.reply(reply)

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.loop is asyncio.get_running_loop():
            await connection.aclose()

    async def _complete(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Ask for a reply to a conversation, or for what follows a prompt (PA17)."""
        if self._wire.last_reply == "sent":
            return await self._descend(request, on_text)
        if self._wire.last_reply == "continued" and request.messages[-1].role == "assistant":
            raise prefilled()
        return await judged(request, on_text, self._descend)

    async def _descend(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Ask, in lower shapes while the service refuses the way of asking."""
        request = self._as_taken(request)
        shape = self._shape(request)
        refused: list[StatusProblem] = []
        while True:
            try:
                reply = await self._exchange(request, shape, on_text)
            except StatusProblem as refusal:
                problem = self._wire.refusal(refusal)
                lower = self._wire.downgrade(shape, request, problem)
                lower = lower or downgrade(shape, request, problem, streams=on_text is not None)
                if lower is None or not (problem.is_free or await may_ask_again()):
                    raise problem from None
                shape, refused = lower, [*refused, problem]
            else:
                self._refusals.remember(request, shape, refused)
                answered_by, is_here = without_folder(reply.model_name), self._bound is not None
                return replace(reply, service=self._endpoint.shown, model_name=answered_by, drops_repeats=is_here)

    def _as_taken(self, request: ModelRequest) -> ModelRequest:
        """Return the request as this model takes it: bounded, under its own name, with tools if it supports them."""
        if self._bound is not None and most_output(request.parameters, request.max_output) is None:
            request = replace(request, max_output=self._bound)
        if request.model_name in self._names:
            request = replace(request, model_name=self._names[request.model_name])
        if request.tools and self._without_tools is not None:
            if asked := [tool.name for tool in request.tools if tool.name not in request.implied]:
                self._without_tools(asked)
            request = replace(request, tools=())
        return replace(request, parameters=_resampled(request)) if request.repeats and self._bound else request

    def _shape(self, request: ModelRequest) -> RequestShape:
        """Return the form that this model has not refused, with what the user knows of it."""
        shape = self._refusals.shape(request)
        most = self._most(request.model_name) if self._most is not None else None
        return shape if most is None or shape.most is None else replace(shape, most=most)

    async def _exchange(self, request: ModelRequest, shape: RequestShape, on_text: OnText | None) -> ModelReply:
        decodes = shape.output == "grammar" and request.output is not None and not (shape.apart and request.tools)
        held = _Decoded(on_text) if decodes else None
        on_text = held or on_text
        stream = on_text is not None
        wire = self._wire  # it may be another one before the answer is here
        body = encode(wire.body(shaped(request, shape), shape, stream))
        silence = min(self._silence, self._timeout) if stream else self._timeout
        path = wire.path_of(request.model_name, stream=stream)
        async with self._connected().post(path, body, silence=silence) as answer:
            if on_text is not None and "text/event-stream" in answer.content_type:
                reply = await _assembled(wire, answer, on_text)
                return reply if held is None else held.whole(reply)
            data = b"".join([chunk async for chunk in answer.chunks])
        reply = _read_whole(wire, answer.content_type, data)
        if on_text is not None and reply.content:  # the service does not stream
            on_text(reply.content)
        return reply

    def _connected(self) -> Transport:
        """Return the connections of the running event loop; those of another loop cannot be used any more."""
        if self._connection is None or self._connection.loop is not asyncio.get_running_loop():
            _check(self._endpoint)
            from prosa.adapters.providers.transport import Transport

            self._connection = Transport(self._wire.endpoint(self._endpoint), timeout=self._timeout)
        return self._connection


def _resampled(request: ModelRequest) -> Mapping[str, Value]:
    """Return the parameters with another chance: with those of before, the same messages give the same answer again."""
    heat, seed = (request.parameters.get(name) for name in ("temperature", "seed"))
    return {
        **request.parameters,
        "temperature": max(heat, REPEAT_HEAT) if isinstance(heat, int | float) else REPEAT_HEAT,
        "seed": (seed if isinstance(seed, int) else 0) + request.repeats,
    }


class _Decoded:
    """Hears the text of a reply that a grammar holds, which is an object. An engine that cannot use a grammar passes
    over it and writes freely, which shows in the first character: nothing of such an answer is waited for or handed on.
    """

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._is_held = False

    def __call__(self, text: str) -> None:
        """Hand text on. Raises `StatusProblem`, as of an engine that refuses the schema."""
        if not self._is_held and text:
            self._is_held = text.startswith("{")
            self._require()
        if self._on_text is not None:
            self._on_text(text)

    def whole(self, reply: ModelReply) -> ModelReply:
        """Return the reply. Raises `StatusProblem` for one without text."""
        self._require()
        return reply

    def _require(self) -> None:
        if not self._is_held:
            raise StatusProblem(400, {}, "the grammar was not used: unsupported schema")


_PATH = regex(r"(?:[/~\\]|\.\.?[/\\]|[A-Za-z]:[/\\]).*|.*[/\\][^/\\]*\.gguf", re.DOTALL | re.IGNORECASE)


def without_folder(name: str | None) -> str | None:
    """Return the name of a model without folders if a server names it by the path of its file; other names are
    unchanged."""
    if name is None or _PATH.fullmatch(name) is None:
        return name
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name


def _read_whole(wire: Wire, content_type: str, data: bytes) -> ModelReply:
    if "html" in content_type or data.lstrip()[:1] == b"<":
        raise page_instead("a reply")
    return wire.reply(decode(data))


async def _assembled(wire: Wire, answer: ServiceResponse, on_text: OnText) -> ModelReply:
    assembly = wire.assembly()
    stream = events(answer.chunks)
    async for event, data in stream:
        if data.startswith("[DONE]"):
            assembly.complete = True
        else:
            text = assembly.feed(event, decode(data))
            if text:
                on_text(text)
        if assembly.complete:
            break
    reply = assembly.finish()
    await _drain(answer)
    return reply


async def _drain(answer: ServiceResponse) -> None:
    """Read the rest of a stream, so that its connection can serve again; what goes wrong here does not matter."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in answer.chunks:
                pass
    except (TimeoutError, ExchangeProblem):
        return


def _check(endpoint: Endpoint) -> None:
    """Refuse what cannot work before anything is sent."""
    if endpoint.api_key is None and endpoint.base_url == DEFAULT_BASE_URL:
        why = "there is no key for the model service"
        raise ProviderError(why, kind="auth", retryable=False, hint=THREE_WAYS, billable=False)
    if endpoint.api_key is not None and not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        reason = "the key has characters that a key cannot have, such as a line break"
        hint = f"check {endpoint.variable}"
        raise ProviderError(reason, kind="auth", retryable=False, hint=hint, billable=False)
    try:
        parts = urlsplit(endpoint.base_url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        reason = f"the base URL {endpoint.redact(endpoint.base_url)[:200]!r} is not an http address"
        hint = "it looks like https://example.org/v1"
        raise ProviderError(reason, kind="bad-request", retryable=False, hint=hint, billable=False)
