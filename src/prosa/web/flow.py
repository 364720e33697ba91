"""What is under way to clients: in pieces, bounded in all (X9, X23).

In: the messages of an answer. Out: the same, with large bodies cut into pieces that are sent as fast as the client
takes them. Where bodies together become too many bytes, the one that has been under way longest is broken off. How long
a connection may stand still is the matter of `protocol`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, field

from prosa.web.answer import Send

PIECE = 64 * 1024
"""Bytes of a body that are handed to a connection at once."""

MAX_UNDER_WAY = 256 * 1024 * 1024
"""Bytes of all bodies that are being sent. One body that goes to many clients counts once."""


class BrokenOff(ConnectionError):
    """A body was under way for so long that another one took its place."""


class _Transfer(Struct, eq=False):
    """One body on its way to one client."""

    body: bytes
    scope: asyncio.Timeout


class UnderWay(Struct):
    """The bodies of one server that are being sent, longest under way first."""

    most: int = MAX_UNDER_WAY
    size: int = 0
    _transfers: dict[_Transfer, None] = field(default_factory=dict)
    _readers: dict[int, int] = field(default_factory=dict)

    def paced(self, send: Send) -> Send:
        """``send`` for one request, with large bodies in pieces."""

        async def pacing(message: dict[str, Any]) -> None:
            if len(message.get("body", b"")) > PIECE:
                await self._send_body(send, message)
            else:
                await send(message)

        return pacing

    async def _send_body(self, send: Send, message: dict[str, Any]) -> None:
        body: bytes = message["body"]
        try:
            async with asyncio.timeout(None) as scope:
                with self._counted(_Transfer(body, scope)):
                    for at in range(0, len(body), PIECE):
                        more = message.get("more_body", False) or at + PIECE < len(body)
                        await send({**message, "body": body[at : at + PIECE], "more_body": more})
        except TimeoutError:
            if not scope.expired():
                raise
            raise BrokenOff("another answer took the place of this one") from None

    @contextmanager
    def _counted(self, transfer: _Transfer) -> Iterator[None]:
        key = id(transfer.body)
        self._add(transfer, key)
        try:
            yield
        finally:
            self._remove(transfer, key)

    def _add(self, transfer: _Transfer, key: int) -> None:
        self._readers[key] = self._readers.get(key, 0) + 1
        self._transfers[transfer] = None
        if self._readers[key] == 1:
            self.size += len(transfer.body)
            self._make_room(transfer)

    def _make_room(self, newest: _Transfer) -> None:
        """Breaks off what has been under way longest. A body is gone with the last of its clients."""
        over = self.size - self.most
        left = dict(self._readers) if over > 0 else {}
        for each in self._transfers:
            if over <= 0 or each is newest:
                return
            if not each.scope.expired():
                each.scope.reschedule(0.0)
            left[id(each.body)] -= 1
            over -= 0 if left[id(each.body)] else len(each.body)

    def _remove(self, transfer: _Transfer, key: int) -> None:
        del self._transfers[transfer]
        self._readers[key] -= 1
        if not self._readers[key]:
            del self._readers[key]
            self.size -= len(transfer.body)
