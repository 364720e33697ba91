"""Processes of this package without the start of an interpreter: `popen` and `run` take what `subprocess` takes.

A command such as `[sys.executable, "-m", "prosa", …]` spends most of its time on imports. One interpreter for each test
worker (`interpreter.py`) has done them; for each command it forks a process with the pipes, the folder, the environment
and the session that were asked for. The process is a child of the test worker: signals, `wait` and exit statuses are
those of any other. What a fork cannot give (other flags of Python, another system) starts plainly, and everything does
in `make test-deep`. Tests about the start or the end of a process use `subprocess`.
"""

from __future__ import annotations

import atexit
import marshal
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.warm import interpreter
from tests.warm.interpreter import SCRIPTS, Wanted, entry, received

USED = sys.platform == "linux" and platform.machine() in interpreter.CLONE and os.environ.get("PROSA_TESTS") != "deep"
ROOT = Path(__file__).parents[2]

_COPIED = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")
_OWN = {"preexec_fn", "pass_fds", "shell", "executable", "process_group", "user", "umask"}

_CLIENT = """\
#!{python} -IS
import marshal, os, sys, _signal as signal
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
there = socket(AF_UNIX, SOCK_STREAM)
there.connect({socket!r})
data = marshal.dumps({{"argv": sys.argv, "code": {code!r}, "env": dict(os.environ), "cwd": os.getcwd()}})
ends = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2))
there.sendmsg([len(data).to_bytes(8, "big")], [(SOL_SOCKET, SCM_RIGHTS, ends)])
there.sendall(data)
pid = int.from_bytes(there.recv(8), "big")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(pid, number))
os.close(0)
os.close(1)
status = int.from_bytes(there.recv(8), "big", signed=True)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def run(
    words: Sequence[str | Path],
    *,
    input: Any = None,  # noqa: A002 - as in `subprocess`
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Do what `subprocess.run` does."""
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with popen(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def popen(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a process, as `subprocess.Popen` does."""
    named = [os.fspath(word) for word in words]
    if USED and not options.keys() & _OWN and _wanted(named, options.get("env") or os.environ):
        return _Forked(named, **options)
    return subprocess.Popen(words, **options)


def scripts(folder: Path) -> Path:
    """Write `prosa` and `markdownlang` into a folder, for a shell to find; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        code = entry(name)
        if USED:
            text = _CLIENT.format(python=sys.executable, socket=_interpreter().listening, code=code)
        else:
            text = f'#!{sys.executable}\nif __name__ == "__main__":\n    {code}\n'  # processes it starts import it
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _wanted(words: Sequence[str], environ: Mapping[str, str]) -> Wanted | None:
    """Return how a forked interpreter runs these words, or nothing where only a new one can."""
    odd = any(name.startswith("PYTHON") and name not in _COPIED for name in environ)
    places = (environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    if odd or any(place and not place.upper().endswith(("UTF-8", "UTF8")) for place in places):
        return None
    first, *rest = words
    script = Path(first)
    if script.name in SCRIPTS and script.parent == Path(sys.executable).parent:
        return {"argv": list(words), "code": entry(script.name)}
    safe = rest[:1] == ["-P"]
    flag, *rest = rest[safe:] or ["-"]
    if first != sys.executable or flag not in ("-m", "-c") or not rest:
        return None
    found: Wanted = {"argv": [flag, *rest[1:]], "module" if flag == "-m" else "code": rest[0]}
    return found if safe else {**found, "path": "." if flag == "-m" else ""}


class _Forked(subprocess.Popen[Any]):
    """A process that the warm interpreter forks."""

    def _execute_child(self, args: Any, *more: Any) -> None:
        """Take the place of fork and exec; the order of the arguments is that of CPython 3.11 to 3.14."""
        folder, environ = more[4:6]
        ends, new_session = more[9:15], more[-2]
        stdin, _, _, stdout, _, stderr = ends
        environ = dict(os.environ if environ is None else environ)
        wanted = _wanted(args, environ)
        assert wanted is not None
        wanted |= {"env": environ, "cwd": os.path.abspath(folder or "."), "session": bool(new_session)}
        given = [number if end == -1 else end for number, end in enumerate((stdin, stdout, stderr))]
        try:
            self.pid = _interpreter().fork(wanted, given)
            self._child_created = True
        finally:
            self._close_pipe_fds(*ends)


class _Interpreter:
    """The warm interpreter, as the test worker sees it."""

    def __init__(self) -> None:
        self._worker = os.getpid()
        self._lock = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="prosa-warm-"))
        self.listening = str(self._folder / "socket")
        self._here, theirs = socket.socketpair()
        tree = [str(ROOT / folder) for folder in ("src", "sandbox/src")]
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(tree)}
        words = [sys.executable, "-P", interpreter.__file__, str(theirs.fileno()), self.listening]
        with theirs:
            self._process = subprocess.Popen(words, env=environ, pass_fds=(theirs.fileno(),), cwd="/")
        assert self._here.recv(1) == b"+", "the warm interpreter did not start"
        atexit.register(self.end)

    def fork(self, wanted: Wanted, ends: Sequence[int]) -> int:
        """Start a process, a child of this one."""
        data = marshal.dumps(wanted)
        with self._lock:
            socket.send_fds(self._here, [len(data).to_bytes(8, "big")], ends)
            self._here.sendall(data)
            pid = int.from_bytes(received(self._here, 8), "big")
        if not pid:
            raise FileNotFoundError(wanted["cwd"])
        return pid

    def end(self) -> None:
        """End the interpreter with the test worker that it belongs to."""
        if self._worker == os.getpid():
            self._here.close()
            self._process.wait()
            for each in self._folder.iterdir():
                each.unlink()
            self._folder.rmdir()


_interpreters: dict[int, _Interpreter] = {}


def _interpreter() -> _Interpreter:
    """Return the interpreter of this process, which may itself have been forked by another one."""
    if os.getpid() not in _interpreters:
        _interpreters[os.getpid()] = _Interpreter()
    return _interpreters[os.getpid()]
