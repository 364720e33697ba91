"""Editors for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.lsp.editor import Editor, inside


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    """A home and a cache of their own."""
    return {"HOME": str(tmp_path / "home"), "PROSA_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def editor(environ: Mapping[str, str]) -> Iterator[Editor]:
    """An editor with a server that has not been told anything yet, and that is told goodbye at the end."""
    with inside(environ) as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is a project."""
    folder = (tmp_path / "project").resolve()
    (folder / ".git").mkdir(parents=True)
    return folder
