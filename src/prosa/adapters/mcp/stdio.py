"""The stdio transport: one JSON message per line over the pipes of a child process in a group of its own.

Ours and not the SDK's for four reasons: reading is linear in the size of a line and bounded, lines that are no messages
cost nothing but a note, stderr goes nowhere but into the ring, and the whole process group is gone afterwards, even if
this process is killed. Refuses to keep more than `MESSAGE_LIMIT` of one line.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio
import anyio.lowlevel
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from prosa.adapters.mcp.observed import Observed
from prosa.adapters.processes.job_object import FLAGS, JobObject
from prosa.regex import regex
from prosa.systems import SCRIPTS

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


MESSAGE_LIMIT = 16 * 1024 * 1024
"""Bytes of one message. A page of text is 4 KB and a screenshot 2 MB; more than this is a broken server."""
TOO_LARGE = f"the answer is larger than {MESSAGE_LIMIT // (1024 * 1024)} MiB and was dropped"
TOO_DEEP = "the answer is nested too deeply and was dropped"
NOT_JSON = "the answer is not JSON and was dropped"
_PIPE_BYTES = 1 << 16
_ENVELOPE_BYTES = 128
"""Where the id of a message can stand when it is not in the middle: in the first or the last bytes of its line."""
_ID = regex(rb'"id"\s*:\s*(\d+)')
_STRAY_CHARACTERS = 200
_DRAIN_SECONDS = 0.2
"""Time to read what a process wrote just before it ended."""

_Incoming: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing: TypeAlias = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def stdio_streams(child: Child, seen: Observed) -> AsyncIterator[TransportStreams]:
    """Connect a child's pipes with a stream pair, and end the child and all it started on the way out."""
    incoming, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    pending: set[int] = set()
    async with anyio.create_task_group() as pumps:
        pumps.start_soon(child.keep_stderr)
        pumps.start_soon(_read, child, seen, incoming, pending)
        pumps.start_soon(_write, child, outgoing, incoming, pending)
        try:
            yield from_server, to_server
        except anyio.get_cancelled_exc_class():
            # Given up while it was starting: it has had its time.
            seen.hurry = True
            raise
        finally:
            from_server.close()
            to_server.close()
            # Ending is bounded, and skipping it would leave processes behind.
            with anyio.CancelScope(shield=True):
                await child.end()
                await anyio.lowlevel.checkpoint()
            child.close()
            pumps.cancel_scope.cancel()


async def _read(child: Child, seen: Observed, incoming: _Incoming, pending: set[int]) -> None:
    """Hand on every message of the server, until stdout ends or the process does: a grandchild may hold stdout."""
    async with incoming, anyio.create_task_group() as both:

        async def listen() -> None:
            await _listen(child, seen, incoming, pending)
            both.cancel_scope.cancel()

        both.start_soon(listen)
        await child.exited.wait()
        both.cancel_scope.deadline = anyio.current_time() + _DRAIN_SECONDS


async def _listen(child: Child, seen: Observed, incoming: _Incoming, pending: set[int]) -> None:
    """Hand on every message on stdout. After the session has gone it reads on, so that the server can finish."""
    listening = True
    with suppress(ConnectionError):
        async for line in _lines(child):
            if not listening:
                continue
            try:
                for message in _messages(line, seen, pending):
                    await incoming.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                listening = False


async def _lines(child: Child) -> AsyncIterator[bytes | _Oversized]:
    """Yield the lines of stdout without their ends; of a line over the limit only its first and last bytes."""
    parts: list[bytes] = []
    size = 0
    while chunk := await child.stdout.read(_PIPE_BYTES):
        *complete, rest = chunk.split(b"\n")
        for end in complete:
            parts.append(end)
            yield _joined(parts, size + len(end))
            parts, size = [], 0
        parts.append(rest)
        size += len(rest)
        if size > MESSAGE_LIMIT:
            parts = _ends(parts)


class _Oversized(bytes):
    """The first and last bytes of a line that was over the limit."""


def _joined(parts: list[bytes], size: int) -> bytes | _Oversized:
    return b"".join(parts) if size <= MESSAGE_LIMIT else _Oversized(b"".join(_ends(parts)))


