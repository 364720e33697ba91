"""`WasmSandbox`: the port `Sandbox` on a few worker processes, started when first needed and reused.

A worker runs one program at a time. Whatever goes wrong with a call (deadline, death, cancellation) ends its worker,
and the next call gets a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from prosa.adapters.sandbox import limits, process
from prosa.adapters.sandbox.process import Worker, WorkerDied
from prosa.runtime.errors import SandboxError
from prosa.runtime.ports import SandboxResult


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

    async def run(self, code: str, *, timeout: float, memory: int, folder: str | None = None) -> SandboxResult:
        """Run ``code`` in a fresh interpreter that may read ``folder``, as `/skill`. Waiting for a free worker and
        starting one do not count as its time.

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
            return await self._run(code, max(timeout, 0.001), memory, folder)

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

    async def _run(self, code: str, timeout: float, memory: int, folder: str | None) -> SandboxResult:
        worker = await self._take()
        try:
            async with asyncio.timeout(min(timeout, limits.MAX_TIMEOUT) + limits.KILL_GRACE):
                reply = await worker.call({"code": code, "timeout": timeout, "memory": memory, "folder": folder})
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
                    return await process.start(self._cache, notice=self._notice)
                except WorkerDied:  # a damaged compiled file can crash the process that loads it
                    return await process.start(self._cache, fresh=True, notice=self._notice)
        except TimeoutError as error:
            raise SandboxError(f"the sandbox did not start within {limits.START_TIMEOUT:g} s") from error
        except WorkerDied as died:
            raise SandboxError(f"the sandbox's worker process does not start: {died.log or died}") from died

    def _discard(self, worker: Worker) -> None:
        worker.kill()
        if worker in self._all:
            self._all.remove(worker)


def _result(reply: dict[str, object]) -> SandboxResult:
    error = reply.get("error")
    return SandboxResult(str(reply.get("stdout")), str(reply.get("stderr")), None if error is None else str(error))


def _failed(reason: str) -> SandboxResult:
    return SandboxResult("", f"stopped by the sandbox: {reason}\n", f"execution failed: {reason}")
