"""The graph in a terminal: an overview, a tree around a document, and reports on one question each, also as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from msgspec import Struct

from prosa.data import Plain
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.parts import components, cycles, orphans, wanted
from prosa.graph.rank import ranks
from prosa.graph.reach import Reached
from prosa.graph.selection import Selection
from prosa.render.graph.objects import edge_object, node_object
from prosa.render.graph.style import NODE_STYLES
from prosa.render.json import dump
from prosa.render.plain import safe, width

if TYPE_CHECKING:
    from prosa.graph.contradictions import Contradiction, Passage


Report: TypeAlias = Literal["contradictions", "orphans", "cycles", "components", "rank", "unresolved", "wanted"]
REPORTS: tuple[Report, ...] = get_args(Report)

MANY = 8
"""Members of a component that text names; JSON names all."""


class Compared(Struct, frozen=True):
    """A contradiction with what both documents say; None where a document can no longer be read."""

    pair: Contradiction
    one: Passage | None
    other: Passage | None
    description: str = ""


def report_text(graph: Graph, report: Report, contradictions: Sequence[Compared] = ()) -> str:
    """Return the report for people; a sentence where there is nothing to report."""
    if report == "contradictions":
        return (
            "\n\n".join("\n".join(_contradiction(contradiction)) for contradiction in contradictions)
            or "No contradictions."
        )
    return "\n".join(_TEXTS[report](graph)) or f"No {_NAMES[report]}."


def report_json(graph: Graph, report: Report, contradictions: Sequence[Compared] = ()) -> str:
    """Return the report for programs: one key, the name of the report."""
    rows = (
        [_compared_object(contradiction) for contradiction in contradictions]
        if report == "contradictions"
        else _OBJECTS[report](graph)
    )
    return dump({report: rows}, indent=2)


def _contradiction(compared: Compared) -> Iterator[str]:
    sides = [(compared.pair.one, compared.one), (compared.pair.other, compared.other)]
    if compared.pair.edges[0].source == compared.pair.other.id:
        sides.reverse()
    yield f"{safe(sides[0][0].path)}  contradicts  {safe(sides[1][0].path)}"
    if compared.description:
        yield f"  why: {safe(compared.description)}"
    for node, passage in sides:
        if passage is None:
            yield f"  {safe(node.path)}: cannot be read"
            continue
        heading = f" › {safe(passage.heading)}" if passage.heading else ""
        yield f"  {safe(node.path)}:{passage.line}{heading}"
        yield from (f"    {line}" for line in _folded(safe(passage.text)))


def _folded(text: str, width: int = 96) -> Iterator[str]:
    """Yield lines of about that width; a word that is longer stands alone."""
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _compared_object(compared: Compared) -> dict[str, Plain]:
    documents = [
        {**node_object(node), "passage": _passage_object(passage)}
        for node, passage in ((compared.pair.one, compared.one), (compared.pair.other, compared.other))
    ]
    edges = [edge_object(edge) for edge in compared.pair.edges]
    return {"documents": documents, "description": compared.description, "edges": edges}


def _passage_object(passage: Passage | None) -> dict[str, Plain] | None:
    return {"line": passage.line, "heading": passage.heading, "text": passage.text} if passage else None


def _orphans_text(graph: Graph) -> Iterator[str]:
    lone = orphans(graph)
    if lone:
        yield f"{plural(len(lone), 'document')} that no other document points at"
        yield from table(
            ("document", ""), [(graph.by_id[node_id].path, graph.by_id[node_id].title) for node_id in lone]
        )


def _orphans(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [node_object(graph.by_id[orphan]) for orphan in orphans(graph)]


def _cycles_text(graph: Graph) -> Iterator[str]:
    for number, cycle in enumerate(cycles(graph)):
        if number:
            yield ""
        yield plural(len(cycle), "document")
        for edge in _steps(graph, cycle):
            node = graph.by_id[edge.source]
            yield f"  {safe(node.path)}:{edge.line}  {safe(edge.rel) if edge.rel else 'link'} →"
        yield f"  {safe(graph.by_id[cycle[0]].path)}"


def _cycles(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [
        {"nodes": list(cycle), "edges": [edge_object(edge) for edge in _steps(graph, cycle)]} for cycle in cycles(graph)
    ]


def _steps(graph: Graph, cycle: Sequence[str]) -> Iterator[Edge]:
    """Yield the first edge from each node of a cycle to the next."""
    for at, source in enumerate(cycle):
        target = cycle[(at + 1) % len(cycle)]
        yield next(edge for edge in graph.out(source) if edge.resolved and edge.target == target)


def _components_text(graph: Graph) -> Iterator[str]:
    parts = components(graph)
    single = [part for part in parts if len(part) == 1]
    for part in parts:
        if len(part) > 1:
            names = ", ".join(safe(graph.by_id[node_id].path) for node_id in part[:MANY])
            yield f"{plural(len(part), 'document')}: {names}{' …' if len(part) > MANY else ''}"
    if single:
        yield f"{plural(len(single), 'document')} without any connection"


def _components(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [{"size": len(part), "nodes": list(part)} for part in components(graph)]


def _rank_text(graph: Graph) -> Iterator[str]:
    rows = [(f"{value:.4f}", str(into), node.path, node.title) for node, value, into in _ranked(graph)]
    if rows:
        yield from table(("rank", "in", "document", ""), rows)


def _rank(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [{**node_object(node), "rank": round(value, 6), "in": into} for node, value, into in _ranked(graph)]


def _ranked(graph: Graph) -> list[tuple[Node, float, int]]:
    """Return nodes, the highest rank first, with the number of documents that point at them."""
    rank = ranks(graph)
    pairs = {(edge.source, edge.target) for edge in graph.resolved if edge.source != edge.target}
    into = Counter(target for _, target in pairs)
    return sorted(
        ((node, rank[node.id], into[node.id]) for node in graph.nodes), key=lambda row: (-row[1], row[0].path)
    )


def _unresolved_text(graph: Graph) -> Iterator[str]:
    rows = missing_rows(graph.missing, dict(graph.by_id))
    if rows:
        yield from table(("at", "target", "written as", ""), rows)


def _unresolved(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [edge_object(edge) for edge in graph.missing]


def _wanted_text(graph: Graph) -> Iterator[str]:
    rows = [
        (str(len(target.edges)), target.name, f"{graph.by_id[target.edges[0].source].path}:{target.edges[0].line}")
        for target in wanted(graph)
    ]
    if rows:
        yield from table(("links", "wanted", "first linked at"), rows)


def _wanted(graph: Graph) -> Sequence[Mapping[str, Plain]]:
    return [
        {
            "name": target.name,
            "links": len(target.edges),
            "documents": [*dict.fromkeys(graph.by_id[edge.source].path for edge in target.edges)],
        }
        for target in wanted(graph)
    ]


_TEXTS = {
    "orphans": _orphans_text,
    "cycles": _cycles_text,
    "components": _components_text,
    "rank": _rank_text,
    "unresolved": _unresolved_text,
    "wanted": _wanted_text,
}
_OBJECTS = {
    "orphans": _orphans,
    "cycles": _cycles,
    "components": _components,
    "rank": _rank,
    "unresolved": _unresolved,
    "wanted": _wanted,
}
_NAMES = {
    "orphans": "document without a document that points at it",
    "cycles": "cycles",
    "components": "documents",
    "rank": "documents",
    "unresolved": "reference without a target",
    "wanted": "document that is linked and does not exist",
}

MOST = 15
"""Rows of a table in the overview; a report prints all."""

MOST_LETTERS = 48
"""Letters of a cell."""


def overview(selection: Selection) -> str:
    """Return the picture in numbers."""
    parts = ("\n".join(part) for part in (_counts(selection), _linked(selection), _missing(selection)) if part)
    return "\n\n".join(parts)


def counts_line(selection: Selection) -> str:
    """Return `42 documents · 96 connections · 3 unresolved`: what stands above a drawing too."""
    derived = sum(edge.derived for edge in selection.resolved)
    parts = [plural(len(selection.nodes), "document"), plural(len(selection.resolved) - derived, "connection")]
    if selection.missing:
        parts.append(f"{len(selection.missing):,} unresolved")
    return " · ".join(parts)


def drawn_line(selection: Selection, lines: int) -> str:
    """Return the line above a drawing of so many ``lines``, which explains a difference from the number of
    connections."""
    written = sum(not edge.derived for edge in selection.resolved)
    return counts_line(selection) + (f" · drawn as {plural(lines, 'line')}" if lines != written else "")


def plural(count: int, word: str) -> str:
    """Return `1 document`, `2 documents`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def tree(start: Node, reached: Sequence[Reached], selection: Selection) -> str:
    """Return a document, and below it the connected ones: `→` for outgoing links, `←` for incoming ones, `↔`
    for both."""
    below: dict[str, list[Reached]] = {}
    for step in reached:
        below.setdefault(step.via, []).append(step)
    return "\n".join((_named(start), *_branches(start.id, below, selection)))


