"""The graph for people in a terminal: counts, the most linked documents, broken links; or a tree around a document.

In: a selection, the nodes reached from one. Out: lines without terminal control characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from prosa.graph.node import Edge, Node
from prosa.graph.reach import Reached
from prosa.graph.selection import Selection
from prosa.render.graph.style import NODE_STYLES
from prosa.render.plain import safe, width

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
