"""X29. Rows of every form give the same inputs; what is no row fails alone, before it costs anything."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.rows.files import as_lines, spooled
from prosa.app.batch.inputs import Inputs, RowMapping, open_rows
from prosa.app.options import say_nothing
from prosa.extras import install_line
from prosa.records.batch import MAX_COLUMNS, MAX_ROW, Row, require_columns
from prosa.runtime.errors import RowsRefused
from tests.runtime.worlds import load
from tests.work import is_quick

PROGRAM = """---
name: tell
description: x
input:
  type: object
  properties: {text: {type: string}, n: {type: integer}, x: {type: number}, ok: {type: boolean}}
output: {}
---
{{ .text }}
"""
ROWS: list[dict[str, Any]] = [
    {"text": f'line "{n}",\r\nsecond\nü;{n}', "n": n, "x": n / 4, "ok": n % 2 == 0} for n in range(50)
]


def written(folder: Path, form: str) -> str:
    """The rows in a file of a form, as the user names it."""
    path = folder / f"rows.{form}"
    if form == "json":
        path.write_text(json.dumps(ROWS), encoding="utf-8-sig")
    elif form == "jsonl":
        path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(json.dumps(each).encode() for each in ROWS))
    elif form == "csv":
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(ROWS[0]), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows({**each, "ok": str(each["ok"]).lower()} for each in ROWS)
    elif form == "sqlite":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE rows (text, n, x, flag)")
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", [tuple(each.values()) for each in ROWS])
    else:
        with closing(duckdb.connect(":memory:")) as connection:
            connection.execute("CREATE TABLE rows (text TEXT, n INTEGER, x DOUBLE, ok BOOLEAN)")
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", [list(each.values()) for each in ROWS])
            connection.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    return str(path)


def given_of(folder: Path, named: str, query: str = "") -> list[Any]:
    inputs = Inputs(open_rows(named, query), load(folder, PROGRAM), RowMapping(), say_nothing)
    return [each.input_value for each in inputs]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet"])
def test_x29_every_form_gives_the_same_inputs(tmp_path: Path, form: str):
    """X29: with a byte order mark, line ends of Windows and line ends within cells."""
    assert given_of(tmp_path, written(tmp_path, form)) == ROWS


def test_x29_a_table_and_a_query_of_sqlite_give_the_same_inputs(tmp_path: Path):
    """X29: SQLite has no booleans, so that column is another one."""
    named = written(tmp_path, "sqlite")
    expected = [{name: value for name, value in each.items() if name != "ok"} for each in ROWS]
    assert given_of(tmp_path, f"{named}::rows") == expected
    assert given_of(tmp_path, named, "SELECT text, n, x FROM rows ORDER BY n") == expected


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DELETE FROM rows", "not authorized"),
        ("ATTACH 'x' AS y", "not authorized"),
        ("SELECT load_extension('x')", "not authorized"),
        ("PRAGMA journal_mode = WAL", "not authorized"),
        ("SELECT gone FROM rows", "no such column"),
        ("", "which table"),
    ],
)
def test_x10_a_query_only_reads(tmp_path: Path, query: str, said: str):
    """X10."""
    named = written(tmp_path, "sqlite")
    before = Path(named).read_bytes()
    with pytest.raises(RowsRefused, match=said):
        list(open_rows(named, query).rows())
    assert Path(named).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"x", "what kind of rows"),
        ("a.json", b"{}", "holds an object"),
        ("a.json", b"[1", "not valid JSON"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"a,a\n1,2\n", "two columns are called 'a'"),
        ("a.csv", b'a\n"x', "not valid CSV"),
        ("a.csv", b"a\n\xff\n", "a.csv:2: not UTF-8"),
        ("a.sqlite", b"no database at all, but long enough", "not a database"),
        ("a.parquet", b"no parquet", "a.parquet"),
    ],
)
def test_x29_what_is_no_file_of_rows_is_refused_in_words(tmp_path: Path, name: str, content: bytes, said: str):
    """X29."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RowsRefused, match=said):
        list(open_rows(str(tmp_path / name), "SELECT 1" if name.endswith("sqlite") else "").rows())


