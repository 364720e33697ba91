"""A sandbox for the whole test session: one compiled interpreter in build/, shared with other test processes."""

from __future__ import annotations

import asyncio
import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prosa.adapters.sandbox import WasmSandbox
from prosa.runtime.ports import SandboxResult

ROOT = Path(__file__).parents[3]
MB = 2**20

Python = Callable[..., SandboxResult]


@pytest.fixture(scope="session")
def cache() -> Path:
    """A cache folder; the component is built first when the tree has none or an old one."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with (folder / "test.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, ROOT / "sandbox" / "hatch_build.py"], check=True, capture_output=True)
    return folder / "sandbox-cache"


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def python(runner: asyncio.Runner, cache: Path) -> Iterator[Python]:
    """Runs code in a sandbox that all tests of this process share."""
    sandbox = WasmSandbox(cache, workers=2)
    runner.run(sandbox.warm())

    def run(code: str, *, timeout: float = 20, memory: int = 128 * MB) -> SandboxResult:
        return runner.run(sandbox.run(code, timeout=timeout, memory=memory))

    yield run
    runner.run(sandbox.aclose())
