"""A corpus that follows the changes of its files, as the system tells them, has what a new index would have."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

import prosa
from prosa.app.corpus import follow
from prosa.corpus.errors import IndexProblem

LONGEST = 120.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    (place / "inner").mkdir(parents=True)
    (place / "prosa.toml").touch()
    for name in ("a.md", "b.md", "inner/c.md"):
        (place / name).write_text(f"# {name}\n\nSee [b](/b.md) and [[c]].\n")
    return place


def opened(folder: Path, **options) -> prosa.Corpus:
    return prosa.Corpus(folder, environ={"PROSA_CACHE_DIR": str(folder.parent / f"cache-{len(options)}")}, **options)


@pytest.fixture
def corpus(folder: Path) -> Iterator[prosa.Corpus]:
    with opened(folder, watch=True) as found:
        until(lambda: found.documents() and found._follower.is_quiet)
        yield found


def until(what: Callable[[], object]) -> None:
    end = time.monotonic() + LONGEST
    while not what():
        assert time.monotonic() < end
        Event().wait(0.005)


def told(corpus: prosa.Corpus) -> tuple[object, object]:
    graph = corpus.graph()
    titles = sorted((each.path, each.title) for each in corpus.documents())
    return titles, sorted((each.source, each.target, each.resolved) for each in graph.edges)


def fresh(folder: Path) -> tuple[object, object]:
    shutil.rmtree(folder.parent / "cache-0", ignore_errors=True)
    with opened(folder) as new:
        return told(new)


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": lambda folder: (folder / "a.md").write_text("# Edited\n\n[[b]]\n"),
    "replace": lambda folder: [(folder / "x.tmp").write_text("# Put\n"), (folder / "x.tmp").replace(folder / "a.md")],
    "new": lambda folder: (folder / "new.md").write_text("# New\n\n[[a]]\n"),
    "remove": lambda folder: (folder / "b.md").unlink(),
    "move": lambda folder: (folder / "b.md").rename(folder / "inner" / "b.md"),
    "move a folder": lambda folder: (folder / "inner").rename(folder / "outer"),
    "remove a folder": lambda folder: shutil.rmtree(folder / "inner"),
    "ignore": lambda folder: (folder / ".gitignore").write_text("inner/\n"),
    "settings": lambda folder: (folder / "prosa.toml").write_text('[relations]\nparent = "part-of"\n'),
    "link": lambda folder: (folder / "linked.md").symlink_to("a.md"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_by_itself(folder: Path, corpus: prosa.Corpus, change: str):
    before = told(corpus)
    CHANGES[change](folder)
    wanted = fresh(folder)
    assert change in ("settings", "link") or wanted != before
    until(lambda: told(corpus) == wanted)


def test_an_edit_reads_one_document_and_looks_at_no_other(folder: Path, corpus: prosa.Corpus, monkeypatch):
    monkeypatch.setattr("prosa.app.corpus.open.OpenCorpus.scan", None)
    (folder / "a.md").write_text("# Edited\n")
    until(lambda: corpus.document("a.md").title == "Edited")
    assert (corpus.report.changed, corpus.report.added) == (1, 0)
    (folder / "picture.png").write_bytes(b"png")  # no document: nothing is looked at
    (folder / "notes.tmp").write_text("x")
    (folder / "notes.tmp").unlink()
    (folder / "b.md").write_text("# Last\n")
    until(lambda: corpus.document("b.md").title == "Last")


def test_many_changes_in_any_order_end_where_a_new_index_does(folder: Path, corpus: prosa.Corpus):
    dice = random.Random(7)
    for turn in range(60):
        place = folder / dice.choice(("", "inner", "deep/er")) / f"{dice.choice('abcd')}.md"
        if dice.random() < 0.3:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"# {turn}\n\n[[{dice.choice('abcd')}]]\n")
        if dice.random() < 0.3:
            corpus.documents()
    wanted = fresh(folder)
    until(lambda: told(corpus) == wanted)


def test_what_the_system_lost_is_found_after_a_while(folder: Path, corpus: prosa.Corpus, monkeypatch):
    """Everything is looked at now and then, whatever was told."""
    corpus._follower._watcher.close()
    (folder / "a.md").write_text("# Lost\n")
    assert corpus.document("a.md").title != "Lost"
    monkeypatch.setattr(follow, "WHOLE_EVERY", 0.0)
    assert corpus.document("a.md").title == "Lost"


def test_a_change_that_could_not_be_dealt_with_is_kept(folder: Path, corpus: prosa.Corpus, monkeypatch):
    def fail(*_: object) -> None:
        raise IndexProblem("no space")

    monkeypatch.setattr("prosa.app.corpus.open.OpenCorpus.refresh_paths", fail)
    (folder / "a.md").write_text("# Kept\n")
    until(lambda: not corpus._follower.is_quiet)
    with pytest.raises(IndexProblem):
        corpus.documents()
    monkeypatch.undo()
    assert corpus.document("a.md").title == "Kept"


def test_a_change_that_could_not_be_judged_is_kept(folder: Path, corpus: prosa.Corpus, monkeypatch):
    def fail(*_: object, **__: object) -> str:
        raise IndexProblem("locked")

    monkeypatch.setattr(follow, "_kind", fail)
    (folder / "a.md").write_text("# Judged\n")
    until(lambda: not corpus._follower.is_quiet)
    with pytest.raises(IndexProblem):
        corpus.documents()
    monkeypatch.undo()
    assert corpus.document("a.md").title == "Judged"


def test_a_missing_library_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(follow, "can_watch", lambda: False)
    with pytest.raises(IndexProblem, match="library") as raised:
        opened(folder, watch=True)
    assert ".[watch]" in raised.value.hint
