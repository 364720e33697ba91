"""The tap: a proxy on loopback between one attempt of an agent and the service of its model (X36).

In: requests of the agent, with a token that stands for the key. Out: the answers of the service, unchanged, and what
both said: calls with their tokens and cost, steps, which skills were offered and loaded. The key is added here and
never leaves to the agent. Caps are held here: a request over one is answered with HTTP 400, which ends every agent.
What an answer cost is counted before its last bytes are handed on, as agents close the connection early.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import socket as sockets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.agents.exchange import (
    FREE,
    SERVICE_WIRES,
    WIRES,
    AnswerReader,
    Receive,
    Scope,
    Send,
    arguments_of,
    body_of,
    bound_of,
    conversation_of,
    is_model_call,
    model_in,
    object_of,
    send_answer,
    set_bound,
    url_at,
    user_texts,
)
from prosa.adapters.agents.forms import step
from prosa.adapters.agents.table import KnownAgent
from prosa.adapters.agents.wires.exchange import Conversation, Refusal
from prosa.adapters.providers.failures import Endpoint
from prosa.data import Value
from prosa.records.agent import AgentCall, AgentStep, WireName
from prosa.runtime.errors import RunError
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import Prices
from prosa.runtime.usage import Usage

if TYPE_CHECKING:
    import httpx2

    from prosa.runtime.budget import Budget, Quote


MOST_STEPS: Final = 10_000
"""Steps of one attempt that are kept."""


OUTPUT_BOUND: Final = 4_096
"""Output tokens of a call under a cap, where the agent sets no bound (X9)."""

SILENCE: Final = 600.0
"""Seconds that may pass between two pieces of an answer."""


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
            await send_answer(send, 200, b"", {})
            return
        data = await body_of(receive, headers)
        if data is None:
            await self._refuse(send, Refusal("the request is too large, or cannot be read", status=413))
        elif is_model_call(self.wire, path) and scope["method"] == "POST":
            await self._model_call(scope, headers, data, send)
        elif FREE.search(path):
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
        body = object_of(data)
        if body is None:
            await self._refuse(send, Refusal("the body is no JSON object"))
            return
        said = conversation_of(self.wire, body)
        number = self._number(said)
        model = str(body.get("model") or model_in(scope["path"]))
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
        text = "\n".join((said.system, *(f"{each.name}\n{each.description}" for each in said.tools), user_texts(said)))
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
        bound = bound_of(self.wire, body)
        if bound is None:
            bound = self.output_bound or OUTPUT_BOUND
            self.notes[f"each model call was bounded to {bound:,} output tokens, as the agent sets no limit"] = None
            set_bound(self.wire, body, bound)
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

        wire = WIRES[self.wire]
        endpoint = wire.endpoint(self.upstream.endpoint)
        own = {name: value for name, value in headers.items() if name in _HANDED_ON}
        url = url_at(endpoint.base_url, scope)
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
        reader = None if call is None else AnswerReader(self.wire, response.headers.get("content-type", ""), status)
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
            arguments = arguments_of(each.arguments)
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
        body = json.dumps(SERVICE_WIRES[self.wire].error(refusal)).encode()
        await send_answer(send, refusal.status, body, {"content-type": "application/json"})


class _Call(Struct):
    """One call under way: where it is kept, and what it reserved. It is settled once."""

    tap: Tap
    at: int
    number: int
    quote: Quote | None
    is_settled: bool = False

    def answered(self, status: int, reader: AnswerReader) -> None:
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
