"""`prosa links`: what a document points at, who points at it, and what leads nowhere. Thin: open, ask, print."""

from __future__ import annotations

import argparse

from prosa.cli.console import Console
from prosa.cli.corpus_options import add_corpus_options, document, opened, place_of, shown_from_here
from prosa.cli.watch_corpus import add_watch_option, watched


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `links`."""
    parser.add_argument("what", metavar="FILE|ID", help="a document: its file, its id or the name of its file")
    add_corpus_options(parser)
    add_watch_option(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0, whatever is found. Raises `WrongUse` for what is no document."""
    return watched(args, console, place_of(args.what), lambda: _once(args, console))


def _once(args: argparse.Namespace, console: Console) -> int:
    from prosa.graph.answers import Links
    from prosa.render.json import dump
    from prosa.render.links import links_object, render_links

    with opened(place_of(args.what), args, console) as corpus:
        node, index = document(corpus, args.what), corpus.index
        links = Links.of(node, index.edges_from(node.path), index.edges_to(node.path))
        if args.format == "json":
            console.out(dump(links_object(links), indent=2))
        else:
            nodes = {each.id: each for each in index.documents()}
            console.out(render_links(links, nodes, shown_from_here(corpus.root)))
    return 0
