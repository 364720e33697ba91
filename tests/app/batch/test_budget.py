"""X26, X29. The budget of a batch holds over all processes that were at it; a row may have one of its own."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import prosa
from tests.app.batch.labels import Letters, home, program, texts

CALL = Decimal("0.00035")
"""US dollars of one call of `Letters` by the list price of gpt-4o: 100 tokens in, 10 out."""


def ran(folder: Path, count: int, fake: Any, /, **options: Any) -> prosa.BatchResult:
    options = {"max_output_tokens": 20, **options}
    return prosa.batch(program(folder), texts(count), provider=fake, environ=home(folder), **options)


def test_x26_a_batch_never_costs_more_than_its_budget_and_goes_on_with_more(tmp_path: Path):
    """X26: over several calls, of which each knows what the earlier ones spent."""
    asked = 0
    for cap in ("0.01", "0.02", "0.03"):
        model = Letters(turns=3)
        found = ran(tmp_path, 200, model, max_cost=cap, concurrency=16)
        asked += sum(model.asked.values())
        assert asked * CALL <= Decimal(cap)
        assert f"the budget of ${cap}" in found.reason and found.summary.failures == 0
        assert Decimal(str(round(found.summary.cost, 9))) == asked * CALL
        assert asked * CALL >= Decimal(cap) - Decimal("0.006")  # the worst case of one call does not fit any more
    model = Letters()
    found = ran(tmp_path, 200, model, max_cost=5)
    assert found.ok and sum(model.asked.values()) == 200 - asked


def test_x26_what_was_spent_without_a_budget_counts_in_one_that_is_named_later(tmp_path: Path):
    """X26."""
    ran(tmp_path, 60, Letters(), limit=40)
    spent, model = 40 * CALL, Letters()
    found = ran(tmp_path, 60, model, max_cost=spent + Decimal("0.006"), concurrency=1)
    assert not found.ok and (40 + sum(model.asked.values())) * CALL <= spent + Decimal("0.006")
    model = Letters()
    assert not ran(tmp_path, 60, model, max_cost=spent / 2).ok and not model.asked


def test_x26_what_a_dead_process_had_drawn_is_spent(tmp_path: Path):
    """X26: nobody knows whether its calls were billed."""

    class Dies(Letters):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            if sum(self.asked.values()) == 3:
                raise KeyboardInterrupt  # nothing is written of what is in flight
            return await super().complete(request, on_text)

    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path, 50, Dies(), max_cost="0.02", concurrency=1)
    model = Letters()
    ran(tmp_path, 50, model, max_cost="0.02", concurrency=4)
    assert (3 + sum(model.asked.values())) * CALL <= Decimal("0.02")


def test_x26_a_row_that_would_cost_too_much_fails_alone(tmp_path: Path):
    """X26."""
    rows = [{"text": "a"}, {"text": "x" * 4_000}, {"text": "b"}]
    found = prosa.batch(
        program(tmp_path),
        rows,
        provider=Letters(),
        environ=home(tmp_path),
        max_cost_per_row="0.008",
        max_output_tokens=20,
    )
    assert [each.row for each in found.rows()] == [1, 3]
    assert [(each.row, each.kind) for each in found.failures()] == [(2, "budget")]
    more = {"max_cost_per_row": 1, "max_output_tokens": 20, "retry_failed": True}
    assert prosa.batch(program(tmp_path), rows, provider=Letters(), environ=home(tmp_path), **more).ok


def test_x26_a_price_that_is_not_known_is_refused_before_anything_is_asked(tmp_path: Path):
    """X26."""
    model = Letters()
    for bound in ({"max_cost": 1}, {"max_cost_per_row": 1}):
        with pytest.raises(prosa.PriceUnknown, match="no price of nobody-knows"):
            ran(tmp_path, 3, model, **bound, model="nobody-knows")
    assert not model.asked