@pytest.mark.parametrize("limit", [MAX_ROW, 12])
def test_x29_a_carriage_return_alone_ends_a_line_of_csv_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
):
    monkeypatch.setattr("prosa.adapters.rows.files.MAX_ROW", limit)
    (tmp_path / "a.csv").write_bytes(b'\xef\xbb\xbfa,b\r1,2\r"3\r4",5\r\n6,7')
    values = [row.value for row in open_rows(str(tmp_path / "a.csv")).rows()]
    assert values == [{"a": "1", "b": "2"}, {"a": "3\r4", "b": "5"}, {"a": "6", "b": "7"}]


def test_x29_a_cell_of_csv_may_be_as_large_as_a_row(tmp_path: Path):
    """X29: the module `csv` refuses cells above 128 KiB unless it is told otherwise."""
    long = "x\n" * 100_000
    (tmp_path / "a.csv").write_text(f'text\n"{long}"\nshort\n')
    assert given_of(tmp_path, str(tmp_path / "a.csv")) == [{"text": long}, {"text": "short"}]


def test_x29_a_row_of_csv_that_is_too_large_fails_alone_and_a_cell_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("prosa.adapters.rows.files.MAX_ROW", 200_000)
    before = csv.field_size_limit(200_000)
    monkeypatch.setattr(csv, "field_size_limit", lambda *_: 200_000)
    half, file = "y\n" * 60_000, tmp_path / "a.csv"
    file.write_text(f'a,b\n"{half}","{half}"\n1,2\n')
    assert [(row.value, row.problem) for row in open_rows(str(file)).rows()] == [
        (None, "the row is larger than 10 MiB"),
        ({"a": "1", "b": "2"}, ""),
    ]
    file.write_text(f'a,b\n"{half}{half}",1\n')
    with pytest.raises(RowsRefused, match=r"a\.csv:2: the row is larger than 10 MiB"):
        list(open_rows(str(file)).rows())
    monkeypatch.undo()
    csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json", "a.sqlite", "a.parquet"])
def test_x29_a_file_that_is_not_there(tmp_path: Path, name: str):
    """X29."""
    with pytest.raises(RowsRefused, match="no such file"):
        list(open_rows(str(tmp_path / name)).rows())


def test_x29_parquet_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X29."""
    named = written(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(RowsRefused) as refused:
        list(open_rows(named).rows())
    assert refused.value.hint == install_line("parquet")


def test_x29_lines_that_are_no_rows_fail_alone(tmp_path: Path):
    """X29: each with its line."""
    lines = [b'{"a": 1}', b"[1]", b"", b"{", b'{"a": NaN}', b"\xff", b'"x"', b"[" * 100_000, b'{"a": 2}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    found = list(open_rows(str(tmp_path / "a.jsonl")).rows())
    assert [each.number for each in found] == list(range(1, 9))
    assert [bool(each.problem) for each in found] == [False, True, True, True, True, True, True, False]
    assert found[2].place.endswith("a.jsonl:4")


def test_x29_a_row_that_is_too_large_is_not_kept_and_fails_alone(tmp_path: Path):
    """X29."""
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.write(b'{"a": "' + b"x" * (2 * MAX_ROW + 5) + b'"}\n{"a": 1}\n')
    first, second = open_rows(str(tmp_path / "a.jsonl")).rows()
    assert "larger than 10 MiB" in first.problem and second == Row(2, second.place, {"a": 1})


def test_x29_rows_that_change_while_they_are_read_are_refused(tmp_path: Path):
    """X29: what is known of a row would be said of another one."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    source = open_rows(str(path))
    source.digest()
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    with pytest.raises(RowsRefused, match="changed while it was read"):
        list(source.rows())


