"""What runs may cost, how many there may be, and how long answers are kept."""

from __future__ import annotations

import asyncio
import contextlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelPrice, TieredPrices

from prosa.adapters.providers.prices import KnownPrices
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest
from prosa.runtime.usage import Usage
from prosa.web.answer import Answer
from prosa.web.run.budget import DEAREST_INPUT, DEAREST_OUTPUT, Budget, BudgetSpent, Meter
from prosa.web.run.gate import Gate
from prosa.web.run.kept_answers import LIFETIME, MAX_KEPT, KeptAnswers
from prosa.web.run.metered import Metered
from prosa.web.run.problem import Refused
from tests.web_run.site import Slow, greeting, site

PRICED = {"gpt-4o": (Decimal("2.5"), Decimal(10))}
REQUEST = ModelRequest("gpt-4o", (Message("user", "Ten words or so."),))


class Answering(Slow):
    """A provider that gives one answer, or fails."""

    def __init__(self, answer: ModelReply | Exception) -> None:
        super().__init__()
        self.answer = answer

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        if on_text is not None:
            on_text("ten bytes.")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def spent(answer: ModelReply | Exception, *, free: bool = False, stream: bool = False, model: str = "gpt-4o") -> Any:
    """What one model call costs, and what is said of it."""
    said: list[str] = []
    budget = Budget(KnownPrices(PRICED), Decimal(5), free=free, notice=said.append)
    meter = Meter()
    request = ModelRequest(model, REQUEST.messages)

    async def work() -> None:
        with contextlib.suppress(ProviderError):
            await Metered(Answering(answer), budget, meter).complete(request, (lambda _: None) if stream else None)

    asyncio.run(work())
    assert meter.cost == budget.spent
    return budget.spent, said


def test_la27_a_call_costs_what_its_tokens_cost() -> None:
    """LA27. The price of the model that answered, else of the one that was asked for."""
    reply = ModelReply(content="x", usage=Usage(1_000_000, 100_000))
    assert spent(reply) == (Decimal("3.5"), [])
    assert spent(ModelReply(content="x", usage=Usage(1_000_000, 0), model_name="gpt-4o-of-ours"))[0] == Decimal("2.5")


def test_la27_a_model_without_a_price_costs_as_much_as_the_dearest() -> None:
    """LA27. It is said, and only a script or a model on this machine is free."""
    reply = ModelReply(content="x", usage=Usage(1_000, 1_000))
    cost, said = spent(reply, model="made:up")
    assert cost == (DEAREST_INPUT + DEAREST_OUTPUT) / 1000
    assert len(said) == 1 and "made:up" in said[0] and "`prices`" in said[0]
    assert spent(reply, model="made:up", free=True) == (0, [])
    assert spent(reply, free=True)[0] > 0


def test_la27_no_known_price_is_above_the_dearest() -> None:
    """LA27. The list of known prices has grown where this fails: the two constants follow it."""
    prices: list[ModelPrice] = []
    for provider in get_snapshot().providers:
        for model in provider.models:
            found = model.prices if isinstance(model.prices, list) else [model.prices]
            prices += [getattr(each, "prices", each) for each in found]

    def most(value: Any) -> Decimal:
        if isinstance(value, TieredPrices):
            return max(value.base, *(tier.price for tier in value.tiers))
        return value or Decimal(0)

    assert max(most(each.input_mtok) for each in prices) <= DEAREST_INPUT
    assert max(most(each.output_mtok) for each in prices) <= DEAREST_OUTPUT


@pytest.mark.parametrize(
    ("answer", "stream", "costs"),
    [
        (ModelReply(content="uncounted"), False, True),
        (ProviderError("late", kind="timeout", retryable=True), False, True),
        (ProviderError("cut", kind="network", retryable=True), True, True),
        (ProviderError("refused", kind="network", retryable=True), False, False),
        (ProviderError("no", kind="auth", retryable=False), False, False),
        (ProviderError("busy", kind="rate-limit", retryable=True), False, False),
    ],
)
def test_la27_calls_that_nobody_counted_are_counted_by_their_text(
    answer: ModelReply | Exception, stream: bool, costs: bool
) -> None:
    """LA27. At least one token for every byte, which no tokenizer exceeds; a call that was refused costs nothing."""
    cost, said = spent(answer, stream=stream)
    least = len(REQUEST.messages[0].content) * Decimal("2.5") / 1_000_000
    assert (cost >= least, bool(said)) == (costs, costs)
    assert spent(answer, stream=stream, free=True) == (0, [])


