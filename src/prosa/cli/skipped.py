"""The files skipped by a walk, reported on stderr: one line, or with `--show-skipped` a line for each (X5).

In: the skipped files, and the flags. Silent if a program reads the output (`--format`), or if nothing was skipped.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from prosa.cli.console import Console
from prosa.source.files import Skipped

MOST_NAMED = 6
"""Kinds of files and names of folders in the one line."""


def say_skipped(skipped: Skipped, args: argparse.Namespace, console: Console) -> None:
    """Report skipped files on stderr."""
    from prosa.render.plain import safe

    if args.show_skipped:
        for path in sorted(_paths(skipped)):
            console.err(f"skipped: {safe(path)}")
    elif args.format == "text" and (parts := list(_parts(skipped))):
        more = f", {len(parts) - MOST_NAMED:,} more (--show-skipped)" if len(parts) > MOST_NAMED else ""
        console.note(f"skipped: {safe(', '.join(parts[:MOST_NAMED]))}{more}")


def _paths(skipped: Skipped) -> Iterator[str]:
    yield from (str(PurePath(path)) for path in skipped.files)
    yield from (f"{PurePath(path)}/" for path in skipped.folders)


def _parts(skipped: Skipped) -> Iterator[str]:
    """Yield `2,570 .rst` for files of one kind, `node_modules` or `3 node_modules` for folders of one name; most
    first."""
    kinds = Counter(PurePath(path).suffix.lower() for path in skipped.files)
    names = Counter(PurePath(path).name for path in skipped.folders)
    yield from (f"{count:,} {kind}" for kind, count in kinds.most_common())
    yield from (name if count == 1 else f"{count:,} {name}" for name, count in names.most_common())
