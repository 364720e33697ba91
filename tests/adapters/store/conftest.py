"""One server for all tests of a session that need one, and a database for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from prosa.records.run import StorePlace, StoreServer
from tests.adapters.store.cluster import MISSING, Cluster, is_required, programs

assert programs() or not is_required(), MISSING

collect_ignore_glob = [] if programs() else ["test_*.py"]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server."""
    found = Cluster()
    yield found
    found.remove()


@pytest.fixture
def url(cluster: Cluster) -> Iterator[str]:
    """The address of a database that is empty."""
    found = cluster.database()
    yield found
    cluster.empty(found)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    """A store that is not there yet, of either kind."""
    if request.param == "file":
        return tmp_path / "store.sqlite"
    return StoreServer(request.getfixturevalue("url"))
