"""What a process and its children take together at most, asked of Linux while they run.

In: a command. Out: MiB. Memory that several processes share is counted once.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROCESSES = Path("/proc")
STEP = 0.01
"""Seconds between two looks: short beside the life of a worker, long beside a look."""


def peak_of_all(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> float | None:
    """Return the highest sum over all processes of a command, None where the system does not tell. Raises
    CalledProcessError for a command that fails."""
    if not (PROCESSES / "self" / "smaps_rollup").exists():
        return None
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(environ), cwd=folder)
    peak = 0
    while child.poll() is None:
        peak = max(peak, sum(_proportional(each) for each in _family(child.pid)))
        time.sleep(STEP)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, list(command))
    return peak / 1024


def _family(process: int) -> Iterator[int]:
    yield process
    for children in (PROCESSES / str(process) / "task").glob("*/children"):
        for child in _read(children).split():
            yield from _family(int(child))


def _proportional(process: int) -> int:
    """Kibibytes of a process; what it shares with n others counts a n-th."""
    lines = _read(PROCESSES / str(process) / "smaps_rollup").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended meanwhile
        return ""
