"""The connections of an event loop to a service, for the pools of httpcore2.

In: a host and a port. Out: bytes both ways, within the times that the pool gives. The streams of the library take a
quarter of the processor time of a call for scopes and attributes. Connections to proxies stay the library's.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address

import httpcore2

AFTER = 0.25
"""Seconds after which the next address of a host is tried beside the one before (RFC 8305)."""

MOST_UNREAD = 256 * 1024
"""Bytes that may wait to be read before the other side has to."""


class LoopConnections(httpcore2.AsyncNetworkBackend):
    """Connects over the event loop itself."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return a connection. Raises `httpcore2.ConnectTimeout` and `httpcore2.ConnectError`."""
        del local_address, socket_options  # our pools name none
        try:
            async with asyncio.timeout(timeout):
                return await _connected(host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout("no connection in time") from error
        except (OSError, ExceptionGroup) as error:
            raise httpcore2.ConnectError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


async def _connected(host: str, port: int) -> LoopStream:
    """Return a connection to the first address that takes one. Raises `OSError`, or a group of those of all."""
    loop = asyncio.get_running_loop()
    waiting, errors = await _addresses(host, port), list[Exception]()
    under_way: set[asyncio.Task[LoopStream]] = set()
    try:
        while waiting or under_way:
            if waiting:
                under_way.add(loop.create_task(_at(waiting.pop(0), port)))
            pause = AFTER if waiting else None
            done, under_way = await asyncio.wait(under_way, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                if not isinstance(error := each.exception(), Exception):
                    under_way |= done - {each}
                    return each.result()
                errors.append(error)
    finally:
        for each in under_way:
            each.add_done_callback(_drop)
            each.cancel()
    raise errors[0] if len(errors) == 1 else ExceptionGroup("no address takes a connection", errors)


def _drop(attempt: asyncio.Task[LoopStream]) -> None:
    """Close a connection that another one was quicker than."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().abort()


async def _at(address: str, port: int) -> LoopStream:
    _, stream = await asyncio.get_running_loop().create_connection(LoopStream, address, port)
    return stream


async def _addresses(host: str, port: int) -> list[str]:
    with suppress(ValueError):
        return [str(ip_address(host))]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


class LoopStream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One connection; one reads and one writes at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._unread = bytearray()
        self._ended = False
        self._paused = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take bytes; the other side waits where too many are unread."""
        self._unread += data
        if len(self._unread) > MOST_UNREAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> None:
        """Note that nothing more comes; the transport closes itself."""
        self._ended = True
        _wake(self._reader)

    def connection_lost(self, error: Exception | None) -> None:
        """Note why; the end of TLS without its farewell is an end."""
        self._ended = True
        self._error = None if isinstance(error, ssl.SSLEOFError) else error
        _wake(self._reader)
        _wake(self._room)

    def pause_writing(self) -> None:
        """Have the next write wait."""
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let writing continue."""
        _wake(self._room)
        self._room = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what came, empty at the end. Raises `httpcore2.ReadTimeout`, `httpcore2.ReadError`."""
        if not self._unread and not self._ended:
            self._reader = self._loop.create_future()
            try:
                await _within(self._reader, timeout, httpcore2.ReadTimeout)
            finally:
                self._reader = None
        if not self._unread:
            if self._error is not None:
                raise httpcore2.ReadError(str(self._error)) from self._error
            return b""
        found = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if self._paused and not self._unread:
            self._paused = False
            self._transport.resume_reading()
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes. Raises `httpcore2.WriteTimeout`, `httpcore2.WriteError`."""
        if not buffer:
            return
        if not self._transport.is_closing():
            self._transport.write(buffer)
            if self._room is not None:
                await _within(self._room, timeout, httpcore2.WriteTimeout)
        if self._error is not None or self._transport.is_closing():
            raise httpcore2.WriteError(str(self._error or "the connection is closed")) from self._error

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """Return the connection under TLS. Raises `httpcore2.ConnectTimeout`, `httpcore2.ConnectError`."""
        try:
            async with asyncio.timeout(timeout):
                transport = await self._loop.start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        except BaseException as error:
            self.abort()
            if isinstance(error, TimeoutError):
                raise httpcore2.ConnectTimeout("no handshake in time") from error
            if isinstance(error, OSError):
                raise httpcore2.ConnectError(str(error)) from error
            raise
        assert transport is not None
        self._transport = transport
        return self

    async def aclose(self) -> None:
        """Close the connection."""
        self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def get_extra_info(self, info: str) -> object:
        """Return what the pool asks for: whether an idle connection has ended, and the objects below."""
        if info == "is_readable":
            return self._ended or bool(self._unread) or _is_readable(self._transport.get_extra_info("socket"))
        return self._transport.get_extra_info(info)


async def _within(future: asyncio.Future[None], seconds: float | None, late: type[Exception]) -> None:
    """Wait for a future. Raises ``late`` where it takes longer."""
    if seconds is None:
        return await future
    timer = future.get_loop().call_later(seconds, _give_up, future, late)
    try:
        await future
    finally:
        timer.cancel()


def _give_up(future: asyncio.Future[None], late: type[Exception]) -> None:
    if not future.done():
        future.set_exception(late("nothing came in time"))


def _wake(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)


def _is_readable(connection: socket.socket | None) -> bool:
    """Return whether a socket has something to be read, which on an idle connection is its end."""
    if connection is None or (number := connection.fileno()) < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))
