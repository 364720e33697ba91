"""One thread for all work on documents, so that the one that reads the wire never blocks.

In: queries, and changes of documents. Out: futures. A query precedes all waiting changes, and a change replaces an
earlier waiting one of the same document, so fast typing is checked less often. Everything runs in the worker thread,
one task after the other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


class Desk:
    """The worker thread. ``broken`` is called with an exception in a change, which has no future."""

    def __init__(self, broken: Callable[[BaseException], None]) -> None:
        self._broken = broken
        self._questions: deque[Callable[[], None]] = deque()
        self._changes: dict[Hashable, Callable[[], None]] = {}
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="prosa-desk", daemon=True)
        self._thread.start()

    def ask(self, question: Callable[[], _T]) -> Future[_T]:
        """Return the answer to a query; one that is cancelled while waiting is never run."""
        future: Future[_T] = Future()

        def answer() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(question())
            except BaseException as error:
                future.set_exception(error)

        with self._news:
            self._questions.append(answer)
            self._news.notify()
        return future

    def change(self, key: Hashable, change: Callable[[], None]) -> None:
        """Do something when no question waits, unless another change with this key comes first."""
        with self._news:
            self._changes[key] = change
            self._news.notify()

    def settle(self, key: Hashable) -> None:
        """Do a change that waits at once. Only for the thread of the desk itself."""
        with self._news:
            change = self._changes.pop(key, None)
        if change is not None:
            self._do(change)

    def close(self) -> None:
        """Do nothing more of what waits."""
        with self._news:
            self._closed = True
            self._news.notify()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            self._do(job)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            self._broken(error)

    def _next(self) -> Callable[[], None] | None:
        with self._news:
            self._news.wait_for(lambda: self._closed or self._questions or self._changes)
            if self._closed:
                return None
            if self._questions:
                return self._questions.popleft()
            return self._changes.pop(next(iter(self._changes)))
