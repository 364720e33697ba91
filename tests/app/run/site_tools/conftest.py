"""The harbour, as a fixture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.run.site_tools.site import Site, running


@pytest.fixture
def site() -> Iterator[Site]:
    """A site of its own for each test."""
    with running() as found:
        yield found
