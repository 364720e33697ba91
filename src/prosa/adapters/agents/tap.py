"""The tap: a proxy on loopback between one attempt of an agent and the service of its model (X36).

In: requests of the agent, with a token that stands for the key. Out: the answers of the service, unchanged, and what
both said: calls with their tokens and cost, steps, which skills were offered and loaded. The key is added here and
never leaves to the agent. Caps are held here: a request over one is answered with HTTP 400, which ends every agent.
What an answer cost is counted before its last bytes are handed on, as agents close the connection early.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import hmac
import json
import secrets
import socket as sockets
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.agents.streams import step
from prosa.adapters.agents.table import KnownAgent
from prosa.adapters.agents.wires.chat import CHAT
from prosa.adapters.agents.wires.exchange import Conversation, Refusal, ServiceWire
from prosa.adapters.agents.wires.gemini import GEMINI, camel
from prosa.adapters.agents.wires.messages import MESSAGES
from prosa.adapters.agents.wires.responses import RESPONSES
from prosa.adapters.providers import chat, gemini, messages, responses
from prosa.adapters.providers.completion import EventDecoder
from prosa.adapters.providers.failures import Endpoint, ExchangeProblem
from prosa.adapters.providers.wire import Assembly, Wire, decode
from prosa.data import Value
from prosa.records.agent import AgentCall, AgentStep, WireName
from prosa.regex import regex
from prosa.runtime.errors import RunError
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import Prices
from prosa.runtime.usage import Usage

if TYPE_CHECKING:
    import httpx2

    from prosa.runtime.budget import Budget, Quote

Scope: TypeAlias = Mapping[str, Value]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Value]]]
Send: TypeAlias = Callable[[dict[str, Value]], Awaitable[None]]

MOST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of one request."""

MOST_STEPS: Final = 10_000
"""Steps of one attempt that are kept."""

