"""Runs a program's source as ``__main__`` and turns its end into None or one line of text.

The traceback goes to stderr, with the source lines, without the frames of this package (L22).
"""

from __future__ import annotations

import atexit
import builtins
import linecache
import os
import random
import sys
import traceback
import types

FILE_NAME = "<python>"
TEMP_DIRECTORY = "/tmp"
OWN_FILES = os.path.dirname(__file__) + "/"
MAX_REASON = 2_000
"""Characters of the one-line reason: a message of megabytes says no more than its start."""


def execute(source: str) -> str | None:
    """Runs the program. Returns None when it ended well, else ``Type: message``."""
    _prepare()
    namespace = _main_module()
    linecache.cache[FILE_NAME] = (len(source), None, source.splitlines(keepends=True), FILE_NAME)
    reason = None
    try:
        exec(compile(source, FILE_NAME, "exec", dont_inherit=True), namespace)
    except SystemExit as end:
        reason = _exit_reason(end)
    except BaseException as error:
        reason = _report(error)
    atexit._run_exitfuncs()
    return reason


def _prepare() -> None:
    """Undoes what the snapshot froze: the seed of `random` and the place in the file tree."""
    random.seed()
    sys.argv[:] = ["program.py"]
    os.chdir(TEMP_DIRECTORY)


def _main_module() -> dict[str, object]:
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    return module.__dict__


def _exit_reason(end: SystemExit) -> str | None:
    if end.code is None or end.code == 0:
        return None
    if not isinstance(end.code, int):
        print(end.code, file=sys.stderr)
    return _one_line(end)


def _report(error: BaseException) -> str:
    """Prints the traceback without the frames of this package, and gives the reason."""
    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__)
        _hide_own_frames(report)
        report.print(file=sys.stderr)
    except BaseException:  # a hostile __str__ or a patched sys.stderr must not hide the failure
        pass
    return _one_line(error)


def _hide_own_frames(report: traceback.TracebackException) -> None:
    waiting = [report]
    while waiting:
        one = waiting.pop()
        one.stack[:] = [frame for frame in one.stack if not frame.filename.startswith(OWN_FILES)]
        waiting += [inner for inner in (one.__cause__, one.__context__, *(one.exceptions or ())) if inner]


def _one_line(error: BaseException) -> str:
    try:
        lines = traceback.TracebackException(type(error), error, None).format_exception_only()
        text = next(line for line in lines if not line.startswith(" ")).rstrip()
    except BaseException:
        text = type(error).__name__
    return text.encode("utf-8", "backslashreplace").decode()[:MAX_REASON]
