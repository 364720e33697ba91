"""Batches as values: a program over many rows, each of which is a run of its own (X29).

In: what a batch is made of. Out: its id, which is the same for the same program, model, rows and mapping; how far it
has come; what is written of a row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from prosa.data import Value
from prosa.runtime.errors import (
    BudgetSpent,
    InDoubt,
    InputRefused,
    LimitExceeded,
    PriceUnknown,
    ProviderError,
    RunError,
    SandboxError,
    SiteError,
    TemplateRefused,
    ToolServerError,
)

BatchState: TypeAlias = Literal["open", "done", "stopped", "cancelled"]
"""``open`` while a process is at it, or was when it died; ``stopped`` where rows are left."""

RowKind: TypeAlias = Literal["input", "refused", "limit", "provider", "in-doubt", "crashed", "budget"]
"""Why a row has no output."""

MAX_CRASHES = 3
"""A row that ends its process so often is set aside."""

ALONE_AFTER = 2
"""A row that was under way at so many crashes runs alone, so that a further one tells which row it was."""

_ID_DIGITS = 12

_KINDS: tuple[tuple[type[RunError], RowKind], ...] = (
    (InputRefused, "input"),
    (TemplateRefused, "input"),
    (LimitExceeded, "limit"),
    (BudgetSpent, "budget"),
    (PriceUnknown, "budget"),
    (InDoubt, "in-doubt"),
    (ProviderError, "provider"),
    (ToolServerError, "provider"),
    (SiteError, "provider"),
    (SandboxError, "provider"),
)


def row_kind(error: RunError) -> RowKind:
    """Return why a row failed, in one word; errors without a kind of their own count as refused."""
    return next((word for kind, word in _KINDS if isinstance(error, kind)), "refused")


class BatchRecord(Struct, frozen=True):
    """A batch as the store has it. ``closure`` is the JSON list of the programs with their digests, ``mapping`` the
    JSON of how fields are made of columns; ``rows_from`` says where the rows were read, ``rows_sha`` what they were.

    ``total`` counts the rows, those that are refused too. ``granted`` is what all processes that were at it have drawn
    of its budget, in billionths of a US dollar. ``written`` is the digest of the results that were written last, with
    their path before it. ``reason`` says why it stopped. ``options`` is the JSON of `SharedOptions`, where several
    workers may be at it.
    """

    id: str
    name: str
    created: str
    program: str
    file: str
    closure: str
    model: str
    rows_from: str
    rows_sha: str
    mapping: str
    total: int
    state: BatchState = "open"
    holder: str = ""
    host: str = ""
    granted: int = 0
    ended: str | None = None
    reason: str | None = None
    written: str | None = None
    options: str | None = None


class SharedOptions(Struct, frozen=True):
    """The settings that every worker of a batch follows. ``path`` is the program below the folder in which the batch
    was started; ``model`` and ``provider`` as the user named them. ``cap`` and ``cap_per_row`` are billionths of a US
    dollar. ``limits`` are those of a run. ``alone`` says why only the process that started the batch can run its
    rows."""

    path: str
    model: str | None = None
    provider: str | None = None
    script: str = ""
    cap: Annotated[int, Meta(ge=0)] | None = None
    cap_per_row: Annotated[int, Meta(ge=0)] | None = None
    rpm: Annotated[int, Meta(ge=1)] | None = None
    tpm: Annotated[int, Meta(ge=1)] | None = None
    max_failures: Annotated[str, Meta(pattern=r"^[0-9]{1,9}%?$")] = "10%"
    rerun_in_doubt: bool = False
    allow_cut: bool = False
    limits: Mapping[str, Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]] = {}
    alone: str = ""


def batch_id(closure: Sequence[tuple[str, str]], model: str, rows_sha: str, mapping: Mapping[str, Value]) -> str:
    """Return the id of a batch: the same program, model, rows and mapping are the same batch."""
    told = json.dumps([list(map(list, closure)), model, rows_sha, mapping], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:_ID_DIGITS]


class RowResult(Struct, frozen=True):
    """What came of one row: ``output``, or ``kind`` and ``error``. ``row`` is its number, counted from 1, ``id`` what
    the user calls it; ``cost`` is US dollars, None where no price is known; ``attempts`` counts the processes."""

    row: int
    id: Value
    output: Value = None
    kind: RowKind | None = None
    error: str | None = None
    cost: float | None = None
    calls: int = 0
    seconds: float = 0.0
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Whether the row has its output."""
        return self.kind is None

    def as_dict(self) -> dict[str, Value]:
        """As results and failures are written, a line each."""
        if self.kind is None:
            said: dict[str, Value] = {"output": self.output, "cost": self.cost, "calls": self.calls}
            return {"row": self.row, "id": self.id, **said, "seconds": round(self.seconds, 3)}
        said = {"kind": self.kind, "error": self.error, "calls": self.calls, "cost": self.cost}
        return {"row": self.row, "id": self.id, **said, "attempts": self.attempts}


