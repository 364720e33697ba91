"""What changes is sent to those who listen, and to nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prosa.adapters.store.writer import Writer, writer_of
from prosa.web import event_stream
from prosa.web.view import live
from tests.web.asking import HOST, scope_of
from tests.web.view.conftest import BEARER, Viewer, viewer_of
from tests.web.view.stores import ended, model_call, put_calls, put_runs, run_record

LONG = 30.0


class Tab:
    """One open stream: its events as they come."""

    def __init__(self) -> None:
        self.status = 0
        self.closed = asyncio.Event()
        self.events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.comments = 0

    async def receive(self) -> dict[str, Any]:
        await self.closed.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        for each in () if self.status != 200 else filter(None, message.get("body", b"").decode().split("\n\n")):
            if each.startswith(":"):
                self.comments += 1
                continue
            name, data = each.removeprefix("event: ").split("\ndata: ")
            self.events.put_nowait((name, json.loads(data)))

    async def event(self) -> tuple[str, Any]:
        """The next event."""
        async with asyncio.timeout(LONG):
            return await self.events.get()


@asynccontextmanager
async def tab(viewer: Viewer, target: str = "/live") -> AsyncIterator[Tab]:
    """A tab that listens; closed at the end, and then forgotten."""
    made = Tab()
    scope = scope_of(target, "GET", [("host", HOST), BEARER], "127.0.0.1")
    task = asyncio.create_task(viewer.app(scope, made.receive, made.send))
    try:
        yield made
    finally:
        made.closed.set()
        async with asyncio.timeout(LONG):
            await task
        assert not viewer.faults, viewer.faults


async def settled(condition: Callable[[], bool]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(LONG):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live.Broadcast.__init__, "__kwdefaults__", {"look": 0.02, "most": 3})


def test_x37_only_what_changed_is_sent(store: Path, alive: Writer):
    """X37. First the whole page, then each line that is another one; a new one with the order of all."""

    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer) as one:
            name, data = await one.event()
            assert (name, data["order"], set(data["rows"])) == ("rows", ["run-a2", "run-a1"], {"run-a1", "run-a2"})
            await asyncio.to_thread(put_calls, store, [model_call("a2")])
            _, data = await one.event()
            assert (data["order"], set(data["rows"])) == (["run-a2", "run-a1"], {"run-a2"})
            assert "1 call · 1,100 tokens" in data["rows"]["run-a2"] and "$0.0045" in data["total"]
            await asyncio.to_thread(put_runs, store, [ended(run_record("a3", 3))])
            _, data = await one.event()
            assert (data["order"], set(data["rows"])) == (["run-a3", "run-a2", "run-a1"], {"run-a3"})
        await viewer.app.end()

    put_runs(store, [ended(run_record("a1")), replace(run_record("a2", 1), holder=alive.holder)])
    asyncio.run(work())


def test_x37_a_page_that_is_current_is_sent_nothing(store: Path):
    """X37. The mark of the page says what it shows."""
    put_runs(store, [ended(run_record("a1"))])
    mark = viewer_of(store).get("/").text.partition('data-mark="')[2].partition('"')[0]

    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer, f"/live?mark={mark}") as one:
            await settled(lambda: one.comments > 0)
            assert one.events.empty()
            await asyncio.to_thread(put_runs, store, [ended(run_record("a2", 3))])
            _, data = await one.event()
            assert set(data["rows"]) == {"run-a2"}
        await viewer.app.end()

    assert mark
    asyncio.run(work())


def test_x37_filters_hold_for_what_is_sent(store: Path):
    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer, "/live?state=failed") as one, tab(viewer, "/live?of=run-a1") as other:
            assert (await one.event())[1]["order"] == ["run-a2"]
            assert (await other.event())[1]["order"] == ["run-a1"]
        await viewer.app.end()

    put_runs(store, [ended(run_record("a1")), ended(run_record("a2", 1), "failed")])
    asyncio.run(work())


def test_x37_a_closed_tab_frees_its_listener(store: Path):
    """X37, X9. Only so many listen at once; while none does, nothing looks at the store."""

    async def work() -> None:
        viewer = viewer_of(store)
        hub = viewer.app.live
        async with tab(viewer) as one, tab(viewer) as two:
            await one.event()
            await two.event()
            async with tab(viewer) as three:
                await three.event()
                assert hub.is_full
                async with tab(viewer) as refused:
                    await settled(lambda: refused.status == 503)
            assert len(hub.listeners) == 2
            async with tab(viewer) as again:
                await again.event()
        assert not hub.listeners
        await settled(lambda: hub._looking is not None and hub._looking.done())
        async with tab(viewer) as last:
            await last.event()
        await viewer.app.end()

    put_runs(store, [ended(run_record("a1"))])
    asyncio.run(work())


def test_x37_a_silent_store_is_followed_by_heartbeats(store: Path, monkeypatch: pytest.MonkeyPatch):
    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer) as one:
            await one.event()
            await settled(lambda: one.comments > 3)
        await viewer.app.end()

    monkeypatch.setattr(live, "HEARTBEAT", 0.01)
    assert event_stream.HEARTBEAT > 1
    put_runs(store, [ended(run_record("a1"))])
    asyncio.run(work())


def test_x37_a_process_that_dies_without_a_word_has_stopped(store: Path, monkeypatch: pytest.MonkeyPatch):
    """X37. The store does not change when a process is killed; what runs is looked at again."""

    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer) as one:
            assert "running" in (await one.event())[1]["rows"]["run-a1"]
            await asyncio.to_thread(writer.release)
            assert "stopped" in (await one.event())[1]["rows"]["run-a1"]
        await viewer.app.end()

    monkeypatch.setattr(live, "UNSURE", 0.02)
    writer = writer_of(store)
    writer.do(lambda connection: connection.execute("SELECT 1")).result()
    put_runs(store, [replace(run_record("a1"), holder=writer.holder)])
    asyncio.run(work())


def test_x37_a_store_that_is_deleted_or_replaced_is_seen(store: Path):
    """X37. A list that is empty, the lines of the other file; the stream goes on."""

    async def work() -> None:
        viewer = viewer_of(store)
        async with tab(viewer) as one:
            assert (await one.event())[1]["order"] == ["run-a1"]
            await asyncio.to_thread(store.unlink)
            assert (await one.event())[1]["order"] == []
            await asyncio.to_thread(store.write_bytes, b"no database at all, but a text that is long enough for one")
            name, data = await one.event()
            assert name == "problem" and "not an SQLite file" in data["text"]
            await asyncio.to_thread(store.unlink)
            await asyncio.to_thread(put_runs, store, [ended(run_record("a9"))])
            while (event := await one.event())[1].get("order") != ["run-a9"]:
                assert event[0] in ("rows", "problem")
        await viewer.app.end()

    put_runs(store, [ended(run_record("a1"))])
    asyncio.run(work())


def test_x37_the_end_of_the_server_ends_every_stream(store: Path):
    async def work() -> None:
        viewer = viewer_of(store)
        made = Tab()
        scope = scope_of("/live", "GET", [("host", HOST), BEARER], "127.0.0.1")
        task = asyncio.create_task(viewer.app(scope, made.receive, made.send))
        await made.event()
        viewer.app.live.stop()
        async with asyncio.timeout(LONG):
            await task
        await viewer.app.end()

    put_runs(store, [ended(run_record("a1"))])
    asyncio.run(work())


@pytest.mark.parametrize("query", ["kind=mail", "since=soon", "state=x"])
def test_x37_no_stream_of_a_filter_that_is_none(store: Path, query: str):
    put_runs(store, [ended(run_record("a1"))])
    assert viewer_of(store).get(f"/live?{query}").status == 400
