"""The rows of a batch, as a door names them and as inputs of a program (X29): a file, standard input, values of a
program, those of an earlier call.

In: a text or values, and the columns of fields. Out: a source that can be read again, with the words that name it in
the store; an input for each row, or why it has none. Rows are read twice: to look at all of them before the first call,
and to run them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from prosa.adapters.rows.files import RowFile, as_lines, blocks_of, require_regular, spool_folder, spooled
from prosa.adapters.rows.parquet import ParquetRows
from prosa.adapters.sqlite.rows import SqliteRows
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.records.batch import BatchRecord, Row, RowSource
from prosa.runtime.accept import accept_input
from prosa.runtime.errors import BatchRefused, InputRefused, RowsRefused
from prosa.runtime.program import Program
from prosa.schema import ArgumentProblem, Schema, typed_arguments
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


SAMPLE = 24
"""Rows that an estimate looks at."""

MAX_SAMPLED = 64 * 1024
"""Characters of such a row."""


class RowMapping(Struct, frozen=True):
    """How inputs are made of rows: ``fields`` name the column of a field, ``id_column`` the one whose value a row is
    called by; its number where it is empty."""

    fields: Mapping[str, str] = {}
    id_column: str = ""

    def as_dict(self) -> dict[str, Value]:
        """Return plain data."""
        return {"fields": dict(self.fields), "id": self.id_column}


class RowInput(Struct, frozen=True):
    """The input of one row, or ``problem``, why it has none. ``number`` counts from 1."""

    number: int
    id: Value
    place: str
    input_value: Value = None
    problem: str = ""


class InputForm(Protocol):
    """How an input is made of the columns of a row, where the program does not say it."""

    @property
    def fields(self) -> frozenset[str]:
        """Return the columns that it takes."""
        ...

    def input_value(self, row: Mapping[str, Value]) -> Value:
        """Return the input. Raises `ArgumentProblem`."""
        ...


class Inputs(Struct, frozen=True):
    """The inputs of a program in the order of the rows. ``notice`` hears of columns that are left out; ``form`` makes
    inputs where rows are not what the program takes."""

    source: RowSource
    program: Program
    mapping: RowMapping
    notice: Callable[[str], None]
    form: InputForm | None = None

    def __iter__(self) -> Iterator[RowInput]:
        """Raise `RowsRefused`."""
        wanted = self._properties()
        looked = False
        for row in self.source.rows():
            if not looked and (row.columns or row.value is not None):
                self._look_at_first(row.columns or list(row.value or ()), wanted)
                looked = True
            yield self._input(row, wanted)

    def _input(self, row: Row, wanted: frozenset[str] | None) -> RowInput:
        if row.value is None:
            return RowInput(row.number, row.number, row.place, problem=row.problem)
        if problem := self._unfit(row, wanted):
            return RowInput(row.number, row.number, row.place, problem=problem)
        name: Value = row.number
        if column := self.mapping.id_column:
            name = row.value.get(column)
            if not isinstance(name, str | int) or isinstance(name, bool):
                shown = "none" if name is None else json.dumps(name, ensure_ascii=False)[:40]
                raise RowsRefused(f"{row.place}: no id: expected a text or an integer as {column!r}, found {shown}")
        try:
            input_value = self._given(row, wanted)
            return RowInput(row.number, name, row.place, input_value)
        except ArgumentProblem as error:
            return RowInput(row.number, name, row.place, problem=str(error))

    def _unfit(self, row: Row, wanted: frozenset[str] | None) -> str:
        """Return what is wrong with a cell that the input or the id takes; one of an ignored column does not count."""
        if not row.unfit:
            return ""
        taken = {*self.mapping.fields.values(), self.mapping.id_column}
        mapped = self.mapping.fields.keys() - taken
        used = (
            name for name in row.unfit if name in taken or ((wanted is None or name in wanted) and name not in mapped)
        )
        return next((row.unfit[name] for name in used), "")

    def _given(self, row: Row, wanted: frozenset[str] | None) -> Value:
        """Return the fields that are mapped, and the columns that are called as a field is. Raises
        `ArgumentProblem`."""
        value = row.value or {}
        taken = set(self.mapping.fields.values())
        fields = {column: cell for column, cell in value.items() if wanted is None or column in wanted}
        for column in taken - set(self.mapping.fields):
            fields.pop(column, None)
        for name, column in self.mapping.fields.items():
            if column in value:
                fields[name] = value[column]
            else:
                fields.pop(name, None)
        if self.form is not None:
            return self.form.input_value(fields)
        if not row.texts:
            return fields
        return typed_arguments(self.program.input_schema, [(name, str(cell)) for name, cell in fields.items()])

    def _properties(self) -> frozenset[str] | None:
        """Return the fields that the input schema knows; None where it takes any."""
        if self.form is not None:
            return self.form.fields
        schema = self.program.input_schema
        if not isinstance(schema, Mapping) or not isinstance(properties := schema.get("properties"), Mapping):
            return None
        if schema.get("additionalProperties", False) is not False or "patternProperties" in schema:
            return None
        return frozenset(properties)

    def _look_at_first(self, columns: Sequence[str], wanted: frozenset[str] | None) -> None:
        """Say what is mapped wrongly before anything is asked. Raises `RowsRefused`."""
        for column in (*self.mapping.fields.values(), *filter(None, (self.mapping.id_column,))):
            if column not in columns:
                near = nearest(column, columns)
                hint = f"did you mean {near}?" if near else f"it has: {', '.join(columns[:20])}"
                raise RowsRefused(f"{self.source.name}: the first row has no column {column!r}", hint=hint)
        for name in self.mapping.fields:
            if wanted is not None and name not in wanted:
                near = nearest(name, sorted(wanted))
                hint = f"did you mean {near}?" if near else f"its fields are: {', '.join(sorted(wanted))}"
                raise RowsRefused(f"--map {name}=…: the input of {self.program.name} has no such field", hint=hint)
        used = {*self.mapping.fields.values(), self.mapping.id_column}
        left = [column for column in columns if wanted is not None and column not in wanted and column not in used]
        if left:
            self.notice(
                f"note: columns without a matching input of {self.program.name} are ignored: {', '.join(left[:20])}"
            )


class Survey(Struct):
    """What all rows are, after one look at each: how many, how many of them have no valid input, and a sample."""

    total: int = 0
    refused: int = 0
    sample: list[Value] = field(default_factory=list)


def survey(inputs: Inputs, refused: Callable[[RowInput], None], seed: int = 0) -> Survey:
    """Look at every row; ``refused`` hears of those that cannot run, with why. Raises `RowsRefused`, for two rows with
    one id among it."""
    summary, chance = Survey(), random.Random(seed)  # noqa: S311 - a sample is no secret
    ids = array("Q")
    schema = Schema(inputs.program.input_schema)
    for row in inputs:
        summary.total += 1
        if inputs.mapping.id_column:
            ids.append(_id_digest(row.id))
        # Defaults fill what is missing, so most rows that fit without them need no further look.
        wrong = row.problem or ("" if schema.valid(row.input_value) else _wrong(inputs.program, row.input_value))
        if wrong:
            summary.refused += 1
            refused(RowInput(row.number, row.id, row.place, problem=wrong))
        else:
            _sample(summary, row.input_value, chance)
    if not summary.total:
        raise RowsRefused(f"{inputs.source.name} has no rows")
    _require_unique(inputs, ids)
    return summary


def _wrong(program: Program, input_value: Value) -> str:
    try:
        accept_input(program, input_value)
    except InputRefused as error:
        return error.message
    return ""


def _sample(summary: Survey, input_value: Value, chance: random.Random) -> None:
    """Keep some of all rows, each as likely as any other."""
    seen = summary.total - summary.refused
    at = len(summary.sample) if len(summary.sample) < SAMPLE else chance.randrange(seen)
    if at < SAMPLE and len(json.dumps(input_value, default=str)) <= MAX_SAMPLED:
        summary.sample[at : at + 1] = [input_value]


def _id_digest(name: Value) -> int:
    return int.from_bytes(hashlib.blake2b(json.dumps(name).encode(), digest_size=8).digest(), "big")


def _require_unique(inputs: Inputs, ids: array[int]) -> None:
    """Raise `RowsRefused` with both places of an id that two rows have."""
    ordered = sorted(ids)
    twice = {one for one, other in pairwise(ordered) if one == other}
    if not twice:
        return
    seen: dict[str, str] = {}
    for row in inputs:
        if _id_digest(row.id) in twice:
            key = json.dumps(row.id)
            if key in seen:
                raise RowsRefused(f"{row.place}: the id {key} is that of {seen[key]} too", hint="--id COLUMN")
            seen[key] = row.place