MOST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of one answer."""

OUTPUT_BOUND: Final = 4_096
"""Output tokens of a call under a cap, where the agent sets no bound (X9)."""

SILENCE: Final = 600.0
"""Seconds that may pass between two pieces of an answer."""

_SERVICE_WIRES: Final[Mapping[WireName, ServiceWire]] = {
    each.name: each for each in (MESSAGES, RESPONSES, CHAT, GEMINI)
}
_WIRES: Final[Mapping[WireName, Wire]] = {
    "messages": messages.WIRE,
    "responses": responses.WIRE,
    "chat": chat.WIRE,
    "gemini": gemini.WIRE,
}
_ENDINGS: Final[Mapping[WireName, str]] = {
    "messages": "/messages",
    "responses": "/responses",
    "chat": "/chat/completions",
}
_GEMINI = regex(r"/models/[^/:]+:(?:generateContent|streamGenerateContent)$")
_FREE = regex(r"/messages/count_tokens$|:countTokens$|/models(?:/[^/]+)?$|/responses/input_tokens$")
"""Requests that cost nothing and are handed on."""

_BOUNDS: Final[Mapping[WireName, tuple[str, ...]]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "gemini": ("maxOutputTokens",),
}
_HANDED_ON: Final = frozenset({"accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta"})
"""Headers of the agent that the service sees: none that tells of this machine or holds the token."""

_DROPPED: Final = frozenset(
    "connection keep-alive transfer-encoding content-encoding content-length set-cookie server date".split()  # noqa: SIM905
)


class Upstream(Struct, frozen=True):
    """The service that a tap asks: its address with the key, and the base URL whose prices hold."""

    endpoint: Endpoint
    service: str | None = None


class TapLimits(Struct, frozen=True):
    """The caps of one attempt: ``max_calls`` model calls; with ``stop_when_loaded`` none after a reply that loads a
    skill, or changes a file."""

    max_calls: int | None = None
    stop_when_loaded: bool = False


class Tap(Struct):
    """What one attempt asked and was answered. ``url`` is the address for the agent, ``token`` its key. ``end`` says
    which cap refused a request; ``notes`` are sentences about what was added or refused."""

    agent: KnownAgent
    upstream: Upstream
    wire: WireName
    skills: tuple[str, ...]
    limits: TapLimits
    client: httpx2.AsyncClient
    prices: Prices
    budget: Budget | None = None
    output_bound: int | None = None
    url: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    calls: list[AgentCall] = field(default_factory=list)
    steps: list[AgentStep] = field(default_factory=list)
    listed: dict[str, None] = field(default_factory=dict)
    loaded: dict[str, None] = field(default_factory=dict)
    loaded_first: dict[str, None] = field(default_factory=dict)
    has_changed: bool = False
    end: str = ""
    reason: str = ""
    notes: dict[str, None] = field(default_factory=dict)
    conversations: dict[str, int] = field(default_factory=dict)
    results: set[str] = field(default_factory=set)

    @property
    def asked(self) -> int:
        """Model calls that were handed on."""
        return sum(not each.refused for each in self.calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope["path"]
        if not self._knows(headers, scope):
            await self._refuse(send, Refusal("the token of this attempt is missing or wrong", status=401))
            return
        if scope["method"] == "HEAD" or (scope["method"] == "GET" and path in ("", "/")):
            await _answer(send, 200, b"", {})
            return
        data = await _body(receive, headers)
        if data is None:
            await self._refuse(send, Refusal("the request is too large, or cannot be read", status=413))
        elif _is_answer(self.wire, path) and scope["method"] == "POST":
            await self._model_call(scope, headers, data, send)
        elif _FREE.search(path):
            await self._hand_on(scope, headers, data, send, None)
        else:
            self.notes[f"a request for {path[:80]} is no part of the wire and was refused"] = None
            await self._refuse(send, Refusal(f"there is nothing at {path[:80]}", status=404))

    def _knows(self, headers: Mapping[str, str], scope: Scope) -> bool:
        given = headers.get("x-api-key") or headers.get("x-goog-api-key") or ""
        given = given or headers.get("authorization", "").removeprefix("Bearer ")
        query = scope["query_string"].decode("latin-1")
        given = given or next((part[4:] for part in query.split("&") if part.startswith("key=")), "")
        return hmac.compare_digest(given.encode(), self.token.encode())

    # ---- one model call ----

    async def _model_call(self, scope: Scope, headers: Mapping[str, str], data: bytes, send: Send) -> None:
        body = _read(data)
        if body is None:
            await self._refuse(send, Refusal("the body is no JSON object"))
            return
        said = _conversation(self.wire, body)
        number = self._number(said)
        model = str(body.get("model") or _model_in(scope["path"]))
        call = AgentCall(model, self.wire, 400, conversation=number)
        self._look_at(said, data, number)
        if refused := self._refused():
            self._end(refused)
            self.calls.append(replace(call, refused=refused))
            await self._refuse(send, Refusal(f"this attempt ends here: {self.reason}"))
            return
        if self.wire == "chat" and body.get("stream") and not body.get("stream_options"):
            body["stream_options"] = {"include_usage": True}  # else the service counts no tokens of a stream
            data = json.dumps(body, ensure_ascii=False).encode()
        try:
            quote, data = await self._reserved(model, body, data)
        except RunError as error:
            self._end("cost", error.message)
            self.calls.append(replace(call, refused="cost", problem=error.message))
            await self._refuse(send, Refusal(f"this attempt ends here: {error.message}"))
            return
        self.calls.append(call)
        await self._hand_on(scope, headers, data, send, _Call(self, len(self.calls) - 1, number, quote))

    def _number(self, said: Conversation) -> int:
        """Return the number of a conversation: subagents begin with other instructions or another request."""
        first = next((turn.text for turn in said.turns if turn.role == "user"), "")
        key = hashlib.sha256(f"{said.system}\0{first}".encode("utf-8", "replace")).hexdigest()
        return self.conversations.setdefault(key, len(self.conversations))

    def _look_at(self, said: Conversation, data: bytes, number: int) -> None:
        """Take what a request says of skills and of results of tools."""
        text = "\n".join((said.system, *(f"{each.name}\n{each.description}" for each in said.tools), _others(said)))
        whole = data.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')
        for name in self.skills:
            pattern = self.agent.lists(name)
            if name not in self.listed and (pattern.search(text) or pattern.search(whole)):
                self.listed[name] = None
        for turn in said.turns:
            for call, result in turn.results:
                if call not in self.results:
                    self.results.add(call)
                    self._add(step("result", result, call=call, conversation=number))

    def _refused(self) -> str:
        if self.limits.stop_when_loaded and (self.loaded_first or self.has_changed):
            return "loaded"
        if self.limits.max_calls is not None and self.asked >= self.limits.max_calls:
            return "calls"
        return ""

    def _end(self, end: str, reason: str = "") -> None:
        words = {
            "loaded": "a skill was loaded, or a file was changed, which is all that was asked",
            "calls": f"it made {self.asked} model calls, the limit (--max-calls)",
        }
        self.end, self.reason = self.end or end, self.reason or reason or words.get(end, end)

    async def _reserved(self, model: str, body: dict[str, Value], data: bytes) -> tuple[Quote | None, bytes]:
        """Hold the worst case of a call, and return it with the body that is sent. Raises `BudgetSpent` and
        `PriceUnknown`."""
        if self.budget is None:
            return None, data
        bound = _bound(self.wire, body)
        if bound is None:
            bound = self.output_bound or OUTPUT_BOUND
            self.notes[f"each model call was bounded to {bound:,} output tokens, as the agent sets no limit"] = None
            _set_bound(self.wire, body, bound)
            data = json.dumps(body, ensure_ascii=False).encode()
        quote = self.budget.quote_of(model, Usage(len(data), bound), self.upstream.service)
        if quote is not None:
            await self.budget.reserve(quote, self.upstream.service)
        return quote, data

    # ---- the exchange ----

    async def _hand_on(
        self, scope: Scope, headers: Mapping[str, str], data: bytes, send: Send, call: _Call | None
    ) -> None:
        """Ask the service, and hand its answer on piece by piece."""
        import httpx2

        wire = _WIRES[self.wire]
        endpoint = wire.endpoint(self.upstream.endpoint)
        own = {name: value for name, value in headers.items() if name in _HANDED_ON}
        url = _url(endpoint.base_url, scope)
        sent = {**own, "accept-encoding": "identity", "user-agent": "prosa", **endpoint.headers}
        times = httpx2.Timeout(SILENCE, connect=10.0)
        request = httpx2.Request(
            scope["method"], url, content=data or None, headers=sent, extensions={"timeout": times.as_dict()}
        )
        try:
            response = await self.client.send(request, stream=True)
        except (httpx2.HTTPError, OSError) as error:
            problem = endpoint.redact(f"the service cannot be reached: {error or type(error).__name__}")
            if call is not None:
                call.failed(502, problem, billable=not isinstance(error, httpx2.ConnectError))
            await self._refuse(send, Refusal(problem, status=502))
            return
        try:
            await self._pass(response, send, call)
        finally:
            await response.aclose()

    async def _pass(self, response: httpx2.Response, send: Send, call: _Call | None) -> None:
        status = response.status_code
        kept = [(name.encode(), value.encode()) for name, value in response.headers.items() if name not in _DROPPED]
        await send({"type": "http.response.start", "status": status, "headers": kept})
        reader = None if call is None else _Reader(self.wire, response.headers.get("content-type", ""), status)
        try:
            async for piece in response.aiter_bytes():
                if reader is not None and call is not None:
                    reader.feed(piece)
                    if reader.is_whole:
                        call.answered(status, reader)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except Exception as error:
            if call is not None:
                call.failed(status, f"the answer broke off: {type(error).__name__}", billable=True)
            raise
        except BaseException:  # the agent went away, or the attempt was ended
            if call is not None:
                call.failed(status, "the answer was not read to its end", billable=True)
            raise
        if reader is not None and call is not None:
            reader.finish()
            call.answered(status, reader)
        await send({"type": "http.response.body", "body": b""})

    def replied(self, reply: ModelReply, number: int) -> None:
        """Take what a reply says and which tools it calls."""
        if reply.content:
            self._add(step("say", reply.content, conversation=number))
        for each in reply.tool_calls:
            arguments = _plain(each.arguments)
            for name in self.skills:
                if self.agent.loaded(name, each.name, arguments):
                    self.loaded[name] = None
                    if not self.has_changed:
                        self.loaded_first[name] = None
            self.has_changed = self.has_changed or each.name in self.agent.writes
            self._add(step("call", tool=each.name, arguments=arguments, call=each.id, conversation=number))

    def _add(self, one: AgentStep) -> None:
        if len(self.steps) < MOST_STEPS:
            self.steps.append(one)

    async def _refuse(self, send: Send, refusal: Refusal) -> None:
        body = json.dumps(_SERVICE_WIRES[self.wire].error(refusal)).encode()
        await _answer(send, refusal.status, body, {"content-type": "application/json"})


class _Call(Struct):
    """One call under way: where it is kept, and what it reserved. It is settled once."""

    tap: Tap
    at: int
    number: int
    quote: Quote | None
    is_settled: bool = False

    def answered(self, status: int, reader: _Reader) -> None:
        """Count a whole answer. Safe to call again."""
        if self.is_settled:
            return
        if reader.reply is None:
            self.failed(status, reader.problem, billable=200 <= status < 300)
            return
        reply = reader.reply
        usage = reply.usage if reply.usage.total_tokens else None
        cost = self._cost(usage, reply)
        call = replace(self.tap.calls[self.at], status=status, answered=True, usage=usage, cost=cost)
        self._settle(call, cost)
        self.tap.replied(reply, self.number)

    def failed(self, status: int, problem: str, *, billable: bool) -> None:
        """Count an answer that is none; where the service may charge for it, at its worst."""
        if self.is_settled:
            return
        cost = self.quote.cost if self.quote is not None and billable else Decimal(0)
        call = replace(self.tap.calls[self.at], status=status, problem=problem[:500])
        self._settle(replace(call, cost=cost if billable else Decimal(0)), cost)

    def _cost(self, usage: Usage | None, reply: ModelReply) -> Decimal | None:
        tap, asked = self.tap, self.tap.calls[self.at].model
        if usage is None:
            return None if self.quote is None else self.quote.cost
        prices = tap.prices
        names = (reply.model_name or "", asked)
        known = (prices.cost(name, usage, tap.upstream.service) for name in names if name)
        return next((each for each in known if each is not None), None)

    def _settle(self, call: AgentCall, cost: Decimal | None) -> None:
        self.is_settled = True
        self.tap.calls[self.at] = call
        if self.quote is not None and self.tap.budget is not None:
            self.tap.budget.settle(self.quote, self.quote.cost if cost is None else cost)


class _Reader:
    """Reads an answer on its way through, whole or as events. ``is_whole`` is set once all of it was read."""

    def __init__(self, wire: WireName, content_type: str, status: int) -> None:
        self._wire, self._status = _WIRES[wire], status
        self._decoder = EventDecoder() if "text/event-stream" in content_type else None
        self._assembly: Assembly = self._wire.assembly()
        self._data = bytearray()
        self.is_whole = False
        self.reply: ModelReply | None = None
        self.problem = ""

    def feed(self, piece: bytes) -> None:
        """Take some bytes."""
        if self.is_whole or self.problem:
            return
        if self._decoder is None:
            self._data += piece[: MOST_ANSWER - len(self._data)]
            return
        with self._reading():
            for event, text in self._decoder.feed(piece):
                self._event(event, text)

    def finish(self) -> None:
        """Read what is left at the end of the answer."""
        if self.is_whole or self.problem:
            return
        if not 200 <= self._status < 300:
            self.problem = _words(bytes(self._data[:4096]))
            return
        with self._reading():
            if self._decoder is None:
                self.reply = self._wire.reply(decode(bytes(self._data)))
            else:
                for event, text in self._decoder.finish():
                    self._event(event, text)
                self.reply = self._assembly.finish()
            self.is_whole = True

    def _event(self, event: str, text: str) -> None:
        if text.strip() == "[DONE]":
            self._assembly.complete = True
        elif text:
            self._assembly.feed(event, decode(text))
        # A wire that counts in a later event than the last words is read to its end.
        if (self._assembly.complete and text.strip() == "[DONE]") or event in ("message_stop", "response.completed"):
            self.reply, self.is_whole = self._assembly.finish(), True

    def _reading(self) -> _Problems:
        return _Problems(self)


class _Problems:
    """Keeps what is wrong with an answer as a sentence: the agent gets it as it came."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, ExchangeProblem | RunError | ValueError | KeyError | TypeError | AttributeError):
            self._reader.problem = f"the answer cannot be read: {error}"
            return True
        return False


