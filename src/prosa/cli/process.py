"""The process of a command, from its first line to its end. In: `main` of a command line. Out: nothing returns.

A command that answers in a tenth of a second would spend a quarter of it on looking for garbage among the modules that
it loads, and on freeing everything at its end. Processes that other programs started are not affected: `import prosa`
never reaches this module.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # help loads no `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

COLLECT_AFTER = 200_000
"""Objects that are made between two looks for garbage: more than a short command makes."""

LARGE_BLOCK = 256 * 1024
"""Bytes of a block that goes back to the system when it is free."""

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of `malloc.h`."""

HOLDERS = (
    *("concurrent.futures.process", "concurrent.futures.thread", "multiprocessing", "tempfile", "wasmtime"),
    *("mcp", "prosa.adapters.mcp.server", "prosa.web"),
)
"""Modules that start processes or threads, listen, or make temporary files. If one is loaded, the process ends
normally."""


signals = __import__("_signal")  # `signal` makes enumerations of all its names, which takes as long as `argparse`


def end_at_interrupts() -> None:
    """Have Ctrl-C end the process at once, until `raise_interrupts`. While libraries are imported there is nothing to
    lose, and `KeyboardInterrupt` would show where, or crash one whose C code imports more."""
    if signals.getsignal(signals.SIGINT) is signals.default_int_handler:
        signals.signal(signals.SIGINT, _interrupted)


def raise_interrupts() -> None:
    """Have Ctrl-C raise `KeyboardInterrupt` again."""
    if signals.getsignal(signals.SIGINT) is _interrupted:
        signals.signal(signals.SIGINT, signals.default_int_handler)


def _interrupted(number: int, _: object) -> NoReturn:
    os._exit(128 + number)


def run(main: Callable[[], int]) -> NoReturn:
    """End the process with the exit status that ``main`` gives."""
    gc.set_threshold(COLLECT_AFTER, 50, 50)
    status = main()
    if _holds_nothing():
        _end(status)
    sys.exit(status)


def collect_often() -> None:
    """Collect in small steps, and never again what exists now. A long-running command calls it, so that freed memory
    returns to the system at once."""
    _give_back()
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 10)


def _give_back() -> None:
    """Have the GNU allocator map large blocks by themselves. It learns from each that is freed to keep the next ones,
    and a server that has sent pages of some megabytes to many clients would never be small again."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # another allocator
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE_BLOCK)


def _holds_nothing() -> bool:
    """Return whether only resources are open that the end of a process closes, and no exit hook needs to run."""
    loaded = sys.modules
    threading = loaded.get("threading")
    watched = sys.flags.inspect or sys.gettrace() is not None or sys.getprofile() is not None
    return not watched and not any(name in loaded for name in HOLDERS) and not (threading and _has_threads())


def _has_threads() -> bool:
    import threading

    return threading.active_count() > 1


def _end(status: int) -> None:
    """End the process without freeing its memory, after all exit hooks have run and all output is written. Returns if
    some output cannot be written: then Python reports it."""
    import atexit

    atexit._run_exitfuncs()  # noqa: SLF001 - what `os._exit` leaves out
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(status)
