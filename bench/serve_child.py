"""A server as a child: started, found by the line that tells its address, looked at, ended.

In: a command. Out: `Child`. What it takes of memory and of processors is asked of Linux; elsewhere it is None.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.memory import PROCESSES

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True)
class Child:
    """A server that has told its address. ``began`` is when its process was started, by `time.perf_counter`."""

    process: subprocess.Popen[str]
    port: int
    began: float

    def memory(self, name: str = "VmRSS") -> float | None:
        """Return what it holds of memory in MiB; `VmHWM` is the most it ever held."""
        status = PROCESSES / str(self.process.pid) / "status"
        if not status.exists():
            return None
        found = re.search(rf"^{name}:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        return int(found[1]) / 1024 if found else None

    def used(self, *, children: bool = False) -> float | None:
        """Return seconds of processors that it has used, with ``children`` those of the ones that have ended as
        well."""
        stat = PROCESSES / str(self.process.pid) / "stat"
        if not stat.exists():
            return None
        fields = stat.read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11 : 15 if children else 13])) / _TICKS


@contextmanager
def serving(command: Sequence[str], environ: Mapping[str, str], folder: Path | None = None) -> Iterator[Child]:
    """Return a server from its first line that tells an address to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(environ), cwd=folder, text=True
    )
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", told)
        if found is None:
            raise SystemExit(f"{' '.join(command)} did not serve: {told}{process.stderr.read()[-2000:]}")
        yield Child(process, int(found[1]), began)
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()
