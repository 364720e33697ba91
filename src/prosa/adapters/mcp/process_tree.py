"""Which processes a process has started, directly or not, and how to end them.

In: a process id. Out: ids with their start times, read from `/proc` where there is one (elsewhere: nothing, and the
process group has to do). Refuses to signal an id that has been given to another process since.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def descendants(pid: int) -> dict[int, str]:
    """Every process that descends from `pid`, with its start time in clock ticks. Empty without `/proc`."""
    parents = {child: facts for child, facts in _processes().items() if child != pid}
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = {child: born for child, (above, born) in parents.items() if above == parent and child not in found}
        found.update(children)
        waiting.extend(children)
    return found


def living(processes: dict[int, str]) -> list[int]:
    """Which of the processes still run and are still the same ones."""
    return [pid for pid, born in processes.items() if (facts := _facts(_PROC / str(pid))) and facts[1] == born]


def kill(processes: dict[int, str]) -> None:
    """Ends the processes that are still the same ones, at once."""
    for pid in living(processes):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Signals a process group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Some member changed its user, or (macOS) is only a zombie: it may still be there.
        return True
    return True


def _processes() -> dict[int, tuple[int, str]]:
    """Process id → (parent, start time) of every process that can be seen."""
    found: dict[int, tuple[int, str]] = {}
    with suppress(OSError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and (facts := _facts(entry)) is not None:
                found[int(entry.name)] = facts
    return found


def _facts(entry: Path) -> tuple[int, str] | None:
    """None for a process that cannot be seen, or has ended and only waits to be reaped."""
    try:
        text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the command stands in parentheses and may hold anything, spaces and parentheses included.
    fields = text[text.rfind(")") + 2 :].split()
    return (int(fields[1]), fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