def _branches(root: str, below: dict[str, list[Reached]], selection: Selection) -> Iterator[str]:
    """Yield the lines of a tree, without recursion: a chain may be long."""
    between: dict[tuple[str, str], dict[str, None]] = {}
    for edge in selection.drawn:
        between.setdefault((edge.source, edge.target), {})[safe(edge.rel or "link")] = None
    waiting = _marked(below.get(root, ()), "")
    while waiting:
        step, indent, last = waiting.pop()
        out, back = (between.get(pair, {}) for pair in ((step.via, step.node), (step.node, step.via)))
        arrow = "↔" if out and back else "→" if out else "←"
        rels = ", ".join({**out, **back})
        yield f"{indent}{'└─' if last else '├─'} {rels} {arrow} {_named(selection.by_id[step.node])}"
        waiting += _marked(below.get(step.node, ()), indent + ("   " if last else "│  "))


def _marked(steps: Sequence[Reached], indent: str) -> list[tuple[Reached, str, bool]]:
    """Branches for a stack: the first on top, the last marked."""
    return [(step, indent, at == len(steps) - 1) for at, step in reversed(list(enumerate(steps)))]


def _named(node: Node) -> str:
    return f"{safe(node.path)}  {safe(node.title)}".rstrip()


def _counts(selection: Selection) -> list[str]:
    dialects = Counter(node.dialect for node in selection.nodes)
    titles = [f"{style.title} {dialects[style.name]:,}" for style in NODE_STYLES if dialects[style.name]]  # type: ignore[index]
    written = [edge for edge in selection.resolved if not edge.derived]
    rels = Counter(edge.rel or "link" for edge in written).most_common()
    derived = sum(edge.derived for edge in selection.resolved)
    lines = [counts_line(selection)]
    if titles:
        lines.append(f"  documents    {', '.join(titles)}")
    if rels:
        lines.append(f"  connections  {', '.join(f'{safe(rel)} {count:,}' for rel, count in rels)}")
    if derived:
        lines.append(f"  derived      {derived:,}, the other direction of what is written")
    return lines


