"""The process of a command, from its first line to its end. In: `main` of a command line. Out: nothing returns.

A command that answers in a tenth of a second would spend a quarter of it on looking for garbage among the modules that
it loads, and on freeing everything at its end. Neither is done to a process that somebody else started: nothing of this
is reached by `import prosa`.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

COLLECT_AFTER = 200_000
"""Objects that are made between two looks for garbage: more than a short command makes."""

HOLDERS = (
    *("concurrent.futures.process", "concurrent.futures.thread", "multiprocessing", "tempfile", "wasmtime"),
    *("mcp", "prosa.adapters.mcp.server", "prosa.web"),
)
"""Modules of whoever starts processes and threads, listens, or makes temporary files. Where one is loaded, the process
ends as any other."""


def run(main: Callable[[], int]) -> NoReturn:
    """Ends the process with the exit status that ``main`` gives."""
    gc.set_threshold(COLLECT_AFTER, 50, 50)
    status = main()
    if _holds_nothing():
        _end(status)
    sys.exit(status)


def collect_often() -> None:
    """What a command that stays calls: nothing of the start is looked at again, all that comes is, in small steps."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 10)


def _holds_nothing() -> bool:
    """Whether nothing is open but what the end of a process closes, and nobody wants to see how it ends."""
    loaded = sys.modules
    threading = loaded.get("threading")
    watched = sys.flags.inspect or sys.gettrace() is not None or sys.getprofile() is not None
    return not watched and not any(name in loaded for name in HOLDERS) and not (threading and _has_threads())


def _has_threads() -> bool:
    import threading

    return threading.active_count() > 1


def _end(status: int) -> None:
    """Ends the process without freeing what it had, once everybody who asked for it has been called and everything is
    written. Comes back where something cannot be written: then Python says so."""
    import atexit

    atexit._run_exitfuncs()  # noqa: SLF001 - what `os._exit` leaves out
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(status)
