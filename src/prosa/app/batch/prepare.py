"""A batch is prepared: what it is made of, where it is kept, what the user chose for it (X29).

In: a program, rows, a mapping. Out: a batch that can begin, with the id that the same command finds again. Nothing is
written and nothing is asked.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.store.writer import host_name
from prosa.app.batch.inputs import Inputs, RowMapping
from prosa.app.batch.rows import Rows
from prosa.app.batch.subject import Subject
from prosa.app.batch.waves import WavePlan
from prosa.app.journal.place import store_path
from prosa.app.options import Environment, Once, Options
from prosa.app.run.world import system_clock
from prosa.records.batch import BatchRecord, batch_id
from prosa.records.run import StorePlace
from prosa.runtime.digest import as_json, closure_digests, stamp
from prosa.runtime.errors import BatchRefused
from prosa.runtime.program import Program, reachable

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow

AT_ONCE = 32
"""Default number of rows that run at once."""

DEFAULT_FAILURES = "10%"

RETRIED = ("provider", "limit", "refused", "budget", "in-doubt", "crashed")
"""Kinds of failures that another try may mend; an input stays what it is."""


class BatchOptions(Struct, frozen=True):
    """How a batch runs. ``rpm`` and ``tpm`` bound calls and tokens a minute, ``max_cost_per_row`` US dollars of a row,
    ``max_failures`` is a number or a share as in ``10%``. ``limit`` takes the first rows only, ``sample`` so many of
    all of them, drawn with ``seed``. ``retry`` are kinds of failures that are tried again. ``waves`` says whether
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
    waves: WavePlan = WavePlan()


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
    secret = next((each for each in reachable(program) if each.classified), None)
    if secret is not None:
        message = f"{secret.file or secret.name} is confidential, and a batch is stored on disk"
        raise BatchRefused(message, hint="run its rows one by one: prosa run stores nothing of it")
    history = (options.journal.history if options.journal else None) or environment.settings.history
    if history == "off":
        raise BatchRefused(
            'a batch is stored on disk, and `history = "off"` stores nothing', hint="see docs/batches.md"
        )
    store = store_path(options.journal, environment.environ)
    closure, rows_sha = closure_of(subject), rows.source.digest()
    kept = {"rows": rows.named, "query": rows.query, "name": chosen.name}
    kept |= {"script": script.script.address} if script is not None else {}
    identity = mapping.as_dict() | ({"name": chosen.name} if chosen.name else {})
    found = batch_id(closure, program.model_name, rows_sha, identity)
    record = BatchRecord(
        id=found,
        name=chosen.name or f"{_plain(program.name)}-{found[:6]}",
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
    return "".join(each if each.isalnum() or each in "-_" else "-" for each in name)[:40] or "batch"
