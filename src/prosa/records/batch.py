"""Batches as values: rows as they were read, a program over many of them, each of which is a run of its own, and the
batches of a model service, at half the price (X29).

In: counts, records and replies. Out: what stores, services and renderers share. Nothing is read or sent here.

The id of a batch is the same for the same program, model, rows and mapping. An adapter speaks the interface of one
service; what is sent, waited for and written down is decided in `app/batch/rounds`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from msgspec import Meta, Struct

from prosa.data import Value
from prosa.data.limits import MAX_CELL
from prosa.runtime.errors import (
    BudgetSpent,
    InDoubt,
    InputRefused,
    LimitExceeded,
    PriceUnknown,
    ProviderError,
    RowsRefused,
    RunError,
    SandboxError,
    SiteError,
    TemplateRefused,
    ToolServerError,
)
from prosa.runtime.messages import ModelReply, ModelRequest

MAX_ROW = MAX_CELL
"""Bytes of one row: a larger one is refused as it is read, and costs nothing."""


MAX_COLUMNS = 16_384
"""Columns of a table of rows: as many as a spreadsheet has."""


class Row(Struct, frozen=True):
    """One row. ``number`` counts from 1, ``place`` says where it stands. ``texts`` says that its values are texts,
    which a schema types; ``problem`` is why there is no value; ``columns`` are those of its table, in which an empty
    cell has no value; ``unfit`` says what is wrong with a cell, by its column."""

    number: int
    place: str
    value: Mapping[str, Value] | None = None
    texts: bool = False
    problem: str = ""
    columns: Sequence[str] = ()
    unfit: Mapping[str, str] = {}


class RowSource(Protocol):
    """Rows that can be read more than once."""

    @property
    def name(self) -> str:
        """What they are called: a path, with a table where there is one."""
        ...

    def digest(self) -> str:
        """SHA-256 of what the rows are. Raises `RowsRefused`."""
        ...

    def rows(self) -> Iterator[Row]:
        """Return the rows in their order. Raises `RowsRefused` where they cannot be read, or changed meanwhile."""
        ...


def require_columns(name: str, columns: Sequence[str]) -> None:
    """Raise `RowsRefused` for more than `MAX_COLUMNS` columns, and for two of one name."""
    if len(columns) > MAX_COLUMNS:
        hint = "take the columns that the program needs into a file of their own"
        raise RowsRefused(f"{name}: {len(columns):,} columns, and a table may have {MAX_COLUMNS:,}", hint=hint)
    twice = next((column for column, count in Counter(columns).items() if count > 1), None)
    if twice is not None:
        raise RowsRefused(f"{name}: two columns are called {twice!r}")


def too_large() -> str:
    """Return why a row is refused unread."""
    return f"the row is larger than {MAX_ROW // 2**20} MiB"


Cell: TypeAlias = "bool | int | float | str | bytes | Decimal | date | Sequence[Cell] | Mapping[str, Cell] | None"
"""What stands in a column of a row: more than JSON has."""


def numbered_rows(
    name: str, columns: Sequence[str], blocks: Iterator[Sequence[Sequence[Cell] | None]]
) -> Iterator[Row]:
    """Yield rows of a database, in the order in which they come, without values that are null. None stands for a row
    that is too large to be read."""
    number = 0
    for block in blocks:
        for cells in block:
            number += 1
            place = f"{name}: row {number}"
            if cells is None:
                yield Row(number, place, problem=too_large(), columns=columns)
                continue
            value: dict[str, Value] = {}
            unfit: dict[str, str] = {}
            for column, cell in zip(columns, cells, strict=True):
                if isinstance(cell, bytes) or (isinstance(cell, float) and not math.isfinite(cell)):
                    kind = "bytes" if isinstance(cell, bytes) else cell
                    unfit[column] = f"column {column} holds {kind}, which JSON has not"
                elif cell is not None:
                    value[column] = _plain(cell)
            yield Row(number, place, value, columns=columns, unfit=unfit)


def _plain(cell: Cell) -> Value:
    """Return a value of a database as JSON has it: what is neither number, text nor list, as a date, is its text."""
    if isinstance(cell, str | int | float | bool):
        return cell
    if isinstance(cell, list | tuple):
        return [_plain(item) if item is not None else None for item in cell]
    if isinstance(cell, dict):
        return {str(key): None if item is None else _plain(item) for key, item in cell.items()}
    return str(cell)


def digest_of_rows(rows: Iterator[Row]) -> str:
    """SHA-256 of rows that have no bytes of their own."""
    hasher = hashlib.sha256()
    for row in rows:
        parts = [row.value, row.problem, *([row.unfit] if row.unfit else ())]
        hasher.update(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass") + b"\n")
    return hasher.hexdigest()


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
    of its budget, in billionths of a US dollar. ``written`` has a line for each file of results
    that was written, the last one at the end: its path and its digest. ``reason`` says why it stopped. ``options`` is
    the JSON of `SharedOptions`, where several workers may be at it.
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
    parts = json.dumps([list(map(list, closure)), model, rows_sha, mapping], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()[:_ID_DIGITS]


class RowResult(Struct, frozen=True):
    """What came of one row: ``output``, or ``kind`` and ``error``. ``row`` is its number, counted from 1, ``id`` what
    the user calls it; ``cost`` is US dollars, None where no price is known; ``attempts`` counts the processes."""

    row: int
    id: Value
    output: Any = None
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
            fields: dict[str, Value] = {"output": self.output, "cost": self.cost, "calls": self.calls}
            return {"row": self.row, "id": self.id, **fields, "seconds": round(self.seconds, 3)}
        fields = {"kind": self.kind, "error": self.error, "calls": self.calls, "cost": self.cost}
        return {"row": self.row, "id": self.id, **fields, "attempts": self.attempts}


class BatchCounts(Struct, frozen=True):
    """How far a batch has come. ``cost`` is US dollars that are known, ``unpriced`` counts rows with calls whose price
    is not; ``failed`` counts by kind."""

    total: int
    done: int = 0
    failed: Mapping[str, int] = {}
    begun: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    unpriced: int = 0

    @property
    def full_cost(self) -> float | None:
        """US dollars of all rows, None where a price is not known."""
        return None if self.unpriced else self.cost

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
    calls of an earlier run, where calls go in rounds and there was one."""

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
            "dollars": None if self.dollars is None else self.dollars.as_dict(),
            "seconds": None if self.seconds is None else self.seconds.as_dict(),
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


