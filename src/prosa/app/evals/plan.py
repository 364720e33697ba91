"""What a test would take, before it: attempts, calls, tokens and US dollars, at least and at most (X26, X36).

In: suites that are ready and the user's choice. Out: a `TestPlan`. Nothing is asked and no agent starts. A bound that
is not known is None: the most that an agent may send depends on the context window of its model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial

from prosa.app.agents.known import known_agent
from prosa.app.agents.task import AgentChoice
from prosa.app.evals.stored import last_outcomes
from prosa.app.evals.suite import Suite
from prosa.app.evals.variants import TestOptions, Variant, variants_of
from prosa.app.options import Environment, Options
from prosa.app.run.facts import facts_of
from prosa.dialects.context.view import tokens_of
from prosa.evaluation.case import Case
from prosa.evaluation.power import Power, powers
from prosa.records.estimate import Amount, EstimateInputs, estimate
from prosa.records.plan import first_messages, first_request
from prosa.records.test_plan import Bounds, SidePlan, TestPlan
from prosa.runtime.messages import Usage
from prosa.runtime.program import with_model

MANY_ATTEMPTS = 1_000
MANY_DOLLARS = Decimal(1)
"""Attempts and US dollars, the thresholds of batches: above one of them a person is asked first."""

BYTES_PER_TOKEN = 3.7
"""Of the requests of agents, as measured: mostly English and JSON."""


def plan_tests(suites: Sequence[Suite], chosen: TestOptions, options: Options, environment: Environment) -> TestPlan:
    """Return what a test takes. Raises what `run_tests` does before it begins."""
    last = partial(last_outcomes, chosen.journal, environment)
    variants = variants_of(suites, chosen, options, last, environment)
    sides = tuple(_side(variant, chosen, options, environment) for variant in variants)
    cap = options.max_cost if isinstance(options.max_cost, Decimal) else None
    plan = TestPlan(sides, cap, asks=False, notes=tuple(_notes(variants)))
    return TestPlan(sides, cap, asks_first(plan, chosen), plan.notes, _powers(variants))


def asks_first(plan: TestPlan, chosen: TestOptions) -> bool:
    """Return whether a person is asked before what a plan says begins."""
    cost = plan.cost.least if plan.cost.least is not None else 0.0
    likely = plan.cost.most if chosen.agents.agents and plan.cost.most is not None else cost
    return plan.attempts > MANY_ATTEMPTS or (likely or 0) > MANY_DOLLARS


def _powers(variants: Sequence[Variant]) -> tuple[Power, ...]:
    """Return what the comparisons of a test can find, for the suite of them that has the fewest cases."""
    by_path: dict[str, list[Variant]] = {}
    for variant in variants:
        by_path.setdefault(str(variant.suite.path), []).append(variant)
    compared = [(len(group[0].cases), group[0].repeats, _comparisons(group)) for group in by_path.values()]
    fewest = min((entry for entry in compared if entry[2]), default=None)
    return () if fewest is None else powers(*fewest)


def _comparisons(variants: Sequence[Variant]) -> int:
    """Return how many comparisons the variants of one suite make together."""
    baselines = sum(variant.baseline and not variant.without for variant in variants)
    tried = sum(not variant.baseline for variant in variants)
    return sum(variant.lifts is not None for variant in variants) + (tried * baselines if baselines else tried - 1)


def _side(variant: Variant, chosen: TestOptions, options: Options, environment: Environment) -> SidePlan:
    attempts = len(variant.cases) * variant.repeats
    if variant.agent is not None:
        calls, tokens, cost = _of_agent(variant.agent.agent, attempts, chosen, options, environment)
    else:
        calls, tokens, cost = _of_loop(variant, options, environment)
    asked = _questions(variant.cases) * variant.repeats * variant.suite.terms.votes
    if asked:
        calls = Bounds(calls.least, None if calls.most is None else calls.most + asked)
        tokens, cost = Bounds(tokens.least, None), Bounds(cost.least, None)
    return SidePlan(str(variant.suite.path), variant.label, attempts, calls, tokens, cost)


def _questions(cases: Sequence[Case]) -> int:
    return sum(len(dict.fromkeys(case.grade)) for case in cases)


def _of_agent(
    agent: AgentChoice, attempts: int, chosen: TestOptions, options: Options, environment: Environment
) -> tuple[Bounds[int], Bounds[int], Bounds[float]]:
    """Return calls, tokens and dollars of attempts in an agent: at least one call with its first request each."""
    known = known_agent(agent.name)
    most_calls = attempts * chosen.agents.max_calls
    calls = Bounds(attempts, most_calls)
    first = first_tokens(known.request_bytes)
    facts = agent_costs(agent, options, environment)
    window = None if facts is None else facts.models.context(agent.model or "", facts.service)
    tokens = Bounds(attempts * first, None if window is None else most_calls * window)
    if facts is None or agent.model is None:
        return calls, tokens, Bounds(None, None)
    least = facts.price(agent.model, Usage(first, 1))
    most = (
        None if window is None else facts.price(agent.model, Usage(window, facts.models.max_output(agent.model) or 0))
    )
    return calls, tokens, Bounds(_dollars(least, attempts), _dollars(most, most_calls))


def agent_costs(agent: AgentChoice, options: Options, environment: Environment) -> EstimateInputs | None:
    """Return the facts about the model of an agent at the service that it is asked at; None without a model."""
    from prosa.adapters.providers.prices import KnownModels
    from prosa.app.agents.live import route_of
    from prosa.app.run.world import known_prices

    if agent.model is None:
        return None
    service = route_of(agent, options, environment).service
    return EstimateInputs(known_prices(environment.settings), KnownModels(environment.settings.models), service)


def _dollars(one: Decimal | None, times: int) -> float | None:
    return None if one is None else float(one * times)


def _of_loop(
    variant: Variant, options: Options, environment: Environment
) -> tuple[Bounds[int], Bounds[int], Bounds[float]]:
    """Return the same of attempts in Prosa's own loop, by the estimates of their runs."""
    program = variant.program if options.model_name is None else with_model(variant.program, options.model_name)
    facts = facts_of(program, options, environment)
    least: list[Amount] = []
    most: list[Amount | None] = []
    for case in variant.cases:
        cost = estimate(program, first_request(program, first_messages(program, case.input)), facts)
        least.append(cost.least)
        most.append(cost.most)
    times, bounded = variant.repeats, [amount for amount in most if amount is not None]
    return (
        Bounds(times * _sum(least, "calls"), _most(bounded, most, "calls", times)),
        Bounds(
            times * (_sum(least, "input_tokens") + _sum(least, "output_tokens")),
            None
            if len(bounded) < len(most)
            else times * (_sum(bounded, "input_tokens") + _sum(bounded, "output_tokens")),
        ),
        Bounds(_money(least, times), None if len(bounded) < len(most) else _money(bounded, times)),
    )


