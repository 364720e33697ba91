"""The lines of the list as they change: one look at the store in a second for all who listen (X37).

In: what a listener shows. Out: server-sent events with the lines that are other ones than those sent before. A listener
whose tab is closed is forgotten; while no one listens, the store is left alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from msgspec import Struct, field

from prosa.app.view.watch import StoreWatch
from prosa.asgi import Receive, Send
from prosa.data import Value
from prosa.render.page.records import Lines
from prosa.render.plain import safe
from prosa.runtime.errors import StoreProblem
from prosa.web.event_stream import HEARTBEAT, begin_events, gone, send_event, written
from prosa.web.run.problem import GONE

LOOK = 1.0
"""Seconds between two looks at the store."""

UNSURE = 5.0
"""Seconds after which what still runs is read again although the store has not changed: a process may be gone."""

REST = 3
"""How much longer than a look at a large store the pause after it is: watching one takes a quarter of a core."""

MOST_REST = 3.0
"""Maximum seconds of that pause."""

MAX_LISTENERS = 30
"""Maximum number of listeners: tabs of one person."""


class Listener(Struct, eq=False):
    """One open stream, which is woken by changes."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Broadcast:
    """Wakes the listeners of one store. ``stop`` ends them all."""

    def __init__(self, watch: StoreWatch, *, look: float = LOOK, most: int = MAX_LISTENERS) -> None:
        self.listeners: set[Listener] = set()
        self.problem = ""
        self._watch, self._look, self._most = watch, look, most
        self._thread = ThreadPoolExecutor(1, "prosa-view")
        self._looking: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def is_full(self) -> bool:
        """Whether no further listener is taken."""
        return len(self.listeners) >= self._most

    def stop(self) -> None:
        """End every stream, so that the server need not wait for them."""
        self._stopped = True
        self._wake()

    async def close(self) -> None:
        """End the looks at the store."""
        self.stop()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        await asyncio.get_running_loop().run_in_executor(self._thread, self._watch.close)
        self._thread.shutdown()

    async def stream(self, receive: Receive, send: Send, lines: Callable[[], Lines], mark: str) -> int:
        """Send the lines that change until the listener is gone, and return the status. ``mark`` is that of the lines
        that it has."""
        with self._listening() as listener:
            leaving = asyncio.create_task(gone(receive))
            leaving.add_done_callback(lambda _: listener.woken.set())
            try:
                await begin_events(send)
                await self._send_changes(send, listener, leaving, lines, Sent(mark))
                return GONE if leaving.done() else 200
            except TimeoutError:
                return GONE
            finally:
                leaving.cancel()

    async def _send_changes(
        self, send: Send, listener: Listener, leaving: asyncio.Task[None], lines: Callable[[], Lines], sent: Sent
    ) -> None:
        while not (leaving.done() or self._stopped):
            listener.woken.clear()
            started = time.monotonic()
            await send_event(send, await self._news(lines, sent) or b": nothing new\n\n")
            await asyncio.sleep(min(REST * (time.monotonic() - started), MOST_REST))
            try:
                async with asyncio.timeout(UNSURE if sent.is_unsure else HEARTBEAT):
                    await listener.woken.wait()
            except TimeoutError:
                pass
        if not leaving.done():
            await send_event(send, b"", more=False)

    async def _news(self, lines: Callable[[], Lines], sent: Sent) -> bytes:
        """Return the events for what has changed since the last ones."""
        try:
            return sent.changes(await asyncio.to_thread(lines))
        except StoreProblem as problem:
            return sent.trouble(problem.message)

    @contextmanager
    def _listening(self) -> Iterator[Listener]:
        listener = Listener()
        self.listeners.add(listener)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            yield listener
        finally:
            self.listeners.discard(listener)

    async def _look_on(self) -> None:
        """Look at the store while anyone listens."""
        known: str | None = None
        while self.listeners and not self._stopped:
            mark = await self._mark()
            if known is not None and mark != known:
                self._wake()
            known = mark
            await asyncio.sleep(self._look)

    async def _mark(self) -> str:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._watch.mark)
        except StoreProblem as problem:
            return problem.message

    def _wake(self) -> None:
        for listener in self.listeners:
            listener.woken.set()


class Sent(Struct):
    """What a listener has: the mark of its lines, and the lines that were sent to it."""

    mark: str
    rows: dict[str, str] = field(default_factory=dict)
    is_unsure: bool = False
    _problem: str = ""

    def changes(self, lines: Lines) -> bytes:
        """Return the event that brings a listener up to date; empty if it is."""
        self.is_unsure = lines.is_unsure
        changed = {key: row for key, row in lines.rows.items() if self.rows.get(key) != row}
        same = lines.mark == self.mark and not self._problem
        self.mark, self.rows, self._problem = lines.mark, dict(lines.rows), ""
        if same:
            return b""
        order: list[Value] = list(lines.rows)
        return written("rows", {"order": order, "rows": changed, "total": lines.total})

    def trouble(self, message: str) -> bytes:
        """Return the event that says why there is nothing to show; empty if it was said."""
        if message == self._problem:
            return b""
        self._problem = message
        return written("problem", {"text": safe(message)})
