"""Fixtures of the command tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.programs import program
from tests.cli.services import NAMES, Service, service_at
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]


@pytest.fixture
def count(tmp_path: Path) -> Path:
    """A program that counts words."""
    return program(tmp_path)


@pytest.fixture(params=NAMES)
def service(request: pytest.FixtureRequest, model_server: ModelServer) -> Service:
    """Each service in turn: what a scenario is about goes the same way with all of them."""
    return service_at(request.param, model_server)
