"""The loopback site, as a fixture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.client.call.site import Site, running


@pytest.fixture
def site() -> Iterator[Site]:
    """A site of its own for each test."""
    with running() as found:
        yield found
