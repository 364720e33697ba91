"""`prosa impact`: what reaches a document, directly or through others: what a change of it concerns. Thin: open, ask,
print."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_answer_options, answered, document, place_of, put, shown_from_here
from prosa.cli.parser import WrongUse, nearest

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.graph.graph import Graph

MAX_DEPTH = 1_000_000
"""References from end to end; no graph is deeper than it has documents."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `impact`."""
    parser.add_argument("what", metavar="FILE|ID", help="a document: its file, its id or the name of its file")
    parser.add_argument("--depth", type=_depth, metavar="N", help="at most N references away (default: all)")
    parser.add_argument("--rel", action="append", default=[], metavar="REL", help="only over references of this type")
    add_answer_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0, whatever is found. Raises `WrongUse` for what is no document, and for a type that no reference has."""
    return answered(args, console, place_of(args.what), lambda corpus: _answer(corpus, args, console))


def _answer(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.graph.reach import impact
    from prosa.render.links import impact_object, render_impact

    node, graph = document(corpus, args.what), corpus.index.graph()
    reached = impact(graph, node.id, _rels(args.rel, graph), args.depth)
    put(
        args,
        console,
        lambda: impact_object(node, reached, graph.by_id),
        lambda: render_impact(node, reached, graph.by_id, shown_from_here(corpus.root)),
    )
    return 0


def _rels(names: list[str], graph: Graph) -> frozenset[str] | None:
    """The types that were named, under the names that the graph has for them (MA7)."""
    if not names:
        return None
    from prosa.dialects.magi.relationships import normal_rel

    known = {edge.rel for edge in (*graph.edges, *graph.derived) if edge.rel is not None}
    rels = frozenset(normal_rel(name) for name in names)
    for rel in sorted(rels - known):
        near = nearest(rel, known)
        hint = f"did you mean {near}?" if near else f"there are: {', '.join(sorted(known)) or 'none'}"
        raise WrongUse(f"--rel {rel}: no reference has this type", hint=hint)
    return rels


def _depth(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no number of references")
    return int(text)
