"""Many documents of one folder, loaded one after the other: what is beside them is looked at once, as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prosa
from prosa.api import documents
from prosa.app.check import check
from prosa.app.check.check import MemoryStore
from prosa.rules import analyse
from tests.depth import examples

NAMES = ("a.md", "b.md", "c.md", "deep/d.md")
TEXTS = ("# One\n\n[[b]] [[d]]\n", "---\nid: x\n---\n# Two\n\n[[nowhere]]\n", "# Three\n\n[[a]] ![[p.png]]\n", None)


def put(root: Path, name: str, text: str | None) -> None:
    """Writes a document of long ago, or removes it."""
    path = root / name
    path.parent.mkdir(exist_ok=True)
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.write_text(text)
    os.utime(path, ns=(1_600_000_000_000_000_000,) * 2)


def told(path: Path) -> list[tuple[Any, ...]]:
    found = prosa.load(path)
    return [(each.rule, each.message, each.span) for each in found.diagnostics]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "prosa.toml").write_text("")
    for number, name in enumerate(NAMES):
        put(tmp_path, name, TEXTS[number % 3])
    return tmp_path


def test_x10_what_is_beside_is_analysed_once_however_many_are_loaded(root: Path, monkeypatch: pytest.MonkeyPatch):
    """X10."""
    monkeypatch.setattr(documents, "_SEEN", MemoryStore())
    made: list[str] = []
    real = analyse.analyse_all

    def counted(sources: Any, *rest: Any) -> Any:
        made.extend(str(source.path) for source, _ in sources)
        return real(sources, *rest)

    for name in NAMES:  # what was written just now is not believed to stay
        told(root / name)
    monkeypatch.setattr(analyse, "analyse_all", counted)
    monkeypatch.setattr("prosa.adapters.files.stamps.FileStamps.tells", lambda *_, **__: True)
    for _ in range(5):
        for name in NAMES:
            told(root / name)
    beside = len(made) - 5 * len(NAMES)
    assert 0 <= beside <= len(NAMES)


@settings(max_examples=examples(15), deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(TEXTS)), min_size=1, max_size=5))
def test_x10_what_is_kept_changes_nothing(tmp_path_factory: pytest.TempPathFactory, changes: list[Any]):
    """X10: however the documents beside change between two."""
    root = tmp_path_factory.mktemp("vault")
    (root / "prosa.toml").write_text("")
    put(root, "start.md", "[[a]] [[b]] [[c]] [[d]]\n")
    kept = documents._SEEN
    for name, text in changes:
        put(root, name, text)
        remembered = told(root / "start.md")
        documents._SEEN = MemoryStore()
        try:
            assert told(root / "start.md") == remembered
        finally:
            documents._SEEN = kept


def test_x9_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    """X9."""
    monkeypatch.setattr(check, "MOST_CHARACTERS", 100)
    store = MemoryStore()
    for number in range(50):
        store.put({str(number): "x" * 30})
        assert sum(map(len, store.rows.values())) <= 100
    store.put({"49": "y"})
    assert store.get(["49", "none"]) == {"49": "y"}
