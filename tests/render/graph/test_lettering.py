"""Words for drawings: how wide they are, where they break, and what of them is fit to be written at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.graph.node import Node
from prosa.render.graph.scene import ELLIPSIS, text_width, wrap
from prosa.render.graph.style import name_of, one_line
from tests.depth import examples


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=60), st.integers(40, 160))
def test_no_line_is_wider_than_said_and_no_letter_is_invented(text: str, width: int):
    lines = wrap(text, width, 12)
    assert 1 <= len(lines) <= 2
    assert all(text_width(line, 12) <= width + 1e-9 for line in lines)
    kept = "".join(lines).removesuffix(ELLIPSIS).replace(" ", "")
    assert "".join(text.split()).startswith(kept)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ("",)),
        ("Glossary", ("Glossary",)),
        ("Alarm levels and who is called", ("Alarm levels and", "who is called")),
        ("a-very-long-file-name-that-nobody-chose-well", ("a-very-long-file-", "name-that-nobo…")),
    ],
)
def test_titles_break_into_lines_of_about_one_length(text: str, lines: tuple[str, ...]):
    assert wrap(text, 112, 12) == lines


def test_wide_letters_take_more_room():
    assert text_width("WWWW", 12) > text_width("abcd", 12) > text_width("illi", 12)
    assert text_width("図面", 12) > 2 * 12
    assert text_width("é", 12) == text_width("e", 12)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (Node("x", "a/b.md", "plain", "A title"), "A title"),
        (Node("x", "a/b.md", "plain", "  "), "b"),
        (Node("x", "guide/index.md", "plain"), "guide/index"),
        (Node("x", "README.md", "plain"), "README"),
        (Node("x", "a/.md", "plain"), ".md"),
        (Node("x", "a/b.md", "plain", "two\nlines\x1b[31m"), "two lines\N{REPLACEMENT CHARACTER}[31m"),
        (Node("x", "a/b.md", "plain", "\u202egnihton"), "\N{REPLACEMENT CHARACTER}gnihton"),
    ],
)
def test_a_node_is_called_by_its_title_else_by_its_file(node: Node, name: str):
    assert name_of(node) == name


@given(st.text(st.characters(codec=None), max_size=40))
def test_what_is_written_is_one_line_that_xml_and_utf_8_can_carry(text: str):
    found = one_line(text)
    assert len(found) == len(text)
    assert not set(found) & set("\n\r\t\x00\x1b\u2028\u202e\ufffe\uffff")
    assert found.encode("utf-8").decode("utf-8") == found
