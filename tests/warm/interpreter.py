"""The interpreter that has imported what commands need, and forks a process for each: see the package.

In: requests of the test worker, on the socket that it started this with, and of the scripts of `tests.warm.scripts`, on
a socket with a name. Each is JSON behind its length, with three descriptors. Out: the id of a process; for scripts, how
it ended too.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import site
import socket
import sys
import threading
import types
from contextlib import suppress
from typing import Any, NoReturn

SCRIPTS = {"prosa": "prosa.cli.main", "markdownlang": "prosa.cli.markdownlang"}
"""The console scripts, with the modules of their entries."""

IMPORTED = (
    *("prosa.cli.errors", "prosa.app.run.service", "prosa.web.serving", "prosa.mcp_server", "prosa.lsp", "mcp"),
    *("httpx2", "minijinja", "pygments", "sqlite3", "pyromark", "re2", "jsonschema_rs"),
)
"""What is imported besides the modules of all commands. None of it may start a thread, and what
a command asks `sys.modules` for (the price list) is not among it."""

Wanted = dict[str, Any]
"""`argv`, `cwd`, `env`; `module` or `code`; perhaps `path`, the first place for modules, and `session`, a new one."""


def entry(script: str) -> str:
    """Return the code of a console script."""
    return f"from {SCRIPTS[script]} import entry; entry()"


def received(connection: socket.socket, count: int) -> bytes:
    """Return so many bytes. Raises `EOFError` where there are fewer."""
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def serve(control: int, listening: str) -> NoReturn:
    """Fork a process for each request, until the test worker has ended."""
    from prosa.cli.commands import COMMANDS, HIDDEN

    for name in (*SCRIPTS.values(), *IMPORTED, *(command.module for command in (*COMMANDS, *HIDDEN))):
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing in what is forked"
    _forget_own_path()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    worker, scripts = socket.socket(fileno=control), socket.socket(socket.AF_UNIX)
    scripts.bind(listening)
    scripts.listen(64)
    worker.sendall(b"+")
    while True:
        ready, _, _ = select.select([worker, scripts], [], [])
        if scripts in ready:
            with scripts.accept()[0] as connection:
                _for_script(connection, worker, scripts)
        if worker in ready:
            try:
                wanted, ends = _asked(worker)
            except EOFError:
                os._exit(0)
            worker.sendall(_for_worker(wanted, ends, worker, scripts).to_bytes(8, "big"))
        with suppress(ChildProcessError):  # those between a script and its process
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _import_for(wanted: Wanted) -> None:
    """Import what one command alone needs, and takes most of its start, when it is asked for."""
    if "lsp" in wanted["argv"][:2] and "prosa.lsp.server" not in sys.modules:
        from prosa.cli.libraries import load_protocol

        load_protocol()
        importlib.import_module("prosa.lsp.server")
        gc.collect()
        gc.freeze()


def _forget_own_path() -> None:
    """Leave in `sys.path` what Python finds without `PYTHONPATH`."""
    own = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.path[:] = [each for each in sys.path if each not in own]
    for folder in [each for each in sys.path if each.endswith("site-packages")]:
        site.addsitedir(folder)  # places that were known from the variable before


def _asked(connection: socket.socket) -> tuple[Wanted, list[int]]:
    head, ends, _, _ = socket.recv_fds(connection, 8, 3)
    head += received(connection, 8 - len(head))
    return json.loads(received(connection, int.from_bytes(head, "big"))), ends


def _for_worker(wanted: Wanted, ends: list[int], *sockets: socket.socket) -> int:
    """Fork twice. The process between ends at once, so that the worker, which adopts orphans now, is the parent."""
    _import_for(wanted)
    told, tell = os.pipe()
    gate, opener = os.pipe()
    between = os.fork() if os.path.isdir(wanted["cwd"]) else 0
    if not between and os.path.isdir(wanted["cwd"]):
        child = os.fork()
        if child:
            os.write(tell, child.to_bytes(8, "big"))
            os._exit(0)
        os.close(opener)
        os.read(gate, 1)  # until the worker is the parent
        for end in (told, tell, gate):
            os.close(end)
        _be(wanted, ends, *sockets)
    pid = 0
    if between:
        os.waitpid(between, 0)
        pid = int.from_bytes(os.read(told, 8), "big")
    for end in (told, tell, gate, opener, *ends):
        os.close(end)
    return pid


def _for_script(connection: socket.socket, *sockets: socket.socket) -> None:
    """Fork a process that starts the one of the command, waits for it, and ends it if the script ends before."""
    with suppress(EOFError, OSError):
        wanted, ends = _asked(connection)
        _import_for(wanted)
        if not os.fork():
            child = os.fork()
            if not child:
                _be(wanted, ends, connection, *sockets)
            for end in (0, 1, 2, *ends):
                os.close(end)
            connection.sendall(child.to_bytes(8, "big"))
            over = os.pidfd_open(child)
            if over not in select.select([connection, over], [], [])[0]:
                os.kill(child, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(OSError):
                connection.sendall(status.to_bytes(8, "big", signed=True))
            os._exit(0)
        for end in ends:
            os.close(end)


def _be(wanted: Wanted, ends: list[int], *sockets: socket.socket) -> NoReturn:
    """Become the process that was asked for."""
    for each in sockets:
        each.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if wanted.get("session"):
        os.setsid()
    for number, end in enumerate(ends):
        os.dup2(end, number)
        if end > 2:
            os.close(end)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    first = {None: [], "": [""], ".": [os.getcwd()]}[wanted.get("path")]
    given = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:] = [*first, *given, *sys.path]
    sys.argv = list(wanted["argv"])
    _set_streams()
    os._exit(_ended(wanted) & 0xFF)


def _set_streams() -> None:
    """Make the standard streams as Python makes them at its start."""
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115 - lasts as long as the process
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        lines = name == "stderr" or os.isatty(number)
        newline = "\n" if number else None
        stream = io.TextIOWrapper(raw, "utf-8", errors, newline, line_buffering=lines, write_through=unbuffered)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _ended(wanted: Wanted) -> int:
    """Run the module or the code as the main one, and do what Python does at its end; return the exit status."""
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules["__main__"].__dict__["__builtins__"] = __builtins__
    status: Any = 0
    try:
        if "module" in wanted:
            runpy._run_module_as_main(wanted["module"])
        else:
            exec(compile(wanted["code"], "<string>", "exec"), sys.modules["__main__"].__dict__)
    except SystemExit as end:
        status = end.code
        if not (status is None or isinstance(status, int)):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as error:
        sys.excepthook(*sys.exc_info())
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        status = 120
    return int(status or 0)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
