"""One program in a fresh WebAssembly instance: code and limits in, its output and its outcome out.

The only module that touches wasmtime, and it is loaded only in the worker process. The instance gets an empty
environment, no arguments, one folder as /tmp, perhaps one to read as /skill, and no network; the clock and the random
source are real.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.adapters.sandbox import temp_folder
from prosa.adapters.sandbox.limits import MAX_OUTPUT, MAX_REASON, MAX_TIMEOUT, MIN_MEMORY, WATCH_INTERVAL, megabytes
from prosa.data import Value

if TYPE_CHECKING:
    from wasmtime import Engine, Store
    from wasmtime.component import Func

GUEST_FOLDER = "/tmp"  # noqa: S108 (the name inside the sandbox)
SKILL_FOLDER = "/skill"
OUTPUTS_FOLDER = "/outputs"
WASM_STACK = 2**20
"""Bytes of native stack for WebAssembly: enough for CPython's parser to report deep nesting itself."""


class OutputFull(Exception):
    """The program printed more than `MAX_OUTPUT`."""


class Output(Struct):
    """The output of the program so far, per channel: 1 is stdout, everything else stderr."""

    room: int = MAX_OUTPUT
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)

    def add(self, channel: int, text: str) -> None:
        """Keep text while there is room, counted in UTF-8 bytes. Raises `OutputFull` when there is no more."""
        data = text[: self.room + 1].encode()
        kept = data[: self.room].decode("utf-8", "ignore")
        (self.stdout if channel == 1 else self.stderr).append(kept)
        self.room -= len(data)
        if self.room < 0:
            self.room = 0
            raise OutputFull


def engine() -> Engine:
    """Return an engine with the settings that compiled components are made for."""
    from wasmtime import Config, Engine

    config = Config()
    config.epoch_interruption = True
    config.max_wasm_stack = WASM_STACK
    return Engine(config)


class Interpreter:
    """A loaded component, from which instances are made one after the other."""

    def __init__(self, compiled: Path) -> None:
        from wasmtime.component import Component, Linker

        self._engine = engine()
        if sys.platform == "win32":  # a file that is mapped there cannot be replaced by a sound one
            self._component = Component.deserialize(self._engine, compiled.read_bytes())
        else:
            self._component = Component.deserialize_file(self._engine, str(compiled))
        self._linker = Linker(self._engine)
        self._linker.add_wasip2()
        with self._linker.root() as root:
            root.add_func("emit", lambda _store, channel, text: self._current.output.add(channel, text))
            root.add_func("pause", lambda _store, milliseconds: self._current.pause(milliseconds / 1000))
        self._current: Instance

    def instance(self, folder: str, skill: str | None = None, outputs: str | None = None) -> Instance:
        """Return a fresh interpreter with ``folder`` as /tmp, and perhaps the folder of a skill as /skill and what an
        agent left as /outputs, which it can only read. Only the newest one may run. Raises `WasmtimeError` for a folder
        that cannot be opened."""
        from wasmtime import Store, WasiConfig

        store = Store(self._engine)
        wasi = WasiConfig()
        wasi.preopen_dir(folder, GUEST_FOLDER)
        if skill is not None:
            wasi.preopen_dir(skill, SKILL_FOLDER, fs_mutable=False)
        if outputs is not None:
            wasi.preopen_dir(outputs, OUTPUTS_FOLDER, fs_mutable=False)
        store.set_wasi(wasi)
        store.set_epoch_deadline(1)
        function = self._linker.instantiate(store, self._component).get_func(store, "run")
        assert function is not None
        self._current = Instance(self._engine, store, function, folder)
        return self._current


class Instance:
    """One interpreter for one run. As a context it gives its memory back at the end."""

    def __init__(self, engine: Engine, store: Store, function: Func, folder: str) -> None:
        self.output = Output()
        self._engine = engine
        self._store = store
        self._function = function
        self._folder = folder
        self._watch: RunWatch | None = None

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def pause(self, seconds: float) -> None:
        """Wait for the program, at most until it is stopped."""
        if self._watch:
            self._watch.pause(seconds)

    def run(self, code: str, *, timeout: float, memory: int) -> dict[str, Value]:
        """Run ``code`` for ``timeout`` seconds with ``memory`` bytes. Return the fields of L22."""
        self._store.set_limits(memory_size=max(memory, MIN_MEMORY))
        self._store.set_epoch_deadline(1)
        with RunWatch(self._engine.increment_epoch, min(timeout, MAX_TIMEOUT), self._folder) as self._watch:
            reason = self._call(code, self._watch)
        if reason == "MemoryError":
            reason = f"MemoryError (limit {megabytes(memory)})"
        return {
            "stdout": "".join(self.output.stdout),
            "stderr": "".join(self.output.stderr),
            "error": reason and f"execution failed: {reason[:MAX_REASON]}",
        }

    def _call(self, code: str, watch: RunWatch) -> str | None:
        from wasmtime import ExitTrap

        try:
            reason: str | None = self._function(self._store, code)
        except ExitTrap as end:
            reason = "SystemExit: os._exit with a failure status" if end.code else None
        except Exception as error:
            reason = watch.reason or _explain(error)
            self.output.stderr.append(f"stopped by the sandbox: {reason}\n")
        return reason


def _explain(error: Exception) -> str:
    """Return why the instance ended without an answer."""
    if isinstance(error, OutputFull):
        return f"output limit of {megabytes(MAX_OUTPUT)} reached"
    text = str(error)
    if "call stack exhausted" in text:
        return "RecursionError: the interpreter's stack is exhausted"
    if "unreachable" in text:
        return "the interpreter aborted (a deadlock, os.abort or broken bytecode)"
    last = text.strip().rpartition("\n")[2].strip()
    return f"the interpreter aborted: {last or type(error).__name__}"


# Watches one run from a second thread: the deadline and the size of the temporary folder.
#
# Stopping works through the engine's epoch: WebAssembly code checks it at every loop and call and traps. Code that
# waits inside a host call does not see it; for that the parent process kills the worker.


class RunWatch:
    """A context around one run. ``reason`` says afterwards why the run was stopped, or is None."""

    def __init__(self, interrupt: Callable[[], None], timeout: float, folder: str) -> None:
        self.reason: str | None = None
        self._interrupt = interrupt
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._folder = folder
        self._over = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> RunWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()  # so that no interrupt of this run reaches the next one

    def pause(self, seconds: float) -> None:
        """Wait for the program; ends early when the run is stopped."""
        self._stopped.wait(min(seconds, self._timeout + 1))

    def _watch(self) -> None:
        interval = WATCH_INTERVAL
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return self._stop(f"timed out after {self._timeout:g} s")
            if self._over.wait(min(interval, left)):
                return None
            started = time.monotonic()
            broken = temp_folder.over_quota(self._folder)
            if broken:
                return self._stop(broken)
            # A folder that takes long to measure is measured less often: at most a tenth of the time.
            interval = max(WATCH_INTERVAL, 10 * (time.monotonic() - started))

    def _stop(self, reason: str) -> None:
        self.reason = reason
        self._interrupt()
        self._stopped.set()
