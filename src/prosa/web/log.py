"""The access log: one line of JSON for each request, written in batches so that requests do not wait for it.

It contains no headers or queries: tokens and queries of readers are private.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from json.encoder import encode_basestring_ascii as quoted
from queue import Full, Queue
from threading import Thread

from msgspec import Struct, field

from prosa.asgi import Scope
from prosa.web.limits import client_of

BATCH = 200
"""Lines that wait for being written, at most."""

PAUSE = 0.25
"""Seconds that a line waits, at most."""


class AccessLog(Struct):
    """Writes to ``out``, a function that takes whole lines."""

    out: Callable[[str], None]
    _lines: list[str] = field(default_factory=list)
    _since: float = 0.0
    _second: int = -1
    _told: str = ""

    def add(self, scope: Scope, status: int, seconds: float) -> None:
        """Note a request that was answered."""
        client, method = quoted(client_of(scope)), quoted(scope["method"])
        path = quoted(scope["raw_path"].decode("latin-1"))
        if not self._lines:
            self._since = time.monotonic()
        self._lines.append(
            f'{{"time": "{self._now()}", "client": {client}, "method": {method}, "path": {path}, '
            f'"status": {status}, "ms": {round(seconds * 1000, 2)}}}'
        )
        if len(self._lines) >= BATCH:
            self.flush()

    def _now(self) -> str:
        """Return the time in UTC, to the millisecond. What comes before the fraction is made once a second."""
        second, fraction = divmod(time.time_ns() // 1_000_000, 1_000)
        if second != self._second:
            self._second = second
            self._told = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._told}.{fraction:03d}+00:00"

    @property
    def is_due(self) -> bool:
        """Whether lines have waited long enough."""
        return bool(self._lines) and time.monotonic() - self._since >= PAUSE

    def flush(self) -> None:
        """Write what waits."""
        if self._lines:
            lines, self._lines = self._lines, []
            self.out("\n".join(lines))


MAX_WAITING = 64
"""Texts that wait; each has up to some hundred lines."""

END_SECONDS = 1.0
"""How long the shutdown waits for unwritten lines."""


class BackgroundLines:
    """Passes texts to ``out`` one after the other, in a thread: a slow reader of the log never blocks the site.
    Dropped lines are counted, and the count is reported. Call `close` at the end."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out
        self._waiting: Queue[str | None] = Queue(MAX_WAITING)
        self._lost = 0
        self._thread = Thread(target=self._write, name="prosa-log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Take a text of whole lines; never waits."""
        lost = json.dumps({"lost": self._lost}) + "\n" if self._lost else ""
        try:
            self._waiting.put_nowait(f"{lost}{text}")
        except Full:
            self._lost += text.count("\n") + 1
        else:
            self._lost = 0

    def close(self) -> None:
        """Write the waiting lines, as far as the reader accepts them."""
        try:
            self._waiting.put(None, timeout=END_SECONDS)
        except Full:
            return
        self._thread.join(END_SECONDS)

    def _write(self) -> None:
        while (text := self._waiting.get()) is not None:
            self._out(text)
