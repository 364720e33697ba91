"""The tap (X36): a proxy on loopback between one agent and its model, which sees, counts and caps what is asked.

In: a service, a wire, caps, and the skills to watch for. Out: an address and a token for the agent, and afterwards its
calls, its steps and the skills that its model was offered and loaded. The key of the service stays here. A request over
a cap is answered with status 400, which agents do not try again. Each reply is read, and paid for, before its last
bytes reach the agent.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import secrets
import socket as sockets
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents.box import RELAY_URL
from prosa.adapters.agents.requests import AgentRequest, BadRequest, bounded, read_request
from prosa.adapters.agents.sightings import Sightings, Watched
from prosa.adapters.agents.table import KnownAgent
from prosa.adapters.agents.upstream import Connection, PassedOn, Upstream
from prosa.asgi import Receive, Scope, Send
from prosa.data import Value
from prosa.records.agent import AgentCall, AgentStep, WireName
from prosa.regex import regex
from prosa.runtime.budget import OUTPUT_UNDER_CAP, Budget, Budgeted
from prosa.runtime.errors import ProviderError, RunError
from prosa.runtime.messages import Message, Meter, ModelReply, ModelRequest, Usage
from prosa.runtime.ports import OnText, Prices

__all__ = ["Tap", "TapLimits", "Upstream", "open_tap"]

Refused: TypeAlias = Literal["", "calls", "cost", "loaded", "token"]

MOST_REQUEST = 64 * 2**20
"""Bytes of a request: a long conversation with pictures has a few million."""

MOST_RECORDED = 1_000
"""Requests that are recorded; an agent that goes on after a cap may send any number."""

MOST_NOTES = 20
"""Notes of one attempt."""

UNBOUNDED_OUTPUT = 32_768
"""Output tokens that are reserved for a call without a bound, under a cap that the user did not set."""

_PATHS: Final[Mapping[WireName, Mapping[str, str]]] = {
    "messages": {r"/messages": "ask", r"/messages/count_tokens": "pass", r"/models": "list"},
    "responses": {r"/responses": "ask", r"/models": "list"},
    "chat": {r"/chat/completions": "ask", r"/models": "list"},
    "gemini": {
        r"/models/[A-Za-z0-9._-]+:(?:streamG|g)enerateContent": "ask",
        r"/models/[A-Za-z0-9._-]+:countTokens": "pass",
        r"/models": "list",
    },
}
"""What a tap passes on below the version of an interface, and how: ``ask`` is read and counted."""

_VERSION = regex(r"(?:/v[0-9][0-9a-z]*)?(/.*)", re.DOTALL)
_KEPT_HEADERS = frozenset({"anthropic-version", "anthropic-beta", "openai-beta"})
"""Headers of an agent that say how its body is to be read. All others stay here."""

_KEY_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key"})
_BACKLOG = 128


class TapLimits(Struct, frozen=True):
    """The caps of one attempt: ``max_calls`` requests to the model; with ``stop_when_loaded`` none after a watched
    skill was loaded, or a file was changed without one."""

    max_calls: int | None = None
    stop_when_loaded: bool = False


class Tap:
    """A running tap: ``url`` is where the agent asks, without the version of the interface, and ``token`` its key."""

    def __init__(
        self,
        connection: Connection,
        wire: WireName,
        *,
        limits: TapLimits,
        sightings: Sightings,
        money: _Money,
    ) -> None:
        self.url = ""
        self.token = f"prosa-{secrets.token_hex(24)}"
        self.sightings = sightings
        self._connection = connection
        self._wire = wire
        self._limits = limits
        self._money = money
        self._calls: list[AgentCall] = []
        self._asked = 0
        self._end: Refused = ""
        self._reason = ""
        self._notes: dict[str, None] = {}

    @property
    def calls(self) -> tuple[AgentCall, ...]:
        """The requests to the model, in the order in which they ended."""
        return tuple(self._calls)

    @property
    def steps(self) -> tuple[AgentStep, ...]:
        """The texts and tool calls of the model, and the results of tools, as they passed."""
        return tuple(self.sightings.steps)

    @property
    def listed(self) -> tuple[str, ...]:
        """The watched skills that were offered to the model."""
        return self.sightings.listed

    @property
    def loaded(self) -> tuple[str, ...]:
        """The watched skills that the model loaded, in order."""
        return self.sightings.loaded

    @property
    def loaded_first(self) -> tuple[str, ...]:
        """Those that it loaded before the first file changed."""
        return self.sightings.loaded_first

    @property
    def end(self) -> Refused:
        """The cap that refused a request first; empty where none did."""
        return self._end

    @property
    def reason(self) -> str:
        """Why it did, in words."""
        return self._reason

    @property
    def notes(self) -> tuple[str, ...]:
        """What else was seen or changed, in sentences."""
        return tuple(self._notes)

    # ---- one request ----

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            return
        exchange = _Exchange(send)
        if not _has_token(scope, self.token):
            self._record(AgentCall("", self._wire, 401, refused="token", problem="the request has another key"))
            await exchange.error(self._wire, 401, "this is not the key of this attempt")
            return
        if scope["method"] in ("HEAD", "GET") and scope["path"] in ("", "/"):  # is anything there?
            await exchange.empty()
            return
        path, how = _route(self._wire, scope)
        if not how:
            self._note(f"a request for {path[:80]} is not part of the wire and was refused")
            await exchange.error(self._wire, 404, f"there is nothing at {path[:80]}")
            return
        body = _unpacked(await _body(receive), _header(scope, b"content-encoding").lower())
        if body is None:
            await exchange.error(self._wire, 413, "the request is too large, or cannot be read")
            return
        onward = PassedOn(_onward(path, scope), body, _model_of(path), _kept_headers(scope), scope["method"])
        if how == "ask":
            await self._ask(onward, exchange)
        else:
            await self._pass_on(onward, exchange)

    async def _pass_on(self, onward: PassedOn, exchange: _Exchange) -> None:
        try:
            await self._connection.pass_on(onward, exchange)
        except ProviderError as error:
            await exchange.unanswered(self._wire, str(error))
        await exchange.finish()

    async def _ask(self, onward: PassedOn, exchange: _Exchange) -> None:
        try:
            request = read_request(self._wire, onward.body, onward.model)
        except BadRequest as problem:
            self._record(AgentCall(onward.model, self._wire, 400, problem=str(problem)))
            await exchange.error(self._wire, 400, str(problem))
            return
        if self._wire == "chat" and request.streams and "stream_options" not in request.body:
            # Without it the service counts no tokens of a stream.
            request = replace(request, body={**request.body, "stream_options": {"include_usage": True}})
            onward = replace(onward, body=json.dumps(request.body).encode())
        conversation = self.sightings.request(request)
        if cap := self._over():
            await self._refuse(request, conversation, exchange, *cap)
            return
        self._asked += 1
        if refused := await self._pay(onward, request, exchange, conversation):
            self._asked -= 1
            await self._refuse(request, conversation, exchange, "cost", refused)
        await exchange.finish()

    async def _pay(self, onward: PassedOn, request: AgentRequest, exchange: _Exchange, conversation: int) -> str:
        """Ask the model within the budget, and record what came of it. Return why the budget does not hold it; empty
        for a call that was made."""
        going = _Going(lambda most: self._connection.ask(self._with_bound(onward, request, most), exchange))
        meter, reply, problem = Meter(), None, "the attempt ended before the reply was complete"
        try:
            reply, problem = await self._money.pay(going, request, meter), ""
        except ProviderError as error:
            problem = self._connection.hidden(str(error))
            await exchange.unanswered(self._wire, problem)
        except RunError as error:
            return str(error)
        finally:
            if going.is_sent:
                self._made(request, exchange.status, conversation, reply, meter.cost, problem)
        return ""

    def _made(
        self,
        request: AgentRequest,
        status: int,
        conversation: int,
        reply: ModelReply | None,
        cost: Decimal,
        problem: str,
    ) -> None:
        """Record a call that was made."""
        model = request.model if reply is None else reply.model_name or request.model
        usage = reply.usage if reply is not None and reply.usage.total_tokens else None
        known = self._money.shown(model, cost, usage)
        is_answered = reply is not None
        self._record(
            AgentCall(model, self._wire, status, is_answered, usage, known, conversation=conversation, problem=problem)
        )
        if reply is not None:
            self.sightings.reply(reply, conversation)

    def _over(self) -> tuple[Refused, str] | None:
        """Return the cap that ends the attempt here, with its sentence."""
        most = self._limits.max_calls
        if most is not None and self._asked >= most:
            return "calls", f"it made {most} model calls, the limit (--max-calls)"
        if self._limits.stop_when_loaded and (self._end == "loaded" or self.sightings.is_decided):
            return "loaded", "a skill was loaded, or a file was changed, which is all that was asked"
        return None

    async def _refuse(
        self, request: AgentRequest, conversation: int, exchange: _Exchange, cap: Refused, why: str
    ) -> None:
        self._end, self._reason = self._end or cap, self._reason or why
        call = AgentCall(request.model, self._wire, 400, conversation=conversation, refused=cap, problem=why)
        self._record(call)
        await exchange.error(self._wire, 400, f"this attempt ends here: {why}")

    def _record(self, call: AgentCall) -> None:
        if len(self._calls) < MOST_RECORDED:
            self._calls.append(call)

    def _note(self, sentence: str) -> None:
        if len(self._notes) < MOST_NOTES:
            self._notes[sentence] = None

    def _with_bound(self, onward: PassedOn, request: AgentRequest, most: int | None) -> PassedOn:
        """Return a request with a bound on its answer where the cap of the user needs one."""
        if request.bound is not None or most is None or not self._money.is_explicit:
            return onward
        self._note(f"each model call was bounded to {most:,} output tokens, as the agent sets no limit")
        return replace(onward, body=bounded(self._wire, request, most))


class _Going(Struct):
    """A request that goes on, as a provider behind a budget. ``is_sent`` is set as soon as the budget let it through;
    ``ask`` is given the bound of the answer."""

    ask: Callable[[int | None], Awaitable[ModelReply]]
    is_sent: bool = False

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Hand the request on."""
        del on_text
        self.is_sent = True
        return await self.ask(request.max_output)

    async def aclose(self) -> None:
        """Do nothing: connections belong to the tap."""


