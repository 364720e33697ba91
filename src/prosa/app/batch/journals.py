"""The journals of the rows of a batch: each row is a run of its own, known by its number (X25, X29)."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from msgspec import field
from msgspec.structs import replace

from prosa.adapters.store import reading, writing
from prosa.adapters.store.batches import AGAIN, BEGUN, LEFT, put_failed
from prosa.adapters.store.holding import host_name
from prosa.adapters.store.writing import DamagedRecord, Unwritable
from prosa.app.batch.inputs import RowInput
from prosa.app.batch.waves import Lines, WaveJournal
from prosa.app.journal.journals import JobJournal, Journals, kind_of, words_of
from prosa.app.journal.stored import StoredJournal, by_path
from prosa.app.run.world import known_prices
from prosa.data import Value
from prosa.records.batch import MAX_CRASHES, BatchRecord, row_kind
from prosa.records.run import RunRecord
from prosa.records.summary import cost_of
from prosa.runtime.digest import digest_of, stamp
from prosa.runtime.errors import BudgetSpent, RunError, first_error
from prosa.runtime.journal import Waits

if TYPE_CHECKING:
    from pathlib import Path

    from prosa.app.options import JournalOptions
    from prosa.runtime.program import Program


class RowCrashed(RunError):
    """A row that ended its process too often."""


CRASHES = (RowCrashed, Unwritable)
"""What is no failure of a program, a service or a limit."""


class RowJournals(Journals, kw_only=True):
    """The journals of the batch ``record``. ``states`` says what was known of each row when this process began; ``ids``
    are what the rows that run now are called, ``costs`` what those took that ended, until somebody asks. With
    ``lines``, calls are written there and wait for the answers of a wave."""

    record: BatchRecord
    states: bytearray | defaultdict[int, int]
    lines: Lines | None = None
    ids: dict[int, Value] = field(default_factory=dict)
    costs: dict[int, float | None] = field(default_factory=dict)

    @asynccontextmanager
    async def of(
        self, job: str, program: Program, given: Value, document: Path | None = None
    ) -> AsyncIterator[JobJournal]:
        """Return the journal of a row. Whatever is raised within it fails the row alone, as `RowCrashed`."""
        begun = False
        try:
            async with super().of(job, program, given, document) as kept:
                begun = True
                try:
                    yield kept
                except Exception as error:
                    raise _of_row(error) from error
        except Exception as error:
            found = _of_row(error)
            if not begun and isinstance(found, RowCrashed):
                await self.set_aside(int(job), "crashed", found.message)
            raise found from error

    async def set_aside(self, number: int, kind: str, problem: str) -> None:
        """Write that a row failed, in place of all that is known of it."""
        row = self.refused(RowInput(number, self.ids.get(number, number), "", problem=problem), stamp(self.clock.now()))
        await asyncio.wrap_future(self.writer_in_use().do(put_failed(replace(row, kind=kind))))

    async def journal_for(
        self, options: JournalOptions, job: str, program: Program, given: Value, document: Path | None
    ) -> StoredJournal | JobJournal:
        """Return the journal of a row: a new one, or that of an earlier process. Raises `RowCrashed`."""
        del document
        number = int(job)
        if self.states[number - 1] in (BEGUN, AGAIN):
            return await self._goes_on(options, number, program, given)
        run = self._run(number, program, given)
        journal = self._journal(run, options)
        await self._begin(run)
        return journal

    def kind_of(self, error: BaseException) -> str:
        """Return why the row failed, as results say it."""
        if isinstance(error, CRASHES):
            return "crashed"
        if isinstance(error, Waits):
            return "waiting"
        if isinstance(error, BudgetSpent) and error.whole:
            return LEFT
        return row_kind(error) if isinstance(error, RunError) else kind_of(error)

    def cost_of(self, journal: StoredJournal) -> tuple[float | None, str | None]:
        """Return what the row cost, and the day of the prices."""
        found = Journals.cost_of(self, journal)
        self.costs[journal.run.number or 0] = found[0]
        return found

    def refused(self, row: RowInput, now: str) -> RunRecord:
        """Return the record of a row whose input is refused: it costs nothing."""
        record = RunRecord(
            id=row_run(self.record.id, row.number),
            door="batch",
            batch=self.record.id,
            job=json.dumps(row.id),
            program=self.record.program,
            file=self.record.file,
            closure=self.record.closure,
            model=self.record.model,
            input_sha="",
            started=now,
            number=row.number,
        )
        return replace(record, state="failed", kind="input", error=row.problem, ended=now, whole=False)

    def _run(self, number: int, program: Program, given: Value) -> RunRecord:
        return RunRecord(
            id=row_run(self.record.id, number),
            door="batch",
            batch=self.record.id,
            job=json.dumps(self.ids.get(number, number)),
            program=program.name,
            file=self.record.file,
            closure=self.record.closure,
            model=program.model_name,
            input_sha=digest_of(given),
            started=stamp(self.clock.now()),
            host=host_name(),
            number=number,
        )

    async def _begin(self, run: RunRecord) -> None:
        """The row is known before anything of it can end the process."""
        writer = self.writer_in_use()
        await asyncio.wrap_future(writer.do(writing.begin(run, lambda: writer.holder)))

    def _journal(self, run: RunRecord, options: JournalOptions) -> StoredJournal:
        common = run, self.writer_in_use, self.clock, self.environment.notice, self.history == "full"
        if self.lines is None:
            return StoredJournal(*common, rerun=options.rerun_in_doubt, required=True, begun=True)
        rerun = options.rerun_in_doubt
        return WaveJournal(*common, rerun=rerun, required=True, begun=True, lines=self.lines, spent=self._spent)

    def _spent(self, journal: StoredJournal) -> Decimal:
        return cost_of(journal.answered, known_prices(self.environment.settings)) or Decimal(0)

    async def _goes_on(
        self, options: JournalOptions, number: int, program: Program, given: Value
    ) -> StoredJournal | JobJournal:
        writer, name = self.writer_in_use(), row_run(self.record.id, number)
        found = [
            each
            for each in await asyncio.wrap_future(writer.do(lambda connection: reading.run_of(connection, name)))
            if each.id == name
        ]
        run = found[0] if found else self._run(number, program, given)
        if not found:
            await self._begin(run)
            return self._journal(run, options)
        crashed = run.state == "open"
        await asyncio.wrap_future(writer.do(writing.claim(run, lambda: writer.holder, host_name(), crashed=crashed)))
        calls = await asyncio.wrap_future(writer.do(lambda connection: reading.calls_of(connection, run.id)))
        run = replace(run, attempts=run.attempts + 1, crashes=run.crashes + crashed)
        journal = self._journal(run, options)
        journal.known = by_path(calls)
        if run.crashes >= MAX_CRASHES:
            error = RowCrashed(f"its process ended {run.crashes} times while this row was under way")
            await self._ended(journal, error, None)
            raise error
        return journal


def _of_row(error: Exception) -> Exception:
    """Return the error as one of its row: what is none of a run, and a damaged record, is a crash."""
    if isinstance(error, ExceptionGroup):
        error = cast("Exception", first_error(error))
    if isinstance(error, DamagedRecord):
        return RowCrashed(error.message)
    return error if isinstance(error, RunError | Waits) else RowCrashed(words_of(error))


def row_run(batch: str, number: int) -> str:
    """Return the id of the run of a row."""
    return f"{batch}.{number}"
