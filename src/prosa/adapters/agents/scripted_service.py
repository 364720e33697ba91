"""A model service with a script instead of a model: four wires on loopback, as strict as the real ones (X16, X36).

In: requests of clients and agents. Out: what the script says, in the wire's own form, errors too. It listens on
127.0.0.1 alone, reaches nothing, executes nothing, and invents nothing: it shows how requests and replies travel, never
what a model would do.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from urllib.parse import parse_qs, unquote

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.agents.reactions import Line, is_possible, lines_of, reply_to, text_of_line
from prosa.adapters.agents.wires.chat import CHAT
from prosa.adapters.agents.wires.exchange import (
    Answered,
    Refusal,
    ServiceRequest,
    ServiceWire,
    compact,
    input_tokens,
    output_tokens,
)
from prosa.adapters.agents.wires.gemini import GEMINI, camel
from prosa.adapters.agents.wires.messages import MESSAGES
from prosa.adapters.agents.wires.responses import RESPONSES
from prosa.adapters.providers.scripted import ScriptedReply
from prosa.asgi import Receive, Scope, Send
from prosa.data import Value
from prosa.records.agent import WireName
from prosa.regex import regex
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, Usage

if TYPE_CHECKING:
    import uvicorn

Reply: TypeAlias = "ModelReply | ProviderError | Mapping[str, Value] | str | None"
Script: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, Value]] | Callable[[ServiceRequest], Reply]"

MODEL: Final = "scripted-model"
KEY: Final = "scripted-key"
MOST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a request; Anthropic's limit."""

_WIRES: Final[Mapping[WireName, ServiceWire]] = {wire.name: wire for wire in (MESSAGES, RESPONSES, CHAT, GEMINI)}
_STATUSES: Final = {"auth": 401, "rate-limit": 429, "bad-request": 400, "missing": 400, "timeout": 504}
_GEMINI_PATH = regex(r"/v1(?:beta|alpha)?/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)")
_MODELS_PATH = regex(r"/(v1|v1beta|v1alpha)/models(?:/([^/:]+))?")
_PATHS: Final[Mapping[str, tuple[WireName, str]]] = {
    "/v1/messages": ("messages", "answer"),
    "/v1/messages/count_tokens": ("messages", "count"),
    "/v1/chat/completions": ("chat", "answer"),
    "/v1/responses": ("responses", "answer"),
    "/v1/responses/input_tokens": ("responses", "count"),
}


class _Route(Struct, frozen=True):
    """What a path asks of which wire; ``model`` is the one that it names."""

    wire: ServiceWire
    does: str
    method: str = "POST"
    model: str = ""
    streams: bool = False


