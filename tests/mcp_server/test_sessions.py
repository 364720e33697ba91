"""Sessions of clients over HTTP: they end when nobody uses them, are bounded, and give their memory back (X9)."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport

from prosa.mcp_server import transport
from prosa.mcp_server.transport import IDLE_SECONDS, LOOK_SECONDS, MOST_OF_CLIENT, Sessions, http_application
from tests.depth import examples

HOST = "127.0.0.1:8001"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class MovedClock:
    """Meets `Clock`. Time stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._moved = asyncio.Event()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        until = self.time + seconds
        while self.time < until:
            self._moved.clear()
            await self._moved.wait()

    async def move(self, seconds: float) -> None:
        """Moves the time, and lets everybody who waited for it work."""
        self.time += seconds
        self._moved.set()
        for _ in range(50):
            await asyncio.sleep(0)


class Asked:
    """The server over HTTP without a socket."""

    def __init__(self, **bounds: Any) -> None:
        self.clock = MovedClock()
        self.server: Server[Any] = Server("t")
        self.app = http_application(self.server, [HOST], self.clock)
        self.table: Sessions = self.app.__closure__[0].cell_contents  # type: ignore[attr-defined]
        for name, value in bounds.items():
            setattr(self.table, name, value)

    @property
    def kept(self) -> set[bytes]:
        """What the library still keeps."""
        return {name.encode() for name in self.server.session_manager._server_instances}

    async def ask(
        self, message: Any = None, session: bytes = b"", method: str = "POST", client: str = "10.0.0.1"
    ) -> tuple[int, bytes]:
        """The status of an answer, and the session that it names."""
        headers = [
            (b"host", HOST.encode()),
            (b"accept", b"application/json, text/event-stream"),
            (b"content-type", b"application/json"),
        ]
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": headers + ([(b"mcp-session-id", session)] if session else []),
            "client": (client, 1),
            "server": ("127.0.0.1", 8001),
        }
        sent: list[dict[str, Any]] = []
        body = json.dumps(message).encode() if message is not None else b""
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        ended = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if waiting:
                return waiting.pop()
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        named = next((value for key, value in sent[0]["headers"] if key == b"mcp-session-id"), b"")
        return sent[0]["status"], named

    async def begin(self, client: str = "10.0.0.1") -> bytes:
        """A new session."""
        status, session = await self.ask(INITIALIZE, client=client)
        assert status == 200 and session
        return session

    async def is_known(self, session: bytes, client: str = "10.0.0.1") -> bool:
        status, _ = await self.ask(PING, session, client=client)
        assert status in (200, 404)
        return status == 200

    async def stream(self, session: bytes) -> asyncio.Task[Any]:
        """An open stream of a session, which is under way until it is cancelled."""
        task = asyncio.create_task(self.ask(None, session, "GET"))
        while not self.table._open[session].busy:
            await asyncio.sleep(0)
        return task


@asynccontextmanager
async def living(**bounds: Any) -> AsyncIterator[Asked]:
    """A server from its start to its end."""
    asked = Asked(**bounds)
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    life = asyncio.create_task(asked.app({"type": "lifespan", "asgi": {"version": "3.0"}}, told.get, said.put))
    await told.put({"type": "lifespan.startup"})
    assert (await said.get())["type"] == "lifespan.startup.complete"
    try:
        yield asked
    finally:
        await told.put({"type": "lifespan.shutdown"})
        await life


def test_x9_a_session_ends_when_nobody_uses_it():
    """X9. After half an hour without a request, though no further request comes; its memory is given back."""

    async def run() -> None:
        async with living() as asked:
            await asked.ask(None, await asked.begin(), "DELETE")  # what watches over all streams stays
            await asked.clock.move(0)
            tasks = len(asyncio.all_tasks())
            session, other = await asked.begin(), await asked.begin()
            await asked.clock.move(IDLE_SECONDS - 1)
            assert await asked.is_known(session)
            await asked.clock.move(LOOK_SECONDS)
            assert asked.kept == {session}  # the other one was idle for longer
            await asked.clock.move(IDLE_SECONDS)
            assert (asked.table.count, asked.kept) == (0, set())
            assert not await asked.is_known(session) and not await asked.is_known(other)
            await asked.clock.move(0)
            gc.collect()
            assert len(asyncio.all_tasks()) == tasks
            assert not [each for each in gc.get_objects() if isinstance(each, StreamableHTTPServerTransport)]

    asyncio.run(run())


