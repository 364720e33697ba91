"""The pytest fixture `model_server`: one fake server per test process, as new for every test.

It runs in a thread, so a test may use it from asyncio code and from programs it starts: give them `base_url`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model_server.server import ModelServer


@pytest.fixture(scope="session")
def _running_model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def model_server(_running_model_server: ModelServer) -> Iterator[ModelServer]:
    """The fake model server. `model_server.script({...}, "text", …)`, `.base_url`, `.requests`, `.bodies`."""
    _running_model_server.reset()
    yield _running_model_server
    _running_model_server.reset()
