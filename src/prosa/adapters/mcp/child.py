"""The process of one stdio server: started in its own process group, its stderr kept in a small ring, and reliably
ended.

In: a command, its environment and folder. Out: its pipes, and `end`, after which neither the process nor any of its
children is left. It never gets our own stdin, stdout or stderr, and never outlives this process: remaining processes
are killed when the interpreter exits.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import sys
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from prosa.adapters.mcp.observed import Observed

STDERR_KEPT = 4096
"""Bytes of stderr kept for an error: about forty lines, enough for the end of a traceback."""
LEAVE_SECONDS = 2.0
"""How long a server may take to leave after its stdin was closed (the MCP specification leaves it open)."""
TERM_SECONDS = 0.5
"""How long the group may take to go after SIGTERM, before SIGKILL."""
_POLL_SECONDS = 0.01
_PIPE_BYTES = 1 << 16

_alive: set[int] = set()


class _Pipes(SubprocessStreamProtocol):
    """asyncio's own protocol, which also reports the end of the process while other processes still hold the pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_PIPE_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Child:
    """A running server process. `pid` is also its process group, for it leads one."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes, seen: Observed) -> None:
        self.pid = transport.get_pid()
        _remember(self.pid)
        self._transport = transport
        self._seen = seen
        assert pipes.stdin is not None
        assert pipes.stdout is not None
        assert pipes.stderr is not None
        self.stdin = pipes.stdin
        self.stdout = pipes.stdout
        self.exited = pipes.exited
        self._stderr = pipes.stderr

    async def keep_stderr(self) -> None:
        """Read stderr to its end, so that it never block the server, and keep the last `STDERR_KEPT` bytes."""
        while chunk := await self._stderr.read(_PIPE_BYTES):
            self._seen.stderr = (self._seen.stderr + chunk)[-STDERR_KEPT:]

    async def end(self) -> None:
        """Close stdin, wait a little, then end the group and every descendant. At most about three seconds."""
        started = descendants(self.pid)
        try:
            self.stdin.close()
            if await self._left(0.0 if self._seen.hurry else LEAVE_SECONDS):
                self._seen.exit_status = self._transport.get_returncode()
            signal_group(self.pid, signal.SIGTERM)
            await self._group_gone(TERM_SECONDS)
        finally:
            # Runs even if this task is cancelled from outside, so that no process survives.
            signal_group(self.pid, signal.SIGKILL)
            kill(started)
            _alive.discard(self.pid)
        # A signal takes a moment to arrive; callers that leave the context may rely on it.
        await _within(TERM_SECONDS, lambda: not living(started))
        await self._left(TERM_SECONDS)

    def close(self) -> None:
        """Close our ends of the pipes, which a process that left the group may still hold open."""
        self._transport.close()

    async def _left(self, seconds: float) -> bool:
        # Not `wait()`: since Python 3.11 that also waits for the pipes, which a grandchild may hold.
        return await _within(seconds, lambda: self._transport.get_returncode() is not None)

    async def _group_gone(self, seconds: float) -> bool:
        return await _within(seconds, lambda: not signal_group(self.pid, 0))


async def start(command: Sequence[str], *, env: Mapping[str, str], cwd: str, seen: Observed) -> Child:
    """Start a process with pipes in a group of its own. Raises OSError or ValueError when it cannot be started."""
    if sys.platform == "win32":
        raise OSError("servers are started on Linux and macOS only: elsewhere what they start might outlive them")
    loop = asyncio.get_running_loop()
    transport, pipes = await loop.subprocess_exec(
        lambda: _Pipes(loop),
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=dict(env),
        cwd=cwd,
        start_new_session=True,
    )
    return Child(transport, pipes, seen)


async def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Return whether the condition comes true in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _remember(pid: int) -> None:
    """Note a group that has to die with this process, whichever way the interpreter exits."""
    if not _alive:
        atexit.unregister(_kill_all)
        atexit.register(_kill_all)
    _alive.add(pid)


def _kill_all() -> None:
    for pid in _alive:
        started = descendants(pid)
        signal_group(pid, signal.SIGKILL)
        kill(started)


# Which processes a process has started, directly or not, and how to end them.
#
# In: a process id. Out: ids with their start times, read from `/proc` where there is one (elsewhere: nothing, and the
# process group has to do). Refuses to signal an id that has been given to another process since.

_PROC = Path("/proc")


def descendants(pid: int) -> dict[int, str]:
    """Return every process that descends from `pid`, with its start time in clock ticks. Empty without `/proc`."""
    parents = {child: facts for child, facts in _processes().items() if child != pid}
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = {child: born for child, (above, born) in parents.items() if above == parent and child not in found}
        found.update(children)
        waiting.extend(children)
    return found


def living(processes: dict[int, str]) -> list[int]:
    """Return which of the processes still run and are still the same ones."""
    return [pid for pid, born in processes.items() if (facts := _facts(_PROC / str(pid))) and facts[1] == born]


def kill(processes: dict[int, str]) -> None:
    """End the processes that are still the same ones, at once."""
    for pid in living(processes):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Signal a process group; return False if it has no processes left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Some member changed its user, or (macOS) is only a zombie: it may still be there.
        return True
    return True


def _processes() -> dict[int, tuple[int, str]]:
    """Process id → (parent, start time) of every process that can be seen."""
    found: dict[int, tuple[int, str]] = {}
    with suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and (facts := _facts(entry)) is not None:
                found[int(entry.name)] = facts
    return found


def _facts(entry: Path) -> tuple[int, str] | None:
    """Return None for a process that cannot be seen, or has ended and only waits to be reaped."""
    try:
        text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the command is in parentheses and may contain anything, including spaces and parentheses.
    fields = text[text.rfind(")") + 2 :].split()
    return (int(fields[1]), fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
