"""Watches one run from a second thread: the deadline and the size of the temporary folder.

Stopping works through the engine's epoch: WebAssembly code checks it at every loop and call and traps. Code that
waits inside a host call does not see it; for that the parent process kills the worker.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from prosa.adapters.sandbox import temp_folder
from prosa.adapters.sandbox.limits import WATCH_INTERVAL


class Watch:
    """A context around one run. ``reason`` says afterwards why the run was stopped, or is None."""

    def __init__(self, interrupt: Callable[[], None], timeout: float, folder: str) -> None:
        self.reason: str | None = None
        self._interrupt = interrupt
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._folder = folder
        self._over = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()  # so that no interrupt of this run reaches the next one

    def pause(self, seconds: float) -> None:
        """Waits for the program; ends early when the run is stopped."""
        self._stopped.wait(min(seconds, self._timeout + 1))

    def _watch(self) -> None:
        interval = WATCH_INTERVAL
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return self._stop(f"timed out after {self._timeout:g} s")
            if self._over.wait(min(interval, left)):
                return None
            started = time.monotonic()
            broken = temp_folder.over_quota(self._folder)
            if broken:
                return self._stop(broken)
            # A folder that takes long to measure is measured less often: at most a tenth of the time.
            interval = max(WATCH_INTERVAL, 10 * (time.monotonic() - started))

    def _stop(self, reason: str) -> None:
        self.reason = reason
        self._interrupt()
        self._stopped.set()
