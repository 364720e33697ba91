"""An answer that is ready to be sent, the way it is sent (RFC 9110), and one budget of bytes for all of them (X9, X23).

Plain ASGI: most requests need nothing of a framework. Large bodies are cut into pieces that are sent as fast as the
client takes them. Where everything together becomes too many bytes, the body that has been under way longest is broken
off. How long a connection may stand still is the matter of `protocol`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.asgi import Asgi, Receive, ResponseBody, Scope, Send, Sent
from prosa.regex import regex
from prosa.site.negotiate import entity_tag, is_known

Header = tuple[bytes, bytes]
Piece: TypeAlias = Callable[[int], bytes]
"""Some bytes of a body from an offset on; none where it cannot be read any more."""

PUBLIC = "public, no-cache"
"""Published content may be cached publicly but must be revalidated, so that an edit shows at once (H18)."""

PRIVATE = "private, no-cache"
NEVER = "no-store"

_ALWAYS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
)
"""Headers of every answer."""

_UNSAFE = regex("[^ -~\xa0-\xff]")

_KEPT = frozenset((b"etag", b"vary", b"cache-control", b"content-location", b"link", b"expires"))
"""What a 304 repeats (section 15.4.5)."""


class Answer(Struct, frozen=True):
    """An answer. ``tag`` is its entity tag, empty where it has none; ``is_linked`` whether a header names what belongs
    to it. A body that is too large to be held is read piece by piece while it is sent: ``piece`` reads, ``size`` is
    that of the whole."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
    tag: str = ""
    unchanged: tuple[Header, ...] = ()
    piece: Piece | None = None
    size: int = 0
    is_linked: bool = False


def answer(
    body: bytes | str,
    media_type: str,
    *,
    status: int = 200,
    cache: str = PUBLIC,
    headers: Iterable[tuple[str, str]] = (),
    form: str = "",
    tagged: bool = True,
) -> Answer:
    """Return an answer of these bytes. ``form`` makes the tag one of that form of a node; without ``tagged`` it has
    none."""
    content = body.encode("utf-8", "replace") if isinstance(body, str) else body
    tag = entity_tag(content, form) if tagged and status == 200 and cache != NEVER else ""
    head = _head(media_type, len(content), cache, headers, tag)
    return Answer(status, head, content, tag, _unchanged(head), is_linked=_is_linked(head))


def large_answer(
    piece: Piece, size: int, tag: str, media_type: str, *, cache: str, headers: Iterable[tuple[str, str]] = ()
) -> Answer:
    """Return an answer whose body is streamed from a file."""
    head = _head(media_type, size, cache, headers, tag)
    return Answer(200, head, b"", tag, _unchanged(head), piece, size, _is_linked(head))


def _head(media_type: str, size: int, cache: str, headers: Iterable[tuple[str, str]], tag: str) -> tuple[Header, ...]:
    pairs = [
        ("content-type", media_type),
        ("content-length", str(size)),
        ("cache-control", cache),
        *headers,
        *_ALWAYS,
    ]
    if tag:
        pairs.append(("etag", tag))
    return tuple(_header(name, value) for name, value in pairs)


def _unchanged(head: tuple[Header, ...]) -> tuple[Header, ...]:
    return tuple(header for header in head if header[0] in _KEPT)


def _is_linked(head: tuple[Header, ...]) -> bool:
    return any(name == b"link" for name, _ in head)


def _header(name: str, value: str) -> Header:
    """Return a header. What would end its line, or is beyond Latin-1, never comes so far: it is dropped."""
    return name.encode("ascii"), _UNSAFE.sub("", value).encode("latin-1")


def header_of(scope: Scope, name: bytes) -> str:
    """Return the value of a request header; several lines are joined with commas."""
    values = [value for key, value in scope["headers"] if key == name]
    return b", ".join(values).decode("latin-1") if values else ""


async def send_answer(scope: Scope, send: Send, response: Answer, extra: Sequence[Header] = ()) -> int:
    """Send an answer, and return the status sent: 304 if the client has it, no body for HEAD."""
    if response.tag and response.status == 200:
        known = header_of(scope, b"if-none-match")
        if known and is_known(known, response.tag):
            await send({"type": "http.response.start", "status": 304, "headers": [*response.unchanged, *extra]})
            await send({"type": "http.response.body", "body": b""})
            return 304
    if PARTS in response.headers and scope["method"] == "GET" and (part := _part(scope, response)) is not None:
        response, start = part
    else:
        start = 0
    await send({"type": "http.response.start", "status": response.status, "headers": [*response.headers, *extra]})
    if response.piece is not None and scope["method"] != "HEAD":
        await _send_pieces(send, response.piece, response.size, start)
    else:
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else response.body})
    return response.status


PARTS: Header = (b"accept-ranges", b"bytes")
"""The header of an answer that can be had in parts: browsers play audio and video from no other."""

_RANGE = regex(r"bytes=(\d{0,18})-(\d{0,18})")


