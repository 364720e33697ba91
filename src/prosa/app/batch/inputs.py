"""From rows to inputs of a program: which column is which field, what a row is called, whether it fits the schema.

In: a source of rows, a program, a mapping. Out: an input for each row, or why it has none; what all rows together are.
Rows are read twice: to look at all of them before the first call, and to run them.
"""

from __future__ import annotations

import hashlib
import json
import random
from array import array
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Protocol

from msgspec import Struct, field

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.records.row import Row, RowSource
from prosa.runtime.accept import accept_input
from prosa.runtime.errors import InputRefused, RowsRefused
from prosa.runtime.program import Program
from prosa.schema import ArgumentProblem, Schema, typed_arguments

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
    given: Value = None
    problem: str = ""


class InputForm(Protocol):
    """How an input is made of the columns of a row, where the program does not say it."""

    @property
    def fields(self) -> frozenset[str]:
        """Return the columns that it takes."""
        ...

    def given(self, row: Mapping[str, Value]) -> Value:
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
        for row in self.source.rows():
            if row.number == 1 and row.value is not None:
                self._look_at_first(row.value, wanted)
            yield self._input(row, wanted)

    def _input(self, row: Row, wanted: frozenset[str] | None) -> RowInput:
        if row.value is None:
            return RowInput(row.number, row.number, row.place, problem=row.problem)
        name: Value = row.number
        if self.mapping.id_column:
            name = row.value.get(self.mapping.id_column)
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise RowsRefused(f"{row.place}: no id: `{self.mapping.id_column}` is to be a text or an integer")
        try:
            given = self._given(row, wanted)
            return RowInput(row.number, name, row.place, given)
        except ArgumentProblem as error:
            return RowInput(row.number, name, row.place, problem=str(error))

    def _given(self, row: Row, wanted: frozenset[str] | None) -> Value:
        """Return the fields that are mapped, and the columns that are called as a field is. Raises
        `ArgumentProblem`."""
        value = row.value or {}
        taken = set(self.mapping.fields.values())
        found = {column: each for column, each in value.items() if wanted is None or column in wanted}
        for column in taken - set(self.mapping.fields):
            found.pop(column, None)
        for name, column in self.mapping.fields.items():
            if column in value:
                found[name] = value[column]
            else:
                found.pop(name, None)
        if self.form is not None:
            return self.form.given(found)
        if not row.texts:
            return found
        return typed_arguments(self.program.input_schema, [(name, str(each)) for name, each in found.items()])

    def _properties(self) -> frozenset[str] | None:
        """Return the fields that the input schema knows; None where it takes any."""
        if self.form is not None:
            return self.form.fields
        schema = self.program.input_schema
        if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
            return None
        if schema.get("additionalProperties", False) is not False or "patternProperties" in schema:
            return None
        return frozenset(schema["properties"])

    def _look_at_first(self, value: Mapping[str, Value], wanted: frozenset[str] | None) -> None:
        """Say what is mapped wrongly before anything is asked. Raises `RowsRefused`."""
        columns = list(value)
        for column in (*self.mapping.fields.values(), *filter(None, (self.mapping.id_column,))):
            if column not in value:
                near = nearest(column, columns)
                hint = f"did you mean {near}?" if near else f"it has: {', '.join(columns[:20])}"
                raise RowsRefused(f"{self.source.name}: the first row has no column {column!r}", hint=hint)
        for name in self.mapping.fields:
            if wanted is not None and name not in wanted:
                near = nearest(name, sorted(wanted))
                hint = f"did you mean {near}?" if near else f"its fields are: {', '.join(sorted(wanted))}"
                raise RowsRefused(f"--map {name}=…: the input of {self.program.name} has no such field", hint=hint)
        used = {*self.mapping.fields.values(), self.mapping.id_column}
        left = [each for each in columns if wanted is not None and each not in wanted and each not in used]
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
    found, chance = Survey(), random.Random(seed)  # noqa: S311 - a sample is no secret
    ids = array("Q")
    schema = Schema(inputs.program.input_schema)
    for each in inputs:
        found.total += 1
        if inputs.mapping.id_column:
            ids.append(_id_digest(each.id))
        # Defaults fill what is missing, so most rows that fit without them need no further look.
        wrong = each.problem or ("" if schema.valid(each.given) else _wrong(inputs.program, each.given))
        if wrong:
            found.refused += 1
            refused(RowInput(each.number, each.id, each.place, problem=wrong))
        else:
            _sample(found, each.given, chance)
    if not found.total:
        raise RowsRefused(f"{inputs.source.name} has no rows")
    _require_unique(inputs, ids)
    return found


def _wrong(program: Program, given: Value) -> str:
    try:
        accept_input(program, given)
    except InputRefused as error:
        return error.message
    return ""


def _sample(found: Survey, given: Value, chance: random.Random) -> None:
    """Keep some of all rows, each as likely as any other."""
    seen = found.total - found.refused
    at = len(found.sample) if len(found.sample) < SAMPLE else chance.randrange(seen)
    if at < SAMPLE and len(json.dumps(given, default=str)) <= MAX_SAMPLED:
        found.sample[at : at + 1] = [given]


def _id_digest(name: Value) -> int:
    return int.from_bytes(hashlib.blake2b(json.dumps(name).encode(), digest_size=8).digest(), "big")


def _require_unique(inputs: Inputs, ids: array[int]) -> None:
    """Raise `RowsRefused` with both places of an id that two rows have."""
    ordered = sorted(ids)
    twice = {one for one, other in pairwise(ordered) if one == other}
    if not twice:
        return
    seen: dict[str, str] = {}
    for each in inputs:
        if _id_digest(each.id) in twice:
            key = json.dumps(each.id)
            if key in seen:
                raise RowsRefused(f"{each.place}: the id {key} is that of {seen[key]} too", hint="--id COLUMN")
            seen[key] = each.place