class _Money(Struct, frozen=True):
    """What pays for the calls of a tap: a budget, the service whose prices hold, and how many tokens an answer may
    have where the agent does not say."""

    budget: Budget | None
    prices: Prices
    service: str
    output_bound: int | None

    @property
    def is_explicit(self) -> bool:
        """Whether the user named a cap."""
        return self.budget is not None and self.budget.explicit

    def shown(self, model: str, cost: Decimal, usage: Usage | None) -> Decimal | None:
        """Return what a call is shown to cost: what the budget paid, else its tokens at their price; None where that is
        not known."""
        if self.budget is not None:
            return cost if self.budget.price(model, Usage(1, 1), self.service) is not None else None
        return None if usage is None else self.prices.cost(model, usage, self.service)

    async def pay(self, going: _Going, request: AgentRequest, meter: Meter) -> ModelReply:
        """Make a call if its worst case fits: no token has less than a byte. Raises `RunError`."""
        bound = request.bound or self.output_bound or (OUTPUT_UNDER_CAP if self.is_explicit else UNBOUNDED_OUTPUT)
        messages, parameters = (Message("user", json.dumps(request.body)),), request.parameters
        seen = ModelRequest(request.model, messages, parameters=parameters, program="the agent", max_output=bound)
        if self.budget is None:
            return await going.complete(seen)
        return await Budgeted(going, self.budget, self.service, meter).complete(seen)


