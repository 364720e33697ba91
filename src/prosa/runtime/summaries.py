"""One summary for several scripts of a document: totals with the keys of a single summary, and the list of scripts.

In: the summary of each that began. Out: one record (L42–L45). Tokens and calls are sums; the duration is the whole
wall clock, in which scripts may have run side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.summary import Summary, duration


class Together(Struct, frozen=True):
    """``file`` is the document, ``error`` why the whole did not go well, if it did not."""

    file: str
    error: str | None
    scripts: Sequence[Summary]
    seconds: float
    start_time: datetime
    end_time: datetime

    def as_dict(self) -> dict[str, Value]:
        """The keys of a single summary, then ``scripts``. ``model`` and ``answered_by`` are null where several are."""
        head: dict[str, Value] = {"program": self.file, "success": self.error is None}
        if self.error is not None:
            head["error"] = self.error
        own = [{"script": each.program, **_without_program(each.as_dict())} for each in self.scripts]
        return {
            **head,
            "iterations": sum(each.iterations for each in self.scripts),
            "tokens": self._tokens(),
            "tools_called": sum(each.tools_called for each in self.scripts),
            "duration": duration(self.seconds),
            "model": _one({each.model_name for each in self.scripts}),
            "answered_by": _one({each.answered_by for each in self.scripts}),
            "total": self._total(),
            "errors": sum(each.errors for each in self.scripts),
            "start_time": _iso(self.start_time),
            "end_time": _iso(self.end_time),
            "scripts": own,
        }

    def _tokens(self) -> dict[str, Value]:
        made = sum(each.usage.output_tokens for each in self.scripts)
        taken = sum(each.usage.input_tokens for each in self.scripts)
        cost = _sum(each.cost for each in self.scripts)
        return {"input": taken, "output": made, "total": taken + made, "cost": cost}

    def _total(self) -> dict[str, Value]:
        """The whole of every script, the programs that it called included."""
        tokens = sum(each.total_usage.total_tokens for each in self.scripts)
        total: dict[str, Value] = {"tokens": tokens, "cost": _sum(each.total_cost for each in self.scripts)}
        spent = [each.spent for each in self.scripts if each.spent is not None]
        return {**total, "spent": float(sum(spent))} if spent else total


def _one(names: set[str] | set[str | None]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _sum(costs: Iterable[Decimal | None]) -> float | None:
    """The sum; None where one is not known."""
    known = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        known += cost
    return float(known)


def _without_program(summary: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in summary.items() if name != "program"}


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
