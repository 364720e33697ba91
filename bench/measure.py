"""Timing: whole processes with their peak memory, and calls inside this process; always the median of several. A count
of instructions is taken once: it is nearly the same each time, however busy the machine is.

The peak memory of a process is that of its largest process, children included. A child begins as a copy of this
process, so nothing below the size of this process can be told apart: sections run in processes of their own.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. ``value`` beside ``baseline``, both in ``unit``; ``aim`` is what was asked for.

    A ``baseline`` without a figure is not installed.
    """

    what: str
    value: float
    unit: str
    baseline: str = ""
    base: float | None = None
    aim: str = ""

    def text(self) -> str:
        """Return the row for the table."""
        absent = "not installed" if self.baseline else ""
        compared = f"{self.base:,.2f} {self.unit}" if self.base is not None else absent
        ratio = f"{self.value / self.base:.2f}x" if self.base else ""
        cells = [self.what, f"{self.value:,.2f} {self.unit}", self.baseline, compared, ratio, self.aim]
        return f"| {' | '.join(cells)} |"


HEAD = "| what | figure | baseline | its figure | ratio | aim |\n|---|--:|---|--:|--:|---|"


@dataclass(frozen=True, slots=True)
class Process:
    """A finished process: wall clock in milliseconds, peak memory in MiB, and the milliseconds of processors that it
    and its children used, which other work on the machine changes little."""

    wall: float
    memory: float
    used: float = 0.0


def process(
    command: Sequence[str], environ: Mapping[str, str], *, folder: Path | None = None, fine: Container[int] = (0,)
) -> Process:
    """Run a command to its end. Raises when its exit status is not a ``fine`` one: a failed run has no time."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(environ), cwd=folder)
    errors = child.stderr.read() if child.stderr else b""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = (time.perf_counter() - started) * 1000
    if child.returncode not in fine:
        raise SystemExit(f"{' '.join(command)} failed: {errors.decode('utf-8', 'replace')[-2000:]}")
    return Process(wall, used.ru_maxrss / 1024, (used.ru_utime + used.ru_stime) * 1000)


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
