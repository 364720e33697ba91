"""Batches as text and JSON for people and programs: a plan, how far one is, the list of all.

In: values of a batch. Out: lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from prosa.data import Value

if TYPE_CHECKING:
    from prosa.records.batch import BatchCounts, BatchPlan, BatchProgress, BatchStatus, Interval

Words: TypeAlias = Callable[[float], str]


def plan_lines(plan: BatchPlan) -> list[str]:
    """Return what a batch would do."""
    lines = [f"{plan.name}: {plan.program} with {plan.model}"]
    rows = [f"{plan.total:,} rows"]
    rows += [f"{plan.done:,} done"] if plan.done else []
    rows += [f"{plan.refused:,} refused"] if plan.refused else []
    lines.append(f"  {', '.join(rows)}; {plan.left:,} to run")
    if plan.dollars is None:
        lines.append(f"  cost: not known: {plan.why}")
    else:
        lines.append(f"  cost: {_range(plan.dollars, _money)} (by {plan.sampled} rows, examined without a model call)")
    if plan.backend != "live":
        lines.append(f"  time: {_rounds(plan.turns)}; {plan.backend} takes up to a day for each, at half the price")
    elif plan.seconds is None:
        lines.append("  time: not known before some rows are done; --limit 20 runs the first ones")
    else:
        lines.append(f"  time: {_range(plan.seconds, duration)}")
    return lines


def _rounds(turns: float | None) -> str:
    if turns is None:
        return "a wave for each turn of a row"
    return "1 wave, by earlier runs" if turns <= 1 else f"{turns:g} waves, by earlier runs"


def _range(interval: Interval, words: Words) -> str:
    likely = "" if interval.likely is None else f", about {words(interval.likely)}"
    return f"{words(interval.low)} to {words(interval.high)}{likely}"


def progress_line(at: BatchProgress, model: str) -> str:
    """Return how far a batch is, in one line."""
    parts = [f"{at.done + at.failed:,}/{at.wanted:,}"]
    parts += [f"{at.failed:,} failed"] if at.failed else []
    parts += [f"{at.rate:.1f}/s"] if at.rate else []
    if at.cap is not None:
        held = f" (+{_money(float(at.held))} held)" if at.held else ""
        parts.append(f"{_money(float(at.spent))} of {_money(float(at.cap))}{held}")
    elif at.spent:
        parts.append(_money(float(at.spent)))
    if at.rate and at.left:
        parts.append(f"{duration(at.left / at.rate)} left")
    return " · ".join([*parts, model])


def progress_json(at: BatchProgress) -> dict[str, Value]:
    """Return how far a batch is, as plain data."""
    return {
        "done": at.done,
        "failed": at.failed,
        "total": at.wanted,
        "per_second": round(at.rate, 3),
        "seconds_left": round(at.left / at.rate, 1) if at.rate else None,
        "spent": float(at.spent),
        "held": float(at.held),
        "max_cost": None if at.cap is None else float(at.cap),
    }


def counts_words(counts: BatchCounts) -> str:
    """Return the progress of a batch, as on the last line."""
    parts = [f"{counts.done:,} of {_several(counts.total, 'row')} done"]
    if counts.failures:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.failed.items()))
        parts.append(f"{counts.failures:,} failed ({kinds})")
    if counts.left:
        parts.append(f"{counts.left:,} left")
    tokens = counts.input_tokens + counts.output_tokens
    parts += [_several(counts.calls, "call")] if counts.calls else []
    parts += [_several(tokens, "token")] if tokens else []
    parts += [cost] if (cost := _cost(counts)) else []
    return ", ".join(parts)


def _cost(counts: BatchCounts) -> str:
    """Return what the rows cost as far as prices are known; empty if nothing."""
    least = "at least " if counts.unpriced else ""
    return f"{least}{_money(counts.cost)}" if counts.cost else ""


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def status_lines(status: BatchStatus) -> list[str]:
    """Return one batch."""
    batch = status.batch
    state = "running" if status.running else batch.state
    lines = [
        f"{batch.name}  {batch.id}  {state}",
        f"  program  {batch.program}  {batch.file}",
        f"  model    {batch.model}",
    ]
    lines += [
        f"  rows     {batch.rows_from}",
        f"  so far   {counts_words(status.counts)}",
        f"  started  {batch.created}",
    ]
    lines += [f"  at work  {', '.join(status.hosts)}"] if status.hosts else []
    if batch.state == "open" and not status.running:
        lines.append("  at work  none: the same command resumes it, and on a server prosa worker does")
    return lines + ([f"  stopped  {batch.reason}"] if batch.reason else [])


def list_lines(statuses: Sequence[BatchStatus]) -> list[str]:
    """Return all batches, a line each."""
    if not statuses:
        return ["no batches yet: prosa batch PROGRAM --rows FILE starts one"]
    width = max(len(status.batch.name) for status in statuses)
    return [
        f"{status.batch.name:{width}}  {'running' if status.running else status.batch.state:9}"
        f"  {status.counts.done + status.counts.failures:,}/{max(status.batch.total, 0):,}"
        + (f"  {status.counts.failures:,} failed" if status.counts.failures else "")
        + (f"  {cost}" if (cost := _cost(status.counts)) else "")
        for status in statuses
    ]


def status_json(status: BatchStatus) -> Mapping[str, Value]:
    """Return one batch as plain data."""
    batch, counts = status.batch, status.counts
    return {
        "id": batch.id,
        "name": batch.name,
        "state": "running" if status.running else batch.state,
        "reason": batch.reason,
        "program": batch.program,
        "file": batch.file,
        "model": batch.model,
        "rows_from": batch.rows_from,
        "hosts": list(status.hosts),
        "created": batch.created,
        "ended": batch.ended,
        **counts_json(counts),
    }


def counts_json(counts: BatchCounts) -> dict[str, Value]:
    """Return how far a batch is, as plain data."""
    return {
        "total": counts.total,
        "done": counts.done,
        "failed": dict(counts.failed),
        "left": counts.left,
        "calls": counts.calls,
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "cost": counts.full_cost,
        "seconds": round(counts.seconds, 3),
    }


def duration(seconds: float) -> str:
    """Return a time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _money(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 or not amount else f"${Decimal(f'{amount:.4g}'):f}"
