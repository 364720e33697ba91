"""The engine and the weights that these tests share; without them none of these files is collected."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.adapters.embedded import engine as engines
from prosa.adapters.embedded.weights import TABLE
from tests import depth
from tests.adapters.embedded.presence import missing, weights
from tests.adapters.embedded.runs import AGREED

collect_ignore_glob = ["test_*.py"] if missing() else [] if depth.DEEP else ["test_deep.py"]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's data folder with the weights in it."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").mkdir(mode=0o700)
    (folder / "models" / TABLE[0].file).symlink_to(weights())
    return folder


@pytest.fixture
def environ(data: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has agreed and pulled: their own runs, no key."""
    named = {"HOME": str(tmp_path), "PROSA_CONFIG_DIR": str(tmp_path / "config"), "XDG_RUNTIME_DIR": str(tmp_path)}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, **named, **AGREED, "PROSA_DATA_DIR": str(data), "PROSA_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture(scope="session", autouse=True)
def engines_end() -> Iterator[None]:
    """Ends the engines of this process with its tests."""
    yield
    for each in engines._engines.values():
        each.end()
