"""The engine as this process sees it: a child for each model, started when it is first asked, shared by all who ask.

In: a model and what it may take. Out: the address of a running engine with its key, or `Ended` with what the child left
behind. A child ends with this process, however that ends (`child`), and before where it is not asked for
`IDLE_SECONDS`.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from msgspec import Struct

from prosa.adapters.embedded.machine import memory_left, threads_for
from prosa.adapters.embedded.weights import CONTEXT, Model

IDLE_SECONDS = 60.0
START_SECONDS = 60.0
"""What a start may take beside reading the file."""

READ_BYTES = 20_000_000
"""Bytes a second that even a slow disk gives."""

OVERHEAD = 120_000_000
"""Bytes that the engine takes beside weights and windows."""

MOST_SLOTS = 2
"""Calls that are answered at once; more share the same processor."""

_INHERITED = (
    *("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "WINDIR", "USERPROFILE", "LANG", "LC_ALL"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES"),
)
"""What of the environment reaches the engine: what it is found and loaded by, and no key."""

KEPT_WORDS = 4096
"""Bytes of what the engine wrote last that are looked through for its last line."""

LAST_SECONDS = 0.3
"""How long a process whose connection broke may take to be gone."""


class Ended(Exception):
    """An engine that did not start, or is gone. ``status`` is how its process ended, None for one that did not
    answer in time; ``words`` is the last thing that it said."""

    def __init__(self, status: int | None, words: str = "") -> None:
        super().__init__(words)
        self.status = status
        self.words = words


class Running(Struct, frozen=True):
    """An engine that answers: its base URL and the key for it, and whether the template of its model has tools."""

    base_url: str
    key: str
    takes_tools: bool


class Plan(Struct, frozen=True):
    """How a model is run: the tokens of the window of each slot, how many slots, how many threads."""

    context: int
    slots: int
    threads: int


def plan_of(model: Model, context: int | None = None) -> Plan:
    """Return how a model is run here: two slots where memory is plenty; a window of 4,096 tokens, ``context`` or what
    it was trained with."""
    window = context or min(CONTEXT, model.context or CONTEXT)
    left = memory_left()
    slots = MOST_SLOTS if left is None or left > 4 * bytes_of(model, window, MOST_SLOTS) else 1
    return Plan(window, slots, threads_for(model.parameters))


def bytes_of(model: Model, context: int = CONTEXT, slots: int = 1) -> int:
    """Return about how much memory a model takes while it answers."""
    return model.size + model.cache * context * slots + OVERHEAD


class Engine:
    """The child of one model. It may be asked from any thread and any event loop."""

    def __init__(self, model: Model, plan: Plan, environ: Mapping[str, str]) -> None:
        self.model = model
        self.plan = plan
        self._environ = {name: environ[name] for name in _INHERITED if name in environ}
        self._starting = threading.Lock()
        self._counting = threading.Lock()
        self._child: _Child | None = None
        self._holders = 0
        self._timer: threading.Timer | None = None

    async def running(self) -> Running:
        """Return the engine, started where it does not run. Raises `Ended`."""
        child = self._child
        if child is not None and child.running is not None and child.is_alive:
            return child.running
        try:
            return await asyncio.to_thread(self._started)
        except asyncio.CancelledError:
            child = self._child
            if child is not None and child.running is None:
                child.kill()  # the thread that waits for it would hold up the end of this process
            raise

    @property
    def pid(self) -> int | None:
        """The process of the child; None where there is none."""
        child = self._child
        return None if child is None else child.pid

    def ended(self, running: Running) -> Ended | None:
        """Return why an engine that answered before does not any more; None while it runs."""
        child = self._child
        if child is None or child.running is not running:
            return Ended(0, "it was started again over another answer")
        return child.ended()

    def hold(self) -> None:
        """Keep the child process running for a caller."""
        with self._counting:
            self._holders += 1
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def release(self) -> None:
        """Release the child process; it ends after an idle time unless another caller holds it."""
        with self._counting:
            self._holders -= 1
            if not self._holders and self._child is not None:
                self._timer = threading.Timer(IDLE_SECONDS, self._rest)
                self._timer.daemon = True
                self._timer.start()

    def end(self) -> None:
        """End the child now."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _rest(self) -> None:
        with self._counting:
            if not self._holders:
                self.end()

    def _started(self) -> Running:
        with self._starting:
            child = self._child
            if child is not None and child.running is not None and child.is_alive:
                return child.running
            self.end()
            self._child = child = _Child(self._environ)
            try:
                return child.start(self.model, self.plan)
            except BaseException:
                self.end()
                raise


class _Child:
    """One process."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.running: Running | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the child
        self._process = subprocess.Popen(  # `-P`: nothing of the current folder is ever imported
            [sys.executable, "-P", "-m", "prosa.adapters.embedded.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=dict(environ),
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def start(self, model: Model, plan: Plan) -> Running:
        """Have the model loaded. Raises `Ended` where the process does not answer."""
        key = secrets.token_urlsafe(32)
        task = {
            "path": str(model.path),
            "name": model.name,
            "key": key,
            "context": plan.context,
            "slots": plan.slots,
            "threads": plan.threads,
        }
        late = threading.Event()

        def too_late() -> None:
            late.set()
            self.kill()

        alarm = threading.Timer(START_SECONDS + model.size / READ_BYTES, too_late)
        alarm.daemon = True
        alarm.start()
        try:
            line = self._answer(json.dumps(task))
        finally:
            alarm.cancel()
        try:
            answer = json.loads(line)
        except ValueError:
            status = self._process.wait()
            raise Ended(None if late.is_set() else status, self._last_words()) from None
        if "error" in answer:
            raise Ended(1, self._last_words() or answer["error"])
        self.running = Running(f"{answer['address']}/v1", key, answer["tools"])
        return self.running

    def ended(self) -> Ended | None:
        """Return how the process ended; None where it runs. One whose connection broke may take a moment to end."""
        with suppress(subprocess.TimeoutExpired):
            return Ended(self._process.wait(LAST_SECONDS), self._last_words())
        return None

    def kill(self) -> None:
        """Have the process end, which has nothing to save."""
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """End the process and close its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _answer(self, task: str) -> bytes:
        """Return the line that the process answers; empty where it ended before."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(BrokenPipeError):
            stdin.write(task.encode() + b"\n")
            stdin.flush()
        return stdout.readline()

    def _last_words(self) -> str:
        """Return the last line that the engine wrote."""
        try:
            size = self._said.seek(0, os.SEEK_END)
            self._said.seek(max(0, size - KEPT_WORDS))
            lines = [line.strip() for line in self._said.read().decode("utf-8", "replace").splitlines()]
        except (OSError, ValueError):
            return ""
        return next((line for line in reversed(lines) if line), "")


_engines: dict[tuple[Model, Plan], Engine] = {}
_engines_lock = threading.Lock()


def engine_of(model: Model, plan: Plan, environ: Mapping[str, str]) -> Engine:
    """Return the engine of a model in this process: the same for everybody who asks for the same, under the same
    name."""
    with _engines_lock:
        if not _engines:
            atexit.register(_end_all)
        return _engines.setdefault((model, plan), Engine(model, plan, environ))


def _end_all() -> None:
    for engine in _engines.values():
        engine.end()
