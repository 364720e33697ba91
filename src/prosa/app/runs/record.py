"""Begin, resume and end the run of a job in the store, for every kind of job (X25).

In: what the user chose, and each job as it begins. Out: its journal, or none where history is off and where the program
is confidential. A run that is resumed must be the same run: the same programs, the same input, no other process at it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.providers.prices import KnownPrices
from prosa.adapters.store import runs
from prosa.adapters.store.runs import Retention, TakenOver, Unwritable, end, run_of, runs_of_batch, sweep
from prosa.adapters.store.writer import LATER, clear_dead, host_name, is_alive, living, writer_of
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
from prosa.runtime.journal import UNRECORDED, Journal, chained
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.adapters.store.database import Database
    from prosa.adapters.store.writer import AnyWriter, Work, Writer
    from prosa.app.options import Environment, JournalOptions
    from prosa.app.runs import Job
    from prosa.records.run import CallRecord, History, RunState
    from prosa.runtime.ports import Clock
    from prosa.runtime.program import Program

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


Acknowledge: TypeAlias = "Callable[[BaseException | None, Value], Work[None]]"
"""What is written in the transaction of the end of a run, for the error that ended it, or its output."""


class JobJournal(Struct):
    """What is kept of one job: its run in the store, or nothing. ``output`` is there once it is done, and ``is_done``
    if it was so before this call began; ``acknowledge`` is written with the end of the run, ``within`` asked inside its
    journal. ``cost`` is known at the end."""

    run: str = ""
    stored: StoredJournal | None = None
    within: Journal = UNRECORDED
    output: Value = None
    is_done: bool = False
    acknowledge: Acknowledge | None = None
    cost: float | None = None

    @property
    def journal(self) -> Journal:
        """Return the journal of its calls."""
        return self.within if self.stored is None else chained(self.stored, self.within)


class RunKind(Protocol):
    """Where runs differ that calls, rows and messages start; `Journals` does what is the same for all."""

    async def begin(self, journals: Journals, job: Job, program: Program, kept: JobJournal) -> None:
        """Begin the run of a job, or resume the one that broke off; ``kept`` takes its journal. Raises `RunError`."""
        ...

    def error_of(self, error: BaseException) -> BaseException:
        """Return an error as the one that ends the run."""
        ...

    def kind_of(self, error: BaseException) -> str:
        """Return the kind of end that an error is, as one word for the history."""
        ...


class CallRuns(Struct):
    """The runs of the jobs of a call, which the user may resume together."""

    _begun: int = 0
    _before: Sequence[RunRecord] | None = None

    async def begin(self, journals: Journals, job: Job, program: Program, kept: JobJournal) -> None:
        """Begin a run with its first call, or resume the one of the same name. Raises `NotResumed`, `StoreProblem`."""
        options = journals.options
        assert options is not None
        before = await self._earlier(journals, options.resume) if options.resume is not None else ()
        earlier = next((record for record in before if record.job == job.name), None)
        if earlier is None:
            self._begun += 1
            name = journals.batch if self._begun == 1 else f"{journals.batch}.{self._begun}"
            run = journals.new(job, program, name, journals.batch, input=as_json(job.input_value))
            again = None if options.again is None else as_json(options.again)
            kept.stored = journals.journal(replace(run, again=again), required=False, begun=False)
        elif earlier.state == "done":
            kept.run, kept.output, kept.is_done = earlier.id, json.loads(earlier.output or "null"), True
        else:
            kept.stored = await self._resumed(journals, earlier, job, program)

    def error_of(self, error: BaseException) -> BaseException:
        """Return it as it is."""
        return error

    def kind_of(self, error: BaseException) -> str:
        """Return the word of `kind_of`."""
        return kind_of(error)

    async def _earlier(self, journals: Journals, name: str) -> Sequence[RunRecord]:
        """Return the runs of the call to resume. Raises `NotResumed`, `StoreProblem`."""
        if self._before is None:
            writer = journals.writer_in_use()
            batch = only(await writer.do(lambda connection: run_of(connection, name)), name).batch
            self._before = await writer.do(lambda connection: runs_of_batch(connection, batch))
            journals.batch, self._begun = batch, len(self._before)
        return self._before

    async def _resumed(self, journals: Journals, run: RunRecord, job: Job, program: Program) -> StoredJournal:
        """Return the journal of a resumed run. Raises `NotResumed` if it is not the one that was interrupted."""
        if run.state == "open" and is_alive(journals.writer_in_use().place, run.holder):
            raise NotResumed(
                f"run {run.id} is still active in another process", hint="wait for it, or end that process"
            )
        if not run.whole:
            message = f"only a summary of run {run.id} is stored, so it cannot be resumed"
            raise NotResumed(message, hint="interrupted runs are kept for 7 days; run it again from the beginning")
        require_same(run, program, job.input_value)
        if run.model != program.model_name:
            message = f"run {run.id} started with {run.model}; the rest of it goes to {program.model_name}"
            journals.environment.notice(f"note: {message}")
        return await journals.resume(run, required=False)


class Journals(Struct):
    """The journals of the jobs of one call. ``batch`` is the id that they share; ``unfinished`` is the same once a job
    has failed that can be resumed. ``history`` is what remains of a run, as the user wants it."""

    options: JournalOptions | None
    environment: Environment
    clock: Clock
    kind: RunKind = field(default_factory=CallRuns)
    batch: str = field(default_factory=lambda: urandom(_ID_BYTES).hex())
    unfinished: str = ""
    history: History = "summary"
    _writer: AnyWriter | None = None
    _prices: KnownPrices | None = None

    def __post_init__(self) -> None:
        chosen = self.options.history if self.options else "off"
        self.history = chosen or self.environment.settings.history or "summary"

    @asynccontextmanager
    async def of(self, job: Job, program: Program, kept: JobJournal) -> AsyncIterator[None]:
        """Keep the run of a job, which ends with the block. Raises `NotResumed`, and `StoreProblem` for a run to be
        resumed whose store cannot be opened."""
        if self.options is not None and self._keeps(self.options, program):
            await self.kind.begin(self, job, program, kept)
        if kept.stored is None:
            yield
            return
        kept.run = kept.stored.run.id
        try:
            try:
                yield
            except GeneratorExit as error:
                kept.stored.drop(self._ending(kept, kept.stored, error))
                raise
            except BaseException as error:
                await self._end_badly(kept, self.kind.error_of(error))
                raise
            await self._end_well(kept)
        except Exception as error:
            if (ended := self.kind.error_of(error)) is error:
                raise
            raise ended from error

    async def aclose(self) -> None:
        """Sweep the store, if it is time for that, and wait until everything is written."""
        if self._writer is not None:
            with suppress(StoreProblem):
                await self._writer.do(
                    sweeping(self._writer.place, self.environment, self.clock, content=self.history == "full")
                )
        self.release()

    def release(self) -> None:
        """Wait until everything is written."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.release()

    def _keeps(self, options: JournalOptions, program: Program) -> bool:
        secret = next((reached for reached in reachable(program) if reached.classified), None)
        if options.resume is not None:
            self._require_kept(secret)
        return self.history != "off" and secret is None

    def _require_kept(self, secret: Program | None) -> None:
        if self.history == "off":
            message = 'runs are not stored with `history = "off"`, so none can be resumed'
            raise NotResumed(message, hint="run it again from the beginning, without --resume")
        if secret is not None:
            raise NotResumed(f"{secret.file or secret.name} is confidential, and its runs are not stored")

    def writer_in_use(self) -> AnyWriter:
        """Return the writer of the store, opened at its first use. Raises `StoreProblem`."""
        if self._writer is None:
            self._writer = writer_of(store_path(self.options, self.environment.environ))
        return self._writer

    def write_with(self, writer: AnyWriter) -> None:
        """Use a writer that the caller opened and closes."""
        self._writer = writer

    def new(
        self,
        job: Job,
        program: Program,
        name: str,
        batch: str,
        *,
        closure: str = "",
        file: str | None = None,
        input: str | None = None,  # noqa: A002 - as the column
    ) -> RunRecord:
        """Return the record of a run that begins now, under its id and that of its batch. The door is that of the
        options, the closure and the file those of the program, unless they are known."""
        return RunRecord(
            id=name,
            door="" if self.options is None else self.options.door,
            batch=batch,
            job=job.name,
            program=program.name,
            file=file_of(program, job.document) if file is None else file,
            closure=closure or as_json(closure_digests(program)),
            model=program.model_name,
            input_sha=digest_of(job.input_value),
            started=stamp(self.clock.now()),
            input=input,
            host=host_name(),
        )

    def journal(self, run: RunRecord, *, required: bool = True, begun: bool = True) -> StoredJournal:
        """Return the journal of a run. One that is not ``begun`` is in the store with its first call."""
        return StoredJournal(
            run,
            self.writer_in_use,
            self.clock,
            self.environment.notice,
            full=self.history == "full",
            rerun=self.options is not None and self.options.rerun_in_doubt,
            required=required,
            begun=begun,
        )

    async def begin(self, run: RunRecord, *, grouped: bool = False, late: bool = False) -> StoredJournal:
        """Begin a run that is in the store before anything of it can end the process; ``late``, before its first call
        or a moment later. The writes of one that is ``grouped`` wait for those of others."""
        writer, journal = self.writer_in_use(), self.journal(run)
        journal.grouped = grouped
        begun = writer.do(runs.begin(run, lambda: writer.holder), within=LATER if late else 0.0)
        if late:
            journal.first = begun
        else:
            await begun
        return journal

    async def find(self, name: str) -> RunRecord | None:
        """Return the run of an id."""
        records = await self.writer_in_use().do(lambda connection: run_of(connection, name))
        return next((record for record in records if record.id == name), None)

    async def resume(self, run: RunRecord, *, crashed: bool = False, required: bool = True) -> StoredJournal:
        """Take a run over, with the answers of its earlier processes. Raises `TakenOver`."""
        writer = self.writer_in_use()
        await writer.do(runs.claim(run, lambda: writer.holder, host_name(), crashed=crashed))
        calls = await writer.do(lambda connection: runs.calls_of(connection, run.id))
        resumed = replace(run, attempts=run.attempts + 1, crashes=run.crashes + crashed)
        journal = self.journal(resumed, required=required)
        journal.known = by_path(calls)
        return journal

    async def _end_well(self, kept: JobJournal) -> None:
        """End a run with its output. One whose last answer the store cannot take has failed."""
        try:
            await self.end(kept)
        except Unwritable as error:
            await self.end(kept, self.kind.error_of(error))
            raise

    async def _end_badly(self, kept: JobJournal, error: BaseException) -> None:
        """End a run with its error, or with the reason why the store cannot take its last answer. What ended it is
        raised by the caller, also where another process has taken the run over."""
        with suppress(TakenOver):
            try:
                await self.end(kept, error)
            except Unwritable as worse:
                await self.end(kept, self.kind.error_of(worse))
                raise

    async def end(self, kept: JobJournal, error: BaseException | None = None) -> None:
        """End a run: with its output, or with the error that ended it."""
        if kept.stored is not None:
            await kept.stored.end(self._ending(kept, kept.stored, error))

    def _ending(self, kept: JobJournal, journal: StoredJournal, error: BaseException | None) -> Ending:
        """Return what is written at the end of a run. One that broke off keeps what resuming it needs."""
        state: RunState = "done" if error is None else "failed" if isinstance(error, RunError) else "interrupted"
        goes_on, output = error is not None and journal.can_go_on, kept.output if error is None else None
        if goes_on:
            self.unfinished = self.batch
        kept.cost, priced = self._cost_of(journal)

        def write(seconds: float, answered: CallRecord | None) -> Work[None]:
            ends = end(
                journal.run,
                state,
                ended=stamp(self.clock.now()),
                seconds=seconds,
                kind=None if error is None else self.kind.kind_of(error),
                error=None if error is None else words_of(error),
                output=as_json(output) if error is None else None,
                cost=kept.cost,
                priced=priced,
                forget=self.history != "full" and not goes_on,
                answered=answered,
            )
            return ends if kept.acknowledge is None else _both(ends, kept.acknowledge(error, output))

        return write

    def _cost_of(self, journal: StoredJournal) -> tuple[float | None, str | None]:
        """Return what the run cost and the day of the prices, where that is known without reading a list of prices,
        which takes longer than many a run: the history does it."""
        prices = self._prices = self._prices or KnownPrices(self.environment.settings.prices)
        if not prices.knows_at_once(answered.reported or answered.asked for answered in journal.answered):
            return None, None
        cost = cost_of(journal.answered, prices)
        return (None, None) if cost is None else (float(cost), self.clock.now().date().isoformat())


