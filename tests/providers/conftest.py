"""Both transports: with aiohttp as installed for development, and without it as a plain installation has it."""

from __future__ import annotations

import pytest

from prosa.adapters.providers import transport
from tests.model_server.fixture import model_server  # noqa: F401
from tests.model_server.server import ModelServer
from tests.providers.asking import WAY_NAMES, WAYS, Way


@pytest.fixture(params=["aiohttp", "httpx2"])
def each_transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "httpx2":
        monkeypatch.setattr(transport, "_has_aiohttp", lambda: False)
    return request.param


@pytest.fixture(params=WAYS, ids=WAY_NAMES)
def way(request: pytest.FixtureRequest, model_server: ModelServer) -> Way:  # noqa: F811
    api, stream = request.param
    return Way(model_server, api, stream, [])
