"""The worker processes: started late, killed on every bad end, never left behind (L23, LA18, X9)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.adapters.sandbox import WasmSandbox, limits, missing_part, parts, process
from prosa.extras import ALL
from prosa.runtime.errors import SandboxError
from prosa.runtime.ports import Sandbox, SandboxResult
from tests import warm

MB = 2**20
SLEEP = "import time; time.sleep(60)"


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 120
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker was left behind"
        time.sleep(0.01)


async def run(sandbox: WasmSandbox, code: str, timeout: float = 20) -> SandboxResult:
    return await sandbox.run(code, timeout=timeout, memory=128 * MB)


def workers(sandbox: WasmSandbox) -> list[process.Worker]:
    return list(sandbox._all)


def test_l23_no_process_before_it_is_needed_and_none_after(runner, cache):
    async def story() -> None:
        sandbox: Sandbox = WasmSandbox(cache)
        assert workers(sandbox) == []
        await run(sandbox, "print(1)")
        [worker] = workers(sandbox)
        assert alive(worker.process.pid)
        assert Path(worker.folder).is_dir()
        await sandbox.aclose()
        await sandbox.aclose()
        assert not alive(worker.process.pid)
        assert not Path(worker.folder).exists()
        with pytest.raises(SandboxError, match="closed"):
            await run(sandbox, "print(1)")

    runner.run(story())


def test_warming_starts_one_worker_and_the_first_call_uses_it(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            _, _, result = await asyncio.gather(sandbox.warm(), sandbox.warm(), run(sandbox, "print(1)"))
            assert result.stdout == "1\n"
            assert len(workers(sandbox)) <= 2
            before = workers(sandbox)
            await run(sandbox, "print(1)")
            assert workers(sandbox) == before

    runner.run(story())


def test_x9_eight_calls_at_once_all_come_back_in_their_turn(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            code = "import time; time.sleep(0.2); print({})"
            results = await asyncio.gather(*(run(sandbox, code.format(i), timeout=5) for i in range(8)))
            assert [result.stdout for result in results] == [f"{i}\n" for i in range(8)]
            assert 1 < len(workers(sandbox)) <= limits.WORKERS

    runner.run(story())


def test_x9_waiting_for_a_worker_does_not_count_as_a_programs_time(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache, workers=1) as sandbox:
            await sandbox.warm()
            results = await asyncio.gather(
                *(run(sandbox, "import time; time.sleep(0.5)", timeout=1.9) for _ in range(4))
            )
            assert [result.error for result in results] == [None] * 4

    runner.run(story())


def test_l23_a_worker_killed_in_mid_call_is_an_error_and_the_next_call_works(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            await sandbox.warm()
            [worker] = workers(sandbox)
            call = asyncio.create_task(run(sandbox, SLEEP))
            await asyncio.sleep(0.1)
            os.kill(worker.process.pid, signal.SIGKILL)
            result = await call
            assert (
                result.error == "execution failed: the sandbox's worker process ended in mid-run (killed by signal 9)"
            )
            assert not Path(worker.folder).exists()
            assert (await run(sandbox, "print('next')")).stdout == "next\n"

    runner.run(story())


def test_l23_a_worker_killed_between_calls_is_not_noticed(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            await sandbox.warm()
            [worker] = workers(sandbox)
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
            assert (await run(sandbox, "print('next')")).stdout == "next\n"

    runner.run(story())


def test_l23_a_frozen_worker_is_killed_at_the_deadline(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            await sandbox.warm()
            [worker] = workers(sandbox)
            os.kill(worker.process.pid, signal.SIGSTOP)
            result = await run(sandbox, "print(1)", timeout=0.1)
            assert result.error == "execution failed: timed out after 0.1 s"
            assert not alive(worker.process.pid)

    runner.run(story())


def test_l23_a_cancelled_call_leaves_no_process(runner, cache):
    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            await sandbox.warm()
            [worker] = workers(sandbox)
            call = asyncio.create_task(run(sandbox, "open('f', 'w').write('x')\nwhile True: pass"))
            await asyncio.sleep(0.1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert not alive(worker.process.pid)
            assert not Path(worker.folder).exists()
            assert workers(sandbox) == []
            assert (await run(sandbox, "print('next')")).stdout == "next\n"

    runner.run(story())


def test_l23_a_start_that_is_cancelled_leaves_no_process(runner, cache, monkeypatch):
    started: list[process.Worker] = []
    spawn = process._spawn

    async def watched() -> process.Worker:
        started.append(await spawn())
        return started[-1]

    monkeypatch.setattr(process, "_spawn", watched)

    async def story() -> None:
        for delay in (0, 0.01, 0.03):
            async with WasmSandbox(cache) as sandbox:
                start = asyncio.create_task(sandbox.warm())
                await asyncio.sleep(delay)
                start.cancel()
                await asyncio.gather(start, return_exceptions=True)

    runner.run(story())
    assert [worker for worker in started if worker.process.returncode is None] == []


def test_l23_closing_ends_a_call_that_still_runs(runner, cache):
    async def story() -> None:
        sandbox = WasmSandbox(cache)
        await sandbox.warm()
        call = asyncio.create_task(run(sandbox, SLEEP))
        await asyncio.sleep(0.05)
        await sandbox.aclose()
        assert (await call).error.startswith("execution failed: ")

    runner.run(story())


ORPHAN = """
import asyncio, sys
from pathlib import Path
from prosa.adapters.sandbox import WasmSandbox

