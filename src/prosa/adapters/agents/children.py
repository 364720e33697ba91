"""The processes of one attempt of an agent (X36): started, read line by line, and ended without a survivor.

In: a command, its environment and folder. Out: the lines of its output, its exit status, the end of its stderr. A
`supervisor` stands between: it ends every descendant, however this process goes. What gets away from it all the same,
for it killed the supervisor first, is found by a mark in its environment (Linux).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from prosa.source import ProsaError
from prosa.systems import AGENTS

MARK: Final = "PROSA_ATTEMPT"
"""The variable that every process of an attempt has in its environment, with a value of its own."""

MOST_LINE = 16 * 2**20
"""Bytes of one line of output: agents print whole results of tools."""

MOST_PROCESSES = 500
"""Processes of an attempt at one time, where they can be counted (Linux): an agent has a few, a build some."""

STDERR_KEPT = 16 * 1024
"""Bytes of stderr that are kept, from its end."""

END_SECONDS = 8.0
"""How long the supervisor may take to end everything; longer than its own limits together."""

SWEEP_SECONDS = 2.0
"""How long processes that are found by their mark may take to go."""

NOT_STARTED = frozenset({126, 127})
"""Exit statuses that say, with a sentence on stderr, that the command could not be started."""

PIPE_SECONDS = 0.5
"""How long pipes may be open after the supervisor was killed."""

SWEEPS = 100
"""Looks for them within that time."""

_PIPE_BYTES = 1 << 16
_PROC = Path("/proc")
_SUPERVISED = (str(Path(sys.executable).resolve()), "-I", "-S", str(Path(__file__).parent / "supervisor.py"))


class OutputTooLong(ProsaError):
    """A line of output above the limit, as a whole sentence."""


class _Pipes(SubprocessStreamProtocol):
    """asyncio's own protocol, which also reports the end of the process while others still hold its pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_PIPE_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class AgentProcess:
    """A running agent, with everything that it starts. ``mark`` is the value of `MARK`; the supervisor ends everything
    once ``lifeline`` is closed."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, pipes: _Pipes, mark: str, lifeline: socket.socket
    ) -> None:
        assert pipes.stdout is not None
        assert pipes.stderr is not None
        self.mark = mark
        self._transport = transport
        self._pipes = pipes
        self._stdout = pipes.stdout
        self._stderr = b""
        self._lifeline = lifeline
        self._has_too_many = False
        self._reading = asyncio.ensure_future(self._keep(pipes.stderr))
        self._watching = asyncio.ensure_future(self._watch())

    @property
    def stderr(self) -> str:
        """The end of what was written to stderr so far."""
        return self._stderr.decode("utf-8", "replace")

    @property
    def status(self) -> int | None:
        """The exit status, 128 and the number for a signal; None while it runs."""
        code = self._transport.get_returncode()
        return 128 - code if code is not None and code < 0 else code

    @property
    def excess(self) -> str:
        """Why it was ended, where it started too many processes, as a sentence; empty otherwise."""
        return f"it started more than {MOST_PROCESSES} processes" if self._has_too_many else ""

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of its output, without their ends, until it is closed. Raises `OutputTooLong`."""
        rest = bytearray()
        while piece := await self._stdout.read(_PIPE_BYTES):
            rest += piece
            if b"\n" in piece:
                *whole, last = rest.split(b"\n")
                rest = last
                for line in whole:
                    yield bytes(line)
            if len(rest) > MOST_LINE:
                raise OutputTooLong(f"the agent wrote a line of more than {MOST_LINE // 2**20} MiB")
        if rest:
            yield bytes(rest)

    async def exited(self) -> int:
        """Wait until it and everything that it started is gone, and return its exit status."""
        await self._pipes.exited.wait()
        with suppress(OSError):
            self._has_too_many |= self._lifeline.recv(1, socket.MSG_DONTWAIT) != b""
        return self.status or 0

    async def end(self) -> None:
        """End it and everything that it started. Safe to call at any time, and twice."""
        try:
            self._lifeline.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._pipes.exited.wait(), END_SECONDS)
        finally:
            # Runs even if this task is cancelled from outside, so that no process survives.
            if self.status is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._transport.get_pid(), signal.SIGKILL)
            kill_marked(self.mark)
        for _ in range(SWEEPS):  # a signal takes a moment to arrive
            if not kill_marked(self.mark):
                break
            await asyncio.sleep(SWEEP_SECONDS / SWEEPS)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reading), SWEEP_SECONDS)
        self._reading.cancel()
        self._watching.cancel()
        self._transport.close()

    async def _watch(self) -> None:
        """End the reading where something has killed the supervisor, and what it left behind holds the pipes."""
        await self._pipes.exited.wait()
        if (self._transport.get_returncode() or 0) < 0:
            kill_marked(self.mark)
            await asyncio.sleep(PIPE_SECONDS)
            self._transport.close()

    async def _keep(self, stderr: asyncio.StreamReader) -> None:
        while piece := await stderr.read(_PIPE_BYTES):
            self._stderr = (self._stderr + piece)[-STDERR_KEPT:]


@asynccontextmanager
async def started(
    command: Sequence[str], *, env: Mapping[str, str], folder: Path, given: bytes = b""
) -> AsyncIterator[AgentProcess]:
    """Start a command with no input, with this environment and a mark, in a folder; end it at the end.

    Its environment is ``env``, the mark, and a language where it names none. A command that cannot be started ends
    with a status of `NOT_STARTED`. Raises `OSError` where not even the supervisor can be.
    """
    if sys.platform == "win32":
        raise OSError(AGENTS)
    mark = secrets.token_hex(16)
    whole = {"LANG": "C.UTF-8", **env, MARK: mark}
    loop = asyncio.get_running_loop()
    theirs, ours = socket.socketpair()
    stdin = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed once the process has it
    stdin.write(given)
    stdin.seek(0)
    try:
        transport, pipes = await loop.subprocess_exec(
            lambda: _Pipes(loop),
            *(*_SUPERVISED, str(theirs.fileno()), str(MOST_PROCESSES), *command),
            stdin=stdin,
            stdout=PIPE,
            stderr=PIPE,
            env=whole,
            cwd=folder,
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        stdin.close()
    process = AgentProcess(transport, pipes, mark, ours)
    try:
        yield process
    finally:
        await process.end()


def marked(mark: str) -> list[int]:
    """Return the processes that have a mark in their environment and have not ended. Empty without `/proc`."""
    wanted = f"{MARK}={mark}".encode()
    pids = []
    with suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    if wanted in (entry / "environ").read_bytes().split(b"\0"):
                        pids.append(int(entry.name))
    return pids


def kill_marked(mark: str) -> list[int]:
    """Kill the processes that have a mark, and return those that were still there."""
    pids = marked(mark)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return pids
