"""What a batch says of itself, in words."""

from __future__ import annotations

import pytest

from prosa.records.batch import BatchCounts
from prosa.render.batch import counts_words


@pytest.mark.parametrize(
    ("cost", "words"),
    [(12.345, "$12.35"), (1, "$1.00"), (0.25, "$0.25"), (0.00005375, "$0.00005375"), (1e-9, "$0.000000001")],
)
def test_money_is_written_out(cost: float, words: str):
    assert counts_words(BatchCounts(3, 3, calls=3, cost=cost)).endswith(f", {words}")


def test_one_row_and_one_call_are_said_as_one():
    assert counts_words(BatchCounts(1, 1, calls=1)) == "1 of 1 row done, 1 call"
    assert counts_words(BatchCounts(2, 1, calls=1_200)).startswith("1 of 2 rows done")
    assert "1,200 calls" in counts_words(BatchCounts(2, 1, calls=1_200))
