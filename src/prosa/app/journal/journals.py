"""The journals of one call: who keeps what, which runs go on, how each ends (X25).

In: what the user chose, and each job as it begins. Out: a journal for it, or one that remembers nothing where history
is off, where what runs is confidential, and where nobody asked. A run that goes on must be the same run: the same
programs, the same input, no other process at it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.prices import KnownPrices
from prosa.adapters.store import reading, writing
from prosa.adapters.store.holding import clear_dead, host_name, is_alive, living
from prosa.adapters.store.reading import run_of, runs_of_batch
from prosa.adapters.store.sweeping import Kept, sweep
from prosa.adapters.store.writer import writer_of
from prosa.adapters.store.writing import end
from prosa.app.journal.place import store_path
from prosa.app.journal.stored import Ending, StoredJournal, by_path
from prosa.data import Value
from prosa.records.run import RunRecord, StorePlace, only
from prosa.records.summary import cost_of
from prosa.runtime.digest import as_json, closure_digests, digest_of, stamp
from prosa.runtime.errors import (
    BudgetSpent,
    InDoubt,
    InputRefused,
    LimitExceeded,
    NotResumed,
    OutputRefused,
    PriceUnknown,
    ProviderError,
    RunError,
    StoreProblem,
    TemplateRefused,
)
from prosa.runtime.journal import UNRECORDED, Journal
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import AnyWriter, Work, Writer
    from prosa.app.options import Environment, JournalOptions
    from prosa.records.run import History, RunState
    from prosa.runtime.ports import Clock
    from prosa.runtime.program import Program

ABSENT = object()
"""The output of a run that is not over."""

_ID_BYTES = 6


class OpenStore(Struct):
    """Keeps the store open between calls of one process that has many of them, from the first one on."""

    options: JournalOptions | None
    environment: Environment
    _writer: Writer | None = None

    def keep_open(self) -> None:
        """Open the store, where runs are kept at all and it can be opened; else each call says why it is not."""
        history = (self.options.history if self.options else None) or self.environment.settings.history
        if self._writer is not None or self.options is None or history == "off":
            return
        with suppress(StoreProblem):
            self._writer = writer_of(store_path(self.options, self.environment.environ))

    def close(self) -> None:
        """Wait until everything is written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.release()


Settles: TypeAlias = "Callable[[BaseException | None, Value], Work[None]]"
"""What is written in the transaction of the end of a run, for the error that ended it, or its output."""


class JobJournal(Struct):
    """The journal of one job, whose id in the store is ``run``. ``output`` is there where the job was done before this
    call began. ``settles`` says what else is written with the end of the run."""

    run: str = ""
    journal: Journal = UNRECORDED
    output: Value = ABSENT
    given: Value = ABSENT
    settles: Settles | None = None

    @property
    def is_done(self) -> bool:
        """Whether the job need not run."""
        return self.output is not ABSENT

    def done(self, output: Value) -> None:
        """The job has its output."""
        self.given = output


