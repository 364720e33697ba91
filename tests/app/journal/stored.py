"""Records and writing for tests of the store, and for the processes that they start, without pytest: its import takes
longer than all else that these do."""

from __future__ import annotations

from datetime import UTC, datetime

from prosa.adapters.store import runs
from prosa.adapters.store.writer import writer_of
from prosa.records.run import CallRecord, RunRecord
from prosa.runtime.digest import stamp
from prosa.runtime.errors import StoreProblem

__all__ = ["NOW", "StoreProblem", "call_record", "run_record", "runs", "write", "writer_of"]

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def run_record(run="r1", started=NOW, **values):
    return RunRecord(run, "run", run, "p", "p", "/p.md", "[]", "m", "0", stamp(started), **values)


def call_record(run="r1", path="1", attempt=1, **values):
    return CallRecord(run, path, attempt, "model", "p", "m", "d", stamp(NOW), **values)


def write(path, *work):
    """Pieces of work, one transaction each."""
    writer = writer_of(path)
    try:
        return [writer.do(each).result() for each in work]
    finally:
        writer.release()
