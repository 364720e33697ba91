"""A batch made ready: what is run over its rows, a program, a skill or one ai-script of a document, and which batch of
the store that is (X29, M41).

In: what the user names, rows, options. Out: a `Prepared`. For a script the input of a row is what a reader would have
entered, the column ``text``; a column ``context`` stands in place of the document.

Its id is the same for the same command. Nothing is written and nothing is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.store.writer import host_name
from prosa.app.batch.inputs import Inputs, RowMapping, Rows
from prosa.app.batch.rounds import RoundPlan
from prosa.app.check.project import dialect_here
from prosa.app.journal.place import store_path
from prosa.app.options import Environment, Once, Options
from prosa.app.run.load import ready_program
from prosa.app.run.world import system_clock
from prosa.app.scripts.choose import selection
from prosa.app.scripts.load import load_scripts
from prosa.data import Value
from prosa.dialects.magi.choosing import Choice, document_text
from prosa.records.batch import BatchRecord, batch_id
from prosa.records.run import StorePlace
from prosa.runtime.digest import as_json, closure_digests, digest_of, stamp
from prosa.runtime.errors import BatchRefused
from prosa.runtime.lower.magi import given
from prosa.runtime.program import Program, reachable
from prosa.schema import ArgumentProblem
from prosa.settings.environment import given_here

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.dialects.magi import Script


MARK = "#"
"""Between a document and the id of its script, where one word names both."""


class ScriptRows(Struct, frozen=True):
    """How the inputs of a script are made of rows. ``context`` is what is sent of its document, ``provider`` the one
    that the block names."""

    script: Script
    context: str
    provider: ProviderRow | None = None

    fields = frozenset(("text", "context"))

    @property
    def digest(self) -> str:
        """What decides its requests beside the program and the row."""
        return digest_of(given(self.script, self.context))

    def input_value(self, row: Mapping[str, Value]) -> Value:
        """Return the input for a row. Raises `ArgumentProblem` for one with neither of the columns."""
        values = {name: _text(value) for name, value in row.items() if value is not None}
        if not values:
            raise ArgumentProblem("text", "the row has no input for a script: `text`, `context` or both")
        context = document_text(values["context"]) if "context" in values else self.context
        return given(self.script, context, values.get("text", ""))


class Subject(Struct, frozen=True):
    """What is run over rows; ``script`` where it is no program of its own."""

    program: Program
    script: ScriptRows | None = None


def subject_of(
    file: str | Path,
    script: str,
    options: Options,
    environment: Environment,
    *,
    named: bool = True,
    to_run: bool = True,
) -> Subject:
    """Return what a file and the id of a script name; ``doc.mda#id`` names both. ``named`` and ``to_run`` are those of
    `ready_program`. Raises what it does, and `BatchRefused` for a document without a choice among its scripts."""
    path, script = _parts(Path(file), script)
    if dialect_here(path, given_here(environment.environ)) != "magi":
        if script:
            message = f"{script!r} is to be an ai-script, and {path} is read as a program"
            raise BatchRefused(message, hint="scripts are in documents that end in .mda")
        return Subject(ready_program(path, options, environment, named=named, to_run=to_run))
    loaded = load_scripts(path, options, environment.settings)
    if not script:
        known = ", ".join(candidate.address for candidate in loaded.scripts[:10]) or "none"
        raise BatchRefused(f"which script of {path} runs over the rows? it has: {known}", hint="--script ID")
    selected = selection(loaded, Choice((script,), text="a row"), options, environment)
    selected.require_named()
    job = selected.preparing.ready(selected.chosen[0].script)
    program = replace(job.program, file=path.name, folder=str(path.parent))
    context = cast("Mapping[str, Value]", job.input_value)["context"]  # made by `given`
    return Subject(program, ScriptRows(job.script, str(context), job.row))


def _parts(path: Path, script: str) -> tuple[Path, str]:
    if script or MARK not in path.name or path.exists():
        return path, script
    name, _, script = path.name.partition(MARK)
    return path.with_name(name or path.name), script


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


AT_ONCE = 32
"""Default number of rows that run at once."""

DEFAULT_FAILURES = "10%"

RETRIED = ("provider", "limit", "refused", "budget", "in-doubt", "crashed")
"""Kinds of failures that another try may mend; an input stays what it is."""


class BatchOptions(Struct, frozen=True):
    """How a batch runs. ``rpm`` and ``tpm`` bound calls and tokens a minute, ``max_cost_per_row`` US dollars of a row,
    ``max_failures`` is a number or a share as in ``10%``. ``limit`` takes the first rows only, ``sample`` so many of
    all of them, drawn with ``seed``. ``retry`` are kinds of failures that are tried again. ``rounds`` says whether
    calls go to batches of the service."""

    at_once: int = AT_ONCE
    rpm: int | None = None
    tpm: int | None = None
    max_cost_per_row: Decimal | None = None
    max_failures: str = DEFAULT_FAILURES
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    retry: tuple[str, ...] = ()
    name: str = ""
    rounds: RoundPlan = RoundPlan()


class Prepared(Struct, frozen=True):
    """A batch that can begin: what it is, its inputs, where it is kept. ``provider`` is the one that its document
    names."""

    batch: BatchRecord
    inputs: Inputs
    store: StorePlace
    options: Options
    chosen: BatchOptions
    environment: Environment
    provider: ProviderRow | None = None


def prepare(
    subject: Subject | Program,
    rows: Rows,
    mapping: RowMapping,
    chosen: BatchOptions,
    options: Options,
    environment: Environment,
) -> Prepared:
    """Return a batch of a program over rows; nothing is written. Raises `RunError` for rows that cannot be read, for a
    program that may not be kept, and where the store has no place."""
    subject = subject if isinstance(subject, Subject) else Subject(subject)
    program, script = subject.program, subject.script
    secret = next((reached for reached in reachable(program) if reached.classified), None)
    if secret is not None:
        message = f"{secret.file or secret.name} is confidential, and a batch is stored on disk"
        raise BatchRefused(message, hint="run its rows one by one: prosa run stores nothing about it")
    history = (options.journal.history if options.journal else None) or environment.settings.history
    if history == "off":
        raise BatchRefused(
            'a batch is stored on disk, and `history = "off"` stores nothing', hint="see docs/batches.md"
        )
    store = store_path(options.journal, environment.environ)
    closure, rows_sha = closure_of(subject), rows.source.digest()
    kept: dict[str, Value] = {"rows": rows.named, "query": rows.query, "name": chosen.name}
    kept |= {"script": script.script.address} if script is not None else {}
    identity = mapping.as_dict() | ({"name": chosen.name} if chosen.name else {})
    batch = batch_id(closure, program.model_name, rows_sha, identity)
    record = BatchRecord(
        id=batch,
        name=chosen.name or f"{_plain(program.name)}-{batch[:6]}",
        created=stamp(system_clock().now()),
        program=program.name,
        file=str(Path(program.folder, program.file).absolute()) if program.file else "",
        closure=as_json(closure),
        model=program.model_name,
        rows_from=rows.source.name,
        rows_sha=rows_sha,
        mapping=as_json(mapping.as_dict() | kept),
        total=-1,
        host=host_name(),
    )
    inputs = Inputs(rows.source, program, mapping, Once(environment.notice), script)
    return Prepared(record, inputs, store, options, chosen, environment, script.provider if script else None)


def closure_of(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Return what is run, with the digests of all that decides its requests."""
    script = subject.script
    return closure_digests(subject.program) + (((script.script.address, script.digest),) if script is not None else ())


def _plain(name: str) -> str:
    """Return the name of a program as part of that of a batch: it never ends as a file does."""
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in name)[:40] or "batch"
