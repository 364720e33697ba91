"""What the tests of MCP share: the odd server, bounded runs, and the hunt for processes that were left behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from prosa.runtime.ports import ServerConfig

ODD = Path(__file__).parent / "servers" / "odd.py"


def run(work: Coroutine[Any, Any, Any], seconds: float = 120) -> Any:
    """Runs a coroutine, and fails rather than hangs."""

    async def bounded() -> Any:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run(bounded())


def odd(*modes: str, name: str = "odd", env: dict[str, str] | None = None) -> ServerConfig:
    return ServerConfig(name, command=sys.executable, args=("-I", str(ODD), *modes), env=env)


def processes(of: int | None = None) -> dict[int, str]:
    """Living processes below one, which is this one where none is named, or in a session that one of them leads: id →
    command line."""
    root = of or os.getpid()
    found: dict[int, tuple[int, int, str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        state, parent, _, session = stat[stat.rfind(")") + 2 :].split()[:4]
        if state != "Z":
            found[int(entry.name)] = (int(parent), int(session), command)
    mine: dict[int, str] = {}
    grown = True
    while grown:
        new = {p: c for p, (up, _, c) in found.items() if (up == root or up in mine) and p not in mine}
        mine |= new
        grown = bool(new)
    return mine


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie that nobody has reaped yet does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rfind(")") + 2] != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def sleepers() -> list[int]:
    """The grandchildren that the odd server starts, wherever they hang in the tree of processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and alive(int(entry.name)):
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if command == b"sleep\x00987.%d\x00" % os.getpid():
                found.append(int(entry.name))
    return found