def test_x29_cells_are_typed_by_the_schema(tmp_path: Path):
    """X29: an empty cell is no value, and one that does not fit fails its row alone."""
    (tmp_path / "a.csv").write_text("text,n,x,ok,other\n7,7,7,true,z\n,,,,\na,many,,,\n")
    inputs = Inputs(open_rows(str(tmp_path / "a.csv")), load(tmp_path, PROGRAM), RowMapping(), say_nothing)
    first, second, third = inputs
    assert first.input_value == {"text": "7", "n": 7, "x": 7, "ok": True}
    assert second.input_value == {} and third.problem == 'n: expected an integer, found "many"'


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x, max_size=3))


@given(rows=st.lists(st.dictionaries(st.text(max_size=4), _JSON, max_size=3), max_size=6))
def test_x29_rows_of_a_program_come_back_as_they_were(tmp_path_factory: Any, rows: list[dict[str, Any]]):
    """X29: kept beside the store, the same rows under the same name."""
    store = tmp_path_factory.mktemp("spool") / "store.sqlite"
    found = spooled(store, as_lines(rows), "rows")
    assert [each.value for each in found.rows()] == rows
    assert spooled(store, as_lines(rows), "rows").path == found.path
    assert [each.name for each in found.path.parent.iterdir()] == [found.path.name]


BOUNDED = """
import resource, sys
from pathlib import Path
from prosa.adapters.rows.parquet import ParquetRows
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
rows = [len(each.value["text"]) for each in ParquetRows(Path(sys.argv[1])).rows()]
assert rows == [4_000_000] * 400, rows
"""


def test_x9_x29_a_small_parquet_file_with_large_rows_takes_little_memory(tmp_path: Path):
    """X9, X29: 400 rows of 4 MB that share their text, which is stored once."""
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT repeat('x', 4000000) AS text FROM range(400)) TO '{path}' (FORMAT parquet)")
    assert path.stat().st_size < 1_000_000
    done = subprocess.run([sys.executable, "-c", BOUNDED, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_x9_x29_a_row_of_parquet_that_is_too_large_fails_alone(tmp_path: Path):
    """X9, X29."""
    path = tmp_path / "a.parquet"
    texts = "[CASE WHEN i = 2 THEN repeat('y', 11000000) ELSE 'a' END] AS t"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {texts}, {{'b': i}} AS s FROM range(4) r(i)) TO '{path}' (FORMAT parquet)")
    found = [each.problem or each.value for each in open_rows(str(path)).rows()]
    assert found == [
        {"t": ["a"], "s": {"b": 0}},
        {"t": ["a"], "s": {"b": 1}},
        "the row is larger than 10 MiB",
        {"t": ["a"], "s": {"b": 3}},
    ]


def test_x9_x29_sizes_of_all_kinds_of_columns_can_be_asked(tmp_path: Path):
    """X9, X29."""
    path = tmp_path / "a.parquet"
    kinds = "[t] AS l, {'a': t, 'b': [1]} AS s, MAP {'k': [t]} AS m, DATE '2026-01-01' AS d, array_value(t, t) AS w"
    with duckdb.connect() as connection:
        names = "(VALUES ('x'), (NULL)) r(t)"
        connection.execute(f'COPY (SELECT {kinds}, t AS "q""u", 1.5 AS f FROM {names}) TO \'{path}\' (FORMAT parquet)')
    first, second = (each.value for each in open_rows(str(path)).rows())
    assert first == {"l": ["x"], "s": {"a": "x", "b": [1]}, "m": {"k": ["x"]}, "d": "2026-01-01", "w": ["x", "x"]} | {
        'q"u': "x",
        "f": "1.5",
    }
    assert second is not None and 'q"u' not in second


def test_x9_a_table_has_a_limit_of_columns(tmp_path: Path):
    """X9: columns are compared in linear time, and there are no more than a spreadsheet has."""
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{n}" for n in range(200_000)) + "\n")
    with pytest.raises(RowsRefused, match=r"a.csv:1: 200,000 columns, and a table may have 16,384"):
        list(open_rows(str(path)).rows())
    names = [f"c{n}" for n in range(MAX_COLUMNS)]
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    (row,) = open_rows(str(path)).rows()
    assert row.value is not None and len(row.value) == MAX_COLUMNS
    assert is_quick(lambda: require_columns("a", names), 1)


def test_x29_a_row_that_names_a_key_twice_fails_alone(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "text": "b"}\n{"text": "c"}\n')
    assert [(row.value, row.problem) for row in open_rows(str(tmp_path / "a.jsonl")).rows()] == [
        (None, "not valid JSON: duplicate key `text`"),
        ({"text": "c"}, ""),
    ]


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "body,id\n,1\nx,2\n"), ("b.csv", "body,id\nx\ny,2\n")], ids=["empty", "short"]
)
def test_x29_columns_of_a_table_are_those_of_its_head(tmp_path: Path, name: str, content: str):
    """X29: a first row with an empty cell, or with too few, has all columns of its table."""
    (tmp_path / name).write_text(content)
    program, source = load(tmp_path, PROGRAM), open_rows(str(tmp_path / name))
    found = list(Inputs(source, program, RowMapping({"text": "body"}, "id"), say_nothing))
    assert found[-1].input_value is not None and found[-1].id == "2"
    with pytest.raises(RowsRefused, match="no column 'gone'") as refused:
        list(Inputs(source, program, RowMapping({"text": "gone"}), say_nothing))
    assert refused.value.hint == "it has: body, id"


