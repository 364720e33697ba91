"""Any service that speaks Chat Completions or Responses, behind the port `Provider` (LA3).

What comes in: a `ModelRequest`. What goes out: a `ModelReply`, or a `ProviderError` that says whether another attempt
makes sense. It never retries, never waits between attempts, and reads nothing from the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from msgspec.structs import replace

from prosa.adapters.providers import chat, completion, responses
from prosa.adapters.providers.asking import STREAM_SILENCE, asking, judged
from prosa.adapters.providers.completion import events, shaped
from prosa.adapters.providers.failures import (
    DEFAULT_BASE_URL,
    THREE_WAYS,
    Endpoint,
    ExchangeProblem,
    StatusProblem,
)
from prosa.adapters.providers.ladder import NEW_LIMIT, Form, Refusals, next_form
from prosa.adapters.providers.wire import Wire, decode, encode
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

if TYPE_CHECKING:
    from prosa.adapters.providers.transport import Answer, Transport

WIRES: dict[str, Wire] = {"chat": chat.WIRE, "responses": responses.WIRE, "completions": completion.WIRE}
DRAIN_SECONDS = 0.2  # how long to wait for the end of a stream whose reply is complete, to keep the connection


class OpenAIProvider:
    """A model service at ``base_url`` (None: OpenAI's own), asked with ``api_key`` (None: no key is sent) and with
    ``headers`` beside it (see `key.account_headers`).

    ``api`` chooses the wire format; ``timeout`` is the seconds one `complete` may take in all, and no single read of a
    stream may take longer than ``silence``. A service that answers 400 to a way of asking for JSON is asked in the next
    way, json_schema → json_object → prompt, and this object remembers it per model name (LA4); so does one that refuses
    the shape of the messages (X24).
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None,
        headers: Mapping[str, str] | None = None,
        api: Literal["chat", "responses", "completions"] = "chat",
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
    ) -> None:
        key = (api_key or "").strip()
        self._endpoint = Endpoint((base_url or DEFAULT_BASE_URL).strip().rstrip("/"), key or None, headers or {})
        self._wire = WIRES[api]
        self._timeout = timeout
        self._silence = silence
        own = self._endpoint.base_url == DEFAULT_BASE_URL
        self._refusals = Refusals(Form(limits=(NEW_LIMIT,)) if own else Form())
        self._transport: Transport | None = None

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
        transport, self._transport = self._transport, None
        if transport is not None and transport.loop is asyncio.get_running_loop():
            await transport.aclose()

    async def _complete(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Asks for a reply to a conversation, or for what follows a prompt."""
        if self._wire is WIRES["completions"]:
            return await self._descend(request, on_text)
        return await judged(request, on_text, self._descend)

    async def _descend(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Asks, and steps down the ladder while the service refuses the way of asking."""
        form = self._refusals.form(request)
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
            hint = "check the base URL: it usually ends in /v1"
            raise ExchangeProblem("sent a web page instead of a reply", hint=hint)
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

    def _connected(self) -> Transport:
        """The connections of the running event loop; those of another loop cannot be used any more."""
        if self._transport is None or self._transport.loop is not asyncio.get_running_loop():
            _check(self._endpoint)
            from prosa.adapters.providers.transport import Transport

            self._transport = Transport(self._endpoint, timeout=self._timeout)
        return self._transport


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
    if endpoint.api_key is None and endpoint.base_url == DEFAULT_BASE_URL:
        raise ProviderError("there is no key for the model service", kind="auth", retryable=False, hint=THREE_WAYS)
    if endpoint.api_key is not None and not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        reason = "the key has characters that a key cannot have, such as a line break"
        raise ProviderError(reason, kind="auth", retryable=False, hint="check OPENAI_API_KEY")
    try:
        parts = urlsplit(endpoint.base_url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        reason = f"the base URL {endpoint.redact(endpoint.base_url)[:200]!r} is no http address"
        raise ProviderError(reason, kind="bad-request", retryable=False, hint="it looks like https://example.org/v1")
