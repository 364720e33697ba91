"""A run as server-sent events: `text` while it streams, `again` if it restarts, at the end `done` or `failed`.

Everything is JSON on one line, so that no text of a model can be a line of the stream. If the client disconnects, the
run is cancelled at once; comments keep a silent connection open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from msgspec import Struct, field

from prosa.data import Value
from prosa.runtime.events import AnswerRejected, AttemptFailed, Event, TextArrived
from prosa.web.answer import NEVER, Receive, Send, answer
from prosa.web.run.problem import GONE
from prosa.web.run.waiting import broken_off, gone

EVENTS = "text/event-stream"
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, so that intermediaries keep the connection."""

MAX_TEXT = 1024 * 1024
"""Characters that are shown while they arrive; the end has the whole result."""

SEND_SECONDS = 60.0
"""How long a client may stop reading."""

Last: TypeAlias = Callable[[], tuple[str, dict[str, Value]]]


class Live(Struct):
    """Receives the events of a run and keeps its text until it is sent."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: list[tuple[str, str]] = field(default_factory=list)
    _left: int = MAX_TEXT

    def __call__(self, event: Event, /) -> None:
        """Take an event of the run."""
        match event:
            case TextArrived(text=text) if self._left > 0:
                self._left -= len(text)
                self._waiting.append(("text", text))
            case AttemptFailed() | AnswerRejected():
                self._waiting.append(("again", ""))
            case _:
                return
        self.woken.set()

    def take(self) -> list[bytes]:
        """Return the text to send now: pieces that arrived together as one."""
        found: list[bytes] = []
        together = ""
        for name, text in (*self._waiting, ("again", "")):
            if name == "text":
                together += text
                continue
            found += [written("text", {"text": together})] if together else []
            found.append(written("again", {}))
            together = ""
        self._waiting.clear()
        self.woken.clear()
        return found[:-1]  # the last one only ended the loop


def written(name: str, data: dict[str, Value]) -> bytes:
    """Return one event. JSON in ASCII contains no line ends."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def streamed(receive: Receive, send: Send, task: asyncio.Task[Any], live: Live, last: Last) -> int:
    """Send a run until its end; ``last`` returns the last event once ``task`` has ended. Return the status."""
    watching = asyncio.create_task(gone(receive))
    for each in (task, watching):
        each.add_done_callback(lambda _: live.woken.set())
    try:
        await _started(send)
        while not (task.done() or watching.done()):
            await _sent(send, await _news(live))
        if not task.done():
            return GONE
        for piece in live.take():
            await _sent(send, piece)
        await _sent(send, written(*last()), more=False)
        return 200
    except TimeoutError:
        return GONE
    finally:
        watching.cancel()
        if not task.done():
            await broken_off(task)


async def _news(live: Live) -> bytes:
    """Return what came meanwhile; a comment where nothing did."""
    try:
        async with asyncio.timeout(HEARTBEAT):
            await live.woken.wait()
    except TimeoutError:
        return b": still running\n\n"
    return b"".join(live.take())


async def _started(send: Send) -> None:
    head = answer(b"", f"{EVENTS}; charset=utf-8", cache=NEVER, headers=[("x-accel-buffering", "no")])
    headers = [each for each in head.headers if each[0] != b"content-length"]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _sent(send: Callable[[dict[str, Value]], Awaitable[None]], body: bytes, *, more: bool = True) -> None:
    """Raise `TimeoutError` for a client that does not read."""
    if body or not more:
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": more})
