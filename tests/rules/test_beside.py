"""A check of some documents with a cache sees the documents beside them as one without: same facts, same order, and the
same diagnostics, whatever happened to the files since they were kept together (X10)."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from prosa.adapters.files.result_store import ResultStore
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.corpus.found import RACY_NS
from prosa.rules import analyzer
from prosa.rules.analyzer import Analyzer
from prosa.rules.cache import DamagedCache, from_facts_row, to_facts_row
from prosa.rules.engine import Checked
from tests.depth import examples
from tests.rules.test_resident import EDITS, NAMES, TEXT, Edit

ASKED = ("a.md", "note.mda", "t.ymj")

SETTINGS = ("", "[dialects]\n'sub/**' = 'magi'\n", "[dialects]\n'*.md' = 'mdh'\n")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is young, and one changed document is reason enough to write the row anew."""
    now = time.time_ns
    monkeypatch.setattr("prosa.adapters.files.stamps.time.time_ns", lambda: now() + 2 * RACY_NS)
    monkeypatch.setattr(analyzer, "MANY", 0)


def put(root: Path, name: str, text: str) -> None:
    """Writes a file that is another one than before: two changes within a step of the clock look alike."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name("new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def checked(root: Path, cache: Path | None, texts: dict[Path, str] | None = None) -> Checked:
    """A check of three documents, as a hook asks for it."""
    named = [path for name in ASKED if (path := root / name).exists()]
    (group,) = gather(named or [root / "keep.md"], root=root)
    environ = {"PROSA_CACHE_DIR": str(cache)}
    return Checker.of(CheckOptions(cache=cache is not None), environ).check(group, texts=texts)


def assert_alike(root: Path, cache: Path, texts: dict[Path, str] | None = None) -> None:
    one, other = checked(root, cache, texts), checked(root, None, texts)
    assert one.diagnostics == other.diagnostics
    assert one.corpus is not None
    assert other.corpus is not None
    assert [*one.corpus.entries.items()] == [*other.corpus.entries.items()]
    assert one.corpus.complete == other.corpus.complete


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.fixed_dictionaries(dict.fromkeys(NAMES[:-1], TEXT)),
    edits=EDITS,
    projects=st.lists(st.sampled_from(SETTINGS), min_size=1, max_size=3),
    unsaved=TEXT,
)
def test_x10_documents_beside_are_the_same_with_a_cache(
    tmp_path: Path, later: None, start: dict[str, str], edits: list[Edit], projects: list[str], unsaved: str
):
    """X10."""
    root, cache = tmp_path / "corpus", tmp_path / "cache"
    for folder in (root, cache):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    put(root, "keep.md", "[[a]]\n")
    for name, text in start.items():
        put(root, name, text)
    (root / "link.md").symlink_to("hidden.txt")
    put(root, "hidden.txt", "# Linked\n")
    for at, project in enumerate(projects):
        put(root, "prosa.toml", project)
        assert_alike(root, cache)
        for edit in edits[at :: len(projects)]:
            if edit.text is None:
                (root / edit.name).unlink(missing_ok=True)
            else:
                put(root, edit.name, edit.text)
            assert_alike(root, cache)
        assert_alike(root, cache, {(root / "b.md").resolve(): unsaved})
        assert_alike(root, cache)


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    """A root with a document to check and two beside it, and a cache."""
    root, cache = tmp_path / "corpus", tmp_path / "cache"
    cache.mkdir(mode=0o700)
    put(root, "a.md", "[[b]] [[c]]\n")
    put(root, "b.md", "# B\n")
    put(root, "sub/c.md", "---\ndoc-id: c\n---\n")
    return root, cache


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the documents that were asked for, one list for each question."""
    asked: list[list[str]] = []
    analyses = Analyzer.analyses

    def noted(self: Analyzer, paths: list[Path], known: object = ()) -> object:
        asked.append([path.name for path in paths])
        return analyses(self, paths, known)

    monkeypatch.setattr(Analyzer, "analyses", noted)
    return asked


def test_x10_documents_beside_that_look_as_they_did_are_not_asked_for(
    corpus: tuple[Path, Path], later: None, analysed: list[list[str]]
):
    """X10."""
    root, cache = corpus
    for expected in ([["a.md"], ["b.md", "c.md"]], [["a.md"]]):
        checked(root, cache)
        assert analysed == expected
        analysed.clear()
    put(root, "b.md", "# Other\n")
    checked(root, cache)
    assert analysed == [["a.md"], ["b.md"]]


def test_x10_a_document_that_is_young_is_not_kept(
    corpus: tuple[Path, Path], analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
):
    """X10."""
    root, cache = corpus
    monkeypatch.setattr(analyzer, "MANY", 0)
    checked(root, cache)
    analysed.clear()
    checked(root, cache)
    assert analysed == [["a.md"], ["b.md", "c.md"]]


@pytest.mark.parametrize("text", ["", "[]", '[{"b.md": 1}]', '[{"b.md": [[1, 2, 3, 4], "", {}, "nothing"]}]', "\x00"])
def test_x10_a_row_that_is_none_is_written_anew(
    corpus: tuple[Path, Path], later: None, text: str, monkeypatch: pytest.MonkeyPatch
):
    """X10."""
    root, cache = corpus
    get = ResultStore.get
    broken = {f"beside:{root}{os.sep}": text}
    with monkeypatch.context() as patch:
        patch.setattr(ResultStore, "get", lambda self, keys: {**get(self, keys), **broken})
        assert_alike(root, cache)
    assert_alike(root, cache)


def test_x10_a_row_whose_parts_are_none_says_that_the_cache_is_damaged(
    corpus: tuple[Path, Path], later: None, monkeypatch: pytest.MonkeyPatch
):
    """X10. Parts are read when they are asked for: too late to read the document instead."""
    root, cache = corpus
    checked(root, cache)
    get = ResultStore.get

    def damaged(self: ResultStore, keys: list[str]) -> dict[str, str]:
        return {key: broken(text) if key.startswith("beside:") else text for key, text in get(self, keys).items()}

    def broken(text: str) -> str:
        row = from_facts_row(text)
        assert row.by_path
        return to_facts_row(
            replace(row, by_path={path: replace(each, rest=Raw(b"[1]")) for path, each in row.by_path.items()})
        )

    monkeypatch.setattr(ResultStore, "get", damaged)
    with pytest.raises(DamagedCache, match="the cache of findings is damaged") as caught:
        assert_alike(root, cache)
    assert "--no-cache" in caught.value.hint


def test_x10_where_not_all_can_be_seen_the_documents_beside_are_asked_for_one_by_one(
    corpus: tuple[Path, Path], later: None, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
):
    """X10. Too many documents, or too many folders."""
    root, cache = corpus
    checked(root, cache)
    monkeypatch.setattr("prosa.app.check.gather.MAX_BESIDE", 1)
    assert_alike(root, cache)
    monkeypatch.undo()
    monkeypatch.setattr("prosa.app.check.gather.MAX_FOLDERS_UNMARKED", 1)
    assert_alike(root, cache)
