"""The one thread of a process that writes a store, where everything that waits becomes one transaction (X25), and the
locked file that says which process has a run, gone with it, however it ends.

The number of a process would not do: it is given again, and each container has its own. The store is opened in the
thread, so that no caller waits for it before the first answer is to be written.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread, get_ident
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.store.database import Change, Changes, Statement
from prosa.adapters.store.opening import is_of_values, open_store, problem_of, server_adapter, unwritable
from prosa.records.run import StorePlace, StoreServer
from prosa.runtime.errors import RunError, StoreProblem

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database


T = TypeVar("T")
Work: TypeAlias = "Callable[[Database], T]"
_Waiting: TypeAlias = "tuple[Work[Any], Commit[Any]]"
_Waiter: TypeAlias = "tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]"

LATER = 0.1
"""Seconds that what need not be written soon waits for something else."""

MOMENT = 0.005
"""Seconds that writes for one of many runs wait for those of others, which end at the same time."""

_WRITERS: dict[StorePlace, Writer] = {}
_LOCK = Lock()


class Commit(Future[T]):
    """What a piece of work gives, once it is committed: to await on an event loop, or to ask on a thread. ``woken``
    takes the waiters of a transaction, so that an event loop wakes once for all of them."""

    woken: list[_Waiter] | None = None

    def __await__(self) -> Generator[object, None, T]:
        loop, here = asyncio.get_running_loop(), get_ident()
        waiter = loop, loop.create_future()

        def done(committed: Future[T]) -> None:  # names no `self`, which keeps what is called
            woken = cast("Commit[T]", committed).woken
            if woken is None or get_ident() == here:  # it was done before
                _wake([waiter])
            else:
                woken.append(waiter)

        self.add_done_callback(done)
        yield from waiter[1]
        return self.result()


def _wake(waiters: list[_Waiter]) -> None:
    """Let those continue that wait on event loops for what is committed now."""

    def wake(futures: list[asyncio.Future[None]]) -> None:
        for waiter in futures:
            if not waiter.done():
                waiter.set_result(None)

    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for loop, future in waiters:
        by_loop.setdefault(loop, []).append(future)
    for loop, futures in by_loop.items():
        with suppress(RuntimeError):  # it was closed meanwhile
            loop.call_soon_threadsafe(wake, futures)


class Writer:
    """Writes one store. A transaction that fails as a whole fails for everybody in it; a piece of work that raises
    `RunError` has written nothing, and fails alone. So does one whose values no store takes, whatever it raises."""

    def __init__(self, place: StorePlace) -> None:
        self.place = place
        self.users = 0
        self.transactions = 0
        self.holder = ""
        self._queue: SimpleQueue[tuple[Work[Any], Commit[Any], float] | None] = SimpleQueue()
        self._connection: Database | None = None
        self._thread = Thread(target=self._work, name="prosa-store", daemon=True)
        self._thread.start()

    @property
    def away(self) -> bool:
        """Return whether the server is lost and waited for; what is to be written waits too."""
        return self._connection is not None and self._connection.away

    def do(self, work: Work[T], *, within: float = 0.0) -> Commit[T]:
        """Return what ``work`` gives, once it is committed. The future fails with `StoreProblem`, or what ``work``
        raises. It may wait ``within`` some seconds for other work, so that all of it is one transaction."""
        future: Commit[T] = Commit()
        self._queue.put((work, future, within))
        return future

    def release(self) -> None:
        """End the use of the writer that `writer_of` began. The last one waits until everything is written and the file
        is closed."""
        with _LOCK:
            self.users -= 1
            if self.users:
                return
            _WRITERS.pop(self.place, None)
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        problem: Exception | None = None
        holder: Holder | ServerHolder | None = None
        try:
            self._connection = open_store(self.place)
            holder = holder_of(self.place, self._connection)
            self.holder = holder.name
        except StoreProblem as error:
            problem = error
        except OSError as error:
            problem = StoreProblem(f"the store {self.place} cannot be used: {error.strerror or error}")
        except Exception as error:  # any error: a caller waits for an answer
            problem = problem_of(error, self.place) or error
        ended = False
        while not ended:
            batch, ended = self._waiting()
            if self._connection is None or problem is not None:
                _fail(batch, problem or StoreProblem(f"the store {self.place} is closed"))
            elif batch:
                self._commit(self._connection, batch)
        if self._connection is not None:
            with contextlib.suppress(Exception):  # everything was committed
                self._connection.close()
        if holder is not None:
            holder.release()

    def _waiting(self) -> tuple[list[_Waiting], bool]:
        """Return everything that waits, at least one piece of it; whether nothing more will come."""
        batch: list[_Waiting] = []
        until = math.inf
        item = self._queue.get()
        while item is not None:
            work, future, within = item
            batch.append((work, future))
            until = min(until, time.monotonic() + within)
            try:
                left = max(until - time.monotonic(), 0.0)
                if 0.0 < left <= MOMENT:
                    time.sleep(left)  # one wake for all that come meanwhile
                    left = 0.0
                item = self._queue.get(timeout=left)
            except Empty:
                return batch, False
        return batch, True

    def _commit(self, connection: Database, batch: list[_Waiting]) -> None:
        woken: list[_Waiter] = []
        for _, future in batch:
            future.woken = woken
        try:
            self._committed(connection, batch)
        finally:
            for _, future in batch:
                future.woken = None
            _wake(woken)

    def _committed(self, connection: Database, batch: list[_Waiting]) -> None:
        waited_for = {id(future) for _, future in batch if future.set_running_or_notify_cancel()}
        group = _Group(connection, self.place, batch)
        try:
            group.commit()
        except Exception as error:  # any error: callers wait for these
            reason = problem_of(error, self.place) or error
            for _, future in batch:
                if id(future) in waited_for:
                    future.set_exception(reason)
            return
        self.transactions += 1
        for future, value in group.done:
            if id(future) in waited_for:
                future.set_result(value)
        for future, refusal in group.refused:
            if id(future) in waited_for:
                future.set_exception(refusal)


class _Uneven(Exception):
    """One of many changes is refused, and which one is not known."""


class _Group(Struct, eq=False):
    """Pieces of work that become one transaction, and what came of each."""

    connection: Database
    place: StorePlace
    batch: list[_Waiting]
    done: list[tuple[Commit[Any], Any]] = field(default_factory=list)
    refused: list[tuple[Commit[Any], RunError]] = field(default_factory=list)
    changes: dict[Statement, list[Change]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)

    def commit(self) -> None:
        """Do all of it; piece by piece where one of them cannot be written. Raises what the database does."""
        try:
            self.connection.transact(self._together)
        except Exception as error:
            if not isinstance(error, _Uneven) and not is_of_values(error):
                raise
            self.connection.transact(self._one_by_one)

    def _together(self) -> None:
        """Do the pieces in their order, but the same changes of many runs as one."""
        self._begin()
        for work, future in self.batch:
            try:
                if isinstance(work, Changes):
                    self._add(work)
                    self.done.append((future, None))
                else:
                    self._change()
                    self.done.append((future, work(self.connection)))
            except RunError as error:
                self.refused.append((future, error))
        self._change()

    def _add(self, work: Changes) -> None:
        if work.fence is not None:
            work.fence(self.connection)
        changes = work.changes()
        if changes[0].statement.rank <= self.ranks.get(work.run, -1):
            self._change()  # what is written of one run is written in its order
        self.ranks[work.run] = changes[-1].statement.rank
        for change in changes:
            self.changes.setdefault(change.statement, []).append(change)

    def _change(self) -> None:
        """Do the changes that wait. Raises `_Uneven` where one of them is refused."""
        for statement in sorted(self.changes, key=lambda item: item.rank):
            some = self.changes[statement]
            done = self.connection.change_all(statement, [change.values for change in some])
            if done != len(some) and some[0].otherwise is not None:
                raise _Uneven
        self.changes.clear()
        self.ranks.clear()

    def _one_by_one(self) -> None:
        self._begin()
        for work, future in self.batch:
            try:
                self.done.append((future, self._alone(work)))
            except RunError as error:
                self.refused.append((future, error))

    def _begin(self) -> None:
        for collection in (self.done, self.refused, self.changes, self.ranks):
            collection.clear()

    def _alone(self, work: Work[T]) -> T:
        """Return one piece of work, of which nothing is left where it fails."""
        self.connection.execute("SAVEPOINT piece")
        try:
            result = work(self.connection)
        except Exception as error:
            if not is_of_values(error):
                raise
            self.connection.execute("ROLLBACK TO SAVEPOINT piece")
            raise unwritable(error, self.place) from error
        self.connection.execute("RELEASE SAVEPOINT piece")
        return result


class FencedWriter:
    """A writer for the rows of one lease: what it writes is refused once the lease was given away."""

    def __init__(self, writer: Writer, check: Callable[[Database], None]) -> None:
        self._writer, self._check = writer, check

    @property
    def holder(self) -> str:
        """Return the name of this process."""
        return self._writer.holder

    @property
    def place(self) -> StorePlace:
        """Return where it writes."""
        return self._writer.place

    def do(self, work: Work[T], *, within: float = 0.0) -> Commit[T]:
        """Return what ``work`` gives, as `Writer.do` does; `TakenOver` where the lease was given away."""

        if isinstance(work, Changes):
            return self._writer.do(cast("Work[T]", replace(work, fence=self._check)), within=within)

        def checked(connection: Database) -> T:
            self._check(connection)
            return work(connection)

        return self._writer.do(checked, within=within)

    def release(self) -> None:
        """Do nothing: the caller that opened the writer closes it."""


AnyWriter: TypeAlias = Writer | FencedWriter


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, future in batch:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def writer_of(place: StorePlace) -> Writer:
    """Return the writer of a store, one for the whole process. The caller must call `Writer.release`."""
    with _LOCK:
        writer = _WRITERS.get(place)
        if writer is None:
            writer = _WRITERS[place] = Writer(place)
        writer.users += 1
        return writer


_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class Holder:
    """This process, as long as it writes the store. Raises `OSError` where its file cannot be made."""

    def __init__(self, store: Path) -> None:
        self.name = os.urandom(8).hex()
        folder = _folder(store)
        folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        self._file = folder / self.name
        self._descriptor = os.open(self._file, _OPEN, _PRIVATE_FILE)
        _lock(self._descriptor)

    def release(self) -> None:
        """Remove the file and release its lock."""
        with suppress(OSError):
            self._file.unlink()
        os.close(self._descriptor)


class ServerHolder:
    """This process, as long as its connection to a server lives."""

    def __init__(self, database: Database) -> None:
        self.name = os.urandom(8).hex()
        database.hold(self.name)

    def release(self) -> None:
        """Do nothing: the server releases the lock when the connection closes."""


def holder_of(place: StorePlace, database: Database) -> Holder | ServerHolder:
    """Register this process as a writer of the store. Raises `OSError`."""
    return ServerHolder(database) if isinstance(place, StoreServer) else Holder(place)


def is_alive(store: StorePlace, name: str) -> bool:
    """Return whether the process that gave itself this name still writes the store. Raises `StoreProblem`."""
    return living(store)(name)


def living(store: StorePlace) -> Callable[[str], bool]:
    """Return which processes still write the store, by their names; a server is asked once. Raises `StoreProblem`."""
    return server_adapter().living_names(store) if isinstance(store, StoreServer) else partial(_holds_file, store)


def _holds_file(store: Path, name: str) -> bool:
    if not name:
        return False
    try:
        descriptor = os.open(_folder(store) / name, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def clear_dead(store: StorePlace) -> None:
    """Remove what processes left behind that were killed."""
    if isinstance(store, StoreServer):
        return
    for name in _names(store):
        if not is_alive(store, name):
            with suppress(OSError):
                (_folder(store) / name).unlink()


@cache
def host_name() -> str:
    """Return the name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _names(store: Path) -> Iterator[str]:
    try:
        yield from (path.name for path in _folder(store).iterdir())
    except OSError:
        return


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.live")


def _lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `OSError` where another one has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
