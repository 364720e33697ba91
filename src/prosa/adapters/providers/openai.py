"""Services that speak Chat Completions, Responses or raw completions, over httpx2 (LA3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from prosa.adapters.providers import chat, completion, responses
from prosa.adapters.providers.asking import STREAM_SILENCE
from prosa.adapters.providers.endpoint import DEFAULT_BASE_URL, Endpoint
from prosa.adapters.providers.exchange import ServiceProvider
from prosa.adapters.providers.request_shape import NEW_LIMIT, RequestShape
from prosa.adapters.providers.wire import Wire
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

WIRES: dict[str, Wire] = {"chat": chat.WIRE, "responses": responses.WIRE, "completions": completion.WIRE}


class OpenAIProvider(ServiceProvider):
    """A model service at ``base_url`` (None: OpenAI's own), asked with ``api_key`` (None: no key is sent) and with
    ``headers`` beside it (see `key.account_headers`); ``variable`` is where the key usually stands.

    ``api`` chooses the wire format. Of a way to ask for JSON that is refused the next one is tried, json_schema →
    json_object → prompt; ``first`` is where that begins. A service that takes a schema by Responses and then writes
    freely is asked by Chat Completions from the next call on, which ``notice`` hears. For the rest see
    `ServiceProvider`.
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
        variable: str = "OPENAI_API_KEY",
        first: RequestShape | None = None,
        bound: int | None = None,
        names: Mapping[str, str] | None = None,
        without_tools: Callable[[Sequence[str]], None] | None = None,
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        key = (api_key or "").strip()
        address = (base_url or DEFAULT_BASE_URL).strip().rstrip("/")
        endpoint = Endpoint(address, key or None, headers or {}, variable)
        first = first or (RequestShape(limits=(NEW_LIMIT,)) if address == DEFAULT_BASE_URL else RequestShape())
        super().__init__(
            endpoint,
            WIRES[api],
            first=first,
            timeout=timeout,
            silence=silence,
            bound=bound,
            names=names,
            without_tools=without_tools,
        )
        self._notice = notice

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Make one attempt. Raises `ProviderError`."""
        wire = self._wire
        reply = await super().complete(request, on_text)
        if wire is self._wire is responses.WIRE and self._is_free(request, reply):
            self._wire = chat.WIRE
            about = "accepts a schema with --api responses and does not follow it"
            self._notice(f"note: {self.service} {about}; --api chat is used from now on")
        return reply

    def _is_free(self, request: ModelRequest, reply: ModelReply) -> bool:
        """Return whether an answer to a request with a schema, which is an object on every wire, is plain prose."""
        asks = request.output is not None and self._refusals.shape(request).output == "json_schema"
        text = reply.content.lstrip()
        return asks and reply.refusal is None and not reply.tool_calls and text[:1] not in ("", "{", "`")
