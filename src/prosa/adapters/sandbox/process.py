"""`WasmSandbox`, the port `Sandbox` on a few worker processes, and one of these from the parent's side.

A worker runs one program at a time, in its own session, with an empty environment and no site packages but the folders
of Prosa and wasmtime. Whatever goes wrong with a call ends its worker, and the next call gets a new one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.sandbox import frames, limits, temp_folder
from prosa.adapters.sandbox.parts import component, missing_part, root_of
from prosa.data import Plain, Value
from prosa.runtime.errors import SandboxError
from prosa.runtime.ports import SandboxResult

if TYPE_CHECKING:
    import subprocess

    from prosa.adapters.processes.job_object import JobObject

_PACKAGE_ROOT = Path(__file__).parents[3]
_BOOT = "import sys; sys.path += sys.argv[1:3]; from prosa.adapters.sandbox.{} import main; main()"
_LOG_TAIL = 2_000


class WorkerDied(Exception):
    """The process ended without an answer. ``status`` as in `subprocess.Popen.returncode`; ``log`` is its stderr."""

    def __init__(self, status: int | None, log: str) -> None:
        super().__init__(f"killed by signal {-status}" if status and status < 0 else f"exit status {status}")
        self.status = status
        self.log = log


class Worker(Struct):
    """A running worker process. Not for two calls at once."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    folder: str
    job: JobObject | None = None
    incoming: asyncio.BaseTransport | None = None
    """Both on Windows alone: what holds the process, and the pipe that its answers come through."""

    @property
    def is_alive(self) -> bool:
        """Whether it can take another request."""
        return self.process.poll() is None and not self.reader.at_eof()

    async def call(self, request: Mapping[str, Plain], memory: int = 0) -> dict[str, Value]:
        """Send a request and waits for the answer. Raises `WorkerDied`."""
        if self.job is not None and memory:  # elsewhere the worker limits itself
            self.job.limit(memory + limits.OWN_MEMORY)
        try:
            self.writer.write(frames.encode(request))
            await self.writer.drain()
            return await self.receive()
        except ConnectionError as error:
            raise self._died() from error

    async def receive(self) -> dict[str, Value]:
        """Return the next message. Raises `WorkerDied`."""
        try:
            return await frames.read(self.reader)
        except (asyncio.IncompleteReadError, ConnectionError, frames.BrokenFrame) as error:
            raise self._died() from error

    def _died(self) -> WorkerDied:
        log = self._log()
        self.kill()
        return WorkerDied(self.process.returncode, log)

    def _log(self) -> str:
        with suppress(OSError):
            return Path(self.folder, "log").read_text("utf-8", "replace").strip()[-_LOG_TAIL:]
        return ""

    def kill(self) -> None:
        """End the process and all it started, at once, and remove its folder. Safe to call twice."""
        from subprocess import TimeoutExpired

        self.writer.transport.abort()
        if self.incoming is not None:
            self.incoming.close()
        if self.process.returncode is None:
            self._end()
            with suppress(TimeoutExpired):
                self.process.wait(timeout=5)
        if self.job is not None:
            self.job.close()
        temp_folder.remove(self.folder)

    def _end(self) -> None:
        if self.job is not None:
            self.job.end()
        elif sys.platform != "win32":
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)


async def start(cache: Path, *, fresh: bool = False, notice: Callable[[str], None] | None = None) -> Worker:
    """Return a worker that is ready. ``fresh`` makes it compile the interpreter again.

    Raises `SandboxError` if it reports why it cannot work, `WorkerDied` if it just exits. Cancelling ends it.
    """
    if missing := missing_part():
        raise SandboxError(missing)
    worker = await _spawn()
    try:
        begin: dict[str, Plain] = {
            "cache": str(cache),
            "component": str(component()),
            "folder": worker.folder,
            "compiler": _command("cache"),
            "fresh": fresh,
        }
        message = await worker.call(begin)
        while message.get("state") == "compiling":
            if notice:
                notice("compiling the sandbox, once for this machine")
            message = await worker.receive()
        if message.get("state") != "ready":
            raise SandboxError(str(message.get("message")), hint=str(message.get("hint", "")))
    except BaseException:
        worker.kill()
        raise
    return worker