# ---- requests ----


def _is_answer(wire: WireName, path: str) -> bool:
    return bool(_GEMINI.search(path)) if wire == "gemini" else path.endswith(_ENDINGS[wire])


def _read(data: bytes) -> dict[str, Value] | None:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _conversation(wire: WireName, body: Mapping[str, Value]) -> Conversation:
    """Return what a request says; nothing where it has another form than the wire's."""
    try:
        return _SERVICE_WIRES[wire].read(camel(dict(body)) if wire == "gemini" else body)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        return Conversation()


def _others(said: Conversation) -> str:
    """Return the texts of the user's side, in which some agents list skills."""
    return "\n".join(turn.text for turn in said.turns if turn.role == "user")


def _model_in(path: str) -> str:
    return path.rpartition("/models/")[2].partition(":")[0]


def _bound(wire: WireName, body: Mapping[str, Value]) -> int | None:
    """Return the output tokens that a request allows; None where it sets no bound."""
    holder = body.get("generationConfig") if wire == "gemini" else body
    values = [holder.get(name) for name in _BOUNDS[wire]] if isinstance(holder, Mapping) else []
    known = [each for each in values if isinstance(each, int) and not isinstance(each, bool) and each > 0]
    return max(known, default=None)


def _set_bound(wire: WireName, body: dict[str, Value], bound: int) -> None:
    if wire != "gemini":
        body[_BOUNDS[wire][0]] = bound
        return
    config = body.get("generationConfig")
    body["generationConfig"] = {**(config if isinstance(config, Mapping) else {}), "maxOutputTokens": bound}


