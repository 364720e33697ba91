"""`prosa check --watch`: check, wait for a change, check again. Results for unchanged documents come from the cache."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from pathlib import Path

from prosa.app.watch import NoWatcher, document_changes
from prosa.cli.console import Console
from prosa.cli.errors import OK, end_with_failures, report
from prosa.cli.parser import WrongUse
from prosa.corpus.errors import CorpusError
from prosa.extras import lacking
from prosa.source import FileProblem

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch_documents(args: argparse.Namespace, console: Console, once: Callable[[], int]) -> int:
    """Run ``once`` now and after every change below the paths named, until Ctrl-C. Return the last exit status."""
    if "-" in args.paths or args.stdin_filename:
        raise WrongUse("--watch watches files, not standard input")
    return watch_folders(
        {path if path.is_dir() else path.parent for path in map(Path, args.paths or ["."])}, console, once
    )


def watch_folders(folders: Collection[Path], console: Console, once: Callable[[], int]) -> int:
    """Run ``once`` now and after every change of a document below ``folders``, until Ctrl-C. Return the last exit
    status. Raises `WrongUse` where the library for that is not installed."""
    try:
        changes = document_changes(folders)
    except NoWatcher:
        raise lacking(WrongUse, "--watch", "watch") from None
    status = None
    try:
        for _ in changes:
            if status is not None and console.color:
                console.out("", end="", control=_CLEAR)
            status = _shown(console, once)
    except NoWatcher as error:
        raise WrongUse(f"--watch: {error}") from None
    except KeyboardInterrupt:
        if status is None:
            raise
    return status or OK


def _shown(console: Console, once: Callable[[], int]) -> int:
    try:
        status = once()
    except (WrongUse, CorpusError, FileProblem) as error:
        status = report(error, console)
    end_with_failures(console)
    console.note("watching for changes; Ctrl-C ends")
    return status
