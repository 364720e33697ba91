"""`prosa path`: a shortest way between two documents, over references in either direction. Thin: open, ask, print."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_answer_options, answered, document, place_of, put, shown_from_here

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `path`."""
    parser.add_argument("start", metavar="A", help="a document: its file, its id or the name of its file")
    parser.add_argument("end", metavar="B", help="another one")
    parser.add_argument("--directed", action="store_true", help="follow references only from source to target")
    add_answer_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when there is a way, 1 when there is none. Raises `WrongUse` for what is no document."""
    place = place_of(args.start) or place_of(args.end)
    return answered(args, console, place, lambda corpus: _answer(corpus, args, console))


def _answer(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.graph.reach import shortest_path
    from prosa.render.links import path_object, render_path

    start, end, graph = document(corpus, args.start), document(corpus, args.end), corpus.index.graph()
    steps = shortest_path(graph, start.id, end.id, directed=args.directed)
    if steps is None and args.format == "text":
        how = "follows references from" if args.directed else "leads from"
        console.err(f"no way {how} {start.path} to {end.path}")
    else:
        put(
            args,
            console,
            lambda: path_object(start, end, steps),
            lambda: render_path(start, steps or (), graph.by_id, shown_from_here(corpus.root)),
        )
    return int(steps is None)
