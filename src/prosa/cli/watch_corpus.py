"""`--watch` of the commands that ask a corpus: answer, wait for a change of a document, answer again.

In: what the command does once. Out: its last exit status. Between two answers nothing is kept but the index, which the
next answer brings up to date.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from prosa.cli.console import Console


def add_watch_option(parser: argparse.ArgumentParser) -> None:
    """`--watch`."""
    parser.add_argument("-w", "--watch", action="store_true", help="answer again whenever a document changes")


def watched(args: argparse.Namespace, console: Console, place: Path | None, once: Callable[[], int]) -> int:
    """Runs ``once``; with `--watch` again after every change below the root of the corpus that ``place`` belongs to,
    until Ctrl-C. Raises `WrongUse` where the library for that is not installed."""
    if not args.watch:
        return once()
    from prosa.app.corpus.open import corpus_root
    from prosa.cli.watch_documents import watch_folders

    root = corpus_root(place, Path(args.root) if args.root else None)
    return watch_folders({root}, console, once)
