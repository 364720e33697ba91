"""X36. Processes of an attempt: their lines, their ends, and that nothing of them survives, however they go."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prosa.adapters.agents import children
from prosa.adapters.agents.children import NOT_STARTED, OutputTooLong, started
from tests.adapters.agents.fakes import DAEMON, MANY, PATH, daemon_of, lives, ours, run, until


def test_x36_an_agent_has_its_environment_no_input_and_no_descriptor_of_ours(tmp_path: Path):
    code = "import os, sys; print(sorted(os.environ)); print(sys.stdin.read()); print(os.listdir('/proc/self/fd'))"
    ended = run([sys.executable, "-I", "-S", "-c", code], tmp_path, {"HOME": "/nowhere", **PATH})
    assert ended.lines == ["['HOME', 'LANG', 'PATH', 'PROSA_ATTEMPT']", "", "['0', '1', '2', '3']"]
    assert ended.status == 0


@pytest.mark.parametrize(
    ("script", "status"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("kill -SEGV $$", 139)]
)
def test_x36_an_agent_that_crashes_has_its_status(tmp_path: Path, script: str, status: int):
    ended = run(["sh", "-c", f"echo out; echo why >&2; {script}"], tmp_path)
    assert (ended.lines, ended.status, ended.stderr) == (["out"], status, "why\n")


def test_x36_an_agent_that_cannot_be_started_says_why(tmp_path: Path):
    (tmp_path / "text").write_text("no program")
    missing, wrong = run(["no-such-agent"], tmp_path), run([str(tmp_path / "text")], tmp_path)
    assert {missing.status, wrong.status} == NOT_STARTED
    assert missing.stderr == "no-such-agent: No such file or directory\n"
    assert wrong.stderr.endswith("text: Permission denied\n")


def test_x36_long_lines_come_whole_and_longer_ones_end_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = "print('x' * 5_000_000); print(); print('end', end='')"
    ended = run([sys.executable, "-S", "-c", code], tmp_path)
    assert [len(line) for line in ended.lines] == [5_000_000, 0, 3]
    monkeypatch.setattr(children, "MOST_LINE", 1_000_000)
    with pytest.raises(OutputTooLong, match="a line of more than 0 MiB"):
        run([sys.executable, "-S", "-c", code], tmp_path)
    with pytest.raises(OutputTooLong):  # for ever
        run(["sh", "-c", "yes | tr -d '\\n'"], tmp_path)


def test_x36_the_end_of_stderr_is_kept(tmp_path: Path):
    ended = run(["sh", "-c", "yes why | head -100000 >&2; echo the end >&2"], tmp_path)
    assert ended.stderr.endswith("why\nthe end\n") and len(ended.stderr) == children.STDERR_KEPT


def test_x36_no_file_may_grow_to_10_gb(tmp_path: Path):
    code = "import os; os.truncate(os.open('big', os.O_WRONLY | os.O_CREAT), 10 * 2**30)"
    ended = run([sys.executable, "-S", "-c", code], tmp_path)
    assert "File too large" in ended.stderr and (tmp_path / "big").stat().st_size == 0


@pytest.mark.parametrize("how", ["plain", "bare"])
def test_x36_a_daemon_does_not_survive_an_agent_that_ends(tmp_path: Path, how: str):
    ended = run([sys.executable, "-S", "-c", DAEMON, "pid", how], tmp_path)
    assert (ended.lines, ended.status) == (["ready"], 0)
    assert not lives(daemon_of(tmp_path / "pid"))


def test_x36_an_agent_that_hangs_is_ended_though_it_ignores_signals(tmp_path: Path):
    async def attempt() -> int:
        script = "trap '' TERM INT HUP; echo $$; while :; do sleep 1; done"
        async with started(["sh", "-c", script], env=PATH, folder=tmp_path) as process:
            async for line in process.lines():
                return int(line)
        return 0

    pid = asyncio.run(attempt())
    assert pid and not lives(pid)


def test_x36_what_cancels_an_attempt_ends_its_processes(tmp_path: Path):
    async def attempt() -> None:
        command = [sys.executable, "-S", "-c", DAEMON, "pid", "hang", "bare"]
        async with started(command, env=PATH, folder=tmp_path) as process:
            async for _ in process.lines():
                pass

    async def all_of_it() -> None:
        task = asyncio.create_task(attempt())
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(all_of_it())
    assert not lives(daemon_of(tmp_path / "pid"))


def test_x36_an_agent_that_kills_what_watches_it_leaves_nothing(tmp_path: Path):
    code = f"import os, signal; os.kill(os.getppid(), signal.SIGKILL)\n{DAEMON}"
    ended = run([sys.executable, "-S", "-c", code, "pid", "hang"], tmp_path)
    assert ended.status == 137
    assert not (tmp_path / "pid").exists() or not lives(daemon_of(tmp_path / "pid"))


def test_x36_more_processes_than_there_may_be_are_all_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def attempt(count: int) -> tuple[str, int]:
        script = f"for i in $(seq {count}); do setsid sleep 617 & done; echo $$; wait"
        async with started(["sh", "-c", script], env=PATH, folder=tmp_path) as process:
            async for _ in process.lines():
                if count < 50:
                    await asyncio.sleep(1.2)  # two looks
                    break
            else:
                await process.exited()
            return process.excess, process.status or 0

    monkeypatch.setattr(children, "MOST_PROCESSES", 50)
    assert asyncio.run(attempt(40)) == ("", 0)
    assert asyncio.run(attempt(100)) == ("it started more than 50 processes", 137)
    assert ours("sleep\x00617") == []


def test_x36_processes_that_multiply_are_all_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X36. Each starts two, which are stopped only by what counts them. They end by themselves at 255 shells: others
    on this machine need processes too."""
    monkeypatch.setattr(children, "MOST_PROCESSES", 50)
    script = "#!/bin/sh\nsleep 0.05\n[ $1 -lt 8 ] && { ./bomb $(($1 + 1)) & ./bomb $(($1 + 1)) & }\nsleep 618\n"
    (tmp_path / "bomb").write_text(script)
    (tmp_path / "bomb").chmod(0o755)
    ended = run(["./bomb", "1"], tmp_path)
    assert ended.status == 137 and ours("./bomb") == [] and ours("sleep\x00618") == []