async def _spawn() -> Worker:
    return await (_spawn_in_job() if sys.platform == "win32" else _spawn_in_group())


async def _spawn_in_group() -> Worker:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        # From here on nothing waits, so a cancellation cannot come between the process and its owner.
        from tempfile import mkdtemp  # a run that calls no Python does without

        folder = mkdtemp(prefix="prosa-sandbox-")
        try:
            process = _popen([*_command("worker"), str(theirs.fileno())], theirs.fileno(), folder)
        except OSError as error:
            writer.transport.abort()
            temp_folder.remove(folder)
            raise _not_started(error) from error
    return Worker(process, reader, writer, folder)


def _not_started(error: OSError) -> SandboxError:
    return SandboxError(f"the sandbox's worker process does not start: {error}")


async def _spawn_in_job() -> Worker:
    """Return the same on Windows, which hands no socket to a process: it speaks through its standard streams."""
    from asyncio.streams import FlowControlMixin
    from tempfile import mkdtemp

    from prosa.adapters.processes.job_object import FLAGS, JobObject

    folder = mkdtemp(prefix="prosa-sandbox-")
    job, process = None, None
    try:
        job = JobObject()
        process = _popen_piped(_command("worker"), folder, FLAGS)
        job.start(process.pid)
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        outgoing, protocol = await loop.connect_write_pipe(FlowControlMixin, process.stdin)
        writer = asyncio.StreamWriter(outgoing, protocol, reader, loop)
    except BaseException as error:
        if job is not None:
            job.close()
        if process is not None:
            process.kill()
            process.wait(timeout=5)
        temp_folder.remove(folder)
        if isinstance(error, OSError):
            raise _not_started(error) from error
        raise
    return Worker(process, reader, writer, folder, job, incoming)


def _popen_piped(command: list[str], folder: str, flags: int) -> subprocess.Popen[bytes]:
    """Start a suspended process whose pipes the event loop of Windows can wait for."""
    from subprocess import PIPE

    opened: type[subprocess.Popen[bytes]] = import_module("asyncio.windows_utils").Popen  # there is none elsewhere
    # Windows finds no source of random numbers without the first, wasmtime no library for the processor without others.
    kept = ("SYSTEMROOT", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER")
    with Path(folder, "log").open("wb") as log:
        return opened(
            command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=log,
            creationflags=flags,
            env={name: os.environ[name] for name in kept if name in os.environ},
            cwd=folder,
        )


def _popen(command: list[str], connection: int, folder: str) -> subprocess.Popen[bytes]:
    from subprocess import DEVNULL, Popen  # a run that calls no Python does without

    with Path(folder, "log").open("wb") as log:
        return Popen(
            command,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=log,
            pass_fds=[connection],
            start_new_session=True,
            env={},
            cwd=folder,
        )


def _command(module: str) -> list[str]:
    """Return the command that runs ``main`` of a module beside this one, without the user's settings and packages."""
    roots = [str(_PACKAGE_ROOT), str(root_of("wasmtime") or _PACKAGE_ROOT)]
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT.format(module), *roots]