# The side of the agent.


class _Exchange:
    """One answer to the agent. The last piece is held back until `finish`: what it says is counted by then."""

    def __init__(self, send: Send) -> None:
        self.status = 0
        self._send = send
        self._headers: Mapping[str, str] = {}
        self._held = b""
        self._is_started = False
        self._is_whole = False
        self._is_over = False

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Take the status of an answer, and its headers."""
        self.status, self._headers = status, headers

    async def piece(self, data: bytes) -> None:
        """Take the next bytes, and send those before."""
        held, self._held = self._held, data
        if held:
            await self._start()
            await self._send({"type": "http.response.body", "body": held, "more_body": True})

    def ended(self) -> None:
        """Hear that all bytes came."""
        self._is_whole = True

    async def finish(self) -> None:
        """Send what is held back. An answer that broke off breaks off here too: its connection closes."""
        if self._is_over or not self.status:
            return
        self._is_over = True
        await self._start()
        if self._held or self._is_whole:
            await self._send({"type": "http.response.body", "body": self._held, "more_body": not self._is_whole})

    async def error(self, wire: WireName, status: int, sentence: str) -> None:
        """Answer with an error in the form of the wire."""
        await self.head(status, {"content-type": "application/json"})
        await self.piece(json.dumps(_error(wire, status, sentence)).encode())
        self.ended()
        await self.finish()

    async def empty(self) -> None:
        """Answer with nothing."""
        await self.head(200, {})
        self.ended()
        await self.finish()

    async def unanswered(self, wire: WireName, sentence: str) -> None:
        """Answer in the place of a service that could not be asked; one that answered has said its own."""
        if not self.status:
            await self.error(wire, 502, sentence)

    async def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            headers = [(name.encode(), value.encode("latin-1", "replace")) for name, value in self._headers.items()]
            await self._send({"type": "http.response.start", "status": self.status, "headers": headers})


def _error(wire: WireName, status: int, sentence: str) -> Value:
    if wire == "messages":
        kind = {401: "authentication_error", 404: "not_found_error"}.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind if status < 500 else "api_error", "message": sentence}}
    if wire == "gemini":
        kind = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 502: "UNAVAILABLE"}.get(status, "INVALID_ARGUMENT")
        return {"error": {"code": status, "message": sentence, "status": kind}}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": sentence, "type": kind, "param": None, "code": None}}


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1").strip() for header, value in scope["headers"] if header == name), "")


def _has_token(scope: Scope, token: str) -> bool:
    """Return whether a request of this machine carries the token, where keys stand on one of the wires."""
    client = scope.get("client")
    if client and client[0] and client[0] != "127.0.0.1":
        return False
    values = [value for name, value in scope["headers"] if name.decode("latin-1") in _KEY_HEADERS]
    values += [value.encode() for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name == "key"]
    keys = [value[7:] if value[:7].lower() == b"bearer " else value for value in values]
    return any(hmac.compare_digest(key.strip(), token.encode()) for key in keys)


def _route(wire: WireName, scope: Scope) -> tuple[str, str]:
    """Return the path below the version of the interface, and how it is passed on; empty for not at all."""
    raw = scope.get("raw_path") or scope["path"].encode()
    path = raw.partition(b"?")[0].decode("latin-1")
    matched = _VERSION.fullmatch(path)
    below = matched[1] if matched else path
    for pattern, how in _PATHS[wire].items():
        if re.fullmatch(pattern, below) and scope["method"] == ("GET" if how == "list" else "POST"):
            return below, how
    return path, ""


def _onward(path: str, scope: Scope) -> str:
    """Return a path with its query, without the key that some agents put there."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = urlencode([(name, value) for name, value in pairs if name != "key"])
    return f"{path}?{query}" if query else path