class ScriptedService:
    """A fake of Anthropic's Messages, OpenAI's Responses and Chat Completions and Google's `generateContent`.

    ``script`` is a path of JSON lines or their values: `{content | tool_calls | refusal | error, usage?, model?,
    finish?}` as of `--model scripted:FILE`, and four that suit themselves to the tools of a request: `{"load":
    SKILL}`, `{"read": PATH}`, `{"write": {PATH: CONTENT}}` and `{"shell": COMMAND}`, each with an optional `content`.
    Or it is a function that takes a `ServiceRequest` and returns a line, a text, a `ModelReply` or an error; it is
    called by one request at a time.

    Lines are answered in order, one for each request. With ``per_conversation`` every conversation plays the whole
    script: the line is found by the replies that a request repeats, `load` is left out where the skill is not listed,
    a request without tools gets the next text, and after the last line its text is said again.

    Requests are checked as the services check them, and refused in their words. ``key`` is the only accepted key, None
    accepts all; ``models`` are the known models, none means any. Tokens that a line does not state are counted from
    bytes, four to a token, rounded up: of the JSON of system, tools and messages, and of the text and calls of a reply.

    The service is a context manager, also an asynchronous one, and runs in a thread of its own on a free port of
    127.0.0.1. ``requests`` holds what was asked, refused requests too. Needs the libraries of the extra `serve`.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        per_conversation: bool = False,
        key: str | None = KEY,
        models: Sequence[str] = (),
    ) -> None:
        self.key, self.models = key, tuple(models)
        self.requests: list[ServiceRequest] = []
        self._script = _Played(script, per_conversation)
        self._stored: dict[str, list[Value]] = {}
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port. Raises RuntimeError unless the service runs."""
        if self._socket is None:
            raise RuntimeError("the scripted service does not run: use it as a context manager")
        return int(self._socket.getsockname()[1])

    def base_url(self, wire: WireName) -> str:
        """Return the base URL that clients of a wire want: with `/v1` for OpenAI's, without for the others."""
        return f"http://127.0.0.1:{self.port}" + ("/v1" if wire in ("chat", "responses") else "")

    def start(self) -> ScriptedService:
        """Listen, and return once requests may come. Raises `ImportError` without uvicorn."""
        import uvicorn

        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.bind(("127.0.0.1", 0))
        made.listen(512)
        config = uvicorn.Config(
            self._answer,
            interface="asgi3",
            loop="asyncio",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        self._socket, self._server = made, uvicorn.Server(config)
        self._server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]
        self._thread = threading.Thread(
            target=self._serve, args=(self._server, made), name="scripted-service", daemon=True
        )
        self._thread.start()
        return self

    @staticmethod
    def _serve(server: uvicorn.Server, made: socket.socket) -> None:
        asyncio.run(server.serve([made]))

    def stop(self) -> None:
        """End every connection and the thread."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._server = self._thread = None

    def __enter__(self) -> ScriptedService:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> ScriptedService:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    # In the thread of the service.

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as an ASGI application."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        route, refusal = _routed(scope, headers)
        body, too_large = await _body(receive)
        refusal = refusal or self._key_refusal(route, headers)
        if too_large and refusal is None:
            refusal = Refusal("Request exceeds the maximum size", status=413)
        if refusal is None and route.does in ("models", "model"):
            await self._models(route, send)
            return
        request, refusal = self._request(route, scope["path"], headers, body, refusal)
        self.requests.append(request)
        if refusal is not None:
            await _send(send, route.wire.error(refusal), refusal.status)
        elif route.does == "count":
            await _send(send, route.wire.count(request.tokens))
        else:
            await self._reply(route, request, send, sse=_wants_sse(route, scope))

    def _key_refusal(self, route: _Route, headers: Mapping[str, str]) -> Refusal | None:
        names = ("x-goog-api-key",) if route.wire.name == "gemini" else ("x-api-key", "authorization")
        key = next((headers[name].removeprefix("Bearer ") for name in names if headers.get(name)), "")
        if self.key is None or hmac.compare_digest(key.encode(), self.key.encode()):
            return None
        return _KEY_REFUSALS[route.wire.name][bool(key)]

    def _request(
        self, route: _Route, path: str, headers: Mapping[str, str], data: bytes, refusal: Refusal | None
    ) -> tuple[ServiceRequest, Refusal | None]:
        """Return a request as a value, and why it is refused."""
        body: dict[str, Value] = {}
        model = route.model
        if refusal is None:
            body, refusal = _decoded(data, route.wire)
            model = route.model or str(body.get("model") or "")
        if refusal is None:
            body, refusal = self._continued(body, route.wire)
        refusal = refusal or route.wire.refusal(body, headers, path) or self._model_refusal(route, model)
        request = ServiceRequest(
            number=len(self.requests) + 1,
            wire=route.wire.name,
            path=path,
            model=model,
            streams=route.streams or body.get("stream") is True,
            body=body,
            headers={name: value for name, value in headers.items() if name not in _SECRET},
        )
        if refusal is not None:
            return replace(request, refused=refusal.message), refusal
        counted = cast("dict[str, Value]", body.get("generateContentRequest") or body)  # the wire refuses another kind
        tokens = input_tokens(counted, route.wire.counted)
        return replace(request, conversation=route.wire.read(body), tokens=tokens), None

    def _continued(self, body: dict[str, Value], wire: ServiceWire) -> tuple[dict[str, Value], Refusal | None]:
        """Return a body of Responses with the items that its earlier response stands for."""
        previous = body.get("previous_response_id")
        if wire.name != "responses" or not isinstance(previous, str):
            return body, None
        if previous not in self._stored:
            message = f"Previous response with id '{previous}' not found."
            return body, Refusal(message, "previous_response_id", "previous_response_not_found")
        return {**body, "input": [*self._stored[previous], *_items(body.get("input"))]}, None

    def _model_refusal(self, route: _Route, model: str) -> Refusal | None:
        if not self.models or model in self.models:
            return None
        return Refusal(_NO_MODEL[route.wire.name].format(model), "model", "model_not_found", 404)

    async def _models(self, route: _Route, send: Send) -> None:
        names = self.models or (MODEL,)
        if route.does == "models":
            await _send(send, route.wire.models(names))
        elif refusal := self._model_refusal(route, route.model):
            await _send(send, route.wire.error(refusal), refusal.status)
        else:
            await _send(send, route.wire.model(route.model))

    async def _reply(self, route: _Route, request: ServiceRequest, send: Send, *, sse: bool) -> None:
        try:
            reply = self._script.reply(request)
        except ProviderError as error:
            await self._fail(route, error, send)
            return
        usage = reply.usage if reply.usage != Usage() else Usage(request.tokens, output_tokens(reply))
        answered = Answered(request.number, reply.model_name or request.model, reply, usage, request.body)
        whole = route.wire.whole(answered)
        if route.wire.name == "responses" and request.body.get("store") is not False:
            self._stored[str(whole["id"])] = [*_items(request.body.get("input")), *_items(whole["output"])]
        if not request.streams:
            await _send(send, whole)
        elif sse:
            await _stream(send, route.wire.events(answered))
        else:
            chunks = [json.loads(event.partition(b"data: ")[2]) for event in route.wire.events(answered)]
            await _send(send, chunks)

    async def _fail(self, route: _Route, error: ProviderError, send: Send) -> None:
        status = error.status or _STATUSES.get(error.kind or "", 500)
        headers = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
        await _send(send, route.wire.error(Refusal(error.message, status=status)), status, headers)


class _Played:
    """A script that is played: in order, by conversation, or by a function."""

    def __init__(self, script: Script, per_conversation: bool) -> None:
        self._function = script if callable(script) else None
        self._lines: tuple[Line, ...] = () if callable(script) else lines_of(script)
        self._per_conversation = per_conversation
        self._next = 0
        self._failed: Counter[tuple[str, str, int]] = Counter()

    def reply(self, request: ServiceRequest) -> ModelReply:
        """Return the reply to a request. Raises `ProviderError`."""
        if self._function is not None:
            return self._called(self._function, request)
        if self._per_conversation:
            return self._by_conversation(request)
        while self._next < len(self._lines):
            line = self._lines[self._next]
            self._next += 1
            if is_possible(line, request):
                return reply_to(line, request, self._next)
        raise _used_up(len(self._lines))

    def _called(self, function: Callable[[ServiceRequest], Reply], request: ServiceRequest) -> ModelReply:
        try:
            outcome = function(request)
        except ProviderError:
            raise
        except Exception as problem:
            message = f"the function of the script raised {type(problem).__name__}: {problem}"
            raise ProviderError(message, kind="server", retryable=False, status=500) from problem
        if isinstance(outcome, ProviderError):
            raise outcome
        if isinstance(outcome, ModelReply):
            return outcome
        if outcome is None:
            raise _used_up(0)
        line = lines_of([{"content": outcome} if isinstance(outcome, str) else outcome])[0]
        return reply_to(line, request, request.number)

    def _by_conversation(self, request: ServiceRequest) -> ModelReply:
        """Return the reply whose turn it is: as many as the request repeats have been given."""
        lines = [line for line in self._lines if is_possible(line, request)]
        texts = {text_of_line(line) for line in lines} - {""}
        answered = sum(bool(turn.calls) or turn.text in texts for turn in request.turns if turn.role == "assistant")
        errors: list[ProviderError] = []
        position = 0
        for number, line in enumerate(lines, 1):
            if isinstance(line, ScriptedReply) and line.error is not None:
                errors.append(line.error)
                continue
            if position == answered:
                self._raise_once(request, answered, errors)
                return _said(lines, number - 1) if not request.tools else reply_to(line, request, number)
            position, errors = position + 1, []
        self._raise_once(request, answered, errors)
        if not texts:
            raise _used_up(len(self._lines))
        return _said(lines, len(lines))

    def _raise_once(self, request: ServiceRequest, answered: int, errors: Sequence[ProviderError]) -> None:
        """Raise the next error that stands before a reply, each once in a conversation."""
        first = next((turn.text for turn in request.turns if turn.role == "user"), "")
        key = (request.system, first, answered)
        if self._failed[key] < len(errors):
            self._failed[key] += 1
            raise errors[self._failed[key] - 1]


def _said(lines: Sequence[Line], at: int) -> ModelReply:
    """Return the next text from a line on, or the last one before it."""
    texts = [text for text in map(text_of_line, lines[at:]) if text] or [
        text for text in map(text_of_line, reversed(lines[:at])) if text
    ]
    return ModelReply(texts[0] if texts else "")


def _used_up(lines: int) -> ProviderError:
    had = f"it had {lines} {'line' if lines == 1 else 'lines'}" if lines else "its function returned none"
    return ProviderError(f"the script has no reply left: {had}", kind="missing", retryable=False, status=400)


def _routed(scope: Scope, headers: Mapping[str, str]) -> tuple[_Route, Refusal | None]:
    """Return what a request asks, and why there is nothing at its path."""
    path, method = scope["path"].rstrip("/") or "/", scope["method"]
    route = _route(path, headers)
    if route is None:
        wire = MESSAGES if "anthropic-version" in headers else GEMINI if path.startswith("/v1beta") else CHAT
        return _Route(wire, "nothing"), Refusal(f"Invalid URL ({method} {path})", status=404)
    if route.method != method:
        return route, Refusal(f"Not allowed to {method} on {path}.", code="method_not_supported", status=405)
    return route, None


def _route(path: str, headers: Mapping[str, str]) -> _Route | None:
    if path in _PATHS:
        name, does = _PATHS[path]
        return _Route(_WIRES[name], does)
    if match := _GEMINI_PATH.fullmatch(path):
        does = "count" if match[2] == "countTokens" else "answer"
        return _Route(GEMINI, does, model=unquote(match[1]), streams=match[2] == "streamGenerateContent")
    if match := _MODELS_PATH.fullmatch(path):
        is_google = match[1] != "v1" or "x-goog-api-key" in headers
        wire = GEMINI if is_google else MESSAGES if "anthropic-version" in headers else CHAT
        return _Route(wire, "model" if match[2] else "models", "GET", model=unquote(match[2] or ""))
    return None


def _wants_sse(route: _Route, scope: Scope) -> bool:
    """Return whether a stream has events: Google's is an array unless it is asked for them."""
    return route.wire.name != "gemini" or parse_qs(scope["query_string"].decode("latin-1")).get("alt") == ["sse"]


