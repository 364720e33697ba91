"""One exchange between an agent and the service of its model, read on its way through the tap (X36).

In: the bytes of requests and of answers, which come from outside. Out: what they say; a form that is not
the wire's says nothing, and is no error of the agent.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from prosa.adapters.agents.wires.chat import CHAT
from prosa.adapters.agents.wires.exchange import Conversation, ServiceWire
from prosa.adapters.agents.wires.gemini import GEMINI, camel
from prosa.adapters.agents.wires.messages import MESSAGES
from prosa.adapters.agents.wires.responses import RESPONSES
from prosa.adapters.providers import chat, gemini, messages, responses
from prosa.adapters.providers.completion import EventDecoder
from prosa.adapters.providers.failures import ExchangeProblem
from prosa.adapters.providers.wire import Assembly, Wire, decode
from prosa.data import Value
from prosa.records.agent import WireName
from prosa.regex import regex
from prosa.runtime.errors import RunError
from prosa.runtime.messages import ModelReply

Scope: TypeAlias = Mapping[str, Value]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Value]]]
Send: TypeAlias = Callable[[dict[str, Value]], Awaitable[None]]

MOST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of one request."""


MOST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of one answer."""


SERVICE_WIRES: Final[Mapping[WireName, ServiceWire]] = {each.name: each for each in (MESSAGES, RESPONSES, CHAT, GEMINI)}
WIRES: Final[Mapping[WireName, Wire]] = {
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
FREE = regex(r"/messages/count_tokens$|:countTokens$|/models(?:/[^/]+)?$|/responses/input_tokens$")
"""Requests that cost nothing and are handed on."""

_BOUNDS: Final[Mapping[WireName, tuple[str, ...]]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "gemini": ("maxOutputTokens",),
}


class AnswerReader:
    """Reads an answer on its way through, whole or as events. ``is_whole`` is set once all of it was read."""

    def __init__(self, wire: WireName, content_type: str, status: int) -> None:
        self._wire, self._status = WIRES[wire], status
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

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, ExchangeProblem | RunError | ValueError | KeyError | TypeError | AttributeError):
            self._reader.problem = f"the answer cannot be read: {error}"
            return True
        return False


# ---- requests ----


def is_model_call(wire: WireName, path: str) -> bool:
    """Return whether a path asks the model over a wire."""
    return bool(_GEMINI.search(path)) if wire == "gemini" else path.endswith(_ENDINGS[wire])


def object_of(data: bytes) -> dict[str, Value] | None:
    """Return the JSON object of a body; None for anything else."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def conversation_of(wire: WireName, body: Mapping[str, Value]) -> Conversation:
    """Return what a request says; nothing where it has another form than the wire's."""
    try:
        return SERVICE_WIRES[wire].read(camel(dict(body)) if wire == "gemini" else body)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        return Conversation()


def user_texts(said: Conversation) -> str:
    """Return the texts of the user's side, in which some agents list skills."""
    return "\n".join(turn.text for turn in said.turns if turn.role == "user")


def model_in(path: str) -> str:
    """Return the model that a path of Google's interface names."""
    return path.rpartition("/models/")[2].partition(":")[0]


def bound_of(wire: WireName, body: Mapping[str, Value]) -> int | None:
    """Return the output tokens that a request allows; None where it sets no bound."""
    holder = body.get("generationConfig") if wire == "gemini" else body
    values = [holder.get(name) for name in _BOUNDS[wire]] if isinstance(holder, Mapping) else []
    known = [each for each in values if isinstance(each, int) and not isinstance(each, bool) and each > 0]
    return max(known, default=None)


def set_bound(wire: WireName, body: dict[str, Value], bound: int) -> None:
    """Set the bound on output tokens under the name that a wire has for it."""
    if wire != "gemini":
        body[_BOUNDS[wire][0]] = bound
        return
    config = body.get("generationConfig")
    body["generationConfig"] = {**(config if isinstance(config, Mapping) else {}), "maxOutputTokens": bound}


def url_at(base_url: str, scope: Scope) -> str:
    """Return the address at the service: what the agent asked below the version, below the base URL with its own."""
    path = regex(r"^/v[0-9][0-9a-z]*(?=/)").sub("", scope["path"], 1)
    given = scope["query_string"].decode("latin-1").split("&")
    query = "&".join(each for each in given if each and not each.startswith("key="))
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + path, query=query, fragment="").geturl()


def arguments_of(arguments: str) -> Value:
    """Return the arguments of a tool call as data; text that is no JSON as it is."""
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _words(data: bytes) -> str:
    """Return the sentence in the body of an error."""
    body = object_of(data)
    error = body.get("error") if body is not None else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else data.decode("utf-8", "replace")[:300]


async def body_of(receive: Receive, headers: Mapping[str, str]) -> bytes | None:
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


async def send_answer(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Send a whole answer."""
    given = [(name.encode(), value.encode()) for name, value in {**headers, "content-length": str(len(body))}.items()]
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body})
