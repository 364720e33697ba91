"""`prosa links`: what a document points at, who points at it, and what leads nowhere. Thin: open, ask, print."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_answer_options, answered, document, place_of, put, shown_from_here

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `links`."""
    parser.add_argument("what", metavar="FILE|ID", help="a document: its file, its id or the name of its file")
    add_answer_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0, whatever is found. Raises `WrongUse` for what is no document."""
    return answered(args, console, place_of(args.what), lambda corpus: _answer(corpus, args, console))


def _answer(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.graph.answers import Links
    from prosa.render.links import links_object, render_links

    node, index = document(corpus, args.what), corpus.index
    links = Links.of(node, index.edges_from(node.path), index.edges_to(node.path))

    def text() -> str:
        nodes = {each.id: each for each in index.documents()}
        return render_links(links, nodes, shown_from_here(corpus.root))

    put(args, console, lambda: links_object(links), text)
    return 0