BackendName: TypeAlias = Literal["live", "openai-batch", "anthropic-batch"]

MAX_ID = 64
"""Characters of the id of a request, by both services; its alphabet is letters, digits, `-` and `_`."""

_PATH_LETTERS = str.maketrans("./", "-_")
_PATH_SIGNS = str.maketrans("-_", "./")


class BatchBounds(Struct, frozen=True):
    """How much one batch of a service takes: requests, and bytes."""

    lines: int
    size: int


class RoundPart(Struct, frozen=True):
    """One batch of a service as the store has it. ``number`` is that of its round, ``held`` what its requests may cost
    at most, in billionths of a US dollar; ``file`` and ``remote`` are ids that the service gave.

    It is ``written`` before anything is sent, ``uploaded`` and ``sent`` as soon as the service has said its id, and
    ``done`` when every result is in the journal of its row. One that never came to be sent is ``dropped``.
    """

    id: str
    batch: str
    number: int
    backend: str
    service: str
    model: str
    lines: int
    held: int
    created: str
    state: Literal["written", "uploaded", "sent", "done", "dropped"] = "written"
    file: str = ""
    remote: str = ""
    ended: str | None = None
    reason: str | None = None


class RemoteBatch(Struct, frozen=True):
    """A batch as the service reports it. ``done`` counts requests that are over, ``results`` say where they are.
    One that was ``refused`` as a whole has done nothing, for ``reason``; one that was ``cancelled`` only a part.
    ``is_sure`` is False where the service cannot say whose batch it is before it has ended."""

    id: str
    state: Literal["working", "ended", "refused"]
    done: int = 0
    results: tuple[str, ...] = ()
    reason: str = ""
    cancelled: bool = False
    is_sure: bool = True


class LineResult(Struct, frozen=True):
    """What became of one request: a reply, or why there is none. ``again`` says that it makes sense to send it once
    more: it expired, or the service was in trouble."""

    custom_id: str
    reply: ModelReply | None = None
    error: str = ""
    again: bool = False


class ProviderBatches(Protocol):
    """The batches of one service. Every method raises `prosa.runtime.errors.ProviderError`."""

    @property
    def service(self) -> str:
        """The base URL, as people may see it."""
        ...

    @property
    def bounds(self) -> BatchBounds:
        """How much fits into one batch."""
        ...

    def line(self, custom_id: str, request: ModelRequest) -> bytes:
        """Return one request as it is sent, without a line end."""
        ...

    async def upload(self, part: RoundPart, lines: Path) -> str:
        """Send a file of requests, a line each, and return its id, empty where the service knows no files."""
        ...

    async def create(self, part: RoundPart, lines: Path, file: str) -> str:
        """Begin a batch, and return its id. From here on it costs money."""
        ...

    async def find(self, part: RoundPart, known: Collection[str]) -> list[RemoteBatch]:
        """Return the batches that may be this one, where its id is not known; ``known`` are ids of others."""
        ...

    async def state(self, remote: str) -> RemoteBatch:
        """Return how far a batch is."""
        ...

    def results(self, remote: RemoteBatch) -> AsyncIterator[LineResult]:
        """Return what became of the requests, in any order."""
        ...

    async def cancel(self, remote: str) -> None:
        """Ask the service to cancel the requests that it has not started."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


def custom_id(run: str, path: str) -> str:
    """Return the id of the model call at a path of a run, which is named after a batch and the number of a row."""
    batch, _, number = run.partition(".")
    head = f"{batch}-{number}-"
    plain = head + path.translate(_PATH_LETTERS)
    return plain if len(plain) <= MAX_ID else f"{head}x{sha256(path.encode()).hexdigest()[: MAX_ID - len(head) - 1]}"


def run_of_id(name: str) -> tuple[str, str | None] | None:
    """Return the run and the path of an id; None for a path that was too long for the id, and for an unknown id."""
    parts = name.split("-", 2)
    if len(parts) != 3 or not parts[0] or not parts[1].isascii() or not parts[1].isdigit() or not parts[2]:
        return None
    batch, number, path = parts
    return f"{batch}.{number}", None if path.startswith("x") else path.translate(_PATH_SIGNS)
