"""Made-up corpora as nodes and edges: folders with an index, documents that link inside their folder and beyond."""

from __future__ import annotations

from random import Random

from prosa.dialects import DialectName
from prosa.document.references import Origin
from prosa.graph.node import Edge, Node

DIALECTS: tuple[DialectName, ...] = (
    "magi",
    "mdh",
    "ymj",
    "markdownlang",
    "prapti",
    "skill_md",
    "test",
    "plain",
    "plain",
)
RELS = (None, None, None, "citation", "supports", "contradicts", "related", "extends", "parent")
ORIGINS: tuple[Origin, ...] = ("inline", "wikilink", "footnote", "front-matter")
WORDS = (
    *("Cooling towers", "Heat exchangers", "Maintenance calendar", "Spare parts", "Field notes", "Supplier contracts"),
    *("Water chemistry", "Corrosion of copper pipes", "Starting after winter", "Alarm levels and who is called"),
    *("Pump curves", "Energy report", "Glossary", "Training plan", "Night shift handover", "Valve numbering"),
    *("Insurance", "Measured flow rates", "Open questions", "Drawings of the second floor"),
)


def corpus(count: int, seed: int = 1) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """``count`` documents and about twice as many edges; a few documents have none, a few edges lead nowhere."""
    draw = Random(seed)
    nodes = tuple(_node(at, draw) for at in range(count))
    edges: list[Edge] = []
    for at, node in enumerate(nodes):
        folder = at - at % 25
        if at % 31 == 30:
            continue
        if at % 25:
            edges.append(_edge(nodes[folder], node, None, "inline", draw))
        elif at:
            edges.append(_edge(nodes[(at // 25) // 4 * 25], node, "parent", "front-matter", draw))
        for _ in range(draw.choice((0, 0, 1, 1, 2, 4))):
            near = draw.random() < 0.93
            other = nodes[min(folder + draw.randrange(25), count - 1) if near else draw.randrange(count)]
            edges.append(_edge(node, other, draw.choice(RELS), draw.choice(ORIGINS), draw))
        if draw.random() < 0.02:
            edges.append(Edge(node.id, f"missing-{at}", None, "inline", 7, "unresolved"))
    return nodes, tuple(edges)


def _node(at: int, draw: Random) -> Node:
    folder = at // 25
    name = f"area-{folder:03}/index.md" if at % 25 == 0 else f"area-{folder:03}/note-{at:05}.md"
    title = f"Area {folder}" if at % 25 == 0 else f"{draw.choice(WORDS)}{'' if at < 20 else f' {at}'}"
    return Node(name if at % 3 else f"doc-{at}", name, draw.choice(DIALECTS), title)


def _edge(source: Node, target: Node, rel: str | None, origin: Origin, draw: Random) -> Edge:
    return Edge(source.id, target.id, rel, origin, draw.randrange(1, 80), "resolved")
