"""What runs may cost, how many there may be, and how long answers are kept."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from prosa.adapters.providers.prices import KnownPrices
from prosa.runtime.messages import ModelReply, ModelRequest, Usage
from prosa.runtime.ports import OnText
from prosa.web.answer import Answer
from prosa.web.run.problem import Refused
from prosa.web.run.runner import LIFETIME, MAX_KEPT, Gate, KeptAnswers
from tests.web.run.site import answered_by, greeting, site


class Worst:
    """A service that counts as much as it was allowed to write, and whatever was sent."""

    def __init__(self) -> None:
        self.billed, self.now, self.most = Decimal(0), 0, 0

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(5):
            await asyncio.sleep(0)
        self.now -= 1
        assert request.max_output is not None
        usage = Usage(sum(len(each.content) for each in request.messages), request.max_output)
        self.billed += KnownPrices().cost("gpt-4o", usage) or 0
        return ModelReply('{"greeting": "Hello"}', usage=usage)

    async def aclose(self) -> None:
        self.now = 0


def test_x9_nothing_runs_when_the_budget_is_spent(tmp_path: Path) -> None:
    """X9. The model is not asked once more, in the middle of a run either; the owner is told once."""
    dear = {"usage": {"input_tokens": 1_000_000, "output_tokens": 0}, "model": "gpt-4o"}

    async def work() -> None:
        with site(greeting(tmp_path), {"content": "no JSON", **dear}, budget="2") as at:
            reply = await at.run()
            assert reply.status == 503 and "budget" in reply.json["detail"]
            assert Decimal(reply.headers["x-prosa-cost"]) == at.runner.budget.ledger.spent > 2
            again = await at.run()
            assert again.status == 503 and at.runner.gate.inside == 0
            assert [each for each in at.said if "is spent: no more" in each] == [
                "note: the budget of $2 is spent: no more model calls are made"
            ]

    asyncio.run(work())


def test_x26_runs_at_once_share_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X26. Eight at once, each of which may cost a tenth of the budget and does: what does not fit is refused, and
    nothing is spent beyond. Those that are under way when the client leaves count with their worst case."""
    worst = Worst()
    answered_by(monkeypatch, worst)

    async def work() -> None:
        with site(greeting(tmp_path), budget="0.2", at_once=8, model="gpt-4o") as at:
            replies = await asyncio.gather(*(at.run({"name": f"Ada {number}"}) for number in range(8)))
            ledger = at.runner.budget.ledger
            assert {each.status for each in replies} == {200, 503}
            assert ledger.held == 0 and worst.billed <= ledger.spent <= Decimal("0.2")
            assert worst.most > 1 and ledger.cap - ledger.spent < Decimal("0.05")
            assert sum(Decimal(each.headers.get("x-prosa-cost", "0")) for each in replies) == ledger.spent

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
        kept.finish("p", key, task)

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
