"""The queue of leases on a server: pgqueuer gives each to one worker, and to another one where that is heard no more.

In: ranges of rows, batches that a worker can run. Out: leases. Who beats, and who is given up, is pgqueuer's; that a
lease is ours is checked, and its fencing token raised, in the transaction that takes it (X29, docs/decisions/0039).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import Annotated, TypeVar
from uuid import uuid4

import msgspec
import psycopg
from msgspec import Struct
from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder
from pgqueuer.core.buffers import HeartbeatBuffer
from pgqueuer.core.heartbeat import Heartbeat
from pgqueuer.db import PsycopgDriver, SyncPsycopgDriver
from pgqueuer.domain.models import Job
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.domain.types import Channel, JobId, QueueEntrypoint, QueueManagerId
from pgqueuer.queries import EntrypointExecutionParameter, Queries, SyncQueries

from prosa.adapters.store import postgres
from prosa.adapters.store.database import Database
from prosa.adapters.store.leases import LeaseKey
from prosa.adapters.store.postgres import LOCKS, SCHEMA, PostgresDatabase, address_of, problem_of
from prosa.records.run import StoreServer
from prosa.runtime.errors import StoreProblem

T = TypeVar("T")

TAKEOVER_SECONDS = 15.0
"""After so long without a sign of life a lease is another worker's."""

_AT_ONCE = 500
_WORDS = "rows."
_Number = Annotated[int, msgspec.Meta(gt=-(2**62), lt=2**62)]


@cache
def _settings() -> DBSettings:
    """All names are given: what is not would come from variables of the environment such as `CHANNEL`."""
    return DBSettings(
        prefix="",
        db_schema=SCHEMA,
        channel=Channel("prosa_queue"),
        function="queue_changed",
        trigger="queue_changed",
        queue_table="queue",
        queue_table_log="queue_log",
        queue_status_type="queue_status",
        statistics_table="queue_statistics",
        schedules_table="queue_schedules",
        durability=Durability.durable,
        widen_id=True,
    )


def entrypoint_of(batch: str) -> str:
    """Return the name under which the leases of a batch stand in the queue."""
    return f"{_WORDS}{batch}"


def make_queue(database: Database) -> None:
    """Make the tables of the queue, where they are not there yet."""
    database.execute("SELECT pg_advisory_xact_lock(?, 1)", (LOCKS,))
    (table,) = database.execute("SELECT to_regclass(?)", (f"{SCHEMA}.queue",)).fetchone()
    if table is None:
        builder = QueryBuilderEnvironment(settings=_settings())
        _server(database).connection.execute(builder.build_install_query(create_schema=False).encode())


def enqueue(database: Database, batch: str, ranges: Sequence[tuple[int, int]]) -> None:
    """Put leases into the queue, in the transaction that is under way. One that is there already stays as it is."""
    queries = SyncQueries(_driver(database), qbq=QueryQueueBuilder(settings=_settings()))
    for start in range(0, len(ranges), _AT_ONCE):
        some = ranges[start : start + _AT_ONCE]
        payloads: list[bytes | None] = [json.dumps({"first": first, "last": last}).encode() for first, last in some]
        keys: list[str | None] = [f"{batch}:{first}-{last}" for first, last in some]
        names, zeros = [entrypoint_of(batch)] * len(some), [0] * len(some)
        queries.enqueue(names, payloads, zeros, dedupe_key=keys, on_conflict="skip")


def drop(database: Database, batch: str) -> None:
    """Take the leases of a batch out of the queue, and what the queue noted of them."""
    builder = QueryQueueBuilder(settings=_settings())
    for text in (builder.build_delete_from_queue_query(), builder.build_delete_log_query()):
        psycopg.RawCursor(_server(database).connection).execute(text.encode(), ([entrypoint_of(batch)],))


def waiting(database: Database, batch: str) -> int:
    """Return how many leases of a batch are not over: those that wait, and those that a worker has."""
    rows = _driver(database).fetch(QueryQueueBuilder(settings=_settings()).build_queue_size_query())
    return sum(int(str(row["count"])) for row in rows if row["entrypoint"] == entrypoint_of(batch))


def _rows_of(job: Job) -> tuple[int, int] | None:
    """Return the first and the last row of a lease; None for any other payload."""
    with suppress(msgspec.DecodeError, RecursionError):
        bounds = msgspec.json.decode(job.payload or b"{}", type=dict[str, _Number])
        return (bounds["first"], bounds["last"]) if {"first", "last"} <= bounds.keys() else None
    return None


def _server(database: Database) -> PostgresDatabase:
    if not isinstance(database, PostgresDatabase):
        raise StoreProblem("several workers need a store on PostgreSQL: --store postgresql://HOST/DATABASE")
    return database


def _driver(database: Database) -> SyncPsycopgDriver:
    return SyncPsycopgDriver(_server(database).connection)


class TakenLease(Struct, eq=False):
    """A lease of this worker. Its fencing token grows where its own queue gave it once more, since a beat was late;
    ``lost`` says that another worker has it."""

    key: LeaseKey
    job: Job
    beat: float
    lost: bool = False


class _Beating(Queries):
    """Queries that note when a sign of life arrived."""

    heard: Callable[[Sequence[JobId]], None] = staticmethod(lambda _: None)
    mended: Callable[[], Awaitable[None]]

    async def update_heartbeat(self, job_ids: list[JobId]) -> None:
        """Tell the server that jobs are under way."""
        try:
            await super().update_heartbeat(job_ids)
        except (psycopg.OperationalError, *postgres.ENDINGS):
            await self.mended()
            await super().update_heartbeat(job_ids)
        self.heard(job_ids)


