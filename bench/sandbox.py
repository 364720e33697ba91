"""The sandbox: the first compilation, the first call of a process, a warm call; against the same code run natively."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row, interleaved, python

CODE = "print(sum(range(10)))"
LIMITS = {"timeout": 30.0, "memory": 128 * 1024 * 1024}
CALLS = 50


def rows() -> Iterator[Row]:
    """Yield the table."""
    native = interleaved({"native": python("-I", "-c", CODE)}, {}, 11)["native"].wall
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name) / "cache"
        cold = asyncio.run(_times(cache, 1))
        warm = asyncio.run(_times(cache, CALLS))
    baseline = "a new python process"
    yield Row("sandbox, compiled for the first time", cold[0], "ms", baseline, native)
    yield Row("sandbox, first call of a process", warm[0], "ms", baseline, native)
    yield Row("sandbox, warm call, fresh interpreter", statistics.median(warm[1:]), "ms", baseline, native, "≤ 3 ms")


async def _times(cache: Path, calls: int) -> list[float]:
    from prosa.adapters.files import private_dir
    from prosa.adapters.sandbox import WasmSandbox

    sandbox = WasmSandbox(private_dir(cache))
    times = []
    try:
        for _ in range(calls + 1 if calls > 1 else 1):
            started = time.perf_counter()
            ran = await sandbox.run(CODE, timeout=LIMITS["timeout"], memory=int(LIMITS["memory"]))
            times.append((time.perf_counter() - started) * 1000)
            if ran.stdout != "45\n":
                raise SystemExit(f"the sandbox answered {ran}")
    finally:
        await sandbox.aclose()
    return times