def _decoded(data: bytes, wire: ServiceWire) -> tuple[dict[str, Value], Refusal | None]:
    try:
        body: Value = json.loads(data)
        body = camel(body) if wire.name == "gemini" else body
    except (ValueError, RecursionError):
        body = None
    return (body, None) if isinstance(body, dict) else ({}, Refusal(_NO_JSON[wire.name]))


def _items(value: Value) -> list[Value]:
    """Return the input of Responses as items."""
    if isinstance(value, list):
        return value
    return [{"type": "message", "role": "user", "content": value}] if value else []


async def _body(receive: Receive) -> tuple[bytes, bool]:
    """Return the bytes of a request, and whether they are too many."""
    parts, size = [], 0
    while True:
        message = await receive()
        size += len(message.get("body") or b"")
        if size <= MOST_BYTES:
            parts.append(message.get("body") or b"")
        if not message.get("more_body"):
            return b"".join(parts), size > MOST_BYTES


async def _send(send: Send, value: Value, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
    data = compact(value).encode("utf-8", "replace")
    all_headers = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": _raw(all_headers)})
    await send({"type": "http.response.body", "body": data})


async def _stream(send: Send, events: Iterable[bytes]) -> None:
    headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    await send({"type": "http.response.start", "status": 200, "headers": _raw(headers)})
    for event in events:
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


_SECRET: Final = frozenset({"authorization", "x-api-key", "x-goog-api-key", "cookie"})
_OPENAI_KEYS: Final = (
    Refusal("You didn't provide an API key.", status=401),
    Refusal("Incorrect API key provided: ***.", code="invalid_api_key", status=401),
)
_KEY_REFUSALS: Final[Mapping[WireName, tuple[Refusal, Refusal]]] = {
    "messages": (Refusal("x-api-key header is required", status=401), Refusal("invalid x-api-key", status=401)),
    "responses": _OPENAI_KEYS,
    "chat": _OPENAI_KEYS,
    "gemini": (
        Refusal(
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
            "other form of API consumer identity to call this API.",
            status=403,
        ),
        Refusal("API key not valid. Please pass a valid API key.", code="API_KEY_INVALID"),
    ),
}
"""What each service says without a key, and with a wrong one."""

_NO_MODEL: Final[Mapping[WireName, str]] = {
    "messages": "model: {}",
    "responses": "The requested model '{}' does not exist.",
    "chat": "The model `{}` does not exist or you do not have access to it.",
    "gemini": "models/{} is not found for API version v1beta, or is not supported for generateContent.",
}
_NO_JSON: Final[Mapping[WireName, str]] = {
    "messages": "The request body is not valid JSON",
    "responses": "We could not parse the JSON body of your request.",
    "chat": "We could not parse the JSON body of your request.",
    "gemini": "Invalid JSON payload received.",
}
