"""`prosa chat --watch`: answers whenever the file is saved with a message to answer, until Ctrl-C.

One file is looked at a few times a second, by its path: that needs no library, and sees a file that an editor puts in
its place. A failure is reported, and the next save is awaited.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TypeAlias

from prosa.cli.chat.turn import turn
from prosa.cli.console import Console
from prosa.cli.errors import OK, report
from prosa.cli.parser import WrongUse
from prosa.runtime.budget import Ledger
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

STEP_SECONDS = 0.2
QUIET_SECONDS = 0.5
"""A file that did not change for so long is saved: editors write in several steps."""

Stamp: TypeAlias = tuple[int, int, int] | None


def watch_chat(args: argparse.Namespace, console: Console) -> int:
    """Answer now and after every save. Return 0 at Ctrl-C while it waits; in the middle of a reply that is raised."""
    first = True
    if args.max_cost is not None:
        args.max_cost = Ledger(args.max_cost)  # all turns together, not each
    while True:
        before = _stamp(args.file)
        _once(args, console, first=first)
        first = False
        seen = _stamp(args.file)
        if seen != before:
            continue  # a reply was written; the user may have added a message meanwhile
        try:
            console.note(f"watching {args.file}; Ctrl-C ends")
            _wait_for_save(args.file, seen)
        except KeyboardInterrupt:
            return OK


def _once(args: argparse.Namespace, console: Console, *, first: bool) -> None:
    """Answer once and report failures. A failure on the first turn that no save can fix ends the command."""
    try:
        turn(args, console, quiet=True)
    except (RunError, FileProblem, WrongUse, OSError) as error:
        if first and isinstance(error, FileProblem | WrongUse):
            raise
        report(error, console, debug=args.debug)


def _wait_for_save(path: Path, seen: Stamp) -> None:
    """Wait until the file is another one than it was, and then until it rests."""
    while (now := _stamp(path)) == seen or now is None:
        time.sleep(STEP_SECONDS)
    while True:
        time.sleep(QUIET_SECONDS)
        if (then := _stamp(path)) == now:
            return
        now = then


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
