"""What the tests of MCP share: the odd server, bounded runs, and the hunt for processes that were left behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias

from prosa.runtime.ports import ServerConfig

ODD = Path(__file__).parent / "servers" / "odd.py"
Living: TypeAlias = dict[int, tuple[str, int]]
"""Processes that are no zombies: id → the name of the program, and the parent."""


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
    return {
        pid: _command(pid).replace(b"\0", b" ").decode("utf-8", "replace")
        for pid in _below(of or os.getpid(), _living())
    }


def started() -> set[int]:
    """Return what `processes` and `sleepers` give, of one look at all processes."""
    living = _living()
    return _below(os.getpid(), living) | set(_sleeping(living))


def _below(root: int, living: Living) -> set[int]:
    mine: set[int] = set()
    grown = True
    while grown:
        new = {pid for pid, (_, up) in living.items() if (up == root or up in mine) and pid not in mine}
        mine |= new
        grown = bool(new)
    return mine


def _living() -> Living:
    """Return all processes but zombies."""
    found: Living = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            found[int(entry)] = (name, int(parent))
    return found


def _command(pid: int) -> bytes:
    """Return the command line of a process; of one that has ended meanwhile, nothing."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


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
    return _sleeping(_living())


def _sleeping(living: Living) -> list[int]:
    ours = b"sleep\x00987.%d\x00" % os.getpid()
    return [pid for pid, (name, _) in living.items() if name == "sleep" and _command(pid) == ours]