def test_x29_an_empty_cell_of_a_database_has_a_column_too(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (body)")
        connection.executemany("INSERT INTO t VALUES (?)", [(None,), ("x",)])
    source = open_rows(f"{tmp_path / 'a.sqlite'}::t")
    found = [
        each.input_value for each in Inputs(source, load(tmp_path, PROGRAM), RowMapping({"text": "body"}), say_nothing)
    ]
    assert found == [{}, {"text": "x"}]


def test_x29_a_row_without_an_id_is_named_with_what_was_found(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": [2]}\n')
    inputs = Inputs(open_rows(str(tmp_path / "a.jsonl")), load(tmp_path, PROGRAM), RowMapping({}, "id"), say_nothing)
    with pytest.raises(RowsRefused, match=r"a\.jsonl:2: no id: expected a text or an integer as 'id', found \[2\]"):
        list(inputs)


def test_x29_bytes_in_an_ignored_column_do_not_fail_the_row(tmp_path: Path):
    """What JSON has not counts only where an input or the id takes it."""
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (key, text, photo, x)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [("a", "one", b"1", 1), ("b", "two", None, 1e400)])
    source, program = open_rows(f"{tmp_path / 'a.sqlite'}::t"), load(tmp_path, PROGRAM)

    def found(mapping: RowMapping) -> list[tuple[Any, str]]:
        return [(each.input_value, each.problem) for each in Inputs(source, program, mapping, say_nothing)]

    infinite = (None, "column x holds inf, which JSON has not")
    photo = (None, "column photo holds bytes, which JSON has not")
    assert found(RowMapping({}, "key")) == [({"text": "one", "x": 1}, ""), infinite]
    assert found(RowMapping({"text": "photo"})) == [photo, infinite]
    assert found(RowMapping({}, "photo"))[0] == photo
    assert found(RowMapping({"x": "key"}))[1] == ({"text": "two", "x": "b"}, "")
    before = source.digest()
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        connection.execute("UPDATE t SET photo = NULL")
    assert source.digest() != before


def test_x29_a_query_that_names_two_columns_alike_is_refused(tmp_path: Path):
    """One of both values would be lost."""
    named = written(tmp_path, "sqlite")
    with pytest.raises(RowsRefused, match="two columns are called 'text'"):
        list(open_rows(named, "SELECT text, n AS text FROM rows").rows())
