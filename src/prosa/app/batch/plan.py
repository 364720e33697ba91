"""What a batch may cost, before it: by a sample of its rows, and by what rows of it took already (X26, X29).

In: a batch that is prepared. Out: how many rows are left, and US dollars and seconds with an interval. Nothing is asked
and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from math import sqrt
from statistics import fmean, stdev

from msgspec.structs import replace

from prosa.adapters.store import batches
from prosa.app.batch.inputs import RowInput, Survey, survey
from prosa.app.batch.prepare import Prepared
from prosa.app.batch.run import batch_service, turns_of
from prosa.app.journal.history import reading_store
from prosa.app.run.facts import facts_of
from prosa.app.run.world import known_prices
from prosa.data import Value
from prosa.records.batch import BatchCounts, BatchPlan, Interval
from prosa.records.estimate import estimate
from prosa.records.plan import first_messages, first_request
from prosa.runtime.errors import RunError
from prosa.runtime.messages import BATCHED, Usage

WIDTH = 2.0
"""Standard errors to either side of a mean: the truth is inside nineteen times of twenty."""

GUESSED_OUTPUT = 500
"""Assumed tokens of the answer to a row while the number is unknown."""

FEWEST = 5
"""Rows that are done before what they took tells what the others will take."""


def plan_batch(prepared: Prepared) -> BatchPlan:
    """Return the plan of a batch: every row is looked at, some are counted. Raises `RowsRefused`, `StoreProblem`."""
    refused: list[int] = []

    def hear(row: RowInput) -> None:
        refused.append(row.number)

    summary = survey(prepared.inputs, hear, prepared.chosen.seed)
    counts = BatchCounts(summary.total)
    with reading_store(prepared.store) as connection:
        if connection is not None:
            counts = batches.counts(connection, prepared.batch.id, summary.total)
    return planned(prepared, summary, counts)


def planned(prepared: Prepared, summary: Survey, counts: BatchCounts) -> BatchPlan:
    """Return the plan of rows that were looked at."""
    chosen = prepared.chosen
    failed = max(counts.failures, summary.refused)
    left = max(summary.total - counts.done - failed, 0)
    left = min(left, *(limit for limit in (chosen.limit, chosen.sample) if limit is not None), left)
    dollars, why = _dollars(prepared, summary.sample, left, counts)
    return BatchPlan(
        prepared.batch.name,
        prepared.batch.program,
        prepared.batch.model,
        summary.total,
        summary.refused,
        counts.done,
        left,
        len(summary.sample),
        dollars,
        _seconds(counts, left, chosen.at_once) if chosen.rounds.is_live else None,
        why,
        chosen.rounds.backend,
        None if chosen.rounds.is_live else turns_of(prepared, known_prices(prepared.environment.settings)),
    )


def _dollars(
    prepared: Prepared, sample: Sequence[Value], left: int, counts: BatchCounts
) -> tuple[Interval | None, str]:
    program = prepared.inputs.program
    if prepared.options.script is not None or prepared.options.is_here:
        return None, "no service charges for these replies"
    facts = facts_of(program, prepared.options, prepared.environment, prepared.provider)
    if not prepared.chosen.rounds.is_live:
        service = batch_service(prepared) + BATCHED
        facts = replace(facts, service=service, services=dict.fromkeys(facts.services, service), past=())
    lows: list[float] = []
    highs: list[float] = []
    guesses: list[float] = []
    for input_value in sample:
        with suppress(RunError):
            guess = estimate(program, first_request(program, first_messages(program, input_value)), facts)
            if guess.unknown or guess.least.dollars is None:
                return None, f"no price of {', '.join(guess.unknown) or program.model_name} is known"
            if guess.most is None or guess.most.dollars is None:
                return None, guess.boundless or f"no price of {program.model_name} is known"
            lows.append(float(guess.least.dollars))
            highs.append(float(guess.most.dollars))
            guesses.append(float(facts.price(program.model_name, Usage(guess.first, GUESSED_OUTPUT)) or 0))
    if not lows:
        return None, "no row could be examined"
    known = counts.done >= FEWEST and counts.cost > 0
    likely = (counts.cost / counts.done if known else fmean(guesses)) * left
    return Interval(max(_bound(lows, -1), 0.0) * left, likely, _bound(highs, 1) * left), ""


def _bound(values: Sequence[float], side: int) -> float:
    """Return the mean, moved to a side as far as a sample can mislead."""
    error = stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
    return fmean(values) + side * WIDTH * error


def _seconds(counts: BatchCounts, left: int, at_once: int) -> Interval | None:
    """Estimate the seconds for the remaining rows from the finished ones; rows run concurrently."""
    over = counts.done + counts.failures
    if over < FEWEST or not counts.seconds:
        return None
    likely = counts.seconds / over * left / max(1, min(at_once, left))
    return Interval(likely / 2, likely, likely * 2)


def is_large(plan: BatchPlan, rows: int, dollars: Decimal) -> bool:
    """Return whether a person is asked before a batch begins."""
    return plan.left > rows or (plan.dollars is not None and (plan.dollars.likely or plan.dollars.high) > dollars)
