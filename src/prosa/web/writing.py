"""Lines written by a thread of their own: who reads the log slowly, or not at all, never stops the site.

In: texts. Out: calls of a function that may block. What cannot wait any longer is counted, and the count is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from queue import Full, Queue
from threading import Thread

MAX_WAITING = 64
"""Texts that wait; each has up to some hundred lines."""

END_SECONDS = 1.0
"""How long the end waits for what is not written yet."""


class BackgroundLines:
    """Hands texts to ``out`` one after the other. Call `close` at the end."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out
        self._waiting: Queue[str | None] = Queue(MAX_WAITING)
        self._lost = 0
        self._thread = Thread(target=self._write, name="prosa-log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Takes a text of whole lines; never waits."""
        lost = json.dumps({"lost": self._lost}) + "\n" if self._lost else ""
        try:
            self._waiting.put_nowait(f"{lost}{text}")
        except Full:
            self._lost += text.count("\n") + 1
        else:
            self._lost = 0

    def close(self) -> None:
        """Writes what waits, as far as somebody reads it."""
        try:
            self._waiting.put(None, timeout=END_SECONDS)
        except Full:
            return
        self._thread.join(END_SECONDS)

    def _write(self) -> None:
        while (text := self._waiting.get()) is not None:
            self._out(text)
