"""Fixtures of the command tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.programs import program
from tests.model_server.fixture import model_server

__all__ = ["model_server"]


@pytest.fixture
def count(tmp_path: Path) -> Path:
    """A program that counts words."""
    return program(tmp_path)
