"""`prosa path`: a shortest way between two documents, over references in either direction. Thin: open, ask, print."""

from __future__ import annotations

import argparse

from prosa.cli.console import Console
from prosa.cli.corpus_options import add_corpus_options, document, opened, place_of, shown_from_here
from prosa.cli.watch_corpus import add_watch_option, watched


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `path`."""
    parser.add_argument("start", metavar="A", help="a document: its file, its id or the name of its file")
    parser.add_argument("end", metavar="B", help="another one")
    parser.add_argument("--directed", action="store_true", help="follow references only from source to target")
    add_corpus_options(parser)
    add_watch_option(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when there is a way, 1 when there is none. Raises `WrongUse` for what is no document."""
    place = place_of(args.start) or place_of(args.end)
    return watched(args, console, place, lambda: _once(args, console))


def _once(args: argparse.Namespace, console: Console) -> int:
    from prosa.graph.reach import shortest_path
    from prosa.render.json import dump
    from prosa.render.links import path_object, render_path

    with opened(place_of(args.start) or place_of(args.end), args, console) as corpus:
        start, end, graph = document(corpus, args.start), document(corpus, args.end), corpus.index.graph()
        steps = shortest_path(graph, start.id, end.id, directed=args.directed)
        if args.format == "json":
            console.out(dump(path_object(start, end, steps), indent=2))
        elif steps is None:
            how = "follows references from" if args.directed else "leads from"
            console.err(f"no way {how} {start.path} to {end.path}")
        else:
            console.out(render_path(start, steps, graph.by_id, shown_from_here(corpus.root)))
    return int(steps is None)
