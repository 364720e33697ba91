"""Anthropic's own interface through the library of the service, `anthropic`, of the extra `prosa[anthropic]` (X7).

What comes in: bodies of the Messages wire (`messages`). What goes out: their answers. The library knows the address of
a question, its version and how a key travels; it is loaded at the first question. It never retries here, follows no
redirect, and finds neither key nor address of its own: both are given. It takes headers from its environment, and
these may replace any of its own, so all that leave are set here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from prosa.adapters.providers import messages
from prosa.adapters.providers.asking import STREAM_SILENCE
from prosa.adapters.providers.exchange import ServiceProvider
from prosa.adapters.providers.failures import Endpoint, StatusProblem
from prosa.adapters.providers.table import CLIENTS
from prosa.adapters.providers.wire import Answer
from prosa.data import Value
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

DEFAULT_BASE_URL = "https://api.anthropic.com/v1"
NO_KEY = "none"
"""Stands for a key where none is sent: without one the library looks for others."""


class AnthropicProvider(ServiceProvider):
    """A service that speaks Messages at ``base_url`` (None: Anthropic's own), asked with ``api_key`` (None: without).

    ``most`` says how many tokens a model writes at most, where the user knows it. For the rest see `ServiceProvider`.
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        variable: str = "ANTHROPIC_API_KEY",
        most: Callable[[str], int | None] | None = None,
    ) -> None:
        address = (base_url or DEFAULT_BASE_URL).strip().rstrip("/")
        endpoint = Endpoint(address, (api_key or "").strip() or None, variable=variable)
        super().__init__(
            endpoint,
            messages.WIRE,
            AnthropicConnection,
            first=messages.FIRST_FORM,
            timeout=timeout,
            silence=silence,
            most=most,
        )

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt. The library takes seconds to load the first time, and is loaded before its time runs."""
        import_module(CLIENTS["anthropic"])
        return await super().complete(request, on_text)


class AnthropicConnection:
    """The library's client for one service, on connections of our own, of one event loop."""

    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        """Raise `ExchangeProblem` for a proxy or certificates in the environment that cannot be used."""
        from prosa.adapters.providers.transport import proxy_of

        self.loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._has_proxy = proxy_of(endpoint.base_url) is not None
        self._client = _client(endpoint)

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[Answer]:
        """Send a body; ``silence`` is how many seconds may pass between two reads.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        from prosa.adapters.providers.transport import answered, times

        response = await self._send(f"/v1{path}", body, times(self._timeout, silence))
        async with answered(response) as answer:
            yield answer

    async def _send(self, path: str, body: bytes, limits: httpx2.Timeout) -> httpx2.Response:
        """Return the head of the answer."""
        import httpx2
        from anthropic import APIStatusError, AsyncStream

        from prosa.adapters.providers.transport import exchange_problem

        try:
            # With this type the library gives the response itself, unread, though its signature says a stream.
            answer: Value = await self._client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={"timeout": limits},
                stream=True,
                stream_cls=AsyncStream[bytes],
            )
            assert isinstance(answer, httpx2.Response)
            return answer
        except APIStatusError as problem:
            raise StatusProblem(problem.status_code, problem.response.headers, problem.response.text) from None
        except Exception as problem:
            cause = problem.__cause__ if isinstance(problem.__cause__, Exception) else problem
            raise exchange_problem(cause, proxied=self._has_proxy) from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()


def _client(endpoint: Endpoint) -> AsyncAnthropic:
    """Return the library's client; what it would look up in the environment is given."""
    import httpx2
    from anthropic import AsyncAnthropic
    from anthropic._constants import ANTHROPIC_API_VERSION

    from prosa.adapters.providers.transport import client_of, plain_headers

    connections = client_of(endpoint)
    ours = {**plain_headers(), "anthropic-version": ANTHROPIC_API_VERSION}
    if endpoint.api_key:
        ours["Authorization"] = f"Bearer {endpoint.api_key}"

    async def prepare(request: httpx2.Request) -> None:
        own = {"Host": request.url.netloc.decode("ascii"), "Content-Length": str(len(request.content))}
        request.headers = httpx2.Headers({**own, **ours})

    connections.event_hooks = {"request": [prepare]}
    return AsyncAnthropic(
        api_key=endpoint.api_key or NO_KEY,
        base_url=endpoint.base_url.removesuffix("/v1"),
        max_retries=0,
        http_client=connections,
        open_telemetry=False,
        webhook_key="",
    )
