"""Vectors as bytes, likeness, the nearest, and rankings fused into one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.corpus.embedding import MAX_TEXT, embedded_text, looks_classified, may_be_sent
from prosa.corpus.similar import cosine, from_bytes, fused, nearest, to_bytes

FLOATS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6)


@given(FLOATS)
def test_bytes_give_the_vector_back(vector: list[float]):
    assert list(from_bytes(to_bytes(vector))) == vector


@given(FLOATS, FLOATS)
def test_yw7_likeness_lies_between_minus_one_and_one_and_zero_divides_nothing(one: list[float], other: list[float]):
    """YW7."""
    size = min(len(one), len(other))
    found = cosine(one[:size], other[:size])
    assert -1 - 1e-9 <= found <= 1 + 1e-9
    assert cosine([0.0] * size, one[:size]) == 0


def test_yw7_the_nearest_are_of_the_same_length():
    """YW7."""
    kept = [("right", to_bytes([1, 1])), ("up", to_bytes([0, 2])), ("longer", to_bytes([1, 1, 1]))]
    found = nearest([2.0, 2.0], kept, 5)
    assert [key for key, _ in found] == ["right", "up"]
    assert found[0][1] == pytest.approx(1)
    assert found[1][1] == pytest.approx(math.sqrt(0.5))
    assert nearest([2.0, 2.0], kept, 1) == found[:1]


def test_rankings_are_fused_by_place():
    assert [key for key, _ in fused([["a", "b", "c"], ["c", "a"]])] == ["a", "c", "b"]
    assert fused([]) == []
    assert [key for key, _ in fused([["x", "x", "y"], ["y"]])] == ["y", "x"]


@pytest.mark.parametrize(
    ("front", "may"),
    [
        (None, True),
        ({}, True),
        ({"classification": "internal"}, True),
        ({"classification": "Secret "}, False),
        ({"classification": "confidential"}, False),
        ({"classification": ["secret"]}, False),
    ],
)
def test_x6_classified_documents_are_never_sent(front: dict[str, object] | None, may: bool):
    """X6."""
    assert may_be_sent(front) is may


@pytest.mark.parametrize(
    ("front", "looks"),
    [
        ("---\nclassification: internal # not secret\n---\n", False),
        ("---\nclassification: public\n---\nclassification: secret", False),
        ("classification: secret", False),
        ("---\nbio-classification: [a]\nowner: {classification: low}\n---\n", False),
        ("---\nclassification: public\nclassification: secret\n---\n", True),
        ("---\r\nclassification: |\r\n  secret\r\n---\r\n", True),
        ("---\nclassification:\n- secret\n---\n", True),
        ("---\ntitle: x\nclassification: Secret\n# It goes on\n", True),
        ("---\n'Classification' : !level confidential\n---\n", True),
        ("---\nclassification: [unclosed\n---\n", True),
        ("---\nx: &x {classification: secret}\n<<: *x\n---\n", True),
        ("---\rclassification: secret\r---\r", True),
        ("\n---\nclassification: secret\n---\n", True),
        ("\ufeff---\nclassification: *level\n---\n", True),
    ],
)
def test_x6_a_broken_front_matter_is_taken_at_its_word(front: str, looks: bool):
    """X6."""
    assert looks_classified(front) is looks


def test_the_text_of_a_document_is_bounded():
    assert embedded_text("Tides", "", " high \n") == "Tides\nhigh"
    assert len(embedded_text("x" * 20_000)) == MAX_TEXT
