"""`prosa.batch` and `prosa.abatch`: a program over many rows, stored with results that can be read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Unpack

from msgspec import Struct

from prosa.api.arguments import (
    BatchKeywords,
    cap_of,
    environment_of,
    options_of,
    program_of,
    require_provider,
    synchronous,
    takes,
)
from prosa.app.batch.control import row_results
from prosa.app.batch.inputs import RowMapping, Rows, rows_from, rows_of
from prosa.app.batch.prepare import DEFAULT_FAILURES, RETRIED, BatchOptions, Subject, prepare, subject_of
from prosa.app.batch.rounds import ROUNDS, RoundPlan
from prosa.app.batch.shared import begin_batch
from prosa.app.journal.place import file_beside, place_named, store_path
from prosa.app.options import Amount, Environment, JournalOptions, Options
from prosa.app.run.load import ready_program
from prosa.data import Value
from prosa.records.batch import BackendName, BatchCounts, RowResult
from prosa.records.run import StorePlace
from prosa.runtime.budget import Ledger
from prosa.runtime.events import ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program


class BatchResult(Struct, frozen=True):
    """The result of a batch: ``summary`` counts rows, calls, tokens, US dollars. The command line can resume it by
    ``name``; ``reason`` is why it stopped early, empty if it did not."""

    name: str
    id: str
    store: StorePlace
    summary: BatchCounts
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether every row is done."""
        return not self.reason and self.summary.done == self.summary.total

    def rows(self) -> Iterator[RowResult]:
        """Return the rows that are done, in their order, read from the store one by one."""
        return row_results(self.store, self.id)

    def failures(self) -> Iterator[RowResult]:
        """Return the rows that failed, each with its ``kind`` and ``error``."""
        return row_results(self.store, self.id, failed=True)


@takes(BatchKeywords)
async def abatch(
    path_or_program: str | Path | Program,
    rows: str | Path | Iterable[Mapping[str, Value]],
    *,
    script: str = "",
    name: str | None = None,
    store: str | Path | None = None,
    fields: Mapping[str, str] | None = None,
    id_column: str = "",
    query: str = "",
    concurrency: int = 32,
    rpm: int | None = None,
    tpm: int | None = None,
    max_cost_per_row: Amount | None = None,
    max_failures: int | str = DEFAULT_FAILURES,
    limit: int | None = None,
    retry_failed: bool = False,
    rerun_in_doubt: bool = False,
    backend: BackendName = "live",
    waves: int = ROUNDS,
    on_row: Callable[[RowResult], None] | None = None,
    provider: Provider | None = None,
    **options: Unpack[BatchKeywords],
) -> BatchResult:
    """Run a program over rows and return the result of each. The same call again continues where it stopped (X29).

    ``script`` is the id of one of the ai-scripts of a document, whose ``text`` and ``context`` are columns. ``rows``
    are mappings, or the path of a file: JSON lines, a JSON list, CSV, ``data.sqlite::TABLE`` (or ``query``), Parquet.
    ``fields`` map a field to a column, ``id_column`` names the rows. ``store`` is the file for the answers; ``name``
    makes it a separate batch. ``concurrency`` rows run together; ``rpm`` and ``tpm`` bound calls and tokens a minute,
    ``max_cost`` and ``max_cost_per_row`` US dollars, ``max_failures`` a number of rows that fail or a share such as
    ``10%``; ``limit`` takes the first rows only. ``retry_failed`` runs rows again that failed, ``rerun_in_doubt``
    those with a tool call that may have been made. ``on_row`` is called when a row ends. A ``backend`` such as
    ``openai-batch`` answers in at most ``waves`` round trips of up to a day, at half the price. ``provider`` replaces
    the service. A row that fails is a result. Raises `RunError` (`RowsRefused`, `BatchRefused`) if no row can run,
    and TypeError for an invalid provider. Further options:
    """
    require_provider(provider)
    chosen = BatchOptions(
        at_once=concurrency,
        rpm=rpm,
        tpm=tpm,
        max_cost_per_row=None if max_cost_per_row is None else _alone(max_cost_per_row),
        max_failures=str(max_failures),
        limit=limit,
        retry=RETRIED * retry_failed,
        name=name or "",
        rounds=RoundPlan(backend, waves),
    )
    path = program_of(path_or_program)
    environment = environment_of(path if isinstance(path, Path) else None, options.get("environ"))
    journal = JournalOptions("batch", None if store is None else place_named(str(store)), rerun_in_doubt=rerun_in_doubt)
    of_rows = options_of(options, environment, provider, journal=journal)
    subject = _subject(path, script, of_rows, environment)
    beside = file_beside(store_path(journal, environment.environ), environment.environ)
    row_source = _rows(rows, query, beside)
    prepared = prepare(subject, row_source, RowMapping(fields or {}, id_column), chosen, of_rows, environment)
    end = await begin_batch(prepared, listener=options.get("listener", ignore), on_row=on_row, provider=provider)
    return BatchResult(end.batch.name, end.batch.id, end.store, end.counts, end.reason)


def _subject(path: Path | Program, script: str, options: Options, environment: Environment) -> Subject:
    if isinstance(path, Program):
        return Subject(ready_program(path, options, environment))
    return subject_of(path, script, options, environment)


def _rows(rows: str | Path | Iterable[Mapping[str, Value]], query: str, store: Path) -> Rows:
    if isinstance(rows, str | Path):
        return rows_of(str(rows), query, store=store, read=_no_input)
    return rows_from(rows, store=store)


def _no_input(size: int) -> bytes:
    raise ValueError(f"rows='-' is for the command line (asked for {size} bytes)")


def _alone(amount: Amount) -> Decimal:
    cap = cap_of(amount)
    if isinstance(cap, Ledger):
        raise TypeError("max_cost_per_row is an amount: each row has its own")
    return cap


batch = synchronous(abatch, "batch")
