"""What a server holds for its clients: one budget of bytes for all of it (X9, X23).

In: the messages of an answer, and answers that are kept for the next client. Out: the same messages, with large bodies
cut into pieces that are sent as fast as the client takes them. Where everything together becomes too many bytes, the
body that has been under way longest is broken off. How long a connection may stand still is the matter of `protocol`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from msgspec import Struct, field

from prosa.web.answer import Receive, Scope, Send

Asgi: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

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

        async def pacing(message: dict[str, Any]) -> None:
            if len(message.get("body", b"")) > PIECE:
                await self._send_body(send, message, copies)
            else:
                await send(message)

        return pacing

    async def _send_body(self, send: Send, message: dict[str, Any], copies: int) -> None:
        body: bytes = message["body"]
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
        for each in self._transfers:
            if over <= 0 or each is newest:
                return
            if not each.scope.expired():
                each.scope.reschedule(0.0)
            key = id(each.body)
            left[key] -= 1
            over -= BUFFERED + (0 if left[key] else self._held[key][0])


def bounded(application: Asgi) -> Asgi:
    """Return an application for agents that stands alone, with a budget of its own."""
    under_way = UnderWay()

    async def paced(scope: Scope, receive: Receive, send: Send) -> None:
        await application(scope, receive, under_way.paced(send, AGENT_COPIES) if scope["type"] == "http" else send)

    return paced
