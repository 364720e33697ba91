"""`prosa stats`: the numbers of a corpus. Thin: open, count, print."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.corpus_options import add_corpus_options, opened, shown_from_here
from prosa.cli.index import corpus_place
from prosa.cli.watch_corpus import add_watch_option, watched


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `stats`."""
    parser.add_argument("place", nargs="?", metavar="DIR", help="the folder of the corpus (default: the project)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    add_corpus_options(parser)
    add_watch_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `WrongUse` for a folder that is none."""
    place = corpus_place(args.place)
    return watched(args, console, place, lambda: _once(args, console, place))


def _once(args: argparse.Namespace, console: Console, place: Path | None) -> int:
    from prosa.adapters.sqlite.counting import statistics
    from prosa.render.json import dump
    from prosa.render.statistics import render_statistics, statistics_object

    with opened(place, args, console) as corpus:
        found = statistics(corpus.index.connection(), corpus.index.path)
        root, now = str(corpus.root), time.time_ns()
        if args.format == "json":
            console.out(dump(statistics_object(found, root, str(corpus.index.path), now), indent=2))
        else:
            console.out(render_statistics(found, root, now, shown_from_here(corpus.root)))
    return 0
