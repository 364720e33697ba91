"""What a test would take, for people and as JSON. In: its plan, before anything is run. Out: text, or plain data."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Plain
from prosa.records.test_plan import Bounds, TestPlan
from prosa.render.plain import safe
from prosa.render.power import power_json, power_lines
from prosa.render.tests import count_words, dollars, wrapped


def plan_json(plan: TestPlan) -> dict[str, Plain]:
    """Return what a test would take, as data."""
    return {
        "attempts": plan.attempts,
        "calls": plan.calls.as_list(),
        "tokens": plan.tokens.as_list(),
        "cost": plan.cost.as_list(),
        "asks": plan.asks,
        "max_cost": None if plan.cap is None else float(plan.cap),
        "sides": [
            {
                "path": side.path,
                "label": side.label,
                "attempts": side.attempts,
                "calls": side.calls.as_list(),
                "tokens": side.tokens.as_list(),
                "cost": side.cost.as_list(),
            }
            for side in plan.sides
        ],
        "notes": list(plan.notes),
        "power": power_json(plan.powers),
    }


def plan_text(plan: TestPlan) -> str:
    """Return the same for people."""
    lines: list[str] = []
    for side in plan.sides:
        lines += wrapped(f"{safe(side.path)} · {safe(side.label)}" if side.label else safe(side.path))
        lines += [f"  {words}" for words in _plan_lines(side.attempts, side.calls, side.tokens, side.cost)]
    if len(plan.sides) > 1:
        lines += [
            "together",
            *(f"  {words}" for words in _plan_lines(plan.attempts, plan.calls, plan.tokens, plan.cost)),
        ]
    if plan.cap is not None:
        lines.append(f"--max-cost ends it at {dollars(float(plan.cap))}")
    lines += [part for note in plan.notes for part in wrapped(f"note: {note}")]
    lines += [part for words in power_lines(plan.powers) for part in wrapped(words)]
    return "\n".join(lines)


def _plan_lines(attempts: int, calls: Bounds[int], tokens: Bounds[int], cost: Bounds[float]) -> Iterator[str]:
    yield f"{count_words(attempts, 'attempt')}, {_between(calls, '{:,}')} model calls"
    yield f"{_between(tokens, '{:,}')} tokens"
    yield f"{_between(cost, '${:,.2f}')}" if cost.least is not None or cost.most is not None else "cost unknown"


def _between(spread: Bounds[int] | Bounds[float], form: str) -> str:
    """Return both ends of a range; an unknown one in words."""
    if spread.least is not None and spread.least == spread.most:
        return form.format(spread.least)
    if spread.most is None:
        return "an unknown number of" if spread.least is None else f"at least {form.format(spread.least)}"
    least = "up to" if spread.least is None else f"{form.format(spread.least)} to"
    return f"{least} {form.format(spread.most)}"
