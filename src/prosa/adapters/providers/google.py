"""Google's own interface through the library of the service, `google-genai`, of the extra `prosa[google]` (X7).

What comes in: requests of the Gemini wire (`gemini`). What goes out: their answers as the library has understood them.
It knows the address of a question, how a key travels, and every field; it is loaded at the first question. It never
retries here, asks for no continuation, follows no redirect, and finds neither key nor address of its own: both are
given. Of the headers only ours leave.
"""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import TYPE_CHECKING

from prosa.adapters.providers import gemini
from prosa.adapters.providers.asking import STREAM_SILENCE
from prosa.adapters.providers.exchange import ServiceProvider
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem, page_instead
from prosa.adapters.providers.wire import Answer, decode, encode
from prosa.data import Value
from prosa.regex import regex

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client, types

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
NO_KEY = "none"
"""Stands for a key where none is sent: the library wants one."""

_VERSION = regex(r"^(?P<address>.*?)/(?P<version>v[0-9][0-9a-z]*)$")


class GoogleProvider(ServiceProvider):
    """A service that speaks Google's interface at ``base_url``, which ends in the version of the interface (None:
    Google's own), asked with ``api_key`` (None: without). For the rest see `ServiceProvider`."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
        variable: str = "GEMINI_API_KEY",
    ) -> None:
        address = (base_url or DEFAULT_BASE_URL).strip().rstrip("/")
        endpoint = Endpoint(address, (api_key or "").strip() or None, variable=variable)
        super().__init__(
            endpoint, gemini.WIRE, GoogleConnection, first=gemini.FIRST_FORM, timeout=timeout, silence=silence
        )


class GoogleConnection:
    """The library's client for one service, on connections of our own, of one event loop."""

    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        """Raise `ExchangeProblem` for a proxy or certificates in the environment that cannot be used."""
        from prosa.adapters.providers.transport import proxy_of

        self.loop = asyncio.get_running_loop()
        self._has_proxy = proxy_of(endpoint.base_url) is not None
        self._client = _client(endpoint, timeout)

    @asynccontextmanager
    async def post(self, path: str, body: bytes, *, silence: float) -> AsyncIterator[Answer]:
        """Ask; ``silence`` is how many seconds may pass between two reads. Where pieces come, each is an event.

        Raises `StatusProblem` for an answer that is no success and `ExchangeProblem` when there is none.
        """
        del path  # the library knows it
        asked = decode(body)
        kind = "text/event-stream" if asked["stream"] else "application/json"
        async with aclosing(self._pieces(asked, silence)) as chunks:
            yield Answer(kind, chunks)

    async def _pieces(self, asked: Mapping[str, Value], silence: float) -> AsyncGenerator[bytes, None]:
        """Yield what the library has understood of the answer, as bytes under the names of the interface."""
        config = _config(asked, silence)
        given, models = {"model": asked["model"], "contents": asked["contents"]}, self._client.aio.models
        try:
            if not asked["stream"]:
                yield _data(await models.generate_content(**given, config=config))
                return
            async for piece in await models.generate_content_stream(**given, config=config):
                yield b"data: " + _data(piece) + b"\n\n"
        except Exception as problem:
            raise self._understood(problem) from None

    def _understood(self, problem: Exception) -> Exception:
        """Return what a failure inside the library means."""
        from google.genai.errors import APIError, UnknownApiResponseError
        from pydantic import ValidationError

        from prosa.adapters.providers.transport import exchange_problem

        if isinstance(problem, TimeoutError):
            return problem
        if isinstance(problem, APIError):
            headers, raw = getattr(problem.response, "headers", None), getattr(problem.response, "text", None)
            if not isinstance(raw, str):
                raw = problem.details if isinstance(problem.details, str) else json.dumps(problem.details, default=str)
            return gemini.understood(StatusProblem(int(problem.code), headers or {}, raw))
        if isinstance(problem, UnknownApiResponseError | json.JSONDecodeError):
            return ExchangeProblem("sent a reply that is not JSON, or only a part of it", retryable=True)
        if isinstance(problem, ValidationError | TypeError | AttributeError | KeyError):
            return ExchangeProblem("sent JSON that is no reply")
        return exchange_problem(problem, proxied=self._has_proxy)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aio.aclose()


def _client(endpoint: Endpoint, timeout: float) -> Client:
    """Return the library's client; what it would look up in the environment is given."""
    import httpx2
    from google.genai import Client, types
    from google.genai.client import DebugConfig

    from prosa.adapters.providers.transport import client_of, plain_headers, times

    warnings.filterwarnings("ignore", category=UserWarning, module=r"google\.genai")  # values that it does not know yet
    logging.getLogger("google_genai").setLevel(logging.ERROR)  # it tells of variables that it must not use here
    connections = client_of(endpoint)
    ours = {**plain_headers(), **({"x-goog-api-key": endpoint.api_key} if endpoint.api_key else {})}

    async def prepare(request: httpx2.Request) -> None:
        own = {"Host": request.url.netloc.decode("ascii"), "Content-Length": str(len(request.content))}
        request.headers = httpx2.Headers({**own, **ours})
        silence = request.extensions["timeout"]["read"]
        request.extensions["timeout"] = times(timeout, silence).as_dict()

    connections.event_hooks = {"request": [prepare], "response": [_refuse_pages]}
    found = _VERSION.match(endpoint.base_url)
    options = types.HttpOptions(
        base_url=found["address"] if found else endpoint.base_url,
        api_version=found["version"] if found else "v1beta",
        httpx_async_client=connections,
        httpx_client=httpx2.Client(verify=SSLContext(PROTOCOL_TLS_CLIENT), trust_env=False),
    )
    debug = DebugConfig(client_mode=None, replays_directory=None, replay_id=None)
    return Client(vertexai=False, api_key=endpoint.api_key or NO_KEY, http_options=options, debug_config=debug)


async def _refuse_pages(response: httpx2.Response) -> None:
    """The library would read a web page as a reply that is broken."""
    if response.is_success and "html" in response.headers.get("content-type", "").lower():
        raise page_instead("a reply")


def _config(asked: Mapping[str, Value], silence: float) -> types.GenerateContentConfig:
    """Return the configuration as the library takes it. Raises `ExchangeProblem` for a parameter that cannot be."""
    from google.genai import types
    from pydantic import ValidationError

    own: dict[str, Value] = {
        "automaticFunctionCalling": {"disable": True},
        "automaticContinuation": False,
        "httpOptions": {"timeout": max(1, round(silence * 1000)), "extraBody": asked.get("beside")},
    }
    try:
        return types.GenerateContentConfig.model_validate({**asked["config"], **own})
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(each) for each in first["loc"] if not str(each).startswith("function-"))
        reason = f"was not asked: the parameter `{place}` cannot be sent ({first['msg']})"
        raise ExchangeProblem(reason, kind="bad-request") from None


def _data(answer: types.GenerateContentResponse) -> bytes:
    return encode(
        answer.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"})
    )
