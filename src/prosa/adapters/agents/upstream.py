"""The way from the tap to the model service (X36): requests go on as they are, replies are read on their way back.

In: a request that the tap let through, and where its answer goes. Out: the answer, piece by piece and unchanged, and
what it says, by the readers that the providers have. The key is put on here and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers import chat, gemini, messages, responses
from prosa.adapters.providers.asking import STREAM_SILENCE, asking
from prosa.adapters.providers.completion import EventDecoder
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, page_instead
from prosa.adapters.providers.wire import Assembly, ServiceResponse, Wire, decode
from prosa.records.agent import WireName
from prosa.runtime.messages import ModelReply

if TYPE_CHECKING:
    from prosa.adapters.providers.transport import Transport

WIRES: Final[Mapping[WireName, Wire]] = {
    "messages": messages.WIRE,
    "responses": responses.WIRE,
    "chat": chat.WIRE,
    "gemini": gemini.WIRE,
}

DRAIN_SECONDS = 0.2
"""How long to wait for the end of a stream whose reply is complete."""

MOST_SECONDS = 24 * 3600.0
"""How long a request may take: an attempt has a time-out of its own, at which the tap closes."""

_HANDED_ON = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")
"""Headers of an answer that the agent gets."""


class Upstream(Struct, frozen=True):
    """The service that a tap asks. ``service`` is the base URL whose prices hold, None for that of the endpoint."""

    endpoint: Endpoint
    service: str | None = None
    silence: float = STREAM_SILENCE


class PassedOn(Struct, frozen=True):
    """A request as it goes on: below the base URL, with the headers that belong to its body."""

    path: str
    body: bytes
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


class Receiver(Protocol):
    """Where an answer goes."""

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Take the status of an answer, and its headers."""
        ...

    async def piece(self, data: bytes) -> None:
        """Take the next bytes of it."""
        ...

    def ended(self) -> None:
        """Hear that all bytes came."""
        ...


class Connection:
    """Connections to one service over one wire, of one event loop. They open at the first request."""

    def __init__(self, upstream: Upstream, wire: WireName) -> None:
        self._upstream = upstream
        self._wire = WIRES[wire]
        self._secrets = upstream.endpoint.secrets
        self._transport: Transport | None = None

    def hidden(self, text: str) -> str:
        """Return a text without the key."""
        return self._upstream.endpoint.redact(text)

    async def ask(self, request: PassedOn, to: Receiver) -> ModelReply:
        """Hand a request on and its answer back, and return what the answer says. Raises `ProviderError`, for an
        answer that is no reply after all of it was handed back."""
        endpoint = self._upstream.endpoint
        async with asking(endpoint, timeout=MOST_SECONDS, model_name=request.model):
            async with self._answer(request, to) as answer:
                if "text/event-stream" in answer.content_type:
                    reply = await self._streamed(answer, to)
                else:
                    reply = await self._whole(answer, to)
            return replace(self._secrets.reply(reply), service=self._upstream.service or endpoint.shown)

    async def pass_on(self, request: PassedOn, to: Receiver) -> None:
        """Hand a request on and its answer back, unread. Raises `ProviderError`."""
        asked = asking(self._upstream.endpoint, timeout=MOST_SECONDS, model_name=request.model)
        async with asked, self._answer(request, to) as answer:
            async for chunk in answer.chunks:
                await to.piece(chunk)
            to.ended()

    async def aclose(self) -> None:
        """Close all connections."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    @asynccontextmanager
    async def _answer(self, request: PassedOn, to: Receiver) -> AsyncIterator[ServiceResponse]:
        """Ask, and hand back the head of the answer; that of a refusal with all of it."""
        silence = self._upstream.silence
        try:
            sent = self._connected().send(
                request.method, request.path, request.body, silence=silence, headers=request.headers
            )
            async with sent as answer:
                await to.head(200, {"content-type": answer.content_type})
                yield answer
        except StatusProblem as problem:
            headers = {name: value for name in _HANDED_ON if (value := problem.headers.get(name))}
            await to.head(problem.status, headers)
            await to.piece(self.hidden(problem.raw).encode())
            to.ended()
            raise

    def _connected(self) -> Transport:
        if self._transport is None:
            from prosa.adapters.providers.transport import Transport

            self._transport = Transport(self._wire.endpoint(self._upstream.endpoint), timeout=MOST_SECONDS)
        return self._transport

    async def _whole(self, answer: ServiceResponse, to: Receiver) -> ModelReply:
        data = bytearray()
        async for chunk in answer.chunks:
            data += chunk
            await to.piece(chunk)
        to.ended()
        if "html" in answer.content_type or data.lstrip()[:1] == b"<":
            raise page_instead("a reply")
        return self._wire.reply(decode(bytes(data)))

    async def _streamed(self, answer: ServiceResponse, to: Receiver) -> ModelReply:
        reading = _Reading(self._wire.assembly())
        async for chunk in answer.chunks:
            reading.feed(chunk)
            await to.piece(chunk)
            if reading.assembly.complete:
                break
        else:
            reading.end()
        if reading.assembly.complete:
            await _drain(answer, to)
        to.ended()
        return reading.reply()


async def _drain(answer: ServiceResponse, to: Receiver) -> None:
    """Hand back what follows a complete reply, if it comes at once."""
    with suppress(TimeoutError, ExchangeProblem):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for chunk in answer.chunks:
                await to.piece(chunk)


class _Reading:
    """A streamed reply as it passes. What cannot be read in it stops the reading, never the stream."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self._decoder = EventDecoder()
        self._problem: ExchangeProblem | None = None

    def feed(self, chunk: bytes) -> None:
        self._take(self._decoder.feed(chunk))

    def end(self) -> None:
        self._take(self._decoder.finish())

    def _take(self, events: Iterator[tuple[str, str]]) -> None:
        try:
            for event, data in events:
                if self._problem is not None:
                    continue
                if data.startswith("[DONE]"):
                    self.assembly.complete = True
                else:
                    self.assembly.feed(event, decode(data))
        except ExchangeProblem as problem:
            self._problem = problem

    def reply(self) -> ModelReply:
        """Return the reply. Raises `ExchangeProblem`."""
        if self._problem is not None:
            raise self._problem
        return self.assembly.finish()