def _model_of(path: str) -> str:
    """Return the model that an address names; empty for an address without one."""
    name, _, method = path.removeprefix("/models/").partition(":")
    return name if method else ""


def _kept_headers(scope: Scope) -> dict[str, str]:
    named = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    return {name: value for name, value in named if name in _KEPT_HEADERS}


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None for one that is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > MOST_REQUEST:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _unpacked(body: bytes | None, encoding: str) -> bytes | None:
    """Return a body without compression; None for one that is too large then, or compressed in another way."""
    if body is None or encoding in ("", "identity"):
        return body
    try:
        unpacked = zlib.decompressobj(31).decompress(body, MOST_REQUEST + 1) if encoding == "gzip" else None
    except zlib.error:
        return None
    return None if unpacked is None or len(unpacked) > MOST_REQUEST else unpacked


# The server.


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
    stamp: Callable[[], Value] | None = None,
) -> AsyncIterator[Tap]:
    """Listen for one agent: on 127.0.0.1, or on a unix socket that the box relays to. Closes at once at the end.

    ``skills`` are the names to watch for. ``output_bound`` is how many tokens an answer may have where the agent sets
    no bound and ``budget`` needs one. ``stamp`` gives a value that changes with the files of the workspace. Raises
    `OSError` where it cannot listen.
    """
    connection = Connection(upstream, wire)
    watched = [Watched(name, agent.lists(name), partial(agent.loaded, name)) for name in skills]
    seen = Sightings(watched, agent.writes, stamp, connection.hidden)
    money = _Money(budget, prices, upstream.service or upstream.endpoint.shown, output_bound)
    tap = Tap(connection, wire, limits=limits, sightings=seen, money=money)
    try:
        async with _serving(tap, socket) as url:
            tap.url = url
            yield tap
    finally:
        await connection.aclose()


@asynccontextmanager
async def _serving(tap: Tap, path: Path | None) -> AsyncIterator[str]:
    """Serve a tap, on a socket that is gone at the end. Requests under way end then, at once."""
    import uvicorn
    from uvicorn.server import ServerState

    logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # agents that break off are no news
    config = uvicorn.Config(
        tap, lifespan="off", ws="none", log_config=None, access_log=False, server_header=False, proxy_headers=False
    )
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()

    def protocol() -> asyncio.Protocol:
        made: asyncio.Protocol = config.http_protocol_class(config=config, server_state=state, app_state={})  # type: ignore[call-arg]
        return made

    listening = _listening(path)
    server = await loop.create_server(protocol, sock=listening, backlog=_BACKLOG)
    try:
        yield RELAY_URL if path is not None else f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.close()
        tasks = list(state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(state.connections):
            connection.transport.abort()
        _unlink(path)


def _unlink(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


def _listening(path: Path | None) -> sockets.socket:
    made = sockets.socket(sockets.AF_INET if path is None else sockets.AF_UNIX)
    try:
        if path is None:
            made.bind(("127.0.0.1", 0))
        else:
            made.bind(str(path))
            path.chmod(0o600)
    except BaseException:
        made.close()
        raise
    return made