def test_x36_many_processes_are_all_ended(tmp_path: Path):
    async def attempt() -> None:
        script = "for i in $(seq 200); do sleep 611 & done; echo ready; wait"
        async with started(["sh", "-c", script], env=PATH, folder=tmp_path) as process:
            async for _ in process.lines():
                return

    asyncio.run(attempt())
    assert ours("sleep\x00611") == []


def test_x36_50_killed_attempts_leave_no_survivor(tmp_path: Path):
    async def attempt(number: int) -> None:
        command = [sys.executable, "-S", "-c", DAEMON, f"pid-{number}", "hang", *(["bare"] if number % 2 else [])]
        async with started(command, env=PATH, folder=tmp_path) as process:
            async for _ in process.lines():
                return

    async def all_of_them() -> None:
        free = asyncio.Semaphore(10)

        async def one(number: int) -> None:
            async with free:
                await attempt(number)

        await asyncio.gather(*(one(number) for number in range(MANY)))

    asyncio.run(all_of_them())
    pids = [daemon_of(file) for file in tmp_path.glob("pid-*")]
    assert len(pids) == MANY and [pid for pid in pids if lives(pid)] == []


HALF_WAY = """
import asyncio, sys
from pathlib import Path
from prosa.adapters.agents.children import started

async def main():
    async with started(sys.argv[2:], env={"PATH": "/usr/bin:/bin"}, folder=Path(sys.argv[1])) as process:
        async for line in process.lines():
            print(line.decode(), flush=True)

asyncio.run(main())
"""


def kill_half_way(command: list[str], folder: Path) -> None:
    """Runs a command in another process of Prosa, and kills that one once the command is ready."""
    with subprocess.Popen([sys.executable, "-c", HALF_WAY, folder, *command], stdout=subprocess.PIPE) as prosa:
        assert prosa.stdout is not None and prosa.stdout.readline() == b"ready\n"
        os.kill(prosa.pid, signal.SIGKILL)


def test_x36_nothing_survives_when_prosa_is_killed_half_way(tmp_path: Path):
    kill_half_way([sys.executable, "-S", "-c", DAEMON, "pid", "hang", "bare"], tmp_path)
    asyncio.run(until(lambda: not lives(daemon_of(tmp_path / "pid"))))
    assert not lives(daemon_of(tmp_path / "pid"))
