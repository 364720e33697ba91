"""`prosa stats`: the numbers of a corpus. Thin: open, count, print."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_answer_options, answered, corpus_place, put, shown_from_here

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `stats`."""
    parser.add_argument("place", nargs="?", metavar="DIR", help="the folder of the corpus (default: the project)")
    add_answer_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `WrongUse` for a folder that is none."""
    place = corpus_place(args.place)
    return answered(args, console, place, lambda corpus: _answer(corpus, args, console))


def _answer(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.query import corpus_statistics
    from prosa.render.statistics import render_statistics, statistics_object

    found = corpus_statistics(corpus)
    root, now = str(corpus.root), time.time_ns()
    put(
        args,
        console,
        lambda: statistics_object(found, root, str(corpus.index.path), now),
        lambda: render_statistics(found, root, now, shown_from_here(corpus.root)),
    )
    return 0
