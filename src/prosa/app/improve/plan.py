"""What a search would take, before it: attempts, calls, tokens and US dollars, at least and at most (X26).

In: the parts that would be improved. Out: a `TestPlan`. Nothing is asked. At least the subject is tried on the search
cases; at most every proposal is tried on all of them, and one on the held-out cases beside the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.evals.altered import with_cases
from prosa.app.evals.plan import asks_first, plan_tests
from prosa.app.improve.journal import open_journal
from prosa.app.improve.subject import ImproveOptions, Task, find_subject, tasks_of
from prosa.app.options import JournalOptions
from prosa.records.test_plan import Bounds, N, SidePlan, TestPlan

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options


async def plan_improvement(
    subject: Path, chosen: ImproveOptions, options: Options, environment: Environment
) -> TestPlan:
    """Return what a search takes. Raises what `improve` does before any call."""
    group, suites = find_subject(subject, chosen, options, environment)
    journal = open_journal(chosen.test.journal or JournalOptions("improve"), options.recording, environment)
    try:
        tasks = await tasks_of(group, suites, chosen, options, environment, journal)
    finally:
        journal.release()
    sides = tuple(side for task in tasks for side in _sides(task, chosen, options, environment))
    plan = TestPlan(
        sides,
        options.max_cost if isinstance(options.max_cost, Decimal) else None,
        asks=False,
        notes=tuple(_notes(tasks, chosen)),
    )
    return replace(plan, asks=asks_first(plan, chosen.test))


def _sides(task: Task, chosen: ImproveOptions, options: Options, environment: Environment) -> Iterator[SidePlan]:
    wanted = ((task.split.search, "search", 1, chosen.rounds + 1), (task.split.held_out, "held out", 0, 2))
    for names, label, least, most in wanted:
        suite = replace(with_cases(task.suite, names), without=None)
        (side,) = plan_tests([suite], replace(chosen.test, journal=None), options, environment).sides
        yield SidePlan(
            side.path,
            f"{task.part.name}, {label}",
            side.attempts * most,
            _times(side.calls, least, most),
            _times(side.tokens, least, most),
            _times(side.cost, least, most),
        )


def _times(bounds: Bounds[N], least: int, most: int) -> Bounds[N]:
    return Bounds(
        None if bounds.least is None else bounds.least * least, None if bounds.most is None else bounds.most * most
    )


def _notes(tasks: Sequence[Task], chosen: ImproveOptions) -> Iterator[str]:
    yield f"at most {chosen.rounds * len(tasks)} proposals of a model come on top"
