"""What is written of a batch: results and failures as JSON lines, each file whole or not at all (X29).

In: a batch in the store. Out: files, or lines. Results are read from the store row by row, so that a million of them
take no more memory than ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.files.write import file_digest, replace_with
from prosa.adapters.store import batches
from prosa.adapters.store.writer import writer_of
from prosa.app.journal.history import reading_store
from prosa.runtime.errors import BatchRefused

if TYPE_CHECKING:
    from prosa.records.batch import BatchRecord, RowResult
    from prosa.records.run import StorePlace

_PIECE = 500


class BatchFiles(Struct, frozen=True):
    """The files of a batch: that of its results, and that of its failures where there are any."""

    results: Path
    failures: Path | None


def failures_path(output: Path) -> Path:
    """Return where the failures of results are written: `out.failures.jsonl` beside `out.jsonl`."""
    stem = output.name.removesuffix(".jsonl")
    return output.with_name(f"{stem}.failures.jsonl")


def require_own(output: Path, batch: BatchRecord | None) -> str:
    """Return the digest of a file of results as it may be replaced, empty where there is none. Raises `BatchRefused`
    for one that this batch did not write, or that was changed since."""
    found = file_digest(output)
    if found and (batch is None or batch.written != _mark(output, found)):
        message = f"{output} is there already, and is not what this batch wrote last"
        raise BatchRefused(message, hint="move it away, or name another file with --output")
    return found


def write_results(
    store: StorePlace, batch: BatchRecord, output: Path, *, expected: str, unordered: bool = False
) -> BatchFiles:
    """Write what the rows gave, in their order or in that of their ends, and why others failed. Raises `FileChanged`
    where the file is not what it was when the batch began, `OSError`, `StoreProblem`."""
    with reading_store(store) as connection:
        if connection is None:
            raise BatchRefused(f"there is no store {store}")
        done = batches.results(connection, batch.id, by_time=unordered)
        digest = replace_with(output, _pieces(done), expect_digest=expected)
        failed = list(_first(batches.results(connection, batch.id, failed=True)))
        failures = failures_path(output)
        if failed:
            replace_with(failures, _pieces(batches.results(connection, batch.id, failed=True)))
        elif failures.exists():
            replace_with(failures, ())  # what failed before has been done since
    writer = writer_of(store)
    try:
        writer.do(batches.note_written(batch.id, _mark(output, digest))).result()
    finally:
        writer.release()
    return BatchFiles(output, failures if failed else None)


def lines(store: StorePlace, batch: str, *, after: int = 0, until: int | None = None) -> Iterator[str]:
    """Yield the results of the rows that are done, in their order, as lines without their ends."""
    with reading_store(store) as connection:
        if connection is not None:
            for each in batches.results(connection, batch, after=after, until=until):
                yield line_of(each)


def row_results(store: StorePlace, batch: str, *, failed: bool = False) -> Iterator[RowResult]:
    """Yield the rows of a batch that are done, or those that failed, in their order."""
    with reading_store(store) as connection:
        if connection is not None:
            yield from batches.results(connection, batch, failed=failed)


def line_of(result: RowResult) -> str:
    """Return one row as a line of JSON."""
    return json.dumps(result.as_dict(), ensure_ascii=False)


def _pieces(found: Iterable[RowResult]) -> Iterator[bytes]:
    waiting: list[str] = []
    for each in found:
        waiting.append(line_of(each))
        if len(waiting) >= _PIECE:
            yield ("\n".join(waiting) + "\n").encode("utf-8", "backslashreplace")
            waiting.clear()
    if waiting:
        yield ("\n".join(waiting) + "\n").encode("utf-8", "backslashreplace")


def _first(found: Iterator[RowResult]) -> Iterator[RowResult]:
    for each in found:
        yield each
        return


def _mark(output: Path, digest: str) -> str:
    return f"{output.absolute()} {digest}"
