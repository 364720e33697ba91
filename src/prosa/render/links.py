"""Links, ways and impact: small trees for people, objects for programs. In: answers of the graph. Out: text.

Every text of a document is made safe first (`render.plain`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from prosa.data import Plain
from prosa.graph.node import Edge, Node
from prosa.graph.reach import Links, Reached, inverse_of
from prosa.graph.record import file_title
from prosa.render.graph.objects import edge_object
from prosa.render.plain import safe, width

Shown = Callable[[str], str]
"""How a path of the corpus is named from the current folder."""

Nodes = Mapping[str, Node]
"""The nodes by id."""

MAX_CANDIDATES = 3
"""Documents that are named where a reference may mean several; the object for programs has all of them."""

MAX_NAME = 100
"""Characters of a title, a target or a type that are shown: columns are as wide as their longest."""


def render_links(links: Links, nodes: Nodes, shown: Shown) -> str:
    """Return a tree of up to three parts."""
    path = links.node.path
    out = [(_what(edge), _named(edge.target, nodes, shown), _at(path, edge, shown)) for edge in links.out]
    back = [
        (_both_ways(edge), _title(edge.source, nodes), _at(_path(edge.source, nodes), edge, shown))
        for edge in links.back
    ]
    lost = [(_what(edge), _lost(edge, nodes, shown), _at(path, edge, shown)) for edge in links.unresolved]
    parts = [("points at", out), ("is pointed at by", back), ("leads nowhere", lost)]
    filled = [(name, rows) for name, rows in parts if rows or name != "leads nowhere"]
    lines = [_heading(links.node, shown)]
    for at, (name, rows) in enumerate(filled):
        last = at == len(filled) - 1
        lines.append(f"{'└─' if last else '├─'} {name}{'' if rows else ' nothing'}")
        lines += [f"{'   ' if last else '│  '}{line}" for line in _branches(rows)]
    return "\n".join(lines)


def links_object(links: Links) -> dict[str, Plain]:
    """Return `{"out", "back", "unresolved"}` (interface.md). An edge of ``back`` also has its inverse name."""
    return {
        "out": [edge_object(edge) for edge in links.out],
        "back": [_back_object(edge) for edge in links.back],
        "unresolved": [edge_object(edge) for edge in links.unresolved],
    }


def render_path(start: Node, steps: Sequence[Reached], nodes: Nodes, shown: Shown) -> str:
    """Return one document on a line, with an arrow in the direction of the reference that leads there."""
    rows = [
        (
            "→" if step.forwards else "←",
            _what(step.edge),
            _named(step.node, nodes, shown),
            _at(_path(step.edge.source, nodes), step.edge, shown),
        )
        for step in steps
    ]
    return "\n".join((_heading(start, shown), *_columns(rows)))


def path_object(start: Node, end: Node, steps: Sequence[Reached] | None) -> dict[str, Plain]:
    """Return `{"from", "to", "length", "steps"}`; the length is null where there is no way."""
    return {
        "from": start.id,
        "to": end.id,
        "length": None if steps is None else len(steps),
        "steps": [
            {"node": step.node, "forwards": step.forwards, "edge": edge_object(step.edge)} for step in steps or ()
        ],
    }


def render_impact(node: Node, reached: Sequence[Reached], nodes: Nodes, shown: Shown) -> str:
    """Return what reaches a document, each below the one that it reaches it through, and a last line with the count."""
    below: dict[str, list[Reached]] = {}
    for step in reached:
        below.setdefault(step.via, []).append(step)
    count = f"{len(reached):,} document{'s reach' if len(reached) != 1 else ' reaches'} it"
    farthest = max((step.distance for step in reached), default=0)
    over = f", the farthest over {farthest} references" if farthest > 1 else ""
    tree = _columns(list(_tree(node.id, below, nodes, shown)))
    return "\n".join((_heading(node, shown), *tree, f"{count if reached else 'nothing reaches it'}{over}"))


def impact_object(node: Node, reached: Sequence[Reached], nodes: Nodes) -> dict[str, Plain]:
    """Return `{"node", "reached": [{node, path, distance, via, edge}…]}`, the nearest first."""
    rows: list[Plain] = [
        {
            "node": step.node,
            "path": _path(step.node, nodes),
            "distance": step.distance,
            "via": step.via,
            "edge": edge_object(step.edge),
        }
        for step in reached
    ]
    return {"node": node.id, "reached": rows}


def _tree(root: str, below: Mapping[str, list[Reached]], nodes: Nodes, shown: Shown) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a tree, without recursion: a chain may be long."""
    waiting = [(step, "", last) for step, last in _marked(below.get(root, ()))]
    while waiting:
        step, indent, last = waiting.pop()
        at = _at(_path(step.edge.source, nodes), step.edge, shown)
        yield f"{indent}{'└─' if last else '├─'} {_what(step.edge)}", _title(step.node, nodes), at
        deeper = indent + ("   " if last else "│  ")
        waiting += [(child, deeper, end) for child, end in _marked(below.get(step.node, ()))]


def _marked(steps: Sequence[Reached]) -> list[tuple[Reached, bool]]:
    """Return the steps from the last to the first, each with whether it is the last."""
    return [(step, at == len(steps) - 1) for at, step in enumerate(steps)][::-1]


def _back_object(edge: Edge) -> Mapping[str, Plain]:
    inverse = inverse_of(edge)
    return edge_object(edge) | ({"inverse": inverse} if inverse else {})


def _branches(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    lines = _columns(rows)
    return (f"{'└─' if at == len(lines) - 1 else '├─'} {line}" for at, line in enumerate(lines))


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows as lines with aligned columns; the last column is not filled up."""
    if not rows:
        return []
    widths = [max(width(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    return [
        "  ".join((*(f"{cell}{' ' * (wide - width(cell))}" for cell, wide in zip(row, widths, strict=False)), row[-1]))
        for row in rows
    ]


def _what(edge: Edge) -> str:
    return _name(edge.rel or edge.origin)


def _both_ways(edge: Edge) -> str:
    inverse = inverse_of(edge)
    return f"{_what(edge)} (from here: {inverse})" if inverse and inverse != edge.rel else _what(edge)


def _heading(node: Node, shown: Shown) -> str:
    return f"{safe(shown(node.path))}  {_own_title(node)}".rstrip()


def _named(target: str, nodes: Nodes, shown: Shown) -> str:
    node = nodes.get(target)
    if node is None:
        return _name(target)
    title = _own_title(node)
    return f"{title} ({safe(shown(node.path))})" if title else safe(shown(node.path))


def _own_title(node: Node) -> str:
    """Return the title of a document beside its path, empty if it only repeats the name of the file."""
    return "" if node.title == file_title(node.path) else _name(node.title)


def _title(name: str, nodes: Nodes) -> str:
    node = nodes.get(name)
    return _name((node.title or node.path) if node else name)


def _lost(edge: Edge, nodes: Nodes, shown: Shown) -> str:
    if not edge.candidates:
        return _name(edge.target)
    paths = [safe(shown(_path(candidate, nodes))) for candidate in edge.candidates]
    more = f" and {len(paths) - MAX_CANDIDATES} more" if len(paths) > MAX_CANDIDATES else ""
    return f"{_name(edge.target)}: may be {', '.join(paths[:MAX_CANDIDATES])}{more}"


def _name(text: str) -> str:
    return safe(text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…")


def _path(name: str, nodes: Nodes) -> str:
    return nodes[name].path if name in nodes else name


def _at(path: str, edge: Edge, shown: Shown) -> str:
    return f"{safe(shown(path))}:{edge.line}"
