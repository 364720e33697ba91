"""The process between Prosa and an agent: `python -I -S supervisor.py FD MOST COMMAND…`, started by `children` alone.

It starts the command, and ends with its exit status, after every process that descends from it is gone: daemons too,
for it adopts what loses its parent. It ends everything at once when the other end of the socket FD is closed, which
happens however Prosa goes, when Prosa is gone, at SIGTERM, and when there are more than MOST processes; then it says
so with a byte on FD. It runs on the standard library alone and imports nothing of Prosa.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes an eighth of the time of a start
    from typing import NoReturn

TERM_SECONDS = 1.0
"""Between SIGTERM and SIGKILL, for a command that is ended."""

LEFT_SECONDS = 0.3
"""The same for what a command leaves behind that ended by itself."""

KILL_SECONDS = 5.0
"""How long processes may take to go after SIGKILL; one that waits for a disk takes its time."""

LOOK_SECONDS = 0.5
"""Between two looks at whether Prosa is still there, beside the end of the socket, which comes at once, and at how many
processes there are."""

MOST_FILE_BYTES = 2**30
"""Bytes of one file that a command may write. What it may write in all is watched while it runs."""

NOT_STARTED, NOT_FOUND = 126, 127
"""Exit statuses of a command that cannot be started, as of a shell."""

TOO_MANY = -1
"""In place of a status: there were too many processes."""

_HAS_PROC = os.access("/proc/self/stat", os.R_OK)
_PR_SET_CHILD_SUBREAPER = 36


def main() -> NoReturn:
    """Run the command, and end everything that it started."""
    pipe, most, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    parent = os.getppid()
    os.set_inheritable(pipe, False)
    _adopt()
    _bound_files()
    woken = _wakeups()
    child = _start(command)
    status = _waited(child, pipe, woken, parent, most)
    if status == TOO_MANY:
        _kill_groups()
        with suppress(OSError):
            os.write(pipe, b"p")
    _end_all(child, {None: TERM_SECONDS, TOO_MANY: 0.0}.get(status, LEFT_SECONDS))
    os._exit(128 + signal.SIGTERM if status is None else 128 + signal.SIGKILL if status == TOO_MANY else status)


def _adopt() -> None:
    """Become the parent of every descendant that loses its own (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _bound_files() -> None:
    """Allow no file of a crash, and none above a size."""
    import resource  # POSIX has it alone

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = MOST_FILE_BYTES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILE_BYTES)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _wakeups() -> int:
    """Return a pipe that has something to read after a signal."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _noted)
    return read


_ended: list[int] = []


def _noted(number: int, _frame: object) -> None:
    if number != signal.SIGCHLD:
        _ended.append(number)


def _start(command: list[str]) -> int:
    """Start the command in a group of its own, with the signals as a shell gives them."""
    usual = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    try:
        return os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigmask=[], setsigdef=usual)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED)


def _waited(child: int, pipe: int, woken: int, parent: int, most: int) -> int | None:
    """Return the exit status of the command as shells count it; None where everything is to end before it did, and
    `TOO_MANY`."""
    next_look = 0.0
    while True:
        for pid, status in _reaped():
            if pid == child:
                return status
        ready, _, _ = select.select([pipe, woken], [], [], LOOK_SECONDS)
        if woken in ready:
            os.read(woken, 4096)
        if _ended or os.getppid() != parent or (pipe in ready and not os.read(pipe, 1)):
            return None
        if _HAS_PROC and time.monotonic() >= next_look:
            if len(_descendants()) > most:
                return TOO_MANY
            next_look = time.monotonic() + LOOK_SECONDS


def _kill_groups() -> None:
    """Kill every descendant by its group: the kernel lets none of one fork meanwhile, so that what forks for ever is
    not faster."""
    own = os.getpgrp()
    for group in {_group(pid) for pid in _descendants()} - {own, 0}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def _reaped() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            code = os.waitstatus_to_exitcode(status)
            yield pid, code if code >= 0 else 128 - code


def _end_all(child: int, grace: float) -> None:
    """End everything that descends from this process: first asked to, then killed until nothing is left."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, KILL_SECONDS)):
        deadline = time.monotonic() + seconds
        is_told = False
        while (pids := _living(child)) and time.monotonic() < deadline:
            if not is_told or number == signal.SIGKILL:
                for pid in pids:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
            is_told = True
            time.sleep(0.01)


def _living(child: int) -> list[int]:
    """Return what there is to end: every descendant, or where they cannot be seen the group of the command."""
    list(_reaped())
    if _HAS_PROC:
        return _descendants()
    try:
        os.killpg(child, 0)
    except (ProcessLookupError, PermissionError):
        return []
    return [-child]


def _descendants() -> list[int]:
    """Return every process that descends from this one and has not ended."""
    children: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and (parent := _parent(entry.name)):
                children.setdefault(parent, []).append(int(entry.name))
    pids: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.pop(waiting.pop(), [])
        pids += below
        waiting += below
    return pids


def _parent(name: str) -> int:
    """Return the parent of a process; 0 for one that has ended and only waits to be reaped."""
    try:
        file = os.open(f"/proc/{name}/stat", os.O_RDONLY)
        try:
            text = os.read(file, 4096).decode("utf-8", "replace")
        finally:
            os.close(file)
    except OSError:
        return 0
    fields = text[text.rfind(")") + 2 :].split()  # the name in parentheses may hold anything
    return int(fields[1]) if fields and fields[0] not in "ZX" else 0


if __name__ == "__main__":
    main()
