"""Stores with runs and batches of every kind, written as the engine writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from prosa.adapters.store import batches, runs
from prosa.adapters.store.opening import open_file
from prosa.adapters.store.writer import Writer, writer_of
from prosa.records.batch import BatchRecord
from prosa.records.run import CallRecord, RunRecord
from prosa.runtime.digest import stamp

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
SERVICE = "https://api.anthropic.com"


def run_record(name: str, minute: float = 0, *, program: str = "triage", model: str = "claude-sonnet-4-5") -> RunRecord:
    """A run that started so many minutes after noon."""
    started = stamp(NOON + timedelta(minutes=minute))
    return RunRecord(name, "run", name, "", program, f"/docs/{program}.md", "[]", model, "sha", started)


def model_call(run: str, path: str = "1", *, tokens: int = 1000) -> CallRecord:
    """An answered call of a service whose price is known."""
    return CallRecord(
        run,
        path,
        1,
        "model",
        "triage",
        "claude-sonnet-4-5",
        "digest",
        stamp(NOON),
        "answered",
        answered_by="claude-sonnet-4-5",
        service=SERVICE,
        input_tokens=tokens,
        output_tokens=100,
        seconds=1.5,
    )


def put_runs(path: Path, found: Sequence[RunRecord]) -> None:
    """Writes runs as they are."""
    with closing(open_file(path)) as connection:
        connection.transact(lambda: batches.put_rows(found)(connection))


def put_calls(path: Path, found: Sequence[CallRecord]) -> None:
    """Writes calls of runs that are open, and their answers."""
    with closing(open_file(path)) as connection:

        def work() -> None:
            for each in found:
                runs.ask(each)(connection)
                runs.answer(each)(connection)

        connection.transact(work)


def ended(run: RunRecord, state: str = "done", **more: object) -> RunRecord:
    """The run after its end."""
    return replace(run, state=state, seconds=2.25, ended=run.started, calls=1, **more)  # type: ignore[arg-type]


def holder(path: Path) -> Iterator[Writer]:
    """A living process of the store: this one."""
    writer = writer_of(path)
    writer.do(lambda connection: connection.execute("SELECT 1")).result()
    try:
        yield writer
    finally:
        writer.release()


def batch_record(key: str, minute: float = 0, *, total: int = 4, **more: object) -> BatchRecord:
    """A batch that was made so many minutes after noon."""
    created = stamp(NOON + timedelta(minutes=minute))
    about = ("triage", "/docs/triage.md", "[]", "m", "rows", "sha", "{}", total)
    made = BatchRecord(key, f"batch-{key}", created, *about)
    return replace(made, **more)  # type: ignore[arg-type]


def put_batch(path: Path, batch: BatchRecord, rows: Sequence[RunRecord] = ()) -> None:
    """Writes a batch with its rows."""
    with closing(open_file(path)) as connection:

        def work() -> None:
            batches.insert_batch(connection, batch)
            batches.put_rows(rows)(connection)

        connection.transact(work)


def row_record(batch: str, number: int, state: str = "done", **more: object) -> RunRecord:
    """A row of a batch."""
    made = run_record(f"{batch}.{number}", 1 + number / 100)
    made = replace(made, batch=batch, job=str(number), number=number, output='"yes"')
    return ended(made, state, **more)
