"""Queries in SQL: what they may ask, what they may not, and what is said (X10)."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.sqlite.asking import ask_index
from prosa.adapters.sqlite.views import CORPUS_VIEWS, VIEWS
from prosa.corpus.errors import QueryRefused
from prosa.corpus.sql import QueryAnswer, QueryLimits
from tests.adapters.sqlite.place import Place
from tests.depth import examples

DOCUMENTS = {
    "a.md": "---\ntitle: First\ntags: [x, y]\nrank: 2\n---\n# One\n\nDeploy it: [b](b.md) and [[nowhere]].\n",
    "b.md": "# Second\n\nA note on deployment.\n",
    "n.md": "---\nid: n:1\ntype: page\ntitle: Node\n---\nText.\n",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = Place.at(tmp_path_factory.mktemp("asking"), DOCUMENTS)
    place.refresh()
    place.index.close()
    return place.index.path


def test_x10_the_views_answer(path: Path):
    """X10b."""
    found = ask_index(path, "SELECT path, title, dialect, id FROM documents ORDER BY path")
    assert found == QueryAnswer(
        ("path", "title", "dialect", "id"),
        (("a.md", "First", "plain", "a.md"), ("b.md", "Second", "plain", "b.md"), ("n.md", "Node", "mdh", "n:1")),
    )
    assert ask_index(path, "SELECT source, target, state, line FROM edges ORDER BY line, target").rows == (
        *(("a.md", "b.md", "resolved", 8), ("a.md", "nowhere", "unresolved", 8)),
    )
    assert ask_index(path, "SELECT tag FROM tags WHERE document = 'a.md'").rows == (("x",), ("y",))
    assert ask_index(path, "SELECT key FROM metadata WHERE number > 1").rows == (("rank",),)
    words = (
        "SELECT s.path FROM section_text f JOIN sections s ON s.id = f.rowid WHERE section_text MATCH ? ORDER BY rank"
    )
    assert ask_index(path, words.replace("?", "'deploy*'")).rows == (("b.md",), ("a.md",))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_has_the_columns_that_it_names(path: Path, view):
    found = ask_index(path, f"SELECT * FROM {view.name}")
    assert found.columns == tuple(name for name, _ in view.columns)
    assert ask_index(path, f"SELECT count(*) FROM {view.name}").rows == ((len(found.rows),),)


@pytest.mark.parametrize(
    "query",
    [
        "WITH d AS (SELECT * FROM documents) SELECT count(*) FROM d",
        "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT * FROM n",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT snippet(section_text, 3, '[', ']', '…', 5) FROM section_text WHERE section_text MATCH 'note'",
        "SELECT highlight(section_text, 0, '[', ']') FROM section_text('note')",
        "SELECT title FROM documents UNION SELECT tag FROM tags",
        "SELECT row_number() OVER (ORDER BY path) FROM documents",
        "VALUES (1)",
        " -- words\nSELECT 1;",
        "SELECT printf('%d', 3), lower('A'), date('2024-01-01')",
    ],
)
def test_what_a_query_may_ask(path: Path, query: str):
    assert ask_index(path, query).columns


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ATTACH 'other.db' AS other", "ATTACH"),
        ("VACUUM INTO 'copy.db'", "ATTACH"),
        ("DETACH main", "DETACH"),
        ("PRAGMA user_version", "PRAGMA"),
        ("SELECT * FROM pragma_table_info('document')", "only reads|there is no table"),  # as SQLite 3.40, as 3.46
        ("DELETE FROM documents", "only reads"),
        ("DELETE FROM main.document", "only reads"),
        ("UPDATE section_text SET text = ''", "only reads"),
        ("INSERT INTO section_text (section_text) VALUES ('delete-all')", "only reads"),
        ("DROP TABLE document", "only reads"),
        ("CREATE TEMP TABLE t (a)", "only reads"),
        ("CREATE TABLE t (a)", "only reads"),
        ("CREATE TEMP TRIGGER t INSTEAD OF DELETE ON documents BEGIN SELECT 1; END", "only reads"),
        ("REINDEX", "only reads"),
        ("ANALYZE", "only reads"),
        ("BEGIN", "transaction"),
        ("SAVEPOINT a", "transaction"),
        ("SELECT load_extension('x')", "load_extension"),
        ("SELECT readfile('/etc/passwd')", "readfile"),
        ("SELECT * FROM sqlite_schema", "what they are made of"),
        ("SELECT digest FROM document", "`document`"),
        ("SELECT * FROM main.metadata", "`metadata`"),
        ("SELECT * FROM vector", "`vector`"),
        ("WITH documents AS (SELECT sql FROM sqlite_schema) SELECT * FROM documents", "made of"),
        ("SELECT 1; SELECT 2", "more than one"),
        ("SELECT ?", "values"),
        ("SELECT :a", "values"),
        ("", "empty"),
        ("-- nothing", "is empty"),
        ("SELECT", "ends too early"),
        ("SELECT '\0'", "not text"),
        ("SELECT '\ud800'", "not text"),
        ("SELECT " + "1," * 60_000 + "1", "100,000"),
        ("SELECT zeroblob(100000000)", "too large"),
        ("SELECT " + "1+(" * 3000 + "1" + ")" * 3000, "query"),
    ],
)
def test_x10_what_a_query_may_not_do_is_said(path: Path, query: str, words: str):
    before = path.read_bytes()
    with pytest.raises(QueryRefused) as raised:
        ask_index(path, query)
    assert any(each in raised.value.message for each in words.split("|"))
    assert raised.value.hint
    assert path.read_bytes() == before
    assert not (path.parent / "other.db").exists()


def test_x10_many_parentheses_are_too_much_or_mean_nothing(path: Path):
    """SQLite 3.40 has no room for them, and 3.46 has."""
    try:
        answer = ask_index(path, "SELECT " + "(" * 3000 + "1" + ")" * 3000)
    except QueryRefused as refused:
        assert "query" in refused.message
    else:
        assert [[*row] for row in answer.rows] == [[1]]


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("SELECT titel FROM documents", "line 1, column 8: there is no column `titel`", "did you mean title?"),
        ("SELECT path\nFROM dokuments", "line 2, column 6: there is no table `dokuments`", "did you mean documents?"),
        (
            "SELECT d.nichts FROM documents d",
            "line 1, column 8: there is no column `d.nichts`",
            "documents has id, path",
        ),
        ("SELECT path\n  FORM documents f", "line 2, column 8: the query is wrong near `documents`", "       ^"),
        ("SELEC 1", "line 1, column 1: the query is wrong near `SELEC`", "SELEC 1"),
        ("SELECT 'a b' FROM FROM tags", "line 1, column 19: the query is wrong near `FROM`", "^"),
        ("SELECT lenght('a')", "line 1, column 8: there is no function `lenght`", "one SELECT over documents"),
        ("SELECT * FROM nothing_like_it", "there is no table `nothing_like_it`", ", ".join(CORPUS_VIEWS.names)),
        ("SELECT * FROM section_text WHERE section_text MATCH '\"'", "unterminated string", "prosa query --help"),
    ],
)
def test_a_wrong_query_is_told_what_and_where(path: Path, query: str, message: str, hint: str):
    with pytest.raises(QueryRefused) as raised:
        ask_index(path, query)
    assert message in raised.value.message
    assert hint in raised.value.hint


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ONE_CALL = "SELECT instr(hex(zeroblob(300000)), hex(zeroblob(150000)) || 'b')"
"""About a second in which SQLite looks at no clock."""


@pytest.mark.parametrize("query", [ENDLESS, ONE_CALL])
def test_x10_time_is_limited(path: Path, query: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.adapters.sqlite.asking._GRACE", 0.1)
    with pytest.raises(QueryRefused, match="took longer than"):
        ask_index(path, query, QueryLimits(seconds=0.05))


def test_x10_rows_and_bytes_are_limited(path: Path):
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 50) SELECT x FROM n"
    assert ask_index(path, many, QueryLimits(rows=50)).more is False
    found = ask_index(path, many, QueryLimits(rows=49))
    assert (len(found.rows), found.more) == (49, True)
    with pytest.raises(QueryRefused, match="larger than 64 MB"):
        ask_index(path, many.replace("SELECT x FROM n", "SELECT zeroblob(3000000) FROM n"))


def test_a_damaged_file_is_no_fault_of_the_query(path: Path, tmp_path: Path):
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    data = bytearray(copy.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    copy.write_bytes(data)
    with pytest.raises(sqlite3.DatabaseError):
        ask_index(copy, "SELECT * FROM documents")


SIGNS = ["*", ",", "(", ")", "'", '"', "1", "=", ";", "--", "/*", "||", "\n"]
NAMED = ["SELECT", "FROM", "WHERE", "documents", "edges", "path", "x", "JOIN", "ON", "ORDER BY", "MATCH"]


@settings(max_examples=examples(60), deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(SIGNS + NAMED), max_size=12).map(" ".join)))
def test_any_text_is_answered_or_refused(path: Path, query: str):
    try:
        ask_index(path, query, QueryLimits(seconds=1, rows=10))
    except QueryRefused as refused:
        assert refused.message and refused.hint
