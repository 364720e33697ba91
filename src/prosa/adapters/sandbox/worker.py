"""The worker process: takes programs from its parent one at a time and runs each in a fresh interpreter.

It starts with an empty environment in its own session. When its parent is gone, however it went, the worker removes
its folder and ends itself with everything it started.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypedDict, cast

from prosa.adapters.sandbox import frames, temp_folder
from prosa.adapters.sandbox.cache import CacheRefused, compiled_component
from prosa.adapters.sandbox.interpreter import Instance, Interpreter
from prosa.adapters.sandbox.limits import MAX_OPEN_FILES, MAX_TEMP_FILE, MIN_MEMORY, OWN_MEMORY
from prosa.data import Value

if TYPE_CHECKING:  # what `process` sends

    class _Start(TypedDict):
        cache: str
        component: str
        folder: str
        compiler: list[str]
        fresh: bool

    class _Run(TypedDict):
        code: str
        timeout: float
        memory: int
        folder: str | None
        outputs: str | None


def main() -> None:
    """Serve until the parent closes the connection. The connection's descriptor is the last argument; on Windows the
    connection is the standard streams."""
    os.umask(0o077)
    connection = frames.StandardStreams() if sys.platform == "win32" else socket.socket(fileno=int(sys.argv[-1]))
    start = cast("_Start | None", frames.receive(connection))
    if start is None:
        return
    inbox: SimpleQueue[_Run] = SimpleQueue()
    Thread(target=_read, args=(connection, inbox, start["folder"]), daemon=True).start()
    try:
        interpreter = _load(connection, start)
    except CacheRefused as refused:
        _send(connection, {"state": "failed", "message": str(refused), "hint": refused.hint})
    except (ImportError, RuntimeError, OSError) as error:
        hint = "the sandbox needs the package wasmtime, for this platform"
        _send(connection, {"state": "failed", "message": f"the sandbox cannot load wasmtime: {error}", "hint": hint})
    else:
        _restrict()
        _serve(connection, inbox, interpreter, start["folder"])


def _load(connection: frames.Channel, start: _Start) -> Interpreter:
    """Return the interpreter, compiled if needed. A file that wasmtime refuses is compiled again once."""
    from wasmtime import WasmtimeError

    def compiled(fresh: bool) -> Path:
        return compiled_component(
            Path(start["cache"]),
            Path(start["component"]),
            start["compiler"],
            fresh=fresh,
            on_compile=lambda: _send(connection, {"state": "compiling"}),
        )

    try:
        return Interpreter(compiled(start["fresh"]))
    except WasmtimeError:
        return Interpreter(compiled(fresh=True))


def _restrict() -> None:
    """Limit that hold for this process from now on; the guest cannot reach them, only run into them."""
    if sys.platform == "win32":
        return  # the job that the parent holds limits its memory; files have no limit there but the measuring
    import resource

    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, MAX_TEMP_FILE),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
    ):
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (_lower(value, hard), _lower(value, hard)))


def _lower(value: int, hard: int) -> int:
    return value if hard == -1 else min(value, hard)  # -1 is `resource.RLIM_INFINITY`


def _serve(connection: frames.Channel, inbox: SimpleQueue[_Run], interpreter: Interpreter, folder: str) -> None:
    """Answer requests in an endless loop. The resources of a run are created before its request arrives and removed
    after the answer."""
    with _instance(interpreter, folder) as first:  # a first run takes longer, and shows whether the file is sound
        reason = first.run("", timeout=30.0, memory=2 * MIN_MEMORY)["error"]
    if reason:
        raise SystemExit(f"the interpreter does not work: {reason}")
    _send(connection, {"state": "ready"})
    while True:
        with _instance(interpreter, folder) as instance:
            request = inbox.get()
            if request["folder"] is None:
                _send(connection, _answer(instance, request))
                continue
        _send(connection, _answer_with(interpreter, folder, request))


def _answer(instance: Instance, request: _Run) -> dict[str, Value]:
    _limit_data(request["memory"] + OWN_MEMORY)
    return instance.run(request["code"], timeout=request["timeout"], memory=request["memory"])


def _answer_with(interpreter: Interpreter, folder: str, request: _Run) -> dict[str, Value]:
    """Return the same in an interpreter that has the folder of a skill to read."""
    from wasmtime import WasmtimeError

    try:
        with _instance(interpreter, folder, request["folder"], request["outputs"]) as instance:
            return _answer(instance, request)
    except WasmtimeError:
        reason = "the folder of the skill cannot be opened"
        return {"stdout": "", "stderr": f"stopped by the sandbox: {reason}\n", "error": f"execution failed: {reason}"}


@contextmanager
def _instance(
    interpreter: Interpreter, folder: str, skill: str | None = None, outputs: str | None = None
) -> Iterator[Instance]:
    """Return a fresh interpreter in a fresh temporary folder, with the folder of a skill, and with the outputs of an
    agent, where they are given."""
    place = f"{folder}/run"
    Path(place).mkdir(0o700)
    try:
        with interpreter.instance(place, skill, outputs) as instance:
            yield instance
    finally:
        temp_folder.remove(place)


def _limit_data(size: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_lower(size, hard), hard))


def _read(connection: frames.Channel, inbox: SimpleQueue[_Run], folder: str) -> None:
    """Pass requests on; at the end of the stream this process is no longer needed."""
    with suppress(OSError, frames.BrokenFrame):
        while (request := frames.receive(connection)) is not None:
            inbox.put(cast("_Run", request))
    temp_folder.remove(folder)
    if sys.platform == "win32":
        os._exit(1)
    os.killpg(0, signal.SIGKILL)


def _send(connection: frames.Channel, message: dict[str, Value]) -> None:
    with suppress(OSError):  # the reading thread notices a parent that is gone
        connection.sendall(frames.encode(message))
