"""Positions in three encodings, and texts that are kept in step change by change."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from prosa.lsp.documents import OpenDocument, path_of, uri_of, whole_characters
from prosa.lsp.positions import ENCODINGS, Encoding, offset_at, position_at
from prosa.source import LineIndex

TEXT = st.text(st.sampled_from("ab\tä€😀\r\n\u2028\x0c\x85"), max_size=40)
UNITS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
WIDTH = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT, where=st.floats(0, 1))
def test_x2_a_position_counts_units_after_the_last_line_end(encoding: Encoding, text: str, where: float):
    """X2. Line ends are LF, CRLF and CR and no other; what is told leads back."""
    offset = int(where * len(text))
    if text[offset - 1 : offset + 1] == "\r\n":
        offset += 1
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n")
    column = len(before[before.rfind("\n") + 1 :].encode(UNITS[encoding])) // WIDTH[encoding]
    told = position_at(LineIndex(text), offset, encoding)
    assert (told.line, told.character) == (line, column)
    assert offset_at(LineIndex(text), told, encoding) == offset


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT, line=st.integers(0, 9), character=st.integers(0, 99))
def test_x2_any_position_is_a_place_in_the_text(encoding: Encoding, text: str, line: int, character: int):
    """X2. Past the end of a line it is that end, within a character its beginning; never within a line end."""
    lines = LineIndex(text)
    offset = offset_at(lines, types.Position(line, character), encoding)
    assert 0 <= offset <= len(text)
    back = position_at(lines, offset, encoding)
    assert (back.line, back.character) <= (line, character)
    assert line >= lines.count or back.line == line


def test_x2_within_a_character_is_its_beginning():
    lines = LineIndex("a😀b")
    assert [offset_at(lines, types.Position(0, each), "utf-16") for each in range(5)] == [0, 1, 1, 2, 3]
    assert [offset_at(lines, types.Position(0, each), "utf-8") for each in range(7)] == [0, 1, 1, 1, 1, 2, 3]


def test_x2_half_a_pair_is_replaced():
    """A JSON text can hold what no file can."""
    assert whole_characters("a\ud83db") == "a\ufffdb"
    assert whole_characters("a\ud83d\ude00b") == "a😀b"
    document = OpenDocument("file:///a.md", Path("/a.md"), 1, LineIndex("ab"))
    place = types.Range(types.Position(0, 1), types.Position(0, 1))
    document.change(2, [types.TextDocumentContentChangePartial(place, "\udc00")], "utf-16")
    assert (document.text, document.version) == ("a\ufffdb", 2)


@pytest.mark.parametrize("name", ["a b.md", "ä;x.md", "a#b?c.md", "100%.md", "a+b&c.md"])
def test_a_uri_leads_to_its_file_and_back(tmp_path: Path, name: str):
    path = tmp_path.resolve() / name
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize(
    "uri", ["git:/a.md", "https://example.com/a.md", "file://host/a.md", "file:///%00.md", "a", ""]
)
def test_what_is_no_file_has_no_path(uri: str):
    assert path_of(uri) is None


def test_a_document_without_a_file_is_nowhere():
    assert path_of("untitled:Untitled-1", "ymj") == Path("/untitled/Untitled-1.ymj")
    assert path_of("untitled:Untitled-1") == Path("/untitled/Untitled-1.md")
