"""X9. Connections over the event loop itself: bytes, ends and times are those of the library's own streams."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Awaitable, Callable

import httpcore2
import pytest

from prosa.adapters.providers import connections
from prosa.adapters.providers.connections import MOST_UNREAD, LoopConnections, LoopStream

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def talk(serve: Serve, work: Callable[[LoopStream], Awaitable[None]]) -> None:
    """Have a connection to a server that answers so."""

    async def both() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            stream = await LoopConnections().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1], 5)
            assert isinstance(stream, LoopStream)
            try:
                await work(stream)
            finally:
                await stream.aclose()

    asyncio.run(both())


def test_x9_a_reader_that_is_slow_has_the_service_wait() -> None:
    sent = bytes(range(256)) * 20_000

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def work(stream: LoopStream) -> None:
        found = b""
        while piece := await stream.read(64 * 1024, 5):
            found += piece
            await asyncio.sleep(0)
            assert len(stream._unread) <= 3 * MOST_UNREAD
        assert found == sent

    talk(serve, work)


def test_x9_what_is_not_taken_or_not_sent_in_time_is_late() -> None:
    gone = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    async def work(stream: LoopStream) -> None:
        with pytest.raises(httpcore2.ReadTimeout):
            await stream.read(10, 0.01)
        assert not stream.get_extra_info("is_readable")
        with pytest.raises(httpcore2.WriteTimeout):
            await stream.write(bytes(50_000_000), 0.01)
        gone.set()

    talk(serve, work)


def test_x9_a_connection_that_was_reset_or_closed_says_so() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        form = "hh" if sys.platform == "win32" else "ii"
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack(form, 1, 0))
        writer.transport.abort()

    async def work(stream: LoopStream) -> None:
        with pytest.raises(httpcore2.ReadError):
            await stream.read(10, 5)
        assert stream.get_extra_info("is_readable")
        with pytest.raises(httpcore2.WriteError):
            await stream.write(b"x", 5)

    talk(serve, work)


def test_x9_the_first_address_that_takes_a_connection_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        writer.close()

    connect = connections._at

    async def addresses(host: str, port: int) -> list[str]:
        return ["refused", "127.0.0.1"] if host == "two" else ["refused", "refused"]

    async def at(address: str, port: int) -> LoopStream:
        if address == "refused":
            raise ConnectionRefusedError(111, "refused")
        return await connect(address, port)

    monkeypatch.setattr(connections, "_addresses", addresses)
    monkeypatch.setattr(connections, "_at", at)

    async def both() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            stream = await LoopConnections().connect_tcp("two", port, 5)
            assert await stream.read(10, 5) == b"here"
            await stream.aclose()
            with pytest.raises(httpcore2.ConnectError) as caught:
                await LoopConnections().connect_tcp("none", port, 5)
            group = caught.value.__cause__
            assert isinstance(group, ExceptionGroup)
            assert {type(each) for each in group.exceptions} == {ConnectionRefusedError}

    asyncio.run(both())


def test_x9_an_address_that_is_slow_loses_against_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its connection comes after all: it is closed."""
    made: list[LoopStream] = []
    connect = connections._at

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        await reader.read()
        writer.close()

    async def addresses(host: str, port: int) -> list[str]:
        return ["slow", "127.0.0.1"]

    async def at(address: str, port: int) -> LoopStream:
        stream = await connect("127.0.0.1", port)
        made.append(stream)
        if address == "slow":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return stream
        return stream

    monkeypatch.setattr(connections, "_addresses", addresses)
    monkeypatch.setattr(connections, "_at", at)
    monkeypatch.setattr(connections, "AFTER", 0.01)

    async def both() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            stream = await LoopConnections().connect_tcp("host", server.sockets[0].getsockname()[1], 5)
            assert stream is made[1] and await stream.read(10, 5) == b"here"
            while not made[0]._ended:
                await asyncio.sleep(0)
            await stream.aclose()

    asyncio.run(both())
