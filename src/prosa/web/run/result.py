"""The result of an ai-script for its requester: as a fragment of a page, as JSON, as a page, or as server-sent events.

The model's text is data: it is made harmless, and not written to a document. An event is JSON on one line, so that no
text of a model can be a line of the stream. A run whose client disconnects is cancelled at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from prosa.app.scripts.run import text_of
from prosa.asgi import Receive, Send
from prosa.data import Value
from prosa.regex import regex
from prosa.render.json import dump
from prosa.render.page.chrome import POLICY, message_page
from prosa.render.page.clean import safe_html
from prosa.render.page.model import Crumb, Frame, MessagePage
from prosa.runtime.events import AnswerRejected, AttemptFailed, Event, TextArrived
from prosa.runtime.messages import Meter
from prosa.runtime.program import OutputForm
from prosa.web.answer import NEVER, Answer, answer
from prosa.web.event_stream import HEARTBEAT, begin_events, gone, send_event, written
from prosa.web.run.problem import GONE, ClientGone, Pairs, taken

HTML = "text/html; charset=utf-8"

_RUN = regex(r"`{3,}")


class Result(Struct, frozen=True):
    """What the script at ``address`` gave."""

    address: str
    output: Value
    form: OutputForm
    seconds: float
    meter: Meter

    @property
    def text(self) -> str:
        """Return the result as plain text: JSON indented, everything else unchanged."""
        return text_of(self.output)

    @property
    def markdown(self) -> str:
        """As Markdown: JSON in a fence that it cannot end."""
        if self.form == "json":
            fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(self.text)), default=2))
            return f"{fence}json\n{self.text}\n{fence}\n"
        return f"<{self.text}>" if self.form == "image-url" else self.text

    @property
    def html(self) -> str:
        """As a harmless fragment of a page."""
        return safe_html(self.markdown)

    @property
    def event(self) -> dict[str, Value]:
        """Return the data of the last event."""
        return {"html": self.html, "seconds": round(self.seconds, 3), "tokens": self.meter.tokens}

    def json(self) -> Answer:
        """For a program."""
        value = {"script": self.address, "output": self.output, **self.event}
        return answer(f"{dump(value)}\n", "application/json", cache=NEVER, headers=taken(self.meter))

    def page(self, frame: Frame, label: str, back: Crumb) -> Answer:
        """For a browser without scripts."""
        page = MessagePage(frame, label, "", (back,), self.markdown)
        return html_page(message_page(page), 200, headers=taken(self.meter))


def said(
    frame: Frame, status: int, title: str, text: str, rows: tuple[Crumb, ...] = (), *, headers: Pairs = ()
) -> Answer:
    """Return a page with only a message."""
    return html_page(message_page(MessagePage(frame, title, text, rows)), status, headers=headers)


def html_page(page: str, status: int = 200, *, headers: Pairs = ()) -> Answer:
    """Return a page that is not cached."""
    return answer(page, HTML, status=status, cache=NEVER, headers=[*headers, ("content-security-policy", POLICY)])


MAX_TEXT = 1024 * 1024
"""Characters that are shown while they arrive; the end has the whole result."""

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
        events: list[bytes] = []
        together = ""
        for name, text in (*self._waiting, ("again", "")):
            if name == "text":
                together += text
                continue
            events += [written("text", {"text": together})] if together else []
            events.append(written("again", {}))
            together = ""
        self._waiting.clear()
        self.woken.clear()
        return events[:-1]  # the last one only ended the loop


async def streamed(receive: Receive, send: Send, task: asyncio.Task[Any], live: Live, last: Last) -> int:
    """Send a run until its end; ``last`` returns the last event once ``task`` has ended. Return the status."""
    watching = asyncio.create_task(gone(receive))
    for awaited in (task, watching):
        awaited.add_done_callback(lambda _: live.woken.set())
    try:
        await begin_events(send)
        while not (task.done() or watching.done()):
            await send_event(send, await _news(live))
        if not task.done():
            return GONE
        for piece in live.take():
            await send_event(send, piece)
        await send_event(send, written(*last()), more=False)
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


T = TypeVar("T")


async def waited(task: asyncio.Task[T], receive: Receive, *, stays: bool = False) -> T:
    """Return the result of a run. If the client disconnects, the run is cancelled at once; one that ``stays``
    continues, so that its answer can be requested again (H19). Raises `ClientGone`."""
    watching = asyncio.create_task(gone(receive))
    try:
        await asyncio.wait({task, watching}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if not stays:
            await broken_off(task)
        raise ClientGone
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        watching.cancel()


async def broken_off(task: asyncio.Task[Any]) -> None:
    """End a run, and wait until it has let go of everything."""
    task.cancel()
    await asyncio.wait({task})
