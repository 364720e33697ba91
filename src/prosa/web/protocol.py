"""The bytes of a connection: bounded, and in time (X9, X23).

In: the bytes and the pace of a client. Out: requests for the application; 431 for a head beyond the bound, and an end
for clients that are too slow at sending or reading. The parser below it has neither limits nor deadlines. Only
`serving` loads this module: it needs the server's own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from itertools import chain
from math import inf
from typing import Any, Literal

try:
    from fcntl import ioctl
    from termios import TIOCOUTQ
except ImportError:  # a system whose sockets do not report their buffers
    ioctl = None  # type: ignore[assignment]

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from prosa.web.limits import BODY_STEP, ConnectionLimiter, ConnectionLimits

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def guarded(bounds: ConnectionLimits) -> Callable[..., GuardedProtocol]:
    """Return what makes a connection of one server; one limiter counts them all."""
    return partial(GuardedProtocol, limiter=ConnectionLimiter(bounds))


class GuardedProtocol(HttpToolsProtocol):
    """One connection. Its one timer checks the current deadline, and is not restarted for each request."""

    def __init__(self, *args: Any, limiter: ConnectionLimiter, **more: Any) -> None:
        super().__init__(*args, **more)
        self._limiter = limiter
        self._bounds = limiter.bounds
        self._pause = min(self._bounds.head_seconds, self._bounds.body_seconds, self._bounds.read_seconds)
        self._timer: asyncio.TimerHandle | None = None
        self._admitted = False
        self._part: Literal["", "head", "body"] = ""
        self._deadline = inf
        self._got_on = False
        self._idle_bytes = 0
        self._body_bytes = 0
        self._sent = 0
        self._taken: tuple[int, float] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or end it where its machine has too many; others make room for it."""
        super().connection_made(transport)
        self._admitted = self._limiter.admits(self._peer)
        if not self._admitted:
            self.connections.discard(self)
            transport.abort()
            return
        self._limiter.make_room(len(self.connections), self)
        self._limiter.waiting[self] = None
        self._deadline = self.loop.time() + self._bounds.head_seconds
        self._timer = self.loop.call_at(self.loop.time() + self._pause, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        super().connection_lost(exc)
        self._limiter.waiting.pop(self, None)
        if self._admitted:
            self._admitted = False
            self._limiter.gone(self._peer)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read in steps of at most the size of a head, so that a bound is seen as soon as it is passed."""
        step = self._bounds.head_bytes
        if len(data) <= step:
            self._read(data)
            return
        for at in range(0, len(data), step):
            if self.transport.is_closing():
                return
            self._read(data[at : at + step])

    def _read(self, piece: bytes) -> None:
        """Bytes with which nothing got on, neither a head nor a body nor a message, are counted: that holds for lines
        after a body too."""
        self._got_on = False
        super().data_received(piece)
        if self._got_on:
            self._idle_bytes = 0
            self._deadline = inf
            if not self._part:
                return
        else:
            self._idle_bytes += len(piece)
            if self._idle_bytes > self._bounds.head_bytes:
                self._refuse()
                return
        if self._deadline == inf:
            seconds = self._bounds.body_seconds if self._part == "body" else self._bounds.head_seconds
            self._deadline = self.loop.time() + seconds

    def on_message_begin(self) -> None:
        """Note the first byte of a request."""
        super().on_message_begin()
        self._part = "head"

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header of the head. A field behind a chunked body is a trailer: a proxy that cleans headers does not
        see it, so it is dropped (RFC 9110, section 6.5.1)."""
        if self._part == "head":
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take the end of a head."""
        super().on_headers_complete()
        self._part, self._got_on, self._body_bytes = "body", True, 0
        if len(self.pipeline) > self._bounds.pipeline:
            self.leave()

    def on_body(self, body: bytes) -> None:
        """Take some of a body."""
        super().on_body(body)
        self._body_bytes += len(body)
        if self._body_bytes >= BODY_STEP:
            self._body_bytes, self._got_on = 0, True

    def on_message_complete(self) -> None:
        """Note the last byte of a request: from here on the client waits for us."""
        super().on_message_complete()
        self._part, self._got_on = "", True
        if not self.cycle.response_complete:
            self._limiter.waiting.pop(self, None)

    def on_response_complete(self) -> None:
        """Note the end of an answer: from here on we wait for the client."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._limiter.waiting[self] = None

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        super()._start_asgi_task(cycle, partial(self._answered, cycle, app))

    async def _answered(self, cycle: Any, app: Any, scope: Any, receive: Any, send: Any) -> None:
        """Have a request answered. The sender learns when the client stops reading."""

        async def sending(message: Any) -> None:
            await send(message)
            if cycle.disconnected:
                raise ConnectionResetError("the client has gone away")
            self._sent += len(message.get("body", b"")) + sum(map(len, chain.from_iterable(message.get("headers", ()))))

        await app(scope, receive, sending)

    def leave(self) -> None:
        """End the connection after sending pending data, within a limit."""
        if self.transport.is_closing():
            return
        self.connections.discard(self)
        self._limiter.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self._pause, self.transport.abort)
        self.transport.close()

    def _refuse(self) -> None:
        """Say that a head is too large, where no answer is under way."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_TOO_LARGE)
        self.leave()

    def _look(self) -> None:
        """End the connection of a client that is late with a request, or with reading."""
        now = self.loop.time()
        if self._stands_still(now):
            self.transport.abort()
            return
        if now >= self._deadline:
            if not self._is_ours():
                self.leave()
                return
            self._deadline = now + self._pause
        self._timer = self.loop.call_at(min(self._deadline, now + self._pause), self._look)

    def _stands_still(self, now: float) -> bool:
        """Return whether a client reads too slowly."""
        if not self.transport.get_write_buffer_size():
            self._taken = None
            return False
        taken = self._sent - self.transport.get_write_buffer_size() - _held_by_system(self.transport)
        if self._taken is None or taken - self._taken[0] >= self._bounds.read_bytes:
            self._taken = (taken, now)
        return now - self._taken[1] >= self._bounds.read_seconds

    def _is_ours(self) -> bool:
        """Return whether the client waits for the server: for being read, for permission to continue, or for an
        answer."""
        if self.flow.read_paused:
            return True
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return False
        return self._part != "body" or cycle.waiting_for_100_continue

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""


def _held_by_system(transport: asyncio.Transport) -> int:
    """Return bytes that the system has taken and the client has not. A system lets us write again only when a large
    part of its buffer is free, so that a slow client could be taken for one that stands still."""
    sock = transport.get_extra_info("socket")
    if ioctl is None or sock is None:
        return 0
    try:
        return int.from_bytes(ioctl(sock.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)
    except OSError:
        return 0
