"""Google's models through the library of the service, `google-genai`, behind the port `Provider` (X7, LA4).

What comes in: a `ModelRequest`. What goes out: a `ModelReply`, or a `ProviderError` that says whether another attempt
makes sense. The library is loaded at the first question. It never retries here, follows no redirect, tells the service
nothing about this machine, and finds neither key nor address of its own: both are given.
"""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.providers.asking import STREAM_SILENCE, asking, judged
from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem, StatusProblem, page_instead
from prosa.adapters.providers.gemini import Asked, GeminiAssembly, asked, understood, wants_signature
from prosa.adapters.providers.ladder import Form, Refusals, next_form
from prosa.adapters.providers.wire import encode
from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client, types

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
NO_KEY = "none"
"""Stands for a key where none is sent: the library wants one."""

_VERSION = regex(r"^(?P<address>.*?)/(?P<version>v[0-9][0-9a-z]*)$")
_BOTH = ("function calling with a response mime type", "tool use with a response mime type")


class GoogleProvider:
    """A service that speaks Google's own interface at ``base_url``, which ends in the version of the interface, asked
    with ``api_key`` (None: no key is sent).

    ``timeout`` is the seconds that one `complete` may take in all, ``silence`` those between two pieces of a stream. A
    model that refuses a way of asking is asked in the next one, and this object remembers it (LA4, X24): some take a
    schema only where no tools are offered.
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout: float = 600,
        silence: float = STREAM_SILENCE,
    ) -> None:
        key = (api_key or "").strip()
        self._endpoint = Endpoint((base_url or DEFAULT_BASE_URL).strip().rstrip("/"), key or None)
        self._timeout = timeout
        self._silence = min(silence, timeout)
        self._refusals = {with_tools: Refusals(Form(limits=("maxOutputTokens",))) for with_tools in (False, True)}
        self._signed: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None

    @property
    def service(self) -> str:
        """The base URL, as people may see it: what a price belongs to (LA27)."""
        return self._endpoint.shown

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """One attempt. With ``on_text`` the reply streams, and each piece of text is handed over as it comes.

        Raises `ProviderError`; its text names the service and never contains the key.
        """
        async with asking(self._endpoint, timeout=self._timeout, model_name=request.model_name):
            return await judged(request, on_text, self._descend)

    async def aclose(self) -> None:
        """Releases connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aio.aclose()

    async def _descend(self, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Asks, and steps down the ladder while the service refuses the way of asking."""
        refusals = self._refusals[bool(request.tools)]
        form = refusals.form(request)
        refused: list[StatusProblem] = []
        while True:
            try:
                reply = await self._exchange(request, form, on_text)
            except StatusProblem as problem:
                if wants_signature(problem) and request.model_name not in self._signed:
                    self._signed.add(request.model_name)
                    continue
                lower = _lower(form, request, problem)
                if lower is None:
                    raise
                form, refused = lower, [*refused, problem]
            else:
                refusals.remember(request, form, refused)
                return replace(reply, service=self._endpoint.shown)

    async def _exchange(self, request: ModelRequest, form: Form, on_text: OnText | None) -> ModelReply:
        made = asked(shaped(request, form), form, signed=request.model_name in self._signed)
        assembly = GeminiAssembly(request.tools)
        async with aclosing(self._pieces(made, stream=on_text is not None)) as pieces:
            async for piece in pieces:
                text = assembly.feed(piece)
                if text and on_text is not None:
                    on_text(text)
        return assembly.finish(whole=on_text is None)

    async def _pieces(self, made: Asked, *, stream: bool) -> AsyncGenerator[Mapping[str, Value], None]:
        """What the library has understood of the answer, as plain data under the names of the interface."""
        encode({"contents": made.contents, "config": made.config, "beside": made.beside})  # what JSON cannot carry
        client = self._connected()
        try:
            config = _config(made)
            models = client.aio.models
            if not stream:
                yield _data(await models.generate_content(model=made.model, contents=made.contents, config=config))
                return
            answer = await models.generate_content_stream(model=made.model, contents=made.contents, config=config)
            async for piece in answer:
                yield _data(piece)
        except Exception as problem:
            raise _understood(problem) from None

    def _connected(self) -> Client:
        """The client of the running event loop; that of another loop cannot be used any more."""
        if self._client is None or self._loop is not asyncio.get_running_loop():
            self._loop, self._client = asyncio.get_running_loop(), _client(self._endpoint, self._timeout, self._silence)
        return self._client


def _lower(form: Form, request: ModelRequest, problem: StatusProblem) -> Form | None:
    """The form to try after a refusal, in the words of this interface; None when it is about something else."""
    text = problem.raw.lower()
    if problem.status != 400:
        return None
    if form.output != "prompt" and any(words in text for words in _BOTH):
        return replace(form, output="prompt")
    if form.limits and "maxoutputtokens" in text.replace("_", ""):
        return replace(form, limits=())
    return next_form(form, request, problem, streams=False)


def _client(endpoint: Endpoint, timeout: float, silence: float) -> Client:
    """The library's client, on connections of our own; what it would look up in the environment is given."""
    import httpx2
    from google.genai import Client, types
    from google.genai.client import DebugConfig

    from prosa.adapters.providers.transport import client_of

    warnings.filterwarnings("ignore", category=UserWarning, module=r"google\.genai")  # values that it does not know yet
    logging.getLogger("google_genai").setLevel(logging.ERROR)  # it tells of variables that it must not use here
    connections = client_of(endpoint)
    prepare = _preparing(endpoint, timeout, silence)
    bounds = connections.event_hooks["response"]
    connections.event_hooks = {"request": [prepare], "response": [*bounds, _refuse_page]}
    found = _VERSION.match(endpoint.base_url)
    options = types.HttpOptions(
        base_url=found["address"] if found else endpoint.base_url,
        api_version=found["version"] if found else "v1beta",
        httpx_async_client=connections,
        httpx_client=httpx2.Client(verify=SSLContext(PROTOCOL_TLS_CLIENT), trust_env=False),
    )
    debug = DebugConfig(client_mode=None, replays_directory=None, replay_id=None)
    return Client(vertexai=False, api_key=endpoint.api_key or NO_KEY, http_options=options, debug_config=debug)


async def _refuse_page(response: httpx2.Response) -> None:
    """A web page is no reply; the library would take it for one that came in part, which is asked for again."""
    if response.is_success and "html" in response.headers.get("content-type", "").lower():
        raise page_instead("a reply")


def _preparing(
    endpoint: Endpoint, timeout: float, silence: float
) -> Callable[[httpx2.Request], Coroutine[None, None, None]]:
    """What is done to each request of the library before it is sent: our times, and nothing about this machine."""
    from prosa.adapters.providers.transport import plain_headers, times

    async def prepare(request: httpx2.Request) -> None:
        for name in ("x-goog-api-client", *(() if endpoint.api_key else ("x-goog-api-key",))):
            request.headers.pop(name, None)
        request.headers.update(plain_headers())
        streams = request.url.path.endswith(":streamGenerateContent")
        request.extensions["timeout"] = times(timeout, silence if streams else timeout).as_dict()

    return prepare


def _config(made: Asked) -> types.GenerateContentConfig:
    """The configuration as the library takes it. Raises `ExchangeProblem` for a parameter that cannot be."""
    from google.genai import types
    from pydantic import ValidationError

    own: dict[str, Value] = {
        "automaticFunctionCalling": {"disable": True},
        "automaticContinuation": False,
        "httpOptions": {"extraBody": made.beside} if made.beside else None,
    }
    try:
        return types.GenerateContentConfig.model_validate({**made.config, **own})
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(each) for each in first["loc"] if not str(each).startswith("function-"))
        reason = f"was not asked: the parameter `{place}` cannot be sent ({first['msg']})"
        raise ExchangeProblem(reason, kind="bad-request") from None


def _data(answer: types.GenerateContentResponse) -> Mapping[str, Value]:
    data: dict[str, Value] = answer.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"}
    )
    return data


def _understood(problem: Exception) -> Exception:
    """What a failure inside the library means."""
    from google.genai.errors import APIError, UnknownApiResponseError
    from pydantic import ValidationError

    from prosa.adapters.providers.transport import exchange_problem

    if isinstance(problem, ExchangeProblem | StatusProblem | ProviderError | TimeoutError):
        return problem
    if isinstance(problem, APIError):
        headers = getattr(problem.response, "headers", None)
        raw = problem.details if isinstance(problem.details, str) else json.dumps(problem.details, default=str)
        return understood(StatusProblem(int(problem.code), headers or {}, raw))
    if isinstance(problem, UnknownApiResponseError | json.JSONDecodeError):
        return ExchangeProblem("sent a reply that is not JSON, or only a part of it", retryable=True)
    if isinstance(problem, ValidationError | TypeError | AttributeError | KeyError):
        return ExchangeProblem("sent JSON that is no reply")
    return exchange_problem(problem)
