"""Lines, columns, UTF-8 and UTF-16 offsets."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prosa.source import LineIndex, Position, SourceText, Span
from tests.depth import examples
from tests.work import is_quick

TEXTS = st.text(st.sampled_from("ab \t\r\n\x85\u2028\x0b\x0cé😀\ud800"), max_size=700)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\nb\r\nc\rd", ["a", "b", "c", "d"]),
        ("\r\r\n\n", ["", "", "", ""]),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f\x1cg", ["a\x0bb\x0cc\x85d\u2028e\u2029f\x1cg"]),
    ],
)
def test_x2_lines_end_at_lf_crlf_and_cr_only(text: str, lines: list[str]) -> None:
    index = LineIndex(text)
    assert [index.line_text(number + 1) for number in range(index.count)] == lines


@given(TEXTS)
@settings(max_examples=examples(60), deadline=None)
@example("a\r\n😀b")
def test_positions_and_offsets_are_inverse(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        line, column = index.position(offset)
        assert index.line(offset) == line
        inside_line_end = column - 1 > len(index.line_text(line))
        assert inside_line_end or index.offset(line, column) == offset


@given(TEXTS)
@settings(max_examples=examples(60), deadline=None)
@example("😀" * 300 + "\né\ud800" * 100)
def test_byte_offsets_agree_with_the_encoded_text(text: str) -> None:
    index = LineIndex(text)
    encoded = 0
    for offset, character in enumerate(text):
        assert index.byte_offset(offset) == encoded
        size = len(character.encode("utf-8", "surrogatepass"))
        assert [index.offset_of_byte(encoded + inner) for inner in range(size)] == [offset] * size
        encoded += size
    assert index.byte_offset(len(text)) == encoded
    assert index.offset_of_byte(encoded) == len(text)


@given(TEXTS)
@settings(max_examples=examples(60), deadline=None)
def test_utf16_columns_count_code_units_of_the_line(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        start = index.starts[index.position(offset).line - 1]
        expected = len(text[start:offset].encode("utf-16-le", "surrogatepass")) // 2
        assert index.utf16_column(offset) == expected


@pytest.mark.parametrize("text", ["", "abc\nd", "é😀\nd"])
def test_offsets_outside_the_text_are_clamped(text: str) -> None:
    index = LineIndex(text)
    assert index.position(10_000) == index.position(len(text))
    assert index.position(-5) == Position(1, 1)
    assert index.byte_offset(10_000) == len(text.encode())
    assert index.offset_of_byte(10_000) == len(text)
    assert index.offset_of_byte(-1) == 0
    assert index.offset(99, 1) == len(text)
    assert index.offset(0, 0) == 0
    assert index.utf16_column(10_000) == index.utf16_column(len(text))


def test_a_column_past_the_end_of_a_line_stays_on_it() -> None:
    index = LineIndex("ab\r\ncd\n")
    assert [index.offset(line, 99) for line in (1, 2, 3)] == [2, 6, 7]


def test_one_very_long_line_is_not_quadratic() -> None:
    text = "é" * 300_000
    index = LineIndex(text)

    def asked() -> None:
        for offset in range(0, len(text), 30):
            assert index.offset_of_byte(index.byte_offset(offset)) == offset
            assert index.utf16_column(offset) == offset

    assert is_quick(asked, 5)


def test_source_text_answers_in_its_own_words() -> None:
    source = SourceText("a\nbc", "x.md")
    assert source.position(3) == Position(2, 2)
    assert source.slice(Span(2, 4)) == "bc"
    assert source.whole == Span(0, 4)
    assert source == SourceText("a\nbc", "x.md", digest="ff")


@given(text=st.text(alphabet="ab\n\r\u00e9", max_size=20), new=st.text(alphabet="x\n\r", max_size=4), data=st.data())
def test_x2_lines_of_a_changed_text_are_those_of_all_of_it(text: str, new: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = LineIndex(text)
    if data.draw(st.booleans()):
        assert lines.count > 0
    made = lines.replaced(start, end, new)
    whole = text[:start] + new + text[end:]
    assert (made.text, made.starts) == (whole, LineIndex(whole).starts)
