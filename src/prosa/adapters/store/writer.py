"""The one thread of a process that writes a store: everything that waits becomes one transaction (X25).

In: pieces of work on a connection, from any thread. Out: a future for each, done when its transaction is committed.
The store is opened in the thread, so that nobody waits for it before the first answer is there to be kept.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from prosa.adapters.store.holding import Holder
from prosa.adapters.store.opening import FAULTS, open_store, problem_of
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database

T = TypeVar("T")
Work: TypeAlias = "Callable[[Database], T]"
_Waiting: TypeAlias = "tuple[Work[Any], Future[Any]]"

LATER_SECONDS = 0.1
"""How long what need not be written soon waits."""

_WRITERS: dict[Path, Writer] = {}
_LOCK = Lock()


class Writer:
    """Writes one store. A transaction that fails as a whole fails for everybody in it; a piece of work that raises
    `RunError` has written nothing, and fails alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.transactions = 0
        self.holder = ""
        self._queue: SimpleQueue[tuple[Work[Any], Future[Any], bool] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="prosa-store", daemon=True)
        self._thread.start()

    def do(self, work: Work[T], *, soon: bool = True) -> Future[T]:
        """What ``work`` gives, once it is committed. The future fails with `StoreProblem`, or what ``work`` raises.
        What need not be written ``soon`` waits a moment for what must, so that both are one transaction."""
        future: Future[T] = Future()
        self._queue.put((work, future, soon))
        return future

    def release(self) -> None:
        """Ends the use of the writer that `writer_of` began. The last one waits until everything is written and the
        file is closed."""
        with _LOCK:
            self.users -= 1
            if self.users:
                return
            _WRITERS.pop(self.path, None)
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        connection: Database | None = None
        problem: Exception | None = None
        holder: Holder | None = None
        try:
            connection = open_store(self.path)
            holder = Holder(self.path)
            self.holder = holder.name
        except StoreProblem as error:
            problem = error
        except OSError as error:
            problem = StoreProblem(f"the store {self.path} cannot be used: {error.strerror or error}")
        except Exception as error:  # whatever it is, somebody waits for an answer
            problem = error
        ended = False
        while not ended:
            batch, ended = self._waiting()
            if connection is None or problem is not None:
                _fail(batch, problem or StoreProblem(f"the store {self.path} is closed"))
            elif batch:
                self._commit(connection, batch)
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        if holder is not None:
            holder.release()

    def _waiting(self) -> tuple[list[_Waiting], bool]:
        """Everything that waits, at least one piece of it; whether nothing more will come."""
        batch: list[_Waiting] = []
        soon = False
        item = self._queue.get()
        while item is not None:
            work, future, urgent = item
            batch.append((work, future))
            soon = soon or urgent
            if soon and self._queue.empty():
                return batch, False
            try:
                item = self._queue.get(timeout=LATER_SECONDS)
            except Empty:
                return batch, False
        return batch, True

    def _commit(self, connection: Database, batch: list[_Waiting]) -> None:
        done: list[tuple[Future[Any], Any]] = []
        refused: list[tuple[Future[Any], RunError]] = []
        waited_for = {id(future) for _, future in batch if future.set_running_or_notify_cancel()}
        try:
            connection.execute(connection.begins)
            for work, future in batch:
                try:
                    done.append((future, work(connection)))
                except RunError as error:
                    refused.append((future, error))
            connection.execute("COMMIT")
        except Exception as error:  # whatever it is, somebody waits for these
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            reason = problem_of(error, self.path) if isinstance(error, FAULTS) else error
            for _, future in batch:
                if id(future) in waited_for:
                    future.set_exception(reason)
            return
        self.transactions += 1
        for future, value in done:
            if id(future) in waited_for:
                future.set_result(value)
        for future, each in refused:
            if id(future) in waited_for:
                future.set_exception(each)


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, future in batch:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def writer_of(path: Path) -> Writer:
    """The writer of a store, one for the whole process. Whoever got it calls `Writer.release`."""
    with _LOCK:
        writer = _WRITERS.get(path)
        if writer is None:
            writer = _WRITERS[path] = Writer(path)
        writer.users += 1
        return writer