class LeaseQueue:
    """The leases of one worker. Two connections: one for signs of life, so that nothing holds these up."""

    def __init__(self, server: StoreServer, holder: str, host: str, takeover: float | None = None) -> None:
        self.server, self.holder, self.host = server, holder, host
        self.takeover = TAKEOVER_SECONDS if takeover is None else takeover
        self.held: dict[int, TakenLease] = {}
        self._id = QueueManagerId(uuid4())
        self._taking = asyncio.Lock()
        self._mending = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        """Connect. Raises `StoreProblem`."""
        self._beats, self._takes = await self._connected(), await self._connected()
        settings = _settings()
        builders = QueryBuilderEnvironment(settings=settings), QueryQueueBuilder(settings=settings)
        self._beating = _Beating(PsycopgDriver(self._beats), *builders)
        self._beating.heard, self._beating.mended = self._beat, self._mend
        self._queue = Queries(PsycopgDriver(self._takes), *builders)
        timeout = timedelta(seconds=self.takeover)
        buffer = HeartbeatBuffer(max_size=100, timeout=timeout / 8, repository=self._beating)
        self._buffer = await self._stack.enter_async_context(buffer)

    async def take(self, batches: Sequence[str], most: int) -> list[TakenLease]:
        """At most so many leases of some batches: those that wait, and those whose worker is heard no more."""
        names = {QueueEntrypoint(entrypoint_of(batch)): EntrypointExecutionParameter(0) for batch in batches}

        async def taken() -> list[TakenLease]:
            async with self._takes.transaction():
                jobs = await self._queue.dequeue(most, names, self._id, None, timedelta(seconds=self.takeover))
                return [lease for job in jobs if (lease := await self._taken(job)) is not None]

        return await self._asked(taken)

    async def _taken(self, job: Job) -> TakenLease | None:
        rows, batch = _rows_of(job), job.entrypoint.removeprefix(_WORDS)
        if rows is None:
            await self._queue.log_jobs([(job, "exception", None)])  # its rows get another lease
            return None
        text = (
            "INSERT INTO lease AS mine (batch, first, last, turn, holder, host) VALUES (%s, %s, %s, 1, %s, %s)"
            " ON CONFLICT (batch, first) DO UPDATE SET turn = mine.turn + 1, last = excluded.last,"
            " holder = excluded.holder, host = excluded.host RETURNING turn"
        )
        parameters = batch, *rows, self.holder, self.host
        row = await (await self._takes.execute(text, parameters)).fetchone()
        assert row is not None
        key = LeaseKey(batch, *rows, int(row[0]))
        known = self.held.get(job.id)
        if known is not None:
            known.key = key  # our own sign of life was late
            return None
        return TakenLease(key, job, time.monotonic())

    @asynccontextmanager
    async def kept(self, lease: TakenLease) -> AsyncIterator[None]:
        """Send heartbeats for the lease until the block ends."""
        self.held[lease.job.id] = lease
        try:
            async with Heartbeat(lease.job.id, timedelta(seconds=self.takeover / 2), self._buffer):
                yield
        finally:
            self.held.pop(lease.job.id, None)

    def is_heard(self, lease: TakenLease) -> bool:
        """Return whether the last heartbeat is too recent for another worker to have taken the lease."""
        return time.monotonic() - lease.beat < self.takeover * 0.8

    async def end(self, lease: TakenLease, *, again: bool) -> None:
        """End the lease, or queue it ``again`` for any worker. Does nothing if another worker holds it."""

        async def ended() -> None:
            async with self._takes.transaction():
                text = "SELECT turn FROM lease WHERE batch = %s AND first = %s FOR UPDATE"
                row = await (await self._takes.execute(text, (lease.key.batch, lease.key.first))).fetchone()
                if row is None or row[0] != lease.key.fencing_token:
                    return
                await self._takes.execute(
                    "UPDATE lease SET holder = '' WHERE batch = %s AND first = %s", (lease.key.batch, lease.key.first)
                )
                if again:
                    await self._queue.retry_job(lease.job, timedelta(0), None)
                else:
                    await self._queue.log_jobs([(lease.job, "successful", None)])

        await self._asked(ended)

    async def aclose(self) -> None:
        """End the connections."""
        with suppress(psycopg.Error):
            await self._stack.aclose()
        for connection in (self._beats, self._takes):
            with suppress(psycopg.Error):
                await connection.close()

    def _beat(self, jobs: Sequence[JobId]) -> None:
        for job in jobs:
            if job in self.held:
                self.held[job].beat = time.monotonic()

    async def _connected(self) -> psycopg.AsyncConnection:
        try:
            connection = await psycopg.AsyncConnection.connect(address_of(self.server), autocommit=True)
            await connection.execute(f"SET search_path TO {SCHEMA}")
            await connection.execute(f"SET idle_in_transaction_session_timeout TO '{postgres.IDLE_SECONDS}s'")
            return connection
        except psycopg.Error as error:
            raise problem_of(error, self.server) or error from None

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        async with self._taking:
            while True:
                try:
                    return await ask()
                except psycopg.Error as error:
                    if not self._takes.closed and not isinstance(error, postgres.ENDINGS):
                        raise problem_of(error, self.server) or error from None
                    await self._takes.close()
                    await self._mend()

    async def _mend(self) -> None:
        """Connect anew what was lost. Raises `StoreProblem` where the server stays away."""
        async with self._mending:
            end, pause = time.monotonic() + postgres.PATIENCE, 0.05
            while self._beats.closed or self._takes.closed:
                try:
                    if self._beats.closed:
                        self._beats = await self._connected()
                        self._beating.driver = PsycopgDriver(self._beats)
                    if self._takes.closed:
                        self._takes = await self._connected()
                        self._queue.driver = PsycopgDriver(self._takes)
                except StoreProblem:
                    if time.monotonic() >= end:
                        raise
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 1.0)