def test_la27_a_call_that_is_broken_off_is_paid_for() -> None:
    async def work() -> None:
        budget, slow = Budget(KnownPrices(PRICED)), Slow()
        task = asyncio.create_task(Metered(slow, budget, Meter()).complete(REQUEST, lambda _: None))
        await slow.begun.wait()
        task.cancel()
        await asyncio.wait({task})
        assert budget.spent > 0

    asyncio.run(work())


def test_x9_nothing_runs_when_the_budget_is_spent(tmp_path: Path) -> None:
    """X9. The model is not asked once more, in the middle of a run either; the owner is told once."""
    dear = {"usage": {"input_tokens": 1_000_000, "output_tokens": 0}, "model": "gpt-4o"}

    async def work() -> None:
        with site(greeting(tmp_path), {"content": "no JSON", **dear}, budget="2") as at:
            reply = await at.run()
            assert reply.status == 503 and "budget" in reply.json["detail"]
            assert Decimal(reply.headers["x-prosa-cost"]) == at.runner.budget.spent > 2
            again = await at.run()
            assert again.status == 503 and at.runner.gate.inside == 0
            assert [each for each in at.said if "is spent: nothing runs" in each] == [
                "note: the budget of $2 is spent: nothing runs any more until the next start"
            ]

    asyncio.run(work())


def test_x9_the_budget_is_asked_before_anything_else() -> None:
    async def work() -> None:
        budget = Budget(KnownPrices(), Decimal(1), spent=Decimal(1))
        with pytest.raises(BudgetSpent):
            await Metered(Answering(ModelReply(content="x")), budget, Meter()).complete(REQUEST)

    asyncio.run(work())


def test_x9_runs_begin_so_often() -> None:
    """X9. Thirty in any minute, and the client is told when the next one may begin."""
    moment = [0.0]
    gate = Gate(at_once=2, per_minute=2, now=lambda: moment[0])
    for at in (0.0, 20.0):
        moment[0] = at
        gate.enter()
        gate.leave()
    with pytest.raises(Refused) as refused:
        gate.enter()
    assert (refused.value.status, dict(refused.value.headers)) == (429, {"retry-after": "40"})
    moment[0] = 60.0
    gate.enter()
    assert gate.inside == 1
    with pytest.raises(Refused):
        gate.enter()


def settled(kept: KeptAnswers, key: str, answer: Answer) -> None:
    """Keeps the answer of a run that has ended."""

    async def work() -> None:
        async def run() -> Answer:
            return answer

        task = asyncio.create_task(run())
        await task
        kept.settle("p", key, task)

    asyncio.run(work())


def test_h19_answers_are_kept_for_a_day() -> None:
    """H19. Then the key is new again."""
    moment = [0.0]
    kept, answer = KeptAnswers(now=lambda: moment[0]), Answer(200, (), b"{}")
    assert kept.begin("p", "k", b"1") is None
    settled(kept, "k", answer)
    moment[0] = LIFETIME - 1
    again = kept.begin("p", "k", b"1")
    assert again is not None and again.body == b"{}"
    assert kept.begin("q", "k", b"2") is None
    moment[0] = LIFETIME
    assert kept.begin("p", "k", b"2") is None


def test_h19_the_oldest_answers_are_forgotten_and_running_ones_are_not() -> None:
    """H19. What is kept has a bound; a request that still runs is never run twice."""
    kept, answer = KeptAnswers(), Answer(200, (), b"{}")
    kept.begin("p", "running", b"1")
    for number in range(MAX_KEPT):
        kept.begin("p", str(number), b"1")
        settled(kept, str(number), answer)
    with pytest.raises(Refused) as refused:
        kept.begin("p", "running", b"1")
    assert refused.value.status == 409
    assert kept.begin("p", "0", b"1") is None
    assert kept.begin("p", "999", b"1") is not None


def test_h19_large_answers_are_bounded_together() -> None:
    kept = KeptAnswers()
    for number in range(5):
        kept.begin("p", str(number), b"1")
        settled(kept, str(number), Answer(200, (), b"x" * 16 * 1024 * 1024))
    assert kept.begin("p", "0", b"1") is None
    assert kept.begin("p", "4", b"1") is not None
