"""No process outlives the context, however it is left. The fixture `_no_orphans` checks the same after every test."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.adapters.mcp import McpServers
from prosa.runtime.errors import ToolServerError
from tests import warm
from tests.adapters.mcp.support import ODD, alive, odd, processes, run, sleepers, wait_until

pytestmark = pytest.mark.usefixtures("quick", "warmed")


def connect(*configs, **options):
    return McpServers(environ=os.environ, **options).connect(configs, cwd="/")


@pytest.mark.parametrize("detached", [False, True])
def test_x18_grandchildren_do_not_survive(detached):
    """X18: in the server's group, and in a session of their own."""

    async def main():
        async with connect(odd()) as session:
            pid = int((await session.call("odd", "spawn", {"detached": detached})).content)
            assert alive(pid)
            assert wait_until(lambda: sleepers() == [pid])
            return pid

    assert not alive(run(main()))


def test_x18_grandchildren_of_a_crashed_server_do_not_survive():
    async def main():
        async with connect(odd()) as session:
            pid = int((await session.call("odd", "spawn", {})).content)
            await session.call("odd", "crash", {})
            return alive(pid)

    assert run(main()) is False


def test_x18_grandchildren_of_a_server_that_does_not_start_do_not_survive():
    async def main():
        async with connect(odd("spawn", "hang-at-start"), start_timeout=2.5):
            raise AssertionError

    with pytest.raises(ToolServerError) as caught:
        run(main())
    assert not alive(int(re.search(r"grandchild (\d+)", caught.value.message)[1]))


def test_x18_an_error_in_the_body_ends_the_servers():
    async def main():
        async with connect(odd()):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(main())
    assert not [command for command in processes().values() if "odd.py" in command]


@pytest.mark.parametrize("mode", ["calm", "stubborn", "hang-at-start"])
@pytest.mark.parametrize("seconds", [0.02, 0.15, 0.5])
def test_x18_a_wall_clock_ends_everything_and_does_not_hang(mode, seconds):
    """X18: `asyncio.timeout` fires while servers start, run or end; in the SDK alone this hangs for ever."""

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(seconds):
                async with connect(odd(mode), odd(name="second")) as session:
                    await session.call("odd", "hang", {})
        return True

    assert run(main())


def test_x18_a_wall_clock_that_fires_during_the_shutdown_waits_for_it():
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30) as clock:
                async with connect(odd("stubborn")):
                    clock.reschedule(asyncio.get_running_loop().time() + 0.1)
        return not [command for command in processes().values() if "odd.py" in command]

    assert run(main())


def test_x18_cancelling_again_and_again_changes_nothing():
    async def main():
        async def body():
            async with connect(odd("stubborn")) as session:
                await session.call("odd", "hang", {})

        task = asyncio.create_task(body())
        await asyncio.sleep(0.3)
        for _ in range(5):
            task.cancel()
            await asyncio.sleep(0.05)
        await asyncio.wait([task])
        return task.cancelled()

    assert run(main()) is True


PROGRAM = """
import asyncio, sys
from prosa.adapters.mcp import McpServers
from prosa.runtime.ports import ServerConfig

async def main():
    config = ServerConfig("odd", command=sys.executable, args=("-I", sys.argv[1], *sys.argv[2:]))
    async with McpServers(environ={}).connect([config], cwd="/") as session:
        pids = [(await session.call("odd", tool, {})).content for tool in ("spawn", "pid")]
        print(*pids, flush=True)
        await session.call("odd", "hang", {})

asyncio.run(main())
"""


def test_x18_nothing_but_results_reaches_our_streams():
    """X18: whatever servers and the SDK say, stdout and stderr of the run are ours."""
    program = PROGRAM.replace("environ={}", "environ={}, call_timeout=4")
    calls = "malformed half-pair huge fail busy crash echo hang cancelled"
    program = program.replace(
        'await session.call("odd", "hang", {})',
        f'print([(await session.call("odd", tool, {{"bytes": 20_000_000}})).is_error for tool in "{calls}".split()])',
    )
    command = [sys.executable, "-c", program, str(ODD), "garbage", "flood", "bad-tools"]
    done = warm.run(command, capture_output=True, text=True, timeout=120, check=True)
    flags = [True, False, True, True, True, True, False, True, False]
    assert done.stdout.splitlines()[1:] == [str(flags)]
    assert done.stderr == ""


@pytest.mark.parametrize(("mode", "presses"), [("calm", 1), ("calm", 2), ("stubborn", 3)])
def test_x18_ctrl_c_leaves_nothing_behind(mode, presses):
    """X18: also when an impatient person presses it again during the shutdown. The last one, which does most, ends as
    Python itself does."""
    begin = subprocess.Popen if mode == "stubborn" else warm.popen
    process = begin([sys.executable, "-c", PROGRAM, ODD, mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pids = [int(word) for word in process.stdout.readline().split()]
    for press in range(presses):
        time.sleep(0.1 * bool(press))
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode not in (0, None)
    assert b"KeyboardInterrupt" in errors
    assert b"never retrieved" not in errors
    assert wait_until(lambda: not any(alive(pid) for pid in pids))


def test_x18_an_exit_without_leaving_the_context_leaves_nothing_behind():
    """X18: the interpreter ends while a loop with a running server was simply dropped."""
    program = PROGRAM.replace("asyncio.run(main())", "").replace('await session.call("odd", "hang", {})', "sys.exit(0)")
    program += "\nloop = asyncio.new_event_loop()\ntry:\n    loop.run_until_complete(main())\nfinally:\n    import os"
    done = subprocess.run(
        [sys.executable, "-c", program, str(ODD)], capture_output=True, text=True, timeout=15, check=False
    )
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    assert wait_until(lambda: not any(alive(pid) for pid in pids))


def test_x18_nothing_is_open_after_many_connections():
    """X18: file descriptors and tasks do not pile up."""

    async def main():
        async def once():
            async with connect(odd(), odd(name="b")) as session:
                await session.call("b", "echo", {})

        await once()
        gc.collect()  # what other tests left open must not go away in between
        before = len(list(Path("/proc/self/fd").iterdir())), len(asyncio.all_tasks())
        for _ in range(4):
            await once()
        return before, (len(list(Path("/proc/self/fd").iterdir())), len(asyncio.all_tasks()))

    before, after = run(main())
    assert after == before