class Journals(Struct):
    """The journals of the jobs of one call. ``batch`` is the id that they share; ``unfinished`` is the same once a job
    has failed that can go on."""

    options: JournalOptions | None
    environment: Environment
    clock: Clock
    batch: str = field(default_factory=lambda: urandom(_ID_BYTES).hex())
    unfinished: str = ""
    _begun: int = 0
    _writer: AnyWriter | None = None
    _before: Sequence[RunRecord] | None = None
    _prices: KnownPrices | None = None

    @property
    def history(self) -> History:
        """What remains of a run, as the user wants it."""
        chosen = self.options.history if self.options else "off"
        return chosen or self.environment.settings.history or "summary"

    @asynccontextmanager
    async def of(
        self, job: str, program: Program, given: Value, document: Path | None = None
    ) -> AsyncIterator[JobJournal]:
        """Return the journal of a job, which ends with it; ``document`` is the file that it stands in, where it is no
        program of its own. Raises `NotResumed`, and `StoreProblem` for a run that is to go on from a store that cannot
        be opened."""
        options = self.options
        if options is None or not self._keeps(options, program):
            yield JobJournal()
            return
        found = await self.journal_for(options, job, program, given, document)
        if isinstance(found, JobJournal):
            yield found
            return
        mine = JobJournal(found.run.id, found, settles=self.settles(job))
        try:
            yield mine
        except GeneratorExit as error:
            found.drop(self._end(found, error, None, mine.settles))
            raise
        except BaseException as error:
            await self._ended(found, error, None, mine.settles)
            raise
        await self._ended(found, None, mine.given, mine.settles)

    async def aclose(self) -> None:
        """Sweep the store, if it is time for that, and wait until everything is written."""
        if self._writer is not None:
            with suppress(StoreProblem):
                await asyncio.wrap_future(self._writer.do(self._sweep(self._writer.place)))
        self.release()

    def release(self) -> None:
        """Wait until everything is written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.release()

    def _keeps(self, options: JournalOptions, program: Program) -> bool:
        secret = next((each for each in reachable(program) if each.classified), None)
        if options.resume is not None:
            self._require_kept(secret)
        return self.history != "off" and secret is None

    def _require_kept(self, secret: Program | None) -> None:
        if self.history == "off":
            message = 'nothing is kept of a run with `history = "off"`, so none can be resumed'
            raise NotResumed(message, hint="run it again from the beginning, without --resume")
        if secret is not None:
            raise NotResumed(f"{secret.file or secret.name} is confidential, and nothing is kept of its runs")

    def writer_in_use(self) -> AnyWriter:
        """Return the writer of the store, opened at its first use. Raises `StoreProblem`."""
        if self._writer is None:
            self._writer = writer_of(store_path(self.options, self.environment.environ))
        return self._writer

    def write_with(self, writer: AnyWriter) -> None:
        """Write with a writer that somebody else opened, and ends."""
        self._writer = writer

    async def journal_for(
        self, options: JournalOptions, job: str, program: Program, given: Value, document: Path | None
    ) -> StoredJournal | JobJournal:
        """Return a new journal, or that of a run which goes on."""
        if options.resume is None:
            return self._new(options, job, program, given, document)
        earlier = next((each for each in await self._earlier(options.resume) if each.job == job), None)
        if earlier is None:
            return self._new(options, job, program, given, document)
        if earlier.state == "done":
            return JobJournal(earlier.id, output=json.loads(earlier.output or "null"))
        return await self._resumed(options, earlier, program, given)

    def _new(
        self, options: JournalOptions, job: str, program: Program, given: Value, document: Path | None
    ) -> StoredJournal:
        self._begun += 1
        run = RunRecord(
            id=self.batch if self._begun == 1 else f"{self.batch}.{self._begun}",
            door=options.door,
            batch=self.batch,
            job=job,
            program=program.name,
            file=file_of(program, document),
            closure=as_json(closure_digests(program)),
            model=program.model_name,
            input_sha=digest_of(given),
            started=stamp(self.clock.now()),
            input=as_json(given),
            again=None if options.again is None else as_json(options.again),
            host=host_name(),
        )
        return StoredJournal(run, self.writer_in_use, self.clock, self._notice, full=self.history == "full")

    async def _earlier(self, name: str) -> Sequence[RunRecord]:
        """Return the runs of the call that is to go on. Raises `NotResumed`, `StoreProblem`."""
        if self._before is None:
            writer = self.writer_in_use()
            found = await asyncio.wrap_future(writer.do(lambda connection: run_of(connection, name)))
            batch = only(found, name).batch
            before = await asyncio.wrap_future(writer.do(lambda connection: runs_of_batch(connection, batch)))
            self._before, self.batch, self._begun = before, batch, len(before)
        return self._before

    async def _resumed(self, options: JournalOptions, run: RunRecord, program: Program, given: Value) -> StoredJournal:
        """Return the journal of a run that goes on. Raises `NotResumed` where it is not the one that broke off."""
        writer = self.writer_in_use()
        if run.state == "open" and is_alive(writer.place, run.holder):
            raise NotResumed(f"run {run.id} still goes on in another process", hint="wait for it, or end that process")
        if not run.whole:
            message = f"of run {run.id} only a summary is left, so it cannot go on"
            raise NotResumed(message, hint="what broke off is kept for 7 days; run it again from the beginning")
        require_same(run, program, given)
        if run.model != program.model_name:
            self._notice(f"note: run {run.id} began with {run.model}; what is left of it goes to {program.model_name}")
        await asyncio.wrap_future(writer.do(writing.claim(run, lambda: writer.holder, host_name())))
        calls = await asyncio.wrap_future(writer.do(lambda connection: reading.calls_of(connection, run.id)))
        return StoredJournal(
            replace(run, attempts=run.attempts + 1),
            self.writer_in_use,
            self.clock,
            self._notice,
            full=self.history == "full",
            rerun=options.rerun_in_doubt,
            begun=True,
            known=by_path(calls),
        )

    async def _ended(
        self, journal: StoredJournal, error: BaseException | None, output: Value, settles: Settles | None = None
    ) -> None:
        """Write the end of a run."""
        await journal.end(self._end(journal, error, output, settles))

    def _end(
        self, journal: StoredJournal, error: BaseException | None, output: Value, settles: Settles | None
    ) -> Ending:
        """Return what is written at the end of a run. What broke off keeps what it needs to go on."""
        state: RunState = "done" if error is None else "failed" if isinstance(error, RunError) else "interrupted"
        goes_on = error is not None and journal.can_go_on
        if goes_on:
            self.unfinished = self.batch
        cost, priced = self.cost_of(journal)

        def write(seconds: float) -> Work[None]:
            ends = end(
                journal.run,
                state,
                ended=stamp(self.clock.now()),
                seconds=seconds,
                kind=None if error is None else self.kind_of(error),
                error=None if error is None else words_of(error),
                output=as_json(output) if error is None else None,
                cost=cost,
                priced=priced,
                forget=self.history != "full" and not goes_on,
            )
            return ends if settles is None else _both(ends, settles(error, output))

        return write

    def settles(self, job: str) -> Settles | None:
        """Return what else is written with the end of the run of a job."""
        del job
        return None

    def kind_of(self, error: BaseException) -> str:
        """Return what kind of end an error is, as one word for the history."""
        return kind_of(error)

    def cost_of(self, journal: StoredJournal) -> tuple[float | None, str | None]:
        """Return what the run cost and the day of the prices, where that is known without reading a list of prices:
        that takes longer than many a run, so it is left to whoever looks at the history."""
        prices = self._prices = self._prices or KnownPrices(self.environment.settings.prices)
        if not prices.knows_at_once(each.reported or each.asked for each in journal.answered):
            return None, None
        cost = cost_of(journal.answered, prices)
        return (None, None) if cost is None else (float(cost), self.clock.now().date().isoformat())

    def _sweep(self, path: StorePlace) -> Work[None]:
        settings, kept = self.environment.settings, Kept(content=self.history == "full")
        kept = replace(kept, days=settings.history_days or kept.days, size=settings.history_size or kept.size)

        asked = cache(lambda: living(path))  # at most once, and only where something is old

        def alive(holder: str) -> bool:
            return asked()(holder)

        def work(connection: Database) -> None:
            if sweep(connection, self.clock.now(), kept, alive):
                clear_dead(path)

        return work

    def _notice(self, text: str) -> None:
        self.environment.notice(text)


def _both(first: Work[None], second: Work[None]) -> Work[None]:
    """Return two pieces of work as one: the second is done where the first one could be."""

    def work(database: Database) -> None:
        first(database)
        second(database)

    return work


def file_of(program: Program, document: Path | None = None) -> str:
    """Return the path of the file that a program stands in, empty for one that was made."""
    if document is None and not program.file:
        return ""
    return str((document or Path(program.folder, program.file)).absolute())


def require_same(run: RunRecord, program: Program, given: Value) -> None:
    """Raise `NotResumed` where a run would go on with something else than it began with."""
    if digest_of(given) != run.input_sha:
        began = f"run {run.id} began with another input (sha256 {run.input_sha[:12]}, now {digest_of(given)[:12]})"
        raise NotResumed(began, hint="leave the input out: the run knows it; or run from the beginning")
    before, now = [tuple(each) for each in json.loads(run.closure)], list(closure_digests(program))
    if before != now:
        hint = "a run goes on with what it began with: undo the change, or run from the beginning without --resume"
        raise NotResumed(f"run {run.id} cannot go on: {_changed(before, now)} since it began", hint=hint)


def _changed(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> str:
    for (name, old), (other, new) in zip(before, now, strict=False):
        if name == other and old != new:
            return f"{name} changed (sha256 {old[:12]}, now {new[:12]})"
    names = [name for name, _ in before], [name for name, _ in now]
    gone, added = (sorted(set(one) - set(two)) for one, two in (names, names[::-1]))
    if gone or added:
        return " and ".join(
            [f"{each} is no longer imported" for each in gone] + [f"{each} was added" for each in added]
        )
    return "the order of the imports changed"


def kind_of(error: BaseException) -> str:
    """Return what kind of end an error is, as one word for the history."""
    if not isinstance(error, RunError):
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit)
        return "interrupted" if stopped else "crashed"
    kinds = {
        InputRefused: "input",
        TemplateRefused: "input",
        OutputRefused: "refused",
        LimitExceeded: "limit",
        BudgetSpent: "budget",
        PriceUnknown: "budget",
        InDoubt: "in-doubt",
        ProviderError: "provider",
    }
    return next((word for kind, word in kinds.items() if isinstance(error, kind)), "failed")


def words_of(error: BaseException) -> str:
    """Return why a run ended, in one line."""
    if isinstance(error, RunError):
        return error.message
    return "interrupted" if kind_of(error) == "interrupted" else f"{type(error).__name__}: {error}"
