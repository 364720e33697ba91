"""Fixtures of the tests of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.evals.suites import TRIAGE
from tests.model_server.fixture import model_server

__all__ = ["model_server"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program that is tested, and the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "triage.md").write_text(TRIAGE)
    return tmp_path