async def main():
    sandbox = WasmSandbox(Path(sys.argv[1]))
    await sandbox.warm()
    await asyncio.gather(*(sandbox.run("import time; time.sleep(0.01)", timeout=5, memory=2**27) for _ in range(2)))
    print(*(worker.process.pid for worker in sandbox._all), flush=True)
    print(*(worker.folder for worker in sandbox._all), flush=True)
    await sandbox.run(sys.argv[2], timeout=60, memory=2**27)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "code", ["import time; time.sleep(60)", "while True: pass", "import select; select.select([], [], [], 60)"]
)
def test_l23_no_worker_survives_a_parent_that_was_killed(cache, code):
    command = [sys.executable, "-c", ORPHAN, str(cache), code]
    with warm.popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        folders = parent.stdout.readline().split()
        assert pids
        time.sleep(0.1)
        parent.kill()
    wait_until_gone(pids)
    assert [folder for folder in folders if Path(folder).exists()] == []


def test_la18_wasmtime_is_loaded_in_the_worker_only(cache):
    code = """
import asyncio, sys
from pathlib import Path
from prosa.adapters.sandbox import WasmSandbox

async def main():
    async with WasmSandbox(Path(sys.argv[1])) as sandbox:
        print((await sandbox.run("print(1)", timeout=5, memory=2**27)).stdout, end="")

asyncio.run(main())
print(sorted(name for name in sys.modules if name.startswith(("wasmtime", "ctypes"))))
"""
    done = subprocess.run([sys.executable, "-c", code, cache], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n[]\n"


def test_l23_the_worker_has_an_empty_environment_and_few_rights(runner, cache, monkeypatch):
    monkeypatch.setenv("SECRET_FOR_TEST", "hunter2")

    async def story() -> None:
        async with WasmSandbox(cache) as sandbox:
            await sandbox.warm()
            [worker] = workers(sandbox)
            status = Path(f"/proc/{worker.process.pid}")
            assert b"hunter2" not in (status / "environ").read_bytes()
            allowed = (status / "limits").read_text()
            for name, value in (("core file size", 0), ("open files", 128), ("file size", 64 * MB)):
                line = next(line for line in allowed.splitlines() if line.lower().startswith(f"max {name}"))
                assert line.split()[-3:-1] == [str(value)] * 2
            assert os.getsid(worker.process.pid) == worker.process.pid

    runner.run(story())


@pytest.mark.parametrize(("module", "package"), [("wasmtime", "wasmtime"), ("prosa_sandbox", "prosa-sandbox")])
def test_la18_without_a_package_it_says_what_to_do_and_runs_nothing(runner, cache, monkeypatch, module, package):
    assert missing_part() is None
    found = parts.root_of
    monkeypatch.setattr(parts, "root_of", lambda name: None if name == module else found(name))
    assert missing_part() == f"the Python sandbox needs the package {package} ({ALL})"
    with pytest.raises(SandboxError, match="in a checkout of Prosa"):
        runner.run(run(WasmSandbox(cache), "print(1)"))


def test_la18_without_the_component_it_says_what_to_do(runner, cache, monkeypatch):
    monkeypatch.setattr(parts, "component", lambda: None)
    with pytest.raises(SandboxError, match=r"python sandbox/hatch_build\.py"):
        runner.run(run(WasmSandbox(cache), "print(1)"))


def test_a_worker_that_cannot_start_tells_why(runner, cache, monkeypatch):
    monkeypatch.setattr(process, "_BOOT", "raise SystemExit('no luck with {}')")
    with pytest.raises(SandboxError, match="does not start: no luck with worker"):
        runner.run(run(WasmSandbox(cache), "print(1)"))


def test_a_worker_that_sends_nonsense_is_ended(runner, cache, monkeypatch):
    boot = "import os, sys, time; os.write(int(sys.argv[-1]), b'\\xff' * 8); time.sleep(60)  # {}"
    monkeypatch.setattr(process, "_BOOT", boot)
    with pytest.raises(SandboxError, match="does not start"):
        runner.run(run(WasmSandbox(cache), "print(1)"))