def _ends(parts: list[bytes]) -> list[bytes]:
    """Return the kept part of a line over the limit; repeated use keeps it small."""
    text = b"".join(parts)
    return [text[:_ENVELOPE_BYTES], text[-_ENVELOPE_BYTES:]] if len(text) > 2 * _ENVELOPE_BYTES else [text]


def _messages(line: bytes, seen: Observed, pending: set[int]) -> list[types.JSONRPCMessage]:
    """Return the message on a line; none for a stray line; errors for the possible caller of an unreadable one."""
    if isinstance(line, _Oversized):
        return _refusals(line, pending, TOO_LARGE)
    try:
        message = _message(line)
    except RecursionError:
        return _refusals(b"".join(_ends([line])), pending, TOO_DEEP)
    if message is None:
        if refused := _broken(line, pending):
            return refused
        seen.stray = line.decode("utf-8", "replace").strip()[:_STRAY_CHARACTERS] or seen.stray
        return []
    if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and isinstance(message.id, int):
        pending.discard(message.id)
    return [message]


def _message(line: bytes) -> types.JSONRPCMessage | None:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as problem:
        if "recursion limit" in str(problem):
            raise RecursionError from None
        return _repaired(line) if line.lstrip().startswith(b"{") else None


def _repaired(line: bytes) -> types.JSONRPCMessage | None:
    """Return a message with half of a surrogate pair or a byte that is not UTF-8 in it: cut strings have that, and JSON
    encoders write it. The bad characters become question marks, rather than the call waiting for ever."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError as problem:
        if "recursion limit" in str(problem):
            raise RecursionError from None
        return None


def _broken(line: bytes, pending: set[int]) -> list[types.JSONRPCMessage]:
    """Return the error for the call whose answer a line starts, if the line is not JSON: no other answer will come."""
    ends = b"".join(_ends([line]))
    named = {int(digits) for digits in _ID.findall(ends)} & pending
    if len(named) != 1 or b'"jsonrpc"' not in ends or not line.lstrip().startswith(b"{") or _is_json(line):
        return []
    return _refusals(ends, pending, NOT_JSON)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _refusals(line: bytes, pending: set[int], why: str) -> list[types.JSONRPCMessage]:
    named = {int(digits) for digits in _ID.findall(line)} & pending
    waiting = named if len(named) == 1 else set(pending)
    pending.difference_update(waiting)
    return [_error(request, why) for request in sorted(waiting)]


def _error(request: types.RequestId, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=request, error=types.ErrorData(code=types.INTERNAL_ERROR, message=message)
    )


async def _write(child: Child, outgoing: _Outgoing, incoming: _Incoming, pending: set[int]) -> None:
    """Write the messages of the session. If the server stops reading, the session sees the connection end."""
    try:
        async with outgoing:
            async for item in outgoing:
                if isinstance(item.message, types.JSONRPCRequest) and isinstance(item.message.id, int):
                    pending.add(item.message.id)
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                child.stdin.write(text.encode() + b"\n")
                await child.stdin.drain()
    except OSError:
        await incoming.aclose()


STDERR_KEPT = 4096
"""Bytes of stderr kept for an error: about forty lines, enough for the end of a traceback."""
LEAVE_SECONDS = 2.0
"""How long a server may take to leave after its stdin was closed (the MCP specification leaves it open)."""
TERM_SECONDS = 0.5
"""How long the group may take to go after SIGTERM, before SIGKILL."""
_POLL_SECONDS = 0.01

_alive: set[int] = set()


class _Pipes(SubprocessStreamProtocol):
    """asyncio's own protocol, which also reports the end of the process while other processes still hold the pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_PIPE_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class _Group:
    """The processes of a server where there are process groups: it leads one, and may have started others outside."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started: dict[int, str] = {}
        _remember(pid)

    def note(self) -> None:
        """Note what was started outside the group, while its parents can still be seen."""
        self._started = descendants(self._pid)

    def ask(self) -> None:
        """Ask all to end."""
        signal_group(self._pid, signal.SIGTERM)

    def is_empty(self) -> bool:
        """Return whether none of the group is left."""
        return not signal_group(self._pid, 0)

    def end(self) -> None:
        """End all at once, inside the group and outside."""
        signal_group(self._pid, signal.SIGKILL)
        kill(self._started)
        _alive.discard(self._pid)

    def is_gone(self) -> bool:
        """Return whether all that was noted has ended."""
        return not living(self._started)


class _InJob:
    """The same on Windows, where a job holds all of them: none can leave it. A process without a console hears no
    signal, so nothing asks it to end but the end of its input."""

    def __init__(self, pid: int) -> None:
        self._job = JobObject()
        try:
            self._job.start(pid)
        except OSError:
            self._job.close()
            raise

    def note(self) -> None:
        """Note nothing: the job knows."""

    def ask(self) -> None:
        """End all at once: they have had their time."""
        self._job.end()

    def is_empty(self) -> bool:
        """Return whether none is left."""
        return not self._job.count()

    def end(self) -> None:
        """End all at once."""
        self._job.end()

    def is_gone(self) -> bool:
        """Return whether all have ended; give the job up then."""
        if self._job.count():
            return False
        self._job.close()
        return True


class Child:
    """A running server process, with all that it starts."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes, seen: Observed) -> None:
        self.pid = transport.get_pid()
        self._processes = _InJob(self.pid) if sys.platform == "win32" else _Group(self.pid)
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
        self._processes.note()
        try:
            self.stdin.close()
            if await self._left(0.0 if self._seen.hurry else LEAVE_SECONDS):
                self._seen.exit_status = self._transport.get_returncode()
            self._processes.ask()
            await _within(TERM_SECONDS, self._processes.is_empty)
        finally:
            # Runs even if this task is cancelled from outside, so that no process survives.
            self._processes.end()
        # A signal takes a moment to arrive; callers that leave the context may rely on it.
        await _within(TERM_SECONDS, self._processes.is_gone)
        await self._left(TERM_SECONDS)

    def close(self) -> None:
        """Close our ends of the pipes, which a process that left the group may still hold open."""
        self._transport.close()

    async def _left(self, seconds: float) -> bool:
        # Not `wait()`: since Python 3.11 that also waits for the pipes, which a grandchild may hold.
        return await _within(seconds, lambda: self._transport.get_returncode() is not None)


