"""Agents that are scripts, and what became of the processes that they started."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prosa.adapters.agents.box import HOME, boxed
from prosa.adapters.agents.children import marked, started
from tests.depth import examples

MANY = examples(50, share=5)
"""Attempts that are killed at once."""

PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}

DAEMON = """
import os, sys, time
name = sys.argv[1]
if not os.fork():
    os.setsid()
    if not os.fork():
        code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
        command = [sys.executable, "-I", "-S", "-c", code, name]
        os.execve(sys.executable, command, {} if "bare" in sys.argv else os.environ)
    os._exit(0)
os.wait()
while not (os.path.exists(name) and os.path.getsize(name)):
    time.sleep(0.01)
print("ready", flush=True)
if "hang" in sys.argv:
    time.sleep(600)
"""
"""Starts a daemon that has left its session and parent (``bare``: and its environment), which writes its id."""


@dataclass(frozen=True)
class Ended:
    """How a fake agent ended."""

    lines: list[str]
    status: int
    stderr: str
    mark: str


async def _run(command: Sequence[str], env: Mapping[str, str], folder: Path) -> Ended:
    async with started(command, env=env, folder=folder) as process:
        lines = [line.decode() async for line in process.lines()]
        status = await process.exited()
    assert marked(process.mark) == []
    return Ended(lines, status, process.stderr, process.mark)


def run(command: Sequence[str], folder: Path, env: Mapping[str, str] = PATH) -> Ended:
    """Runs a command to its end."""
    return asyncio.run(_run(command, env, folder))


def run_boxed(
    command: Sequence[str], folder: Path, *, readable: Iterable[Path] = (), socket: Path | None = None
) -> Ended:
    """Runs a command to its end in the box, with `work` and `home` of a folder."""
    for name in ("work", "home"):
        (folder / name).mkdir(exist_ok=True)
    whole = boxed(command, workspace=folder / "work", home=folder / "home", readable=readable, socket=socket)
    return run(whole, folder, {**PATH, "HOME": HOME})


async def until(condition: object, seconds: float = 20.0) -> None:
    """Waits until a condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(seconds):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.01)


def lives(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def daemon_of(file: Path) -> int:
    """The id that a daemon has written."""
    return int(file.read_text())


def ours(words: str) -> list[int]:
    """The processes, this one left out, whose command holds some words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if words.encode() in command and lives(int(entry.name)):
                found.append(int(entry.name))
    return found
