"""Timing: whole processes with their peak memory, and calls inside this process; always the median of several. A count
of instructions is taken once: it is nearly the same each time, however busy the machine is.

The peak memory of a process is that of its largest process, children included. A child begins as a copy of this
process, so nothing below the size of this process can be told apart: sections run in processes of their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from bench.row import Row as Row


@dataclass(frozen=True, slots=True)
class Process:
    """A finished process: wall clock in milliseconds, peak memory in MiB, and the milliseconds of processors that it
    and its children used, which other work on the machine changes little."""

    wall: float
    memory: float
    used: float = 0.0


MOST_SECONDS = 300.0
"""How long one process may take: what hangs ends no measurement."""


class Failed(SystemExit):
    """A command that did not do what is measured: its ``reason`` has no path and no host name."""

    def __init__(self, command: Sequence[str], reason: str, errors: str = "") -> None:
        super().__init__(f"{' '.join(command)}: {reason}. {errors[-2000:]}".rstrip(". "))
        self.reason = reason


def process(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    folder: Path | None = None,
    fine: Container[int] = (0,),
    seconds: float = MOST_SECONDS,
) -> Process:
    """Run a command to its end. Raises `Failed` when its exit status is not a ``fine`` one, or when it takes too long.
    A failed run has no time."""
    started = time.perf_counter()
    try:
        child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as problem:
        raise Failed(command, f"did not start ({problem.strerror})") from None
    with _ended_after(child, seconds) as late:
        errors = child.stderr.read() if child.stderr else b""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = (time.perf_counter() - started) * 1000
    if late:
        raise Failed(command, f"took longer than {seconds:g} s")
    if child.returncode not in fine:
        raise Failed(command, f"ended with status {child.returncode}", errors.decode("utf-8", "replace"))
    return Process(wall, used.ru_maxrss / 1024, (used.ru_utime + used.ru_stime) * 1000)


@contextlib.contextmanager
def _ended_after(child: subprocess.Popen[bytes], seconds: float) -> Iterator[list[bool]]:
    """End a process and what it started after so many seconds, which then stands in the list, or when we end."""
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        end_group(child)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    except BaseException:
        end_group(child)
        raise
    finally:
        timer.cancel()
        if child.stderr:
            child.stderr.close()


def end_group(child: subprocess.Popen[bytes], patience: float = 0) -> None:
    """End a process that leads a group, with the group; it has so many seconds to end what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
        if patience:
            child.send_signal(signal.SIGINT)
            child.wait(patience)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


_COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def instructions(command: Sequence[str], environ: Mapping[str, str]) -> float | None:
    """Millions of instructions that a process takes, without those of its children; None where there is no valgrind."""
    if shutil.which(_COUNTER[0]) is None:
        return None
    fixed = dict(environ) | {"PYTHONHASHSEED": "0"}
    ran = subprocess.run([*_COUNTER, *command], env=fixed, capture_output=True, text=True, check=True)
    found = _COUNTED.search(ran.stderr)
    return int(found[1].replace(",", "")) / 1e6 if found else None


def interleaved(commands: Mapping[str, Sequence[str]], environ: Mapping[str, str], runs: int) -> dict[str, Process]:
    """Medians of several commands run in turn, so that a machine that slows down slows all of them."""
    found: dict[str, list[Process]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            ran = process(command, environ)
            if turn:
                found[name].append(ran)
    return {name: middle(ran) for name, ran in found.items()}


def middle(runs: Sequence[Process]) -> Process:
    """Return the median times and the highest peak."""
    wall, used = (statistics.median(each) for each in zip(*((each.wall, each.used) for each in runs), strict=True))
    return Process(wall, max(each.memory for each in runs), used)


def calls(
    work: Callable[[], object], *, seconds: float = 0.5, least: int = 5, before: Callable[[], object] | None = None
) -> float:
    """Return the median time of one call in microseconds. What happens ``before`` each call is not counted."""
    if before is not None:
        before()
    work()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < least:
        if before is not None:
            before()
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def own_memory() -> float:
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def python(*arguments: str) -> list[str]:
    """Return a command that runs this interpreter."""
    return [sys.executable, *arguments]
