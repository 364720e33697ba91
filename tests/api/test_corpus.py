"""`prosa.Corpus`: the answers of the corpus commands as typed values."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import prosa
from prosa.corpus.errors import CorpusError, QueryRefused, UnknownDocument
from prosa.corpus.where import WhereError
from prosa.source import FileProblem
from tests.corpus.moves.disk import TEXTS, write

EDGES = {**TEXTS, "y.mda": "---\ndoc-id: y1\ntags: [red]\n---\n# Y\n\nSome words. [[nowhere]]\n"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PROSA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", EDGES)


@pytest.fixture
def corpus(root: Path, environ: dict[str, str]):
    with prosa.Corpus(root, environ=environ) as corpus:
        yield corpus


def test_documents_are_nodes_in_the_order_of_their_paths(corpus: prosa.Corpus):
    assert [(each.path, each.id, each.title) for each in corpus.documents()] == [
        ("a.md", "a.md", "A"),
        ("notes/b.md", "notes/b.md", "B"),
        ("notes/c.md", "notes/c.md", "C"),
        ("y.mda", "y1", "Y"),
        ("z.mda", "z1", "Z"),
    ]
    assert corpus.report.added == 5


@pytest.mark.parametrize("name", ["notes/b.md", "b", "B.md"])
def test_a_document_has_several_names(corpus: prosa.Corpus, name: str):
    assert corpus.document(name).path == "notes/b.md"


def test_a_path_is_relative_to_the_working_directory(corpus: prosa.Corpus, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(root / "notes")
    assert corpus.document(Path("../y.mda")).id == corpus.document("../y.mda").id == "y1"
    assert corpus.document(root / "a.md").path == "a.md"
    with pytest.raises(FileProblem, match="outside"):
        corpus.document(root.parent)


def test_an_unknown_document_is_told_with_the_nearest(corpus: prosa.Corpus):
    with pytest.raises(UnknownDocument) as raised:
        corpus.links("notes/bb.md")
    assert isinstance(raised.value, CorpusError)
    assert raised.value.near == ("notes/b.md",)
    assert raised.value.hint == "did you mean notes/b.md?"


def test_y22_links_point_out_back_and_nowhere(corpus: prosa.Corpus):
    links = corpus.links("b")
    assert [(edge.target, edge.line) for edge in links.out if edge.resolved] == [("a.md", 3), ("notes/b.md", 3)]
    back = [(edge.source, edge.origin, edge.fragment) for edge in links.back]
    assert back == [
        ("a.md", "inline", "part"),
        ("a.md", "wikilink", ""),
        ("notes/c.md", "inline", ""),
        ("z1", "wikilink", ""),
    ]
    assert links.unresolved == ()
    lost = corpus.links("y1")
    assert [edge.target for edge in lost.unresolved] == ["nowhere"]
    assert [(edge.source, edge.rel) for edge in lost.back] == [("z1", "child")]


def test_x21_paths_and_impact_follow_references(corpus: prosa.Corpus):
    way = corpus.path("notes/c.md", "y1")
    assert way is not None
    assert [(step.node, step.forwards) for step in way] == [("notes/b.md", True), ("z1", False), ("y1", True)]
    assert corpus.path("notes/c.md", "y1", directed=True) is None
    assert corpus.path("b", "b") == ()
    assert [(step.node, step.distance) for step in corpus.impact("a.md")] == [
        ("notes/b.md", 1),
        ("notes/c.md", 2),
        ("z1", 2),
    ]
    assert [step.node for step in corpus.impact("a.md", depth=1)] == ["notes/b.md"]
    assert [step.node for step in corpus.impact("y1", rels=["child"])] == ["z1"]


def test_a_search_gives_hits(corpus: prosa.Corpus):
    assert [hit.path for hit in corpus.search("words")] == ["y.mda"]
    assert [hit.path for hit in corpus.search(tags=["red"])] == ["y.mda"]
    assert corpus.search("absent") == []
    with pytest.raises(WhereError):
        corpus.search(where="tags ~~ x")


def test_the_graph_and_the_numbers(corpus: prosa.Corpus):
    graph = corpus.graph()
    assert len(graph.nodes) == corpus.stats().documents == 5
    assert [(edge.source, edge.target, edge.rel) for edge in graph.derived] == [("y1", "z1", "parent")]


def test_x10_a_query_only_reads(corpus: prosa.Corpus):
    answer = corpus.query("SELECT path FROM documents WHERE dialect = 'magi' ORDER BY path")
    assert (answer.columns, answer.rows, answer.more) == (("path",), (("y.mda",), ("z.mda",)), False)
    with pytest.raises(QueryRefused):
        corpus.query("DELETE FROM documents")


def test_what_changes_is_seen_after_a_refresh(corpus: prosa.Corpus, root: Path):
    (root / "new.md").write_text("# New\n\n[[b]]\n")
    assert corpus.refresh().added == 1
    assert "new.md" in {edge.source for edge in corpus.links("b").back}


def test_a_document_names_the_corpus_that_it_belongs_to(root: Path, environ: dict[str, str]):
    with prosa.Corpus(root / "notes" / "b.md", environ=environ) as corpus:
        assert corpus.root == root
    with prosa.Corpus(root / "notes" / "b.md", root=root / "notes", environ=environ) as corpus:
        assert [each.path for each in corpus.documents()] == ["b.md", "c.md"]


def test_an_index_may_be_asked_as_it_is(root: Path, environ: dict[str, str]):
    prosa.Corpus(root, environ=environ).close()
    (root / "new.md").write_text("# New\n")
    with prosa.Corpus(root, refresh=False, environ=environ) as corpus:
        assert len(corpus.documents()) == 5


def test_a_folder_that_is_none_is_told(tmp_path: Path, environ: dict[str, str]):
    for given in ({"path": tmp_path / "nowhere"}, {"root": tmp_path / "nowhere"}):
        with pytest.raises(FileProblem, match="no such file or folder"):
            prosa.Corpus(**given, environ=environ)


def test_threads_may_share_one(corpus: prosa.Corpus, root: Path):
    def ask(number: int) -> int:
        found = len(corpus.search("words")) + len(corpus.links("b").back) + corpus.query("SELECT 1").rows[0][0]
        return found + corpus.refresh().removed + len(corpus.graph().nodes) * 0

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(24)))) == 1


def test_an_index_that_is_damaged_meanwhile_is_made_anew(root: Path, environ: dict[str, str]):
    corpus = prosa.Corpus(root, environ=environ)
    corpus.close()
    (file,) = Path(environ["PROSA_CACHE_DIR"], "index").glob("*.sqlite")
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 60_000)
    assert len(corpus.documents()) == 5
    corpus.close()


def test_an_error_in_the_block_is_left_alone(root: Path, environ: dict[str, str]):
    """One of a database of the caller says nothing about the index."""
    with pytest.raises(sqlite3.DatabaseError), prosa.Corpus(root, environ=environ):
        raise sqlite3.DatabaseError("file is not a database")
    assert prosa.Corpus(root, environ=environ, refresh=False).documents()


def test_a_text_is_one_name_and_a_date_is_a_date(corpus: prosa.Corpus):
    assert [hit.path for hit in corpus.search(dialects="magi", tags="red")] == ["y.mda"]
    assert corpus.impact("z1", rels="nothing") == ()
    with pytest.raises(ValueError, match="since: 'soon' is not a date"):
        corpus.search("words", since="soon")


def test_the_name_loads_nothing_before_it_is_used():
    code = "import prosa, sys; assert 'Corpus' in dir(prosa); assert not any('sqlite' in name for name in sys.modules)"
    environ = {"PYTHONPATH": str(Path(prosa.__file__).parents[1])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_files_that_are_named_are_all_that_is_looked_at(corpus: prosa.Corpus, root: Path):
    (root / "new.md").write_text("# New\n\n[[b]]\n")
    (root / "other.md").write_text("# Other\n")
    assert corpus.refresh([root / "new.md"]).added == 1
    paths = {each.path for each in corpus.documents()}
    assert "new.md" in paths and "other.md" not in paths
    (root / "new.md").unlink()
    assert corpus.refresh([str(root / "new.md")]).removed == 1
    (root / "new.md").write_text("# New")
    assert corpus.refresh(str(root / "new.md")).added == 1  # not one path for each letter
