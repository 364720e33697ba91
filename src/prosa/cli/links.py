"""`prosa links`: links from and to a document, the path to another one, or everything that depends on it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_answer_options, answered, place_of, put, shown_from_here
from prosa.cli.parser import WrongUse, nearest

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus

MAX_DEPTH = 1_000_000
"""References from end to end; no graph is deeper than it has documents."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `links`."""
    parser.add_argument("what", metavar="A", help="a document: its file, its id or the name of its file")
    parser.add_argument("end", nargs="?", metavar="B", help="another one: a shortest path from A to it")
    parser.add_argument("--directed", action="store_true", help="follow references only from source to target")
    parser.add_argument(
        "--impact", action="store_true", help="everything that depends on A, directly or through others"
    )
    parser.add_argument("--depth", type=_depth, metavar="N", help="at most N references away (default: all)")
    parser.add_argument("--rel", action="append", default=[], metavar="REL", help="only over references of this type")
    add_answer_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where there is no path between two documents. Raises `WrongUse` for flags of another question."""
    if args.impact and args.end is not None:
        raise WrongUse("--impact takes one document", hint="leave out --impact for the path between two")
    if args.directed and args.end is None:
        raise WrongUse("--directed is for the path between two documents", hint="name the other one: prosa links A B")
    if (args.depth or args.rel) and not args.impact:
        raise WrongUse(f"{'--depth' if args.depth else '--rel'} goes with --impact")
    answer = _impact if args.impact else _links if args.end is None else _path
    place = place_of(args.what) or (place_of(args.end) if args.end else None)
    return answered(args, console, place, lambda corpus: answer(corpus, args, console))


def _links(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.ask import links_of
    from prosa.render.links import links_object, render_links

    links = links_of(corpus, args.what)

    def text() -> str:
        nodes = {document.id: document for document in corpus.index.documents()}
        return render_links(links, nodes, shown_from_here(corpus.root))

    put(args, console, lambda: links_object(links), text)
    return 0


def _path(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.ask import shortest_path_between
    from prosa.render.links import path_object, render_path

    path = shortest_path_between(corpus, args.what, args.end, directed=args.directed)
    if path.steps is None and args.format == "text":
        how = "follows references from" if args.directed else "leads from"
        console.err(f"no way {how} {path.start.path} to {path.end.path}")
        return 1
    shown = shown_from_here(corpus.root)
    put(
        args,
        console,
        lambda: path_object(path.start, path.end, path.steps),
        lambda: render_path(path.start, path.steps or (), path.graph.by_id, shown),
    )
    return int(path.steps is None)


def _impact(corpus: OpenCorpus, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.ask import impact_of, unknown_rels
    from prosa.render.links import impact_object, render_impact

    impact = impact_of(corpus, args.what, rels=args.rel, depth=args.depth)
    for rel, known in unknown_rels(impact.graph, args.rel).items():
        near = nearest(rel, known)
        hint = f"did you mean {near}?" if near else f"there are: {', '.join(sorted(known)) or 'none'}"
        raise WrongUse(f"--rel {rel}: no reference has this type", hint=hint)
    nodes, shown = impact.graph.by_id, shown_from_here(corpus.root)
    put(
        args,
        console,
        lambda: impact_object(impact.node, impact.reached, nodes),
        lambda: render_impact(impact.node, impact.reached, nodes, shown),
    )
    return 0


def _depth(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number of references")
    return int(text)
