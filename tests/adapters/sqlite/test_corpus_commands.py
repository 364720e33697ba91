"""`prosa index`, `prosa stats` and `prosa query` from the outside, and how a corpus is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.adapters.sqlite.asking import ask_index
from prosa.app.corpus.open import corpus_root, open_corpus
from prosa.cli.main import main
from prosa.corpus.errors import IndexProblem
from prosa.corpus.sql import distinct_names
from prosa.render.rows import render_csv, render_jsonl_rows, render_table, rows_objects
from prosa.settings.model import Settings
from tests.cli.desk import Desk, desk

DOCUMENTS = {
    "a.md": "---\ntags: [x]\n---\n# First\n\n[b](b.md) [[nowhere]]\n",
    "b.md": "# Second\n\ntext\n",
    "sub/c.mda": "---\ndoc-id: c-1\n---\n[b](../b.md)\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for path, text in DOCUMENTS.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def prosa(root: Path, *words: str, terminal: bool = False) -> tuple[int, Desk]:
    found = desk(environ={"PROSA_CACHE_DIR": str(root.parent / "cache"), "HOME": str(root.parent)}, terminal=terminal)
    return main([*words], found.console), found


def test_index_says_what_changed(root: Path):
    status, shown = prosa(root, "index", str(root))
    assert (status, shown.err) == (0, "")
    assert shown.out.startswith(f"3 documents in {root}: 3 added (")
    (root / "a.md").write_text("other")
    (root / "b.md").unlink()
    (root / "bad.md").write_bytes(b"\xff")
    status, shown = prosa(root, "index", str(root))
    assert (status, shown.err) == (0, "")
    head, *rest = shown.out.splitlines()
    assert head.startswith(f"2 documents in {root}: 1 changed, 1 removed (")
    assert rest[0] == "not in the index (1):"
    assert rest[1].startswith("  bad.md: is not UTF-8 text")


def test_index_as_json_has_its_keys_in_order(root: Path):
    _, shown = prosa(root, "index", str(root), "--format", "json")
    found = json.loads(shown.out)
    assert list(found) == [
        *("root", "index", "documents", "added", "changed", "removed", "unchanged", "unreadable", "seconds", "healed"),
    ]
    assert (found["documents"], found["added"], found["healed"]) == (3, 3, "")
    assert Path(found["index"]).is_file()


def test_x10_the_index_lives_in_a_private_place(root: Path):
    """X10: its place, its rights, and that it is refused when others may write to it."""
    prosa(root, "index", str(root))
    folder = root.parent / "cache" / "index"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}
    folder.chmod(0o777)
    status, shown = prosa(root, "index", str(root))
    assert (status, shown.out) == (1, "")
    assert "may be written by others and is not used" in shown.err


def test_a_broken_index_is_told_and_made_anew(root: Path):
    _, shown = prosa(root, "index", str(root), "--format", "json")
    Path(json.loads(shown.out)["index"]).write_bytes(b"nonsense " * 1000)
    status, shown = prosa(root, "index", str(root))
    assert status == 0
    assert shown.out.startswith("the old index was not an SQLite file; it was made anew\n3 documents")


def test_rebuild_reads_everything_again(root: Path):
    prosa(root, "index", str(root))
    _, shown = prosa(root, "index", str(root), "--rebuild", "--format", "json")
    assert json.loads(shown.out)["added"] == 3


def test_progress_is_shown_on_a_terminal_only(root: Path):
    for number in range(300):
        (root / f"n{number}.md").write_text("x")
    _, shown = prosa(root, "index", str(root), terminal=True)
    assert "303 documents" in shown.err and shown.err.endswith("\x1b[K")
    _, shown = prosa(root, "index", str(root), "--rebuild")
    assert shown.err == ""


@pytest.mark.parametrize("words", [("index", "nowhere"), ("stats", "nowhere"), ("query", "SELECT 1", "nowhere")])
def test_a_folder_that_is_none_is_wrong_use(root: Path, words: tuple[str, ...]):
    status, shown = prosa(root, *words)
    assert (status, shown.out) == (2, "")
    assert "nowhere: no such file or folder" in shown.err


def test_an_empty_folder_is_an_empty_corpus(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    status, shown = prosa(tmp_path / "docs", "index", str(tmp_path / "docs"))
    assert (status, shown.out.split(" in ")[0]) == (0, "0 documents")
    status, shown = prosa(tmp_path / "docs", "stats", str(tmp_path / "docs"))
    assert status == 0 and "0 documents" in shown.out


def test_stats_counts(root: Path):
    status, shown = prosa(root, "stats", str(root), "--format", "json")
    found = json.loads(shown.out)
    assert status == 0
    assert list(found) == [
        *("root", "index", "size", "age", "documents", "sections", "words", "embeddings", "dialects", "edges"),
        *("orphans", "most_linked"),
    ]
    assert found["dialects"] == {"plain": 2, "magi": 1}
    assert found["edges"] == {
        "total": 3,
        "origin": {"inline": 2, "wikilink": 1},
        "rel": {},
        "state": {"resolved": 2, "unresolved": 1},
    }
    assert found["orphans"] == 2
    assert found["most_linked"] == [{"id": "b.md", "path": "b.md", "title": "Second", "count": 2}]
    _, shown = prosa(root, "stats", str(root))
    assert "  2  inline\n" in shown.out and "b.md" in shown.out


def test_query_prints_in_every_format(root: Path):
    query = "SELECT path, words FROM documents WHERE dialect = 'plain' ORDER BY path"
    assert prosa(root, "query", query, str(root))[1].out == "path  words\n────  ─────\na.md      4\nb.md      3\n"
    found = json.loads(prosa(root, "query", query, str(root), "--format", "json")[1].out)
    assert list(found) == ["columns", "rows", "more"]
    assert found["rows"] == [{"path": "a.md", "words": 4}, {"path": "b.md", "words": 3}]
    assert prosa(root, "query", query, str(root), "--format", "jsonl", "--limit", "1")[1].out == (
        '{"path": "a.md", "words": 4}\n'
    )
    status, shown = prosa(root, "query", query, str(root), "--format", "csv", "--limit", "1", "--timeout", "1m")
    assert (status, shown.out) == (0, "path,words\na.md,4\n")
    assert "more than 1 rows" in shown.err


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("text", "path  words  path_2\n────  ─────  ──────\na.md      4  a.md\n"),
        ("json", '{\n  "columns": [\n    "path",\n    "words",\n    "path_2"\n  ],'),
        ("jsonl", '{"path": "a.md", "words": 4, "path_2": "a.md"}\n'),
        ("csv", "path,words,path_2\na.md,4,a.md\n"),
    ],
)
def test_columns_of_one_name_are_numbered(root: Path, form: str, shown: str):
    query = "SELECT path, words, path FROM documents WHERE path = 'a.md'"
    assert prosa(root, "query", query, str(root), "--format", form)[1].out.startswith(shown)


def test_a_wrong_query_is_wrong_use(root: Path):
    status, shown = prosa(root, "query", "SELECT pth FROM documents", str(root))
    assert (status, shown.out) == (2, "")
    assert "line 1, column 8: there is no column `pth`" in shown.err
    assert "did you mean path?" in shown.err
    for flag in (["--limit", "0"], ["--limit", "x"], ["--timeout", "-1"], ["--timeout", "nan"], ["--timeout", "2h"]):
        assert prosa(root, "query", "SELECT 1", str(root), *flag)[0] == 2


def test_no_refresh_asks_the_index_as_it_is(root: Path):
    prosa(root, "index", str(root))
    (root / "new.md").write_text("x")
    count = "SELECT count(*) AS n FROM documents"
    old = prosa(root, "query", count, str(root), "--format", "jsonl", "--no-refresh")[1].out
    new = prosa(root, "query", count, str(root), "--format", "jsonl")[1].out
    assert (old, new) == ('{"n": 3}\n', '{"n": 4}\n')


def test_the_root_is_what_was_named_or_the_project(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (root / "prosa.toml").write_text("")
    assert corpus_root(root / "sub") == root / "sub"
    assert corpus_root(root / "sub" / "c.mda") == root
    assert corpus_root(root / "sub", tmp_path) == tmp_path
    monkeypatch.chdir(root / "sub")
    assert corpus_root(None) == root


def test_settings_say_how_documents_are_read(root: Path, tmp_path: Path):
    environ = {"PROSA_CACHE_DIR": str(tmp_path / "cache")}
    with open_corpus(root, environ=environ, settings=Settings(dialects=(("b.md", "prapti"),))) as corpus:
        assert {each.path: each.dialect for each in corpus.index.documents()} == {
            "a.md": "plain",
            "b.md": "prapti",
            "sub/c.mda": "magi",
        }


def test_single_documents_are_brought_up_to_date(root: Path, tmp_path: Path):
    with open_corpus(root, environ={"PROSA_CACHE_DIR": str(tmp_path / "cache")}) as corpus:
        (root / "b.md").write_text("# Third\n")
        (root / "a.md").unlink()
        report = corpus.refresh_paths([root / "b.md", root / "a.md"])
        assert (report.changed, report.removed) == (1, 1)
        assert [(each.path, each.title) for each in corpus.index.documents()] == [("b.md", "Third"), ("sub/c.mda", "c")]
        assert [edge.source for edge in corpus.index.edges_to("b.md")] == ["c-1"]


def test_damage_that_shows_only_in_an_answer_is_put_into_words(root: Path, tmp_path: Path):
    environ = {"PROSA_CACHE_DIR": str(tmp_path / "cache")}
    with open_corpus(root, environ=environ) as corpus:
        path = corpus.index.path
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(IndexProblem) as raised, open_corpus(root, environ=environ, refresh=False):
        ask_index(path, "SELECT * FROM sections")
    assert "run the command again" in raised.value.hint
    with open_corpus(root, environ=environ) as corpus:
        assert len(corpus.index.documents()) == 3


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.md", "a.md"),
        ("./a.md", "a.md"),
        ("c-1", "sub/c.mda"),
        ("c", "sub/c.mda"),
        ("C", "sub/c.mda"),
        ("c.mda", "sub/c.mda"),
        ("sub/c", "sub/c.mda"),
        ("sub", "sub/c.mda"),
        ("b", "b.md"),
        ("", None),
        ("nothing", None),
        ("%", None),
    ],
)
def test_a_document_is_found_by_what_people_call_it(root: Path, tmp_path: Path, name: str, path: str | None):
    with open_corpus(root, environ={"PROSA_CACHE_DIR": str(tmp_path / "cache")}) as corpus:
        found = corpus.index.node(name)
        assert (found.path if found else None) == path
        assert corpus.index.near("a.mx") == ["a.md"]


def test_a_table_fits_what_is_in_it():
    rows = [("é" * 90, 1, None), ("日本", 22.5, b"\x01"), ("a\x1bb\nc", -3, "x")]
    table = render_table(("name", "n", "é"), rows).splitlines()
    assert table[0].split() == ["name", "n", "é"]
    assert table[2].split()[0] == "é" * 79 + "…"
    assert table[3].endswith("22.5  01")
    assert "\x1b" not in "".join(table) and len(table) == 5
    assert render_table(("a",), []) == ""
    assert rows_objects(distinct_names(("a", "a", "a_2", "a")), [(1, 2, 3, 4)]) == [
        {"a": 1, "a_2": 2, "a_2_2": 3, "a_3": 4}
    ]
    assert render_csv(("a", "b"), [("x,y", None), ('"', 1.5)]) == 'a,b\n"x,y",\n"""",1.5'
    assert render_jsonl_rows(("a",), [(float("inf"),), (b"\xff",)]) == '{"a": ".inf"}\n{"a": "ff"}'


def test_x10_a_name_that_each_column_has_is_numbered_without_trying_all_numbers_each_time():
    compared: list[object] = []

    class Counted(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

    names = distinct_names([Counted("a") for _ in range(100)])
    assert names == ("a", *(f"a_{number}" for number in range(2, 101)))
    assert len(compared) < 1_000
