"""Every way to ask: each wire format, whole and as a stream."""

from __future__ import annotations

import pytest

from tests.adapters.providers.asking import WAY_NAMES, WAYS, Way
from tests.model_server import messages
from tests.model_server.fixture import model_server  # noqa: F401
from tests.model_server.server import ModelServer


@pytest.fixture(params=WAYS, ids=WAY_NAMES)
def way(request: pytest.FixtureRequest, model_server: ModelServer) -> Way:  # noqa: F811
    api, stream = request.param
    if api == "anthropic":
        messages._types()  # takes seconds once: not while a request waits for its answer
    return Way(model_server, api, stream, [])
