"""`prosa graph`: the documents of a corpus and their connections, as a table, as data, or as a picture.

Thin: open the corpus, select, print. Only the result is on stdout.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from prosa.cli.argument_types import output
from prosa.cli.console import Console
from prosa.cli.corpus import add_corpus_options, add_watch_option, answered
from prosa.cli.parser import WrongUse, nearest
from prosa.dialects.table import DIALECTS
from prosa.document.references import Origin
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.graph.graph import Graph
    from prosa.graph.node import Node
    from prosa.graph.selection import GraphFilter, Selection
    from prosa.render.graph.reports import Compared

FORMATS = ("text", "json", "dot", "mermaid", "graphml", "jsonld", "svg", "html")
DIALECT_NAMES = tuple(row.name for row in DIALECTS)
REPORTS = ("contradictions", "orphans", "cycles", "components", "rank", "unresolved", "wanted")

MAX_DEPTH = 1000
"""Steps of `--depth`; any corpus that people read is within far fewer."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `graph`."""
    parser.add_argument("place", nargs="?", metavar="DIR|FILE", help="a corpus, or a document and its neighbours")
    choice = parser.add_argument_group("what is shown")
    choice.add_argument("--around", metavar="FILE|ID", help="only what is connected with this document")
    choice.add_argument("--depth", type=_depth, default=1, metavar="N", help="steps from it, either way (default: 1)")
    choice.add_argument("--rel", action="append", default=[], metavar="REL", help="only this type; none: untyped links")
    for flag, known, what in (("--origin", get_args(Origin), "notation"), ("--dialect", DIALECT_NAMES, "dialect")):
        meant = f"only this {what}: {', '.join(known)}"
        choice.add_argument(flag, action="append", default=[], choices=known, metavar="NAME", help=meant)
    choice.add_argument(
        "--no-derived",
        dest="derived",
        action="store_false",
        help="only references that are written, without derived ones",
    )
    choice.add_argument("--unresolved", action="store_true", help="include targets that do not exist")
    asked = f"print one report instead, as text or json: {', '.join(REPORTS)}"
    parser.add_argument("--report", choices=REPORTS, metavar="NAME", help=asked)
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    parser.add_argument("-o", "--output", type=output, metavar="FILE", help="write there instead of to stdout")
    add_corpus_options(parser)
    add_watch_option(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0 for any graph. Raises `WrongUse` if the corpus or document is missing, and for formats that do
    not fit."""
    if args.report and args.format not in ("text", "json"):
        raise WrongUse(f"--report prints text or json, not {args.format}")
    place, centre = _place(args)
    return answered(args, console, place, lambda corpus: _answer(corpus, centre, args, console))


def _place(args: argparse.Namespace) -> tuple[Path | None, str | None]:
    """Return the corpus that is meant and the document in its middle. A document alone is both."""
    if args.place is None:
        return (Path(args.root) if args.root else None), args.around
    place = Path(args.place)
    if not os.path.lexists(place):
        raise FileProblem(place, "missing", "no such file or folder")
    return place, args.around or (None if place.is_dir() else args.place)


def _answer(corpus: OpenCorpus, centre: str | None, args: argparse.Namespace, console: Console) -> int:
    from prosa.app.corpus.ask import find_document

    graph = corpus.index.graph()
    graph_filter = _graph_filter(args, graph)
    middle = find_document(corpus, centre) if centre else None
    selection = _selection(graph, graph_filter, middle, args)
    text = _report(corpus, selection, args) if args.report else _shown(corpus, selection, middle, args)
    _put(text, args, console, len(selection.drawn))
    return 0


def _graph_filter(args: argparse.Namespace, graph: Graph) -> GraphFilter:
    from prosa.graph.selection import GraphFilter

    rels = _rels(args.rel, graph) if args.rel else ()
    return GraphFilter(frozenset(rels), frozenset(args.origin), frozenset(args.dialect), args.derived)


def _rels(names: Sequence[str], graph: Graph) -> list[str]:
    """Return the types that were named, under the names that the graph has for them (MA7)."""
    from prosa.dialects.magi.relationships import normal_rel
    from prosa.graph.graph import INVERSES
    from prosa.graph.selection import PLAIN_REL

    used = {edge.rel for edge in (*graph.edges, *graph.derived) if edge.rel is not None}
    known = used | {PLAIN_REL, "import", *INVERSES}
    rels = [normal_rel(name) for name in names]
    for rel in rels:
        if rel not in known:
            near = nearest(rel, known)
            hint = f"did you mean {near}?" if near else f"there are: {', '.join(sorted(known))}"
            raise WrongUse(f"--rel {rel}: no connection has this type", hint=hint)
    return rels


def _selection(graph: Graph, graph_filter: GraphFilter, middle: Node | None, args: argparse.Namespace) -> Selection:
    """Return the selection: everything, or the neighbourhood of a document over the requested edges."""
    from prosa.graph.graph import Graph
    from prosa.graph.reach import neighbourhood
    from prosa.graph.selection import select

    chosen = select(graph.nodes, (*graph.edges, *graph.derived), graph_filter, ghosts=args.unresolved)
    if middle is None:
        return chosen
    part = Graph(chosen.nodes, tuple(edge for edge in chosen.edges if not edge.derived))
    near: Collection[str] = {middle.id, *(step.node for step in neighbourhood(part, middle.id, args.depth))}
    nodes = [node for node in graph.nodes if node.id in near]
    return select(nodes, (edge for edge in chosen.edges if edge.source in near), graph_filter, ghosts=args.unresolved)


def _report(corpus: OpenCorpus, selection: Selection, args: argparse.Namespace) -> str:
    from prosa.graph.graph import Graph
    from prosa.render.graph.reports import report_json, report_text

    written = tuple(edge for edge in selection.edges if not edge.derived)
    graph = Graph(selection.nodes, written, tuple(edge for edge in selection.edges if edge.derived))
    read: tuple[Compared, ...] = ()
    if args.report == "contradictions":
        from prosa.app.corpus.contradictions import read_contradictions

        read = read_contradictions(graph, corpus.files, corpus.root)
    return (report_json if args.format == "json" else report_text)(graph, args.report, read)


def _shown(corpus: OpenCorpus, selection: Selection, middle: Node | None, args: argparse.Namespace) -> str:
    if args.format == "text":
        return _for_people(selection, middle, args)
    if args.format == "json":
        from prosa.render.graph.objects import graph_json

        return graph_json(selection.nodes, selection.edges)
    if args.format in ("svg", "html"):
        return _picture(corpus, selection, middle, args)
    from importlib import import_module

    text: str = getattr(import_module("prosa.render.graph.formats"), args.format)(selection)
    return text


def _for_people(selection: Selection, middle: Node | None, args: argparse.Namespace) -> str:
    from prosa.graph.graph import Graph
    from prosa.graph.reach import neighbourhood
    from prosa.render.graph.reports import counts_line, overview, tree

    if middle is None:
        return overview(selection)
    part = Graph(selection.nodes, tuple(edge for edge in selection.edges if not edge.derived))
    drawn = tree(middle, neighbourhood(part, middle.id, args.depth), selection)
    return f"{drawn}\n\n{counts_line(selection)}"


def _picture(corpus: OpenCorpus, selection: Selection, middle: Node | None, args: argparse.Namespace) -> str:
    from prosa.render.graph.reports import drawn_line
    from prosa.render.graph.scene import scene
    from prosa.render.graph.style import name_of
    from prosa.render.graph.svg import Caption, svg

    title = f"Around {name_of(middle)}" if middle else corpus.root.name or str(corpus.root)
    drawn = scene(selection)
    caption = Caption(title, drawn_line(selection, len(drawn.lines)))
    if args.format == "svg":
        return svg(drawn, caption)
    from prosa.render.graph.html import html, relative_href

    return html(drawn, caption, relative_href(_way_to(corpus.root, args.output)))


def _way_to(root: Path, output: str | None) -> str:
    """Return how a page at ``output``, or in the current folder, names the root of the corpus."""
    base = Path(output).resolve().parent if output else Path().resolve()
    try:
        return Path(os.path.relpath(root, base)).as_posix()
    except ValueError:  # another drive
        return root.as_posix()


def _put(text: str, args: argparse.Namespace, console: Console, edges: int) -> None:
    if args.format == "mermaid":
        from prosa.render.graph.formats import MOST_EDGES

        if edges > MOST_EDGES:
            console.note(f"note: {edges:,} connections; Mermaid draws {MOST_EDGES} unless maxEdges allows more")
    if args.output is None:
        console.out(text, end="" if text.endswith("\n") else "\n")
        return
    from prosa.app.text_files import write_output

    whole = text if text.endswith("\n") else f"{text}\n"
    # What UTF-8 cannot carry is written as an escape, as on stdout; in JSON it says the same.
    write_output(Path(args.output), whole.encode("utf-8", "backslashreplace").decode("utf-8"))
    console.note(f"wrote {args.output}")


def _depth(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 <= int(text[:9]) <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number of steps from 0 to {MAX_DEPTH}")
    return int(text)
