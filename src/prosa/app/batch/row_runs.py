"""The run of each row of a batch, known by the number of the row (X25, X29)."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.store.batches import AGAIN, BEGUN, LEFT, put_failed
from prosa.adapters.store.runs import DamagedRecord, Unwritable
from prosa.app.batch.rounds import Lines, WaitingCalls
from prosa.app.run.world import known_prices
from prosa.app.runs import Job
from prosa.app.runs.record import kind_of, words_of
from prosa.data import Value
from prosa.records.batch import MAX_CRASHES, BatchRecord, row_kind
from prosa.records.run import RunRecord
from prosa.runtime.errors import BudgetSpent, RunError, first_error
from prosa.runtime.journal import Waits
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.app.journal.stored import StoredJournal
    from prosa.app.runs.record import JobJournal, Journals
    from prosa.runtime.program import Program


class RowCrashed(RunError):
    """A row that ended its process too often."""


CRASHES = (RowCrashed, Unwritable)
"""What is no failure of a program, a service or a limit."""


class RowJob(Job, frozen=True, kw_only=True):
    """A row of a batch as a job. ``number`` counts from 1, ``id`` is what the user calls the row."""

    number: int
    id: Value


R = TypeVar("R", bound=RowJob)


class RowRuns(Struct):
    """The runs of the rows of the batch ``record``. ``states`` says what was known of each row when this process began.
    With ``lines``, calls are written there and wait for the answers of a round.

    ``grouped`` is false where one row runs at a time, and its writes would wait for nothing. ``fresh`` is false where
    an earlier process was at these rows: the start of a row is then committed before anything of it runs, so that a
    row that ends its process at once is counted.
    """

    record: BatchRecord
    states: bytearray | defaultdict[int, int]
    lines: Lines | None = None
    grouped: bool = True
    fresh: bool = True

    async def begin(self, journals: Journals, job: Job, program: Program, kept: JobJournal) -> None:
        """Begin the run of a row, or resume that of an earlier process. Whatever else is raised fails the row alone, as
        `RowCrashed`."""
        assert isinstance(job, RowJob)
        try:
            kept.stored = await self._begun(journals, job, program, kept)
        except Exception as error:
            failure = self.error_of(error)
            if isinstance(failure, RowCrashed):
                await self.set_aside(journals, job, "crashed", failure.message)
            raise failure from error
        if self.lines is not None:
            prices = known_prices(journals.environment.settings)
            kept.within = WaitingCalls(kept.stored, self.lines, prices)

    async def _begun(self, journals: Journals, job: RowJob, program: Program, kept: JobJournal) -> StoredJournal:
        run = None
        if self.states[job.number - 1] in (BEGUN, AGAIN):
            run = await journals.find(row_run(self.record.id, job.number))
        if run is None:
            waits = any(reached.mailbox for reached in reachable(program))  # for answers of others, with one of its own
            grouped = self.grouped and not waits
            return await journals.begin(self._new(journals, job, program), grouped=grouped, late=grouped and self.fresh)
        stored = await journals.resume(run, crashed=run.state == "open")
        crashes = stored.run.crashes
        if crashes >= MAX_CRASHES:
            error = RowCrashed(f"its process ended {crashes} times while this row was under way")
            kept.stored = stored
            await journals.end(kept, error)
            raise error
        return stored

    def _new(self, journals: Journals, job: RowJob, program: Program) -> RunRecord:
        batch = self.record
        run = journals.new(
            job, program, row_run(batch.id, job.number), batch.id, closure=batch.closure, file=batch.file
        )
        return replace(run, door="batch", job=json.dumps(job.id), number=job.number)

    def refused(self, journals: Journals, job: RowJob, kind: str, problem: str) -> RunRecord:
        """Return the record of a row that fails without running: it costs nothing."""
        run = self._new(journals, job, job.program)
        about = {"state": "failed", "kind": kind, "error": problem, "ended": run.started, "whole": False}
        return replace(run, input_sha="", host="", **about)

    async def set_aside(self, journals: Journals, job: RowJob, kind: str, problem: str) -> None:
        """Write that a row failed, in place of all that is known of it."""
        await journals.writer_in_use().do(put_failed(self.refused(journals, job, kind, problem)))

    def kind_of(self, error: BaseException) -> str:
        """Return why the row failed, as results say it."""
        if isinstance(error, CRASHES):
            return "crashed"
        if isinstance(error, Waits):
            return "waiting"
        if isinstance(error, BudgetSpent) and error.whole:
            return LEFT
        return row_kind(error) if isinstance(error, RunError) else kind_of(error)

    def error_of(self, error: BaseException) -> BaseException:
        """Return the error as one of its row: what is none of a run, and a damaged record, is a crash."""
        if isinstance(error, ExceptionGroup):
            error = first_error(error)
        if isinstance(error, DamagedRecord):
            return RowCrashed(error.message)
        if isinstance(error, RunError | Waits) or not isinstance(error, Exception):
            return error
        return RowCrashed(words_of(error))


def row_run(batch: str, number: int) -> str:
    """Return the id of the run of a row."""
    return f"{batch}.{number}"
