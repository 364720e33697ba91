"""Two answers word by word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.report.differences import Marked, compare_texts
from tests.depth import examples
from tests.work import is_linear


def joined(pieces: Marked, *, same: bool = False) -> str:
    return "".join(text for text, differs in pieces if not (same and differs))


WORDS = st.lists(st.sampled_from(["the", "a", "ferry", "leaves", " ", "\n", ", ", "at", "14:55", "ä"]), max_size=60)


@settings(max_examples=examples(500))
@given(WORDS, WORDS)
def test_both_texts_are_whole_and_share_what_is_not_marked(first: list[str], second: list[str]):
    found = compare_texts("".join(first), "".join(second))
    assert joined(found.first) == "".join(first) and joined(found.second) == "".join(second)
    if any(differs for pieces in (found.first, found.second) for _, differs in pieces):
        ours, theirs = joined(found.first, same=True), joined(found.second, same=True)
        assert "".join(ours.split()) == "".join(theirs.split())


def test_words_that_one_side_has_are_marked():
    found = compare_texts("The boat leaves at 14:55 today.", "The boat leaves late today.")
    assert found.first == (("The boat leaves ", False), ("at 14:55", True), (" today.", False))
    assert found.second == (("The boat leaves ", False), ("late", True), (" today.", False))


def test_texts_without_much_in_common_are_not_marked():
    found = compare_texts("one two three four", "five six seven eight nine")
    assert found.first == (("one two three four", False),) and found.alike < 0.5


def test_of_long_texts_the_beginnings_are_compared():
    found = compare_texts("one two three four " * 100, "one two THREE four " * 100, 40)
    assert found.first[:3] == (("one two ", False), ("three", True), (" four one two ", False))
    assert found.first[-1] == (("one two three four " * 100)[40:], False)
    assert max(len(found.first), len(found.second)) < 10


@pytest.mark.parametrize(
    "texts",
    [
        (lambda n: ("a b " * n, "b a " * n)),
        (lambda n: (" ".join(map(str, range(n))), " ".join(map(str, range(n, 0, -1))))),
        (lambda n: (" ".join(map(str, range(n))), " ".join(str(each ^ 1) for each in range(n)))),
        (lambda n: ("x" * n, "x" * (n - 1) + "y")),
    ],
    ids=["repeated", "reversed", "swapped", "one word"],
)
def test_the_work_grows_with_the_texts(texts):
    assert is_linear(lambda n: compare_texts(*texts(n)), 1_500, 12_000)
