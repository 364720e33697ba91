"""Edits and spans: what is not inside a span never changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.source import Edit, OverlappingEdits, Span, apply_edits
from tests.depth import examples


@pytest.mark.parametrize(
    ("edits", "result"),
    [
        ([], "abcdef"),
        ([(0, 0, "X")], "Xabcdef"),
        ([(6, 6, "X")], "abcdefX"),
        ([(0, 6, "")], ""),
        ([(4, 5, "E"), (1, 3, "--")], "a--dEf"),
        ([(2, 2, "1"), (2, 2, "2")], "ab12cdef"),
        ([(2, 2, "1"), (2, 4, "2")], "ab12ef"),
        ([(2, 4, "2"), (4, 4, "3"), (4, 6, "4")], "ab234"),
    ],
)
def test_edits_apply_at_once(edits: list[tuple[int, int, str]], result: str) -> None:
    assert apply_edits("abcdef", [Edit(Span(start, end), text) for start, end, text in edits]) == result


@pytest.mark.parametrize("edits", [[(0, 3), (2, 4)], [(1, 3), (1, 3)], [(0, 4), (2, 2)], [(0, 6), (5, 6)]])
def test_overlapping_edits_are_refused(edits: list[tuple[int, int]]) -> None:
    with pytest.raises(OverlappingEdits) as caught:
        apply_edits("abcdef", [Edit(Span(*span), "x") for span in edits])
    assert {caught.value.first.span, caught.value.second.span} == {Span(*span) for span in edits}


def test_an_edit_past_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="past the end"):
        apply_edits("abc", [Edit(Span(2, 9), "x")])


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_a_span_has_an_order(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="a span needs"):
        Span(start, end)


def test_a_span_is_half_open() -> None:
    span = Span(1, 3)
    assert (len(span), 1 in span, 3 in span, span.shift(2), span.of("abcd")) == (2, True, False, Span(3, 5), "bc")


@given(
    st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.text(max_size=4)), max_size=6)
)
@settings(max_examples=examples(80), deadline=None)
def test_everything_between_edits_is_kept(text: str, drafts: list[tuple[int, int, str]]) -> None:
    edits: list[Edit] = []
    end = 0
    for gap, length, replacement in drafts:
        start = min(end + gap, len(text))
        end = min(start + length, len(text))
        edits.append(Edit(Span(start, end), replacement))
    changed = apply_edits(text, reversed(edits) if len({edit.span.start for edit in edits}) == len(edits) else edits)
    kept, position, rebuilt = [], 0, changed
    for edit in edits:
        kept += [text[position : edit.span.start], edit.replacement]
        position = edit.span.end
    assert rebuilt == "".join([*kept, text[position:]])
    undo, shift = [], 0
    for edit in edits:
        start = edit.span.start + shift
        undo.append(Edit(Span(start, start + len(edit.replacement)), edit.span.of(text)))
        shift += len(edit.replacement) - len(edit.span)
    assert apply_edits(changed, undo) == text
