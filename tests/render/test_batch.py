"""What a batch says of itself, in words."""

from __future__ import annotations

import pytest

from prosa.render.batch import counts_words
from prosa.runtime.batches import BatchCounts


@pytest.mark.parametrize(
    ("cost", "words"),
    [(12.345, "$12.35"), (1, "$1.00"), (0.25, "$0.25"), (0.00005375, "$0.00005375"), (1e-9, "$0.000000001")],
)
def test_money_is_written_out(cost: float, words: str):
    assert counts_words(BatchCounts(3, 3, calls=3, cost=cost)).endswith(f", {words}")