def _sum(amounts: Iterable[Amount], name: str) -> int:
    return sum(getattr(amount, name) for amount in amounts)


def _most(bounded: Sequence[Amount], most: Sequence[Amount | None], name: str, times: int) -> int | None:
    return None if len(bounded) < len(most) else times * _sum(bounded, name)


def _money(amounts: Sequence[Amount], times: int) -> float | None:
    known = [amount.dollars for amount in amounts if amount.dollars is not None]
    return float(sum(known) * times) if len(known) == len(amounts) else None


def _notes(variants: Sequence[Variant]) -> Iterable[str]:
    """Yield what a person should know before agents run."""
    for name in dict.fromkeys(variant.agent.agent.name for variant in variants if variant.agent is not None):
        known = known_agent(name)
        yield f"the first request of {known.title} alone is about {first_tokens(known.request_bytes):,} tokens"
    for suite in {
        str(variant.suite.program_path): variant.suite for variant in variants if variant.suite.place
    }.values():
        tokens = tokens_of(suite.files.read(suite.program_path).text)
        yield f"{suite.program_path.name} is about {tokens:,} tokens"


def first_tokens(size: int) -> int:
    """Return about how many tokens an agent's first request has, from its bytes, to the hundred."""
    return int(round(size / BYTES_PER_TOKEN, -2))
