"""`prosa index`: refresh the index of a corpus and print what changed, or with `--stats` what the corpus holds."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import (
    add_corpus_options,
    add_watch_option,
    answered,
    corpus_place,
    opened,
    put,
    shown_from_here,
    watched,
)
from prosa.cli.documents import add_work_options, say_skipped
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.found import Refreshed

MAX_UNREADABLE = 20
"""Documents that cannot be read which are named for people."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `index`."""
    parser.add_argument("place", nargs="?", metavar="DIR", help="the folder of the corpus (default: the project)")
    parser.add_argument("--rebuild", action="store_true", help="read all documents again, changed or not")
    parser.add_argument("--stats", action="store_true", help="print statistics of the corpus")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    add_corpus_options(parser)
    parser.add_argument("--show-skipped", action="store_true", help="list the skipped files and folders")
    add_work_options(parser, cache=False)
    add_watch_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0; documents that cannot be read are named and not in the index. Raises `WrongUse` for a folder that is none."""
    place = corpus_place(args.place)
    if args.stats:
        return answered(args, console, place, lambda corpus: _statistics(corpus, args, console))
    if not args.refresh:
        raise WrongUse("--no-refresh needs --stats", hint="prosa index itself brings an index up to date")
    return watched(args, console, place, lambda: _once(args, console, place))


def _once(args: argparse.Namespace, console: Console, place: Path | None) -> int:
    from prosa.render.json import dump

    args.refresh, args.builds = False, True
    with opened(place, args, console) as corpus:
        report = corpus.refresh(anew=args.rebuild)
        say_skipped(corpus.skipped, args, console)
    text = dump(_object(corpus, report), indent=2) if args.format == "json" else "\n".join(_lines(corpus, report))
    console.out(text)
    return 0


def _statistics(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.query import corpus_statistics
    from prosa.render.corpus import render_statistics, statistics_object

    statistics = corpus_statistics(corpus)
    root, now = str(corpus.root), time.time_ns()
    put(
        args,
        console,
        lambda: statistics_object(statistics, root, str(corpus.index.path), now),
        lambda: render_statistics(statistics, root, now, shown_from_here(corpus.root)),
    )
    return 0


def _object(corpus: OpenCorpus, report: Refreshed) -> dict[str, Value]:
    return {
        "root": str(corpus.root),
        "index": str(corpus.index.path),
        "documents": report.documents,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "unreadable": [
            {"path": _below(corpus.root, problem.path), "kind": problem.kind, "reason": problem.reason}
            for problem in report.unreadable
        ],
        "seconds": round(report.seconds, 3),
        "healed": report.healed,
    }


def _below(root: Path, path: Path) -> str:
    """Return a path relative to the root of the corpus."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _lines(corpus: OpenCorpus, report: Refreshed) -> Iterator[str]:
    from prosa.render.plain import safe

    if report.healed:
        yield f"the old index {safe(report.healed)}; it was made anew"
    changes = (("added", report.added), ("changed", report.changed), ("removed", report.removed))
    summary = ", ".join(f"{count:,} {name}" for name, count in changes if count) or "nothing changed"
    plural = "" if report.documents == 1 else "s"
    yield f"{report.documents:,} document{plural} in {safe(str(corpus.root))}: {summary} ({report.seconds:.2f} s)"
    if report.unreadable:
        yield f"not in the index ({len(report.unreadable):,}):"
        for problem in report.unreadable[:MAX_UNREADABLE]:
            yield f"  {safe(_below(corpus.root, problem.path))}: {safe(problem.reason)}"
        if len(report.unreadable) > MAX_UNREADABLE:
            yield "  …"
