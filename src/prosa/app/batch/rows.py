"""The rows of a batch as a door names them: a file, standard input, values of a program, those of an earlier call.

In: a text or values. Out: a source that can be read again, with the words that name it in the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from prosa.adapters.rows.files import RowFile, as_lines, blocks_of, require_regular, spool_folder, spooled
from prosa.adapters.rows.parquet import ParquetRows
from prosa.adapters.sqlite.rows import SqliteRows
from prosa.app.batch.inputs import RowMapping
from prosa.data import Value
from prosa.records.batch import BatchRecord
from prosa.records.row import RowSource
from prosa.runtime.errors import BatchRefused, RowsRefused
from prosa.source import FileProblem

STDIN = "-"

_SQLITE = (".sqlite", ".sqlite3", ".db")
_TEXT = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv"}


class Rows(Struct, frozen=True):
    """Where the rows are: ``named`` as the user says it, with an absolute path, and the ``query`` of SQLite."""

    source: RowSource
    named: str
    query: str = ""


def rows_of(named: str, query: str, *, store: Path, read: Callable[[int], bytes]) -> Rows:
    """Return the rows of a file, or of standard input, which ``read`` gives. Raises `RowsRefused` and `FileProblem`."""
    if named == STDIN:
        source = spooled(store, blocks_of(read), "standard input")
        return Rows(source, str(source.path))
    rows = Rows(open_rows(named, query), str(Path(named).absolute()), query)
    file = Path(named.rpartition("::")[0] or named)
    if not os.path.lexists(file):
        raise FileProblem(file, "missing", "no such file of rows")
    if file.exists():
        require_regular(file, str(file))
    return rows


def open_rows(named: str, query: str = "") -> RowSource:
    """Return the rows of a file. Raises `RowsRefused` for a name that says nothing of its form."""
    before, mark, table = named.rpartition("::")
    path = Path(before if mark else named)
    suffix = path.suffix.lower()
    if suffix in _SQLITE:
        return SqliteRows(path, table if mark else "", query)
    if query:
        raise RowsRefused(f"--query is about SQLite, and {named} is none")
    if suffix == ".parquet":
        return ParquetRows(path)
    if Path(named).suffix.lower() not in _TEXT:
        hint = "rows are .jsonl, .json, .csv, .sqlite::TABLE or .parquet; - reads JSON lines from standard input"
        raise RowsRefused(f"{named}: what kind of rows is this?", hint=hint)
    return RowFile(Path(named), _TEXT[Path(named).suffix.lower()])


def rows_from(values: Iterable[Mapping[str, Value]], *, store: Path) -> Rows:
    """Return rows that a program has. Raises `RowsRefused` for what is no JSON."""
    source = spooled(store, as_lines(values), "rows")
    return Rows(source, str(source.path))


class BegunWith(Struct, frozen=True):
    """What a batch was started with, as far as the store records it."""

    program: Path
    rows: Rows
    mapping: RowMapping
    name: str
    script: str = ""


def begun_with(batch: BatchRecord, *, store: Path) -> BegunWith:
    """Return what is needed to continue a batch that is identified by its name. Raises `BatchRefused`,
    `RowsRefused`."""
    kept = json.loads(batch.mapping)
    named, query = kept["rows"], kept["query"]
    if not batch.file or not Path(batch.file).is_file():
        raise BatchRefused(f"the program of the batch {batch.name} is no longer there: {batch.file or batch.program}")
    source = open_rows(named, query)
    if Path(named).parent == spool_folder(store) and not Path(named).is_file():
        raise BatchRefused(
            f"the rows of the batch {batch.name} are no longer stored", hint="give them again: --rows FILE"
        )
    mapping, script = RowMapping(kept["fields"], kept["id"]), kept.get("script", "")
    return BegunWith(Path(batch.file), Rows(source, named, query), mapping, kept["name"], script)