def test_x9_a_session_in_use_does_not_end():
    """X9. One with an open stream is used, for however long."""

    async def run() -> None:
        async with living() as asked:
            session = await asked.begin()
            stream = await asked.stream(session)
            await asked.clock.move(10 * IDLE_SECONDS)
            assert asked.kept == {session}
            stream.cancel()
            await asyncio.gather(stream, return_exceptions=True)
            await asked.clock.move(IDLE_SECONDS + LOOK_SECONDS)
            assert asked.kept == set()

    asyncio.run(run())


def test_x9_a_client_keeps_its_newest_sessions():
    """X9. However many it begins; those of others stay."""

    async def run() -> None:
        async with living() as asked:
            other = await asked.begin("10.0.0.2")
            begun = [await asked.begin() for _ in range(MOST_OF_CLIENT + 6)]
            assert asked.table.count == MOST_OF_CLIENT + 1
            assert [await asked.is_known(each) for each in begun[:6]] == [False] * 6
            assert await asked.is_known(begun[6]) and await asked.is_known(begun[-1])
            assert await asked.is_known(other, "10.0.0.2")

    asyncio.run(run())


def test_x9_a_client_that_uses_all_it_may_have_is_refused_another():
    """X9. Its sessions go on, and others may begin some."""

    async def run() -> None:
        async with living(most_of_client=2, most=3) as asked:
            busy = [await asked.begin() for _ in range(2)]
            streams = [await asked.stream(each) for each in busy]
            assert (await asked.ask(INITIALIZE))[0] == 503
            third = await asked.begin("10.0.0.2")
            assert asked.kept == {*busy, third}
            newest = await asked.begin("10.0.0.3")  # of all, the longest unused one makes room
            assert asked.kept == {*busy, newest}
            for each in streams:
                each.cancel()
            await asyncio.gather(*streams, return_exceptions=True)

    asyncio.run(run())


def test_a_request_whose_id_no_answer_can_have_is_refused():
    """As over standard input: it is no notification, for its client waits for an answer."""

    async def run() -> None:
        async with living() as asked:
            session = await asked.begin()
            for wrong in (None, 1.5, True, []):
                assert (await asked.ask(PING | {"id": wrong}, session))[0] == 400, wrong
            assert (await asked.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, session))[0] == 202

    asyncio.run(run())


def test_x9_the_default_bounds_keep_memory_small():
    """X9. Some 60 KB each."""
    assert transport.MOST * 60_000 <= 32_000_000 and transport.MOST_OF_CLIENT <= transport.MOST


STEPS = st.lists(
    st.tuples(st.sampled_from(["begin", "use", "delete", "move", "garbage"]), st.integers(0, 5)), max_size=30
)


@settings(max_examples=examples(200), deadline=None)
@given(steps=STEPS)
def test_x9_the_table_knows_every_session_that_is_kept(steps: list[tuple[str, int]]):
    """X9. Whatever clients do, nothing is kept beside the table, and the bounds hold after every step."""

    async def run() -> None:
        async with living(most=5, most_of_client=3) as asked:
            begun: list[bytes] = []
            for step, number in steps:
                client = f"10.0.0.{number % 3}"
                if step == "begin":
                    begun.append(await asked.begin(client))
                elif step == "move":
                    await asked.clock.move(number * IDLE_SECONDS / 4)
                elif step == "garbage":
                    garbage = (
                        [],
                        3,
                        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                        {"x": 1},
                        None,
                        INITIALIZE | {"id": []},
                    )
                    assert (await asked.ask(garbage[number], client=client))[0] >= 400
                elif begun:
                    session = begun[number % len(begun)]
                    method, message = ("DELETE", None) if step == "delete" else ("POST", PING)
                    assert (await asked.ask(message, session, method))[0] in (200, 404)
                assert asked.kept == set(asked.table._open)
                assert asked.table.count <= 5
                owners = [each.client for each in asked.table._open.values()]
                assert all(owners.count(each) <= 3 for each in owners)

    asyncio.run(run())