class WasmSandbox:
    """CPython in WebAssembly in worker processes (L22, L23, LA18). Use it in one event loop.

    ``cache_dir`` keeps the compiled interpreter (60 MB); it is created with mode 0700 and refused when others can
    write to it. ``workers`` programs run at the same time, more wait. ``notice`` gets a line worth showing to a person.
    """

    def __init__(
        self, cache_dir: Path, *, workers: int = limits.WORKERS, notice: Callable[[str], None] | None = None
    ) -> None:
        self._cache = cache_dir.absolute()
        self._notice = notice
        self._slots = asyncio.Semaphore(workers)
        self._starting = asyncio.Lock()
        self._idle: list[Worker] = []
        self._all: list[Worker] = []
        self._closed = False

    async def warm(self) -> None:
        """Start one worker, so that the first call finds it ready. Compiles the interpreter if needed.

        Raises `SandboxError` when the sandbox cannot work here.
        """
        if not self._all:
            async with self._slots:
                self._idle.append(await self._take())

    async def run(
        self, code: str, *, timeout: float, memory: int, folder: str | None = None, outputs: str | None = None
    ) -> SandboxResult:
        """Run ``code`` in a fresh interpreter that may read ``folder``, as `/skill`, and with it ``outputs``, as
        `/outputs`. Waiting for a free worker and starting one do not count as its time.

        Raises `SandboxError` when the sandbox cannot work here or ``memory`` is below `MIN_MEMORY`.
        """
        if memory < limits.MIN_MEMORY:
            needed = limits.megabytes(limits.MIN_MEMORY)
            raise SandboxError(
                f"{limits.megabytes(memory)} of memory is too little for the Python sandbox: it needs {needed}",
                hint=f"set memory to {needed} or more",
            )
        if len(code) > limits.MAX_CODE:
            return _failed(f"the code is longer than {limits.megabytes(limits.MAX_CODE)}")
        code = code.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair cannot enter WebAssembly
        async with self._slots:
            timeout = max(timeout, 0.001)
            request: dict[str, Plain] = {"code": code, "timeout": timeout, "memory": memory}
            return await self._run({**request, "folder": folder, "outputs": outputs}, timeout, memory)

    async def aclose(self) -> None:
        """End all workers. A call still running ends with an error. Safe to call twice."""
        self._closed = True
        for worker in self._all:
            worker.kill()
        self._all.clear()
        self._idle.clear()

    async def __aenter__(self) -> WasmSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _run(self, request: Mapping[str, Plain], timeout: float, memory: int) -> SandboxResult:
        worker = await self._take()
        try:
            async with asyncio.timeout(min(timeout, limits.MAX_TIMEOUT) + limits.KILL_GRACE):
                reply = await worker.call(request, memory)
            result = _result(reply)
        except TimeoutError:
            result = _failed(f"timed out after {timeout:g} s")
            self._discard(worker)
        except WorkerDied as died:
            result = _failed(f"the sandbox's worker process ended in mid-run ({died})")
            self._discard(worker)
        except BaseException:
            self._discard(worker)
            raise
        else:
            self._idle.append(worker)
        return result

    async def _take(self) -> Worker:
        """Return an idle worker or a new one. One starts at a time: the first may have to compile for all."""
        async with self._starting:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._discard(worker)
            self._refuse_if_closed()
            worker = await self._start()
            self._all.append(worker)
            try:
                self._refuse_if_closed()
            except SandboxError:
                self._discard(worker)
                raise
            return worker

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")

    async def _start(self) -> Worker:
        try:
            async with asyncio.timeout(limits.START_TIMEOUT):
                try:
                    return await start(self._cache, notice=self._notice)
                except WorkerDied:  # a damaged compiled file can crash the process that loads it
                    return await start(self._cache, fresh=True, notice=self._notice)
        except TimeoutError as error:
            raise SandboxError(f"the sandbox did not start within {limits.START_TIMEOUT:g} s") from error
        except WorkerDied as died:
            raise SandboxError(f"the sandbox's worker process does not start: {died.log or died}") from died

    def _discard(self, worker: Worker) -> None:
        worker.kill()
        if worker in self._all:
            self._all.remove(worker)


def _result(reply: Mapping[str, Value]) -> SandboxResult:
    error = reply.get("error")
    return SandboxResult(str(reply.get("stdout")), str(reply.get("stderr")), None if error is None else str(error))


def _failed(reason: str) -> SandboxResult:
    return SandboxResult("", f"stopped by the sandbox: {reason}\n", f"execution failed: {reason}")