class BatchCounts(Struct, frozen=True):
    """How far a batch has come. ``cost`` is US dollars that are known; ``failed`` counts by kind."""

    total: int
    done: int = 0
    failed: Mapping[str, int] = {}
    begun: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def failures(self) -> int:
        """Rows that failed."""
        return sum(self.failed.values())

    @property
    def left(self) -> int:
        """Rows that are neither done nor failed."""
        return self.total - self.done - self.failures


class BatchProgress(Struct):
    """The progress of a batch, for display. ``here`` counts the rows that this process ended, ``spent`` is US dollars
    of all processes, ``pauses`` counts how often the service asked to wait."""

    wanted: int = 0
    done: int = 0
    failed: int = 0
    here: int = 0
    failed_here: int = 0
    since: float = 0.0
    now: float = 0.0
    spent: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    cap: Decimal | None = None

    @property
    def left(self) -> int:
        """Rows that are neither done nor failed."""
        return self.wanted - self.done - self.failed

    @property
    def rate(self) -> float:
        """Rows a second in this process."""
        return self.here / (self.now - self.since) if self.now > self.since else 0.0


class Interval(Struct, frozen=True):
    """A number that is not known yet: between ``low`` and ``high``, about ``likely``."""

    low: float
    likely: float | None
    high: float

    def as_dict(self) -> dict[str, Value]:
        """Return plain data."""
        return {"low": self.low, "likely": self.likely, "high": self.high}


class BatchPlan(Struct, frozen=True):
    """What is ahead. ``left`` rows would run; ``dollars`` is None where no price is known or nothing bounds a row,
    ``why`` says which; ``seconds`` is None where no row is done yet. ``backend`` is who answers; ``turns`` the model
    calls of an earlier run, where calls go in waves and there was one."""

    name: str
    program: str
    model: str
    total: int
    refused: int
    done: int
    left: int
    sampled: int
    dollars: Interval | None
    seconds: Interval | None
    why: str = ""
    backend: str = "live"
    turns: float | None = None

    def as_dict(self) -> dict[str, Value]:
        """Return plain data for ``--format json``."""
        rows: dict[str, Value] = {"total": self.total, "refused": self.refused, "done": self.done, "left": self.left}
        return {
            "batch": self.name,
            "program": self.program,
            "model": self.model,
            "rows": rows,
            "sampled": self.sampled,
            "dollars": self.dollars and self.dollars.as_dict(),
            "seconds": self.seconds and self.seconds.as_dict(),
            "unknown": self.why or None,
            "backend": self.backend,
            "turns": self.turns,
        }


class BatchStatus(Struct, frozen=True):
    """A batch and how far it is. ``running`` says that a process is at it now, ``hosts`` on which machines, where it
    can be on several."""

    batch: BatchRecord
    counts: BatchCounts
    running: bool
    hosts: tuple[str, ...] = ()
