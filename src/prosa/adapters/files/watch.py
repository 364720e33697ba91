"""The changed files, as reported by the system (inotify, FSEvents), so that a full scan is not needed.

In: a folder. Out: paths that changed since the last call, or that a full scan is needed. The library for this is an
extra (`watch`). The system may lose changes silently, on a network file system always, so callers still scan
everything periodically.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock, Thread

STEP = 20
"""Milliseconds without a further change after which changes are reported."""

LONGEST = 200
"""Milliseconds after which changes are reported even if there are further ones."""

MOST = 2_000
"""Maximum number of stored changed paths; with more, a full scan is faster."""

HEARTBEAT = 100
"""Milliseconds after which an idle period is reported."""

INSIDE_GIT = f"{os.sep}.git{os.sep}"


class NoWatcher(Exception):
    """Changes cannot be watched: the library is not installed, or the system refuses."""


def can_watch() -> bool:
    """Return whether the library is there."""
    return find_spec("watchfiles") is not None


def changes(
    folders: Collection[Path],
    matters: Callable[[str], bool],
    *,
    step: int = STEP,
    longest: int = LONGEST,
    stop: Event | None = None,
) -> Iterator[frozenset[str]]:
    """Return sets of paths below the folders that were written, made or removed and that matter, as that happens; an
    empty set once the system watches, and ten times a second. Ends with ``stop``, without one with Ctrl-C. Raises
    `NoWatcher`, at once where the library is not there."""
    try:
        watch = import_module("watchfiles").watch
    except ImportError:
        raise NoWatcher("the library `watchfiles` is not installed") from None
    batches = watch(
        *folders,
        watch_filter=lambda _, path: INSIDE_GIT not in path and matters(path),
        step=step,
        debounce=longest,
        stop_event=stop,
        rust_timeout=HEARTBEAT,
        yield_on_timeout=True,
        raise_interrupt=stop is None,
        ignore_permission_denied=True,
    )
    return _paths(batches)


def _paths(batches: Iterable[Collection[tuple[int, str]]]) -> Iterator[frozenset[str]]:
    try:
        for batch in batches:
            yield frozenset(path for _, path in batch)
    except OSError as error:
        raise NoWatcher(f"the system does not report changes: {error.strerror or error}") from None


class Watcher:
    """The changes below a folder, collected by a thread. ``on_change`` is called in that thread after each.

    ``failure`` says why watching has stopped; `take` then always requests a full scan. Safe to use from several
    threads.
    """

    def __init__(self, folder: Path, on_change: Callable[[], None] | None = None) -> None:
        self.folder, self.failure = folder, ""
        self._on_change = on_change
        self._changed: set[str] | None = None
        self._is_watching, self._stop, self._lock = False, Event(), Lock()
        self._thread = Thread(target=self._gather, name="prosa-watch", daemon=True)
        self._thread.start()

    def take(self) -> frozenset[str] | None:
        """Return the real paths that changed since the last call; None if they are unknown: until the system watches,
        once after that, after too many changes, and if nothing can be watched."""
        with self._lock:
            changed = self._changed
            self._changed = set() if self._is_watching and not self.failure else None
        return None if changed is None else frozenset(changed)

    def put_back(self, paths: Collection[str] | None) -> None:
        """Give changes back that were taken and could not be dealt with; None for all there may be."""
        with self._lock:
            if paths is None:
                self._changed = None
            elif self._changed is not None:
                self._changed |= set(paths)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing changed since the last `take`."""
        with self._lock:
            return self._changed is not None and not self._changed

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _gather(self) -> None:
        try:
            for paths in changes([self.folder], lambda _: True, stop=self._stop):
                self._is_watching = True
                if paths:
                    self._keep(paths)
        except NoWatcher as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")

    def _keep(self, paths: frozenset[str]) -> None:
        with self._lock:
            if self._changed is not None:
                self._changed |= paths
                if len(self._changed) > MOST:
                    self._changed = None
        if self._on_change is not None:
            self._on_change()

    def _fail(self, why: str) -> None:
        with self._lock:
            self.failure, self._changed = why, None
        if self._on_change is not None:
            self._on_change()