def sweeping(place: StorePlace, environment: Environment, clock: Clock, *, content: bool) -> Work[None]:
    """Return the piece of work that takes away what is old, if it is time for that; ``content`` keeps the messages of
    what broke off as long as everything else."""
    settings, kept = environment.settings, Retention(content=content)
    kept = replace(kept, days=settings.history_days or kept.days, size=settings.history_size or kept.size)

    asked = cache(lambda: living(place))  # at most once, and only where something is old

    def alive(holder: str) -> bool:
        return asked()(holder)

    def work(connection: Database) -> None:
        if sweep(connection, clock.now(), kept, alive):
            clear_dead(place)

    return work


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


def require_same(run: RunRecord, program: Program, input_value: Value) -> None:
    """Raise `NotResumed` if a run would continue with something other than it started with."""
    if digest_of(input_value) != run.input_sha:
        began = (
            f"run {run.id} started with another input (sha256 {run.input_sha[:12]}, now {digest_of(input_value)[:12]})"
        )
        raise NotResumed(began, hint="leave the input out: the run knows it; or run from the beginning")
    before, now = [tuple(load) for load in json.loads(run.closure)], list(closure_digests(program))
    if before != now:
        hint = "a run can only be resumed unchanged: undo the change, or run from the beginning without --resume"
        raise NotResumed(f"run {run.id} cannot be resumed: {_changed(before, now)} since it began", hint=hint)


def _changed(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> str:
    for (name, old), (other, new) in zip(before, now, strict=False):
        if name == other and old != new:
            return f"{name} changed (sha256 {old[:12]}, now {new[:12]})"
    names = [name for name, _ in before], [name for name, _ in now]
    gone, added = (sorted(set(one) - set(two)) for one, two in (names, names[::-1]))
    if gone or added:
        return " and ".join(
            [f"{name} is no longer imported" for name in gone] + [f"{name} was added" for name in added]
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
