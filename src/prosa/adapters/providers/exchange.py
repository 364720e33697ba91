"""Asking a service, behind the port `Provider` (LA3): any service whose wire format is known, over connections to it.

What comes in: a `ModelRequest`. What goes out: a `ModelReply`, or a `ProviderError` that names the service, never
contains the key, and says whether another attempt makes sense. It never retries, never waits between attempts, and
reads nothing from the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec.structs import replace

from prosa.adapters.providers.asking import STREAM_SILENCE, asking, judged, prefilled
from prosa.adapters.providers.completion import events, shaped
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem, page_instead
from prosa.adapters.providers.ladder import Form, Refusals, next_form
from prosa.adapters.providers.wire import Answer, Connect, Connection, Wire, decode, encode
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

DRAIN_SECONDS = 0.2  # how long to wait for the end of a stream whose reply is complete, to keep the connection


class ServiceProvider:
    """A model service that speaks ``wire``, at ``endpoint``, asked over what ``connect`` opens at the first question.

    ``timeout`` is the seconds one `complete` may take in all, and no single read of a stream may take longer than
    ``silence``. A service that refuses a way of asking for JSON is asked in the next way, and this object remembers it
    per model name (LA4); so does one that refuses the shape of the messages (X24). ``first`` is how a model is asked
    that has refused nothing; ``most`` says how many tokens a model writes at most, for a wire that wants to know.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        connect: Connect,
        *,
        first: Form,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        most: Callable[[str], int | None] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._wire = wire
        self._connect = connect
        self._timeout = timeout
        self._silence = silence
        self._refusals = Refusals(first)
        self._most = most
        self._connection: Connection | None = None

    @property
    def service(self) -> str:
        """The base URL, as people may see it: what a price belongs to (LA27)."""
        return self._endpoint.shown

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """One attempt. With ``on_text`` the reply streams, and each piece of text is handed over as it comes.

        Raises `ProviderError`; its text names the service and never contains the key.
        """
        async with asking(self._endpoint, timeout=self._timeout, model_name=request.model_name):
            return await self._complete(request, on_text)

    async def aclose(self) -> None:
        """Releases connections. Safe to call twice."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.loop is asyncio.get_running_loop():
            await connection.aclose()

    async def _complete(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Asks for a reply to a conversation, or for what follows a prompt (PA17)."""
        if self._wire.last_reply == "sent":
            return await self._descend(request, on_text)
        if self._wire.last_reply == "continued" and request.messages[-1].role == "assistant":
            raise prefilled()
        return await judged(request, on_text, self._descend)

    async def _descend(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Asks, and steps down the ladder while the service refuses the way of asking."""
        form = self._form(request)
        refused: list[StatusProblem] = []
        while True:
            try:
                reply = await self._exchange(request, form, on_text)
            except StatusProblem as problem:
                lower = next_form(form, request, problem, streams=on_text is not None)
                if lower is None:
                    raise
                form, refused = lower, [*refused, problem]
            else:
                self._refusals.remember(request, form, refused)
                return replace(reply, service=self._endpoint.shown)

    def _form(self, request: ModelRequest) -> Form:
        """The form that this model has not refused, with what the user knows of it."""
        form = self._refusals.form(request)
        most = self._most(request.model_name) if self._most is not None else None
        return form if most is None or form.most is None else replace(form, most=most)

    async def _exchange(self, request: ModelRequest, form: Form, on_text: OnText | None) -> ModelReply:
        stream = on_text is not None
        body = encode(self._wire.body(shaped(request, form), form, stream))
        silence = min(self._silence, self._timeout) if stream else self._timeout
        async with self._connected().post(self._wire.path, body, silence=silence) as answer:
            if on_text is not None and "text/event-stream" in answer.content_type:
                return await self._assemble(answer, on_text)
            data = b"".join([chunk async for chunk in answer.chunks])
        reply = self._read_whole(answer.content_type, data)
        if on_text is not None and reply.content:  # the service does not stream
            on_text(reply.content)
        return reply

    def _read_whole(self, content_type: str, data: bytes) -> ModelReply:
        if "html" in content_type or data.lstrip()[:1] == b"<":
            raise page_instead("a reply")
        return self._wire.reply(decode(data))

    async def _assemble(self, answer: Answer, on_text: OnText) -> ModelReply:
        assembly = self._wire.assembly()
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

    def _connected(self) -> Connection:
        """The connections of the running event loop; those of another loop cannot be used any more."""
        if self._connection is None or self._connection.loop is not asyncio.get_running_loop():
            _check(self._endpoint)
            self._connection = self._connect(self._endpoint, self._timeout)
        return self._connection


async def _drain(answer: Answer) -> None:
    """Reads the rest of a stream, so that its connection can serve again; what goes wrong here does not matter."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in answer.chunks:
                pass
    except (TimeoutError, ExchangeProblem):
        return


def _check(endpoint: Endpoint) -> None:
    """Refuses what cannot work before anything is sent."""
    if endpoint.api_key is not None and not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        reason = "the key has characters that a key cannot have, such as a line break"
        raise ProviderError(reason, kind="auth", retryable=False, hint=f"check {endpoint.variable}")
    try:
        parts = urlsplit(endpoint.base_url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        reason = f"the base URL {endpoint.redact(endpoint.base_url)[:200]!r} is no http address"
        raise ProviderError(reason, kind="bad-request", retryable=False, hint="it looks like https://example.org/v1")
