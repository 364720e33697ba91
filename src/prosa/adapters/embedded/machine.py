"""Whether the engine can work on this machine, and with how much of it: processor, system, memory.

In: nothing, or the size of a model. Out: a sentence where it cannot, numbers where it can. Nothing is started.
"""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OLDEST = (2026, 9)
"""The oldest engine that is known to work."""

NO_AVX2 = "this processor lacks AVX2, which the engine needs"
NO_ENGINE = "there is no engine for this system"
SMALL = 200_000_000
"""Parameters of a model that one thread runs as quickly as several do."""

_WINDOWS_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE


def lacks_avx2() -> bool:
    """Return whether the processor is known to lack what the engine is built for. False where it is not known."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if sys.platform == "win32":
        import ctypes

        kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
        return kernel is not None and not kernel.IsProcessorFeaturePresent(_WINDOWS_AVX2)
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
        return bool(flags) and "avx2" not in flags.split()
    return False


def system_without_engine() -> str:
    """Return which system this is, where no engine is published for it; empty where one is."""
    machine = platform.machine().lower()
    if sys.platform == "win32":
        return "Windows on ARM" if "arm" in machine else ""
    if sys.platform == "darwin":
        major = platform.mac_ver()[0].partition(".")[0]
        return "macOS before 13" if major.isdigit() and int(major) < 13 else ""
    return "Linux with musl" if any(Path("/lib").glob("ld-musl-*")) and platform.libc_ver()[0] != "glibc" else ""


def engine_version() -> tuple[int, ...] | None:
    """Return the version of the engine that is installed; None for none."""
    try:
        parts = version("xllamacpp").split(".")
    except PackageNotFoundError:
        return None
    return tuple(int(part) for part in parts if part.isdigit())


def memory_left() -> int | None:
    """Return bytes that a process may still take: what the system has, within the limit of its group; None where
    unknown."""
    amounts = [size for size in (_available(), _group_left()) if size is not None]
    return min(amounts, default=None)


def _available() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _group_left() -> int | None:
    """Return what a container leaves, by either version of control groups."""
    places = (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    )
    for most, used in places:
        with suppress(OSError, ValueError):
            return max(0, int(Path(most).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
    return None


def threads_for(parameters: int) -> int:
    """Threads that run a model of so many parameters best: one leaves a small one all of its speed, and the machine to
    others."""
    return 1 if parameters <= SMALL else max(1, _processors() - 1)


def _processors() -> int:
    """Processors that this process may use, without those that are the second half of a core."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        count = min(count, max(1, int(quota) // int(period)))
    return max(1, count // 2 if _has_siblings() else count)


def _has_siblings() -> bool:
    with suppress(OSError):
        text = Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list").read_text(encoding="ascii")
        return "," in text or "-" in text
    return False
