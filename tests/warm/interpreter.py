"""The interpreter that has imported what commands need, and forks a process for each: see the package.

In: requests of the test worker, on the socket that it started this with, and of the scripts of `tests.warm.scripts`, on
a socket with a name. Each is marshalled behind its length, with three descriptors. Out: the id of a process; for
scripts, how it ended too.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import marshal
import os
import pkgutil
import platform
import runpy
import select
import signal
import site
import socket
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NoReturn, Protocol

SCRIPTS = {"prosa": "prosa.cli.main", "markdownlang": "prosa.cli.markdownlang"}
"""The console scripts, with the modules of their entries."""

IMPORTED = (
    *("httpx2", "minijinja", "pygments", "sqlite3", "pyromark", "re2", "jsonschema_rs", "mcp", "difflib", "yaml"),
    *("uvicorn.protocols.http.httptools_impl", "uvicorn.loops.uvloop", "uvicorn.lifespan.on"),
    *("anyio._backends._asyncio", "concurrent.futures.thread", "httpcore2", "resource", "truststore"),
)
"""What is imported besides the package: what it imports when it runs. None of it may start a thread, and what a command
asks `sys.modules` for (the price list) is not among it."""

AT_FIRST_USE = {
    "lsp": ("prosa.lsp.server",),
    "postgresql": ("prosa.adapters.store.postgres", "prosa.adapters.store.queue"),
}
"""What is imported before the first command with such a word, or with such a store."""

LEFT = {
    "prosa.adapters.embeddings": "What multiplies vectors starts threads.",
    "prosa.adapters.telemetry.spans": "Few commands send spans, and what writes them is large.",
    "prosa.lsp": AT_FIRST_USE,
    "prosa.adapters.store.postgres": AT_FIRST_USE,
    "prosa.adapters.store.queue": AT_FIRST_USE,
}
"""Modules of the package that are not imported at once, nor what is below them."""

_imported_for: set[str] = set()

_LIBC = ctypes.PyDLL(None)  # holds the lock of the interpreter during a call, as a fork must
CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT = 0x8000

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
    for name in (*IMPORTED, *_modules(importlib.import_module("prosa").__path__, "prosa.")):
        importlib.import_module(name)
    importlib.import_module("prosa.adapters.files.stamps").running_mark()
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing in what is forked"
    _forget_own_path()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _settle()
    worker, scripts = socket.socket(fileno=control), socket.socket(socket.AF_UNIX)
    scripts.bind(listening)
    scripts.listen(64)
    worker.sendall(b"+")
    running: list[_Running] = []
    while True:
        begun = [each for one in running for each in (one.over, one.script)]
        ready, _, _ = select.select([worker, scripts, *begun], [], [])
        for each in [one for one in running if one.over in ready or one.script in ready]:
            each.end(killed=each.over not in ready)
            running.remove(each)
        if scripts in ready:
            running += _for_script(scripts.accept()[0], worker, scripts, *running)
        if worker in ready:
            try:
                wanted, ends = _asked(worker)
            except EOFError:
                os._exit(0)
            worker.sendall(_for_worker(wanted, ends, worker, scripts, *running).to_bytes(8, "big"))


class _Closing(Protocol):
    def close(self) -> None:
        """Close it."""


class _Running:
    """The process of a script, which ends with it."""

    def __init__(self, pid: int, script: socket.socket) -> None:
        self.pid, self.script, self.over = pid, script, os.pidfd_open(pid)

    def end(self, *, killed: bool) -> None:
        """Tell the script how its process ended, which is killed where the script ended before."""
        if killed:
            os.kill(self.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with suppress(OSError):
            self.script.sendall(status.to_bytes(8, "big", signed=True))
        self.close()

    def close(self) -> None:
        """Close what this process has of it."""
        self.script.close()
        os.close(self.over)


def _settle() -> None:
    """Compile the regular expressions that are else compiled at their first use, in each process again, and leave all
    that is there out of the garbage collections."""
    from prosa.regex import _Lazy

    gc.collect()
    for each in gc.get_objects():
        if type(each) is _Lazy:
            getattr(each, "match")  # noqa: B009 - which compiles it
    gc.freeze()
    _into_large_pages()


def _into_large_pages() -> None:
    """Have Linux keep this heap in pages of two megabytes where it can: a fork copies the table of all pages, which
    takes half as long then."""
    collapse, large = 25, 2 << 20
    _LIBC.madvise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps") as known:
        parts = [line.split() for line in known]
    for place, rights, *more in parts:
        if rights == "rw-p" and (len(more) < 4 or more[3] == "[heap]"):
            start, end = (int(each, 16) for each in place.split("-"))
            start, end = -(-start // large) * large, end // large * large
            if start < end:
                _LIBC.madvise(start, end - start, collapse)


def _modules(places: Iterable[str], prefix: str) -> Iterator[str]:
    """Return the names of all modules of a package that are imported at once: a command imports hundreds of them."""
    for found in pkgutil.iter_modules(places, prefix):
        if found.name not in LEFT and not found.name.endswith(".__main__"):
            yield found.name
            if found.ispkg:
                child = found.name.rpartition(".")[2]
                yield from _modules([os.path.join(place, child) for place in places], f"{found.name}.")


def _import_for(wanted: Wanted) -> None:
    """Import what such a command alone needs, and takes most of its start, unless an earlier one did."""
    words = {*wanted["argv"], wanted["env"].get("PROSA_STORE", "").partition(":")[0]}
    for word in words & AT_FIRST_USE.keys() - _imported_for:
        _imported_for.add(word)
        if word == "lsp":
            importlib.import_module("prosa.cli.libraries").load_protocol()
        for name in AT_FIRST_USE[word]:
            importlib.import_module(name)
        _settle()


def _forget_own_path() -> None:
    """Leave in `sys.path` what Python finds without `PYTHONPATH`."""
    own = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.path[:] = [each for each in sys.path if each not in own]
    for folder in [each for each in sys.path if each.endswith("site-packages")]:
        site.addsitedir(folder)  # places that were known from the variable before


def _asked(connection: socket.socket) -> tuple[Wanted, list[int]]:
    head, ends, _, _ = socket.recv_fds(connection, 8, 3)
    head += received(connection, 8 - len(head))
    return marshal.loads(received(connection, int.from_bytes(head, "big"))), ends


def _for_worker(wanted: Wanted, ends: list[int], *others: _Closing) -> int:
    """Fork a process whose parent is the worker."""
    _import_for(wanted)
    pid = _fork_for_parent() if os.path.isdir(wanted["cwd"]) else -1
    if not pid:
        _be(wanted, ends, *others)
    for end in ends:
        os.close(end)
    return max(pid, 0)


def _fork_for_parent() -> int:
    """Do what `os.fork` does, but for the parent of this process: the new one is not a child of this one, but of the
    test worker, which waits for it. Another fork between would take as long again."""
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = int(_LIBC.syscall(CLONE[platform.machine()], _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0))
    if pid:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        assert pid > 0, "no more processes can be forked"
    else:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return pid


def _for_script(connection: socket.socket, *others: _Closing) -> list[_Running]:
    """Fork the process of a script, if it asked for one."""
    try:
        wanted, ends = _asked(connection)
    except (EOFError, OSError):
        connection.close()
        return []
    _import_for(wanted)
    pid = os.fork()
    if not pid:
        _be(wanted, ends, connection, *others)
    for end in ends:
        os.close(end)
    with suppress(OSError):
        connection.sendall(pid.to_bytes(8, "big"))
    return [_Running(pid, connection)]


def _be(wanted: Wanted, ends: list[int], *others: _Closing) -> NoReturn:
    """Become the process that was asked for, without what is open for others."""
    for each in others:
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
