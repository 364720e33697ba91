"""Readers of questions in a resident corpus answer as sets of paths do."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from prosa.rules.readers import Readers

_STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from("ab"), st.integers(0, 12)), max_size=60)


@given(_STEPS)
def test_readers_are_those_of_sets(steps: list[tuple[bool, str, int]]) -> None:
    readers = Readers[str]()
    expected: defaultdict[str, set[Path]] = defaultdict(set)
    for added, question, number in steps:
        real = Path(f"/{number}.md")
        (readers.add if added else readers.discard)(question, real)
        (expected[question].add if added else expected[question].discard)(real)
        assert readers.of([question]) == expected[question]
    assert readers.of("abc") == expected["a"] | expected["b"]
