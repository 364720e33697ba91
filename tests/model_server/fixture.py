"""The pytest fixture `model_server`: one fake server per test process, as new for every test.

It runs in a thread, so a test may use it from asyncio code and from programs it starts: give them `base_url`. A
`conftest.py` takes it with `from tests.model_server.fixture import model_server`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from tests.model_server.server import ModelServer


@cache
def _running() -> ModelServer:
    return ModelServer().start()  # a daemon thread: it ends with the process


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """The fake model server: `model_server.script("text", {...})`, `.base_url`, `.requests`, `.bodies`."""
    server = _running()
    server.reset()
    yield server
    server.reset()