async def start(command: Sequence[str], *, env: Mapping[str, str], cwd: str, seen: Observed) -> Child:
    """Start a process with pipes in a group of its own. Raises OSError or ValueError when it cannot be started."""
    loop = asyncio.get_running_loop()
    transport, pipes = await loop.subprocess_exec(
        lambda: _Pipes(loop),
        *(runnable(command, env) if sys.platform == "win32" else command),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=dict(env),
        cwd=cwd,
        start_new_session=sys.platform != "win32",
        creationflags=FLAGS if sys.platform == "win32" else 0,
    )
    try:
        return Child(transport, pipes, seen)
    except OSError:
        transport.close()
        raise


_SCRIPTS = (".bat", ".cmd")
_MEANS_SOMETHING = frozenset('"%!^&|<>()\r\n')


def runnable(command: Sequence[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command as Windows starts it: `npx` is the script `npx.cmd` there, found on the PATH of the server. Its
    arguments would be read by `cmd.exe`, so those that mean something to it are refused. Raises `OSError`."""
    import shutil

    name, *arguments = command
    program = shutil.which(name, path=env.get("PATH") or None) or name
    if program.lower().endswith(_SCRIPTS):
        bad = next((argument for argument in arguments if _MEANS_SOMETHING & set(argument)), None)
        if bad is not None:
            raise OSError(f"{name} {SCRIPTS} {bad!r}")
    return (program, *arguments)


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
    by_pid: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = {child: born for child, (above, born) in parents.items() if above == parent and child not in by_pid}
        by_pid.update(children)
        waiting.extend(children)
    return by_pid


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
    by_pid: dict[int, tuple[int, str]] = {}
    with suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and (facts := _facts(entry)) is not None:
                by_pid[int(entry.name)] = facts
    return by_pid


def _facts(entry: Path) -> tuple[int, str] | None:
    """Return None for a process that cannot be seen, or has ended and only waits to be reaped."""
    try:
        text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the command is in parentheses and may contain anything, including spaces and parentheses.
    fields = text[text.rfind(")") + 2 :].split()
    return (int(fields[1]), fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
