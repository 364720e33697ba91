"""Runs, tests and batches of a store in one list, as values (X37).

In: records. Out: what one line of the list shows, and which lines are meant.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

RecordKind: TypeAlias = Literal["run", "test", "batch"]
RECORD_KINDS: tuple[RecordKind, ...] = ("run", "test", "batch")

Condition: TypeAlias = Literal["running", "done", "failed", "stopped"]
"""How something stands, in one word for all kinds. A test or a batch that has ended and of which something failed has
failed; ``stopped`` broke off, or was cancelled."""
CONDITIONS: tuple[Condition, ...] = ("running", "done", "failed", "stopped")


class RecordFilter(Struct, frozen=True):
    """Which records are meant. ``program`` is a name, or with a `/` a file; ``since`` is a time as in a record;
    ``text`` is a part of what a line shows. ``below`` are the start and the id after which a page begins."""

    kind: RecordKind | None = None
    condition: Condition | None = None
    program: str = ""
    since: str = ""
    text: str = ""
    below: tuple[str, str] | None = None
    limit: int = 50


class ListedRecord(Struct, frozen=True):
    """One line. ``started`` and ``ended`` are UTC texts, ``cost`` is US dollars, None where no price is known. Of
    ``total`` attempts or rows ``done`` are over, of which ``failed`` failed and
    ``unmeasured`` were not measured; a run has none. ``model`` says which was
    to answer, ``error`` why something failed or stopped."""

    kind: RecordKind
    id: str
    name: str
    condition: Condition
    started: str
    model: str = ""
    file: str = ""
    ended: str | None = None
    seconds: float | None = None
    cost: float | None = None
    calls: int = 0
    tokens: int = 0
    total: int = 0
    done: int = 0
    failed: int = 0
    unmeasured: int = 0
    error: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The place in the list, which begins with the last."""
        return self.started, self.id


class RecordList(Struct, frozen=True):
    """A page of the list; ``more`` says that there are others, ``there`` that there is a store."""

    records: tuple[ListedRecord, ...] = ()
    more: bool = False
    there: bool = True