def _linked(selection: Selection) -> list[str]:
    into = Counter(edge.target for edge in _pairs(selection.resolved))
    out = Counter(edge.source for edge in _pairs(selection.resolved))
    nodes = sorted((node for node in selection.nodes if into[node.id]), key=lambda node: (-into[node.id], node.path))
    if not nodes:
        return []
    rows = [(str(into[node.id]), str(out[node.id]), node.path, node.title) for node in nodes[:MOST]]
    return ["most linked", *table(("in", "out", "document", ""), rows)]


def _pairs(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Written edges, one for every two documents and direction, none of a document to itself."""
    known: set[tuple[str, str]] = set()
    for edge in edges:
        if edge.source != edge.target and not edge.derived and (edge.source, edge.target) not in known:
            known.add((edge.source, edge.target))
            yield edge


def _missing(selection: Selection) -> list[str]:
    rows = missing_rows(selection.missing, selection.by_id)
    if not rows:
        return []
    more = [f"  … and {len(rows) - MOST:,} more: --report unresolved"] if len(rows) > MOST else []
    return ["unresolved", *table(("at", "target", "written as", ""), rows[:MOST]), *more]


def missing_rows(edges: Iterable[Edge], by_id: dict[str, Node]) -> list[tuple[str, str, str, str]]:
    """Return place, target, notation and candidates of edges that lead to no document."""
    return [
        (
            f"{by_id[edge.source].path}:{edge.line}",
            edge.target,
            f"{edge.origin}, {edge.rel}" if edge.rel else edge.origin,
            f"ambiguous: {', '.join(edge.candidates[:3])}" if edge.candidates else "",
        )
        for edge in edges
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield columns under their headings, numbers to the right, two blanks apart, indented."""
    shown = [[_shorter(safe(cell), name) for cell, name in zip(row, head, strict=True)] for row in rows]
    widths = [max(width(cell) for cell in column) for column in zip(head, *shown, strict=True)]
    numbers = [all(row[at].isdecimal() for row in shown) for at in range(len(head))]
    for row in (head, *shown):
        cells = (_cell(cell, room, right) for cell, room, right in zip(row, widths, numbers, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _cell(text: str, room: int, right: bool) -> str:
    gap = " " * (room - width(text))
    return gap + text if right else text + gap


def _shorter(text: str, column: str) -> str:
    """Return the text cut to the width of a column: paths keep their end, everything else its beginning."""
    if len(text) <= MOST_LETTERS:
        return text
    return "…" + text[1 - MOST_LETTERS :] if column in ("document", "at") else text[: MOST_LETTERS - 1] + "…"