def _url(base_url: str, scope: Scope) -> str:
    """Return the address at the service: what the agent asked below the version, below the base URL with its own."""
    path = regex(r"^/v[0-9][0-9a-z]*(?=/)").sub("", scope["path"], 1)
    given = scope["query_string"].decode("latin-1").split("&")
    query = "&".join(each for each in given if each and not each.startswith("key="))
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + path, query=query, fragment="").geturl()


def _plain(arguments: str) -> Value:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _words(data: bytes) -> str:
    """Return the sentence in the body of an error."""
    body = _read(data)
    error = body.get("error") if body is not None else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else data.decode("utf-8", "replace")[:300]


async def _body(receive: Receive, headers: Mapping[str, str]) -> bytes | None:
    """Return the bytes of a request, decompressed; None for too many, and for what is broken."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body") or b""
        size += len(piece)
        if size > MOST_BYTES:
            return None
        parts.append(piece)
        if not message.get("more_body"):
            break
    data = b"".join(parts)
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding != "gzip":
        return None
    try:
        unpacked = zlib.decompressobj(31).decompress(data, MOST_BYTES)
    except (zlib.error, gzip.BadGzipFile):
        return None
    return unpacked


async def _answer(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    given = [(name.encode(), value.encode()) for name, value in {**headers, "content-length": str(len(body))}.items()]
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body})


# ---- opening ----


@asynccontextmanager
async def open_tap(
    agent: KnownAgent,
    upstream: Upstream,
    wire: WireName,
    *,
    prices: Prices,
    skills: Sequence[str] = (),
    limits: TapLimits = TapLimits(),  # noqa: B008 - frozen
    budget: Budget | None = None,
    output_bound: int | None = None,
    socket: Path | None = None,
) -> AsyncIterator[Tap]:
    """Give a tap that listens, on a free port of 127.0.0.1 or on a unix socket, until the context ends: then all its
    connections are closed at once. Raises `ExchangeProblem` for a service that cannot be asked from here."""
    import uvicorn

    from prosa.adapters.providers.transport import client_of

    client = client_of(upstream.endpoint)
    tap = Tap(agent, upstream, wire, tuple(skills), limits, client, prices, budget, output_bound)
    made = _listening(socket)
    if socket is None:
        tap.url = f"http://127.0.0.1:{made.getsockname()[1]}"
    config = uvicorn.Config(
        tap,
        interface="asgi3",
        loop="asyncio",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]
    serving = asyncio.create_task(server.serve([made]))
    try:
        yield tap
    finally:
        server.should_exit = server.force_exit = True
        with suppress(TimeoutError, Exception):
            await asyncio.wait_for(asyncio.shield(serving), 5.0)
        serving.cancel()
        made.close()
        await client.aclose()


def _listening(path: Path | None) -> sockets.socket:
    if path is None:
        made = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
        made.bind(("127.0.0.1", 0))
    else:
        made = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        made.bind(str(path))
    made.listen(128)
    made.setblocking(False)
    return made
