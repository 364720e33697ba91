"""One answer of `--watch` for each change, also of a folder itself; the watch is replaced by values here."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from prosa.app import watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is watched."""
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def answers(monkeypatch: pytest.MonkeyPatch, folder: Path, *told: list[Collection[str]]) -> Iterator[Collection[str]]:
    """What is yielded where one watch after the other tells of some changes."""
    watches = iter(told)
    monkeypatch.setattr(watch, "changes", lambda *_, **__: (frozenset(each) for each in next(watches)))
    return watch.document_changes([folder])


def test_a_folder_that_is_touched_is_checked_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    own, document = str(folder), str(folder / "a.md")
    found = answers(monkeypatch, folder, [(), (own,)], [(), (), (document,)])
    assert [set(each) for each in found] == [set(), set(), {document}]


def test_a_folder_that_is_gone_is_told_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    found = answers(monkeypatch, folder, [(), (str(folder),)], [()])
    assert next(found) == frozenset()
    os.rmdir(folder)
    assert next(found) == {str(folder)}
    folder.mkdir()
    assert list(found) == [frozenset()]