def _part(scope: Scope, response: Answer) -> tuple[Answer, int] | None:
    """Return the requested part of an answer and where it starts; None for the whole (RFC 9110, section 14). Several
    parts at once, other units, and parts of another state are answered with the whole."""
    asked = _RANGE.fullmatch(header_of(scope, b"range"))
    state = header_of(scope, b"if-range")
    if asked is None or not (asked[1] or asked[2]) or state not in ("", response.tag):
        return None
    size = response.size if response.piece is not None else len(response.body)
    start = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
    end = min(size, int(asked[2]) + 1) if asked[1] and asked[2] else size
    if asked[1] and asked[2] and int(asked[2]) < start:
        return None
    status, length, place = (206, end - start, f"{start}-{end - 1}") if start < end else (416, 0, "*")
    changed = {b"content-length": str(length).encode(), b"content-range": f"bytes {place}/{size}".encode()}
    head = (*(header for header in response.headers if header[0] not in changed), *changed.items())
    if status == 416:
        return Answer(416, head, b""), 0
    return replace(response, status=206, headers=head, body=response.body[start:end], size=end), start


async def _send_pieces(send: Send, read: Piece, size: int, sent: int = 0) -> None:
    """Send a body up to ``size`` while it is read. Raises `ConnectionAbortedError` for one that became shorter, so that
    the client does not take a part for the whole."""
    while sent < size:
        piece = (await asyncio.to_thread(read, sent))[: size - sent]
        if not piece:
            raise ConnectionAbortedError("the file has changed while it was sent")
        sent += len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": sent < size})


PIECE = 64 * 1024
"""Bytes of a body that are handed to a connection at once."""

BUFFERED = 2 * PIECE
"""Bytes that a connection buffers of a body that is cut into pieces."""

MAX_HELD = 256 * 1024 * 1024
"""Bytes that are held for all clients. One body that goes to many of them counts once, but for what each buffers."""


AGENT_COPIES = 4
"""How often the library for agents holds an answer that it sends: as text, as a message, as JSON, and as an event."""


class BrokenOff(ConnectionError):
    """A body took so long to send that another one replaced it."""


class _Transfer(Struct, eq=False):
    """One body on its way to one client. Its creator holds ``copies`` of it until it is sent."""

    body: bytes
    scope: asyncio.Timeout
    copies: int = 1


class UnderWay(Struct):
    """The bytes that one server holds: bodies being sent, the oldest first, and cached ones."""

    most: int = MAX_HELD
    size: int = 0
    _transfers: dict[_Transfer, None] = field(default_factory=dict)
    _held: dict[int, tuple[int, int]] = field(default_factory=dict)

    def hold(self, body: bytes, copies: int = 1) -> None:
        """Count a body until it is released as often as it was held."""
        size, holders = self._held.get(id(body), (len(body) * copies, 0))
        self.size += 0 if holders else size
        self._held[id(body)] = size, holders + 1

    def release(self, body: bytes) -> None:
        """Forget a body that was held."""
        size, holders = self._held.pop(id(body))
        if holders > 1:
            self._held[id(body)] = size, holders - 1
        else:
            self.size -= size

    def paced(self, send: Send, copies: int = 1) -> Send:
        """Return ``send`` for one request, with large bodies in pieces. An application that makes bodies of values
        counts as so many ``copies`` of each."""

        async def pacing(message: Sent) -> None:
            if message["type"] == "http.response.body" and len(message.get("body", b"")) > PIECE:
                await self._send_body(send, message, copies)
            else:
                await send(message)

        return pacing

    async def _send_body(self, send: Send, message: ResponseBody, copies: int) -> None:
        body = message["body"]
        try:
            async with asyncio.timeout(None) as scope:
                with self._counted(_Transfer(body, scope, copies)):
                    for at in range(0, len(body), PIECE):
                        more = message.get("more_body", False) or at + PIECE < len(body)
                        await send({**message, "body": body[at : at + PIECE], "more_body": more})
        except TimeoutError:
            if not scope.expired():
                raise
            raise BrokenOff("another answer took the place of this one") from None

    @contextmanager
    def _counted(self, transfer: _Transfer) -> Iterator[None]:
        self._transfers[transfer] = None
        self.hold(transfer.body, transfer.copies)
        self.size += BUFFERED
        self._make_room(transfer)
        try:
            yield
        finally:
            self.size -= BUFFERED
            self.release(transfer.body)
            del self._transfers[transfer]

    def _make_room(self, newest: _Transfer) -> None:
        """Break off what has been under way longest. A body is gone with the last that holds it."""
        over = self.size - self.most
        left = {key: holders for key, (_, holders) in self._held.items()} if over > 0 else {}
        for transfer in self._transfers:
            if over <= 0 or transfer is newest:
                return
            if not transfer.scope.expired():
                transfer.scope.reschedule(0.0)
            key = id(transfer.body)
            left[key] -= 1
            over -= BUFFERED + (0 if left[key] else self._held[key][0])


def bounded(application: Asgi) -> Asgi:
    """Return an application for agents that stands alone, with a budget of its own."""
    under_way = UnderWay()

    async def paced(scope: Scope, receive: Receive, send: Send) -> None:
        await application(scope, receive, under_way.paced(send, AGENT_COPIES) if scope["type"] == "http" else send)

    return paced
