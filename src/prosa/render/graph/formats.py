"""The graph in the formats of other programs: Graphviz, Mermaid, GraphML and JSON-LD.

Each function takes a selection and returns a file whose node names are generated, so that no title, path or id of a
document can break its syntax.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from prosa.data import Plain
from prosa.graph.graph import INVERSES
from prosa.graph.node import Edge, Node
from prosa.graph.selection import Ghost, Selection
from prosa.render.graph.objects import edge_object
from prosa.render.graph.style import (
    GHOST,
    NODE_STYLES,
    EdgeStyle,
    Shape,
    edge_looks,
    kind_of,
    name_of,
    node_style,
    one_line,
)
from prosa.render.graph.svg import escape
from prosa.render.json import dump
from prosa.source.url import quoted_relative

_DOT_SHAPES: dict[Shape, str] = {
    "circle": "ellipse",
    "square": "box",
    "diamond": "diamond",
    "triangle": "triangle",
    "wedge": "invtriangle",
    "cross": "hexagon",
    "star": "octagon",
    "hexagon": "house",
    "pentagon": "pentagon",
    "heptagon": "septagon",
    "octagon": "doubleoctagon",
    "ring": "ellipse",
}


def dot(selection: Selection) -> str:
    """Return the digraph; derived edges are left out if the written ones are shown."""
    return "\n".join(("digraph prosa {", *_settings(), *_dot_nodes(selection), *_dot_edges(selection), "}")) + "\n"


def dot_quoted(text: str) -> str:
    """Return a quoted string with this text as its value, whether Graphviz reads escapes in it or not."""
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{plain}"'


def _settings() -> Iterator[str]:
    yield '  graph [overlap="false", splines="true", charset="UTF-8"];'
    yield '  node [fontname="sans-serif", fontsize="11", style="filled", fillcolor="white"];'
    yield '  edge [fontname="sans-serif", fontsize="9", arrowsize="0.7"];'


def _dot_nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        style = node_style(node.dialect)
        yield (
            f"  n{at} [label={dot_quoted(name_of(node))}, tooltip={dot_quoted(node.path)}, "
            f'class={dot_quoted(node.dialect)}, shape="{_DOT_SHAPES[style.shape]}", color="{style.light}"];'
        )
    for at, ghost in enumerate(selection.ghosts):
        yield (
            f'  g{at} [label={dot_quoted(ghost.target)}, class="missing", shape="{_DOT_SHAPES[GHOST.shape]}", '
            f'style="dashed", color="{GHOST.light}"];'
        )


def _dot_edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    ghosts = selection.ghost_edges()
    looks = edge_looks((*selection.drawn, *(edge for edge, _ in ghosts)))
    for edge in selection.drawn:
        yield f"  n{place[edge.source]} -> n{place[edge.target]} [{_look(edge, looks)}];"
    for edge, ghost in ghosts:
        yield f"  n{place[edge.source]} -> g{ghost} [{_look(edge, looks)}];"


def _look(edge: Edge, looks: Mapping[str, EdgeStyle]) -> str:
    style = looks[kind_of(edge)]
    label = f"label={dot_quoted(edge.rel)}, " if edge.rel else ""
    line = "dashed" if style.dash else "solid"
    return f'{label}class="{edge.origin}", color="{style.light}", style="{line}", penwidth="{style.width}"'


MOST_EDGES = 500
"""Maximum number of edges that Mermaid draws by default (`maxEdges`)."""

_HARMLESS = frozenset(" .,-_/:")
_MERMAID_SHAPES: dict[Shape, tuple[str, str]] = {
    "circle": ("(", ")"),
    "square": ("[", "]"),
    "diamond": ("{", "}"),
    "triangle": ("[/", "\\]"),
    "wedge": ("[\\", "/]"),
    "cross": ("{{", "}}"),
    "star": ("([", "])"),
    "hexagon": ("[[", "]]"),
    "pentagon": ("[/", "/]"),
    "heptagon": (">", "]"),
    "octagon": ("((", "))"),
    "ring": ("(", ")"),
}
_ARROWS = {"parent": "==>", "child": "==>", "contradicts": "--x", "related": "-.->", "citation": "-.->"}


def mermaid(selection: Selection) -> str:
    """Return the flowchart; derived edges are left out if the written ones are shown."""
    return (
        "\n".join(("flowchart LR", *_mermaid_nodes(selection), *_mermaid_edges(selection), *_classes(selection))) + "\n"
    )


def mermaid_quoted(text: str) -> str:
    """Return a quoted label that shows the text unchanged."""
    return '"' + "".join(char if _is_harmless(char) else f"#{ord(char)};" for char in one_line(text)) + '"'


def _is_harmless(char: str) -> bool:
    return char in _HARMLESS or char.isalnum()


def _mermaid_nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        before, after = _MERMAID_SHAPES[node_style(node.dialect).shape]
        yield f"  n{at}{before}{mermaid_quoted(name_of(node))}{after}:::{node.dialect}"
    for at, ghost in enumerate(selection.ghosts):
        yield f"  g{at}({mermaid_quoted(ghost.target)}):::{GHOST.name}"


def _mermaid_edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    for edge in selection.drawn:
        yield f"  n{place[edge.source]} {_arrow(edge)} n{place[edge.target]}"
    for edge, ghost in selection.ghost_edges():
        yield f"  n{place[edge.source]} {_arrow(edge)} g{ghost}"


def _arrow(edge: Edge) -> str:
    arrow = _ARROWS.get(edge.rel or "", "-->")
    return f"{arrow}|{mermaid_quoted(edge.rel)}|" if edge.rel else arrow


def _classes(selection: Selection) -> Iterator[str]:
    """Colour that are readable on light and dark alike: no fill, a coloured border."""
    used = {node.dialect for node in selection.nodes} | ({GHOST.name} if selection.ghosts else set())
    for style in NODE_STYLES:
        if style.name in used:
            dashes = ",stroke-dasharray:4 3" if style is GHOST else ""
            yield f"  classDef {style.name} stroke:{style.light},stroke-width:2px{dashes}"


Cell: TypeAlias = str | int | float | bool | None
CellType: TypeAlias = Literal["string", "int", "double", "boolean"]

NODE_KEYS: tuple[tuple[str, CellType], ...] = (
    ("id", "string"),
    ("label", "string"),
    ("path", "string"),
    ("dialect", "string"),
    ("title", "string"),
    ("type", "string"),
    ("url", "string"),
    ("missing", "boolean"),
)
EDGE_KEYS: tuple[tuple[str, CellType], ...] = (
    ("rel", "string"),
    ("origin", "string"),
    ("line", "int"),
    ("fragment", "string"),
    ("range", "string"),
    ("strength", "double"),
    ("bidirectional", "boolean"),
    ("derived", "boolean"),
)


def graphml(selection: Selection) -> str:
    """Return the file."""
    return (
        "\n".join((*_head(), *_graphml_nodes(selection), *_graphml_edges(selection), "  </graph>", "</graphml>")) + "\n"
    )


def _head() -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, kind in NODE_KEYS:
        yield f'  <key id="n-{name}" for="node" attr.name="{name}" attr.type="{kind}"/>'
    for name, kind in EDGE_KEYS:
        yield f'  <key id="e-{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="prosa" edgedefault="directed">'


def _graphml_nodes(selection: Selection) -> Iterator[str]:
    for at, node in enumerate(selection.nodes):
        yield f'    <node id="n{at}">{_data("n", NODE_KEYS, _node_values(node))}</node>'
    for at, ghost in enumerate(selection.ghosts):
        yield f'    <node id="g{at}">{_data("n", NODE_KEYS, _ghost_values(ghost))}</node>'


def _node_values(node: Node) -> tuple[Cell, ...]:
    return (
        node.id,
        name_of(node),
        node.path,
        node.dialect,
        node.title or None,
        node.type or None,
        node.url or None,
        None,
    )


def _ghost_values(ghost: Ghost) -> tuple[Cell, ...]:
    return ghost.target, one_line(ghost.target), None, None, None, None, None, True


def _graphml_edges(selection: Selection) -> Iterator[str]:
    place = {node.id: at for at, node in enumerate(selection.nodes)}
    for edge in selection.resolved:
        yield _graphml_edge(edge, f"n{place[edge.source]}", f"n{place[edge.target]}")
    for edge, ghost in selection.ghost_edges():
        yield _graphml_edge(edge, f"n{place[edge.source]}", f"g{ghost}")


def _graphml_edge(edge: Edge, source: str, target: str) -> str:
    strength = edge.strength if edge.strength is not None and math.isfinite(edge.strength) else None
    values = (
        *(edge.rel, edge.origin, edge.line, edge.fragment or None, edge.range or None, strength),
        *(edge.bidirectional or None, edge.derived or None),
    )
    return f'    <edge source="{source}" target="{target}">{_data("e", EDGE_KEYS, values)}</edge>'


def _data(prefix: str, keys: tuple[tuple[str, CellType], ...], values: tuple[Cell, ...]) -> str:
    """Return the attributes that have a value."""
    pairs = zip(keys, values, strict=True)
    return "".join(
        f'<data key="{prefix}-{name}">{_cell_text(value)}</data>' for (name, _), value in pairs if value is not None
    )


def _cell_text(value: Cell) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(value) if isinstance(value, str) else str(value)


VOCABULARY = "urn:prosa:graph:"


def jsonld(selection: Selection) -> str:
    """Return the document."""
    leaving: dict[str, list[Edge]] = {}
    for edge in selection.edges:
        leaving.setdefault(edge.source, []).append(edge)
    documents = [_document(node, leaving.get(node.id, ()), selection) for node in selection.nodes]
    return dump({"@context": context(), "@graph": documents}, indent=2) + "\n"


def context() -> dict[str, Plain]:
    """Return what the keys mean: names of schema.org where it has them, else of a vocabulary of Prosa."""
    links = {rel: {"@id": f"{VOCABULARY}{rel}", "@type": "@id"} for rel in INVERSES}
    return {
        "@version": 1.1,
        "@vocab": VOCABULARY,
        "schema": "https://schema.org/",
        "Document": "schema:DigitalDocument",
        "id": "schema:identifier",
        "title": "schema:name",
        "url": {"@id": "schema:url", "@type": "@id"},
        **links,
        "citation": {"@id": "schema:citation", "@type": "@id"},
        "link": {"@id": f"{VOCABULARY}link", "@type": "@id"},
        "references": {"@id": f"{VOCABULARY}reference", "@container": "@list"},
        "document": {"@id": f"{VOCABULARY}document", "@type": "@id"},
    }


def iri(node: Node) -> str:
    """Return the path as a relative IRI that can never be read as a scheme, a query or a fragment."""
    return "./" + quoted_relative(node.path)


def _document(node: Node, edges: Iterable[Edge], selection: Selection) -> dict[str, Plain]:
    fields: dict[str, Plain] = {"@id": iri(node), "@type": "Document", "id": node.id, "path": node.path}
    fields |= {"dialect": node.dialect}
    fields |= {key: value for key, value in (("title", node.title), ("kind", node.type), ("url", node.url)) if value}
    targets: dict[str, list[str]] = {}
    references: list[dict[str, Plain]] = []
    for edge in edges:
        target = selection.by_id.get(edge.target) if edge.resolved else None
        if target is not None:
            same = targets.setdefault(_property(edge), [])
            if iri(target) not in same:
                same.append(iri(target))
        references.append(_reference(edge, target))
    return {**fields, **targets, **({"references": references} if references else {})}


def _property(edge: Edge) -> str:
    """Return the rel if the context knows it; an untyped or unknown one becomes a `link`, its name is in the
    reference."""
    return edge.rel if edge.rel is not None and edge.rel in INVERSES else "link"


def _reference(edge: Edge, target: Node | None) -> dict[str, Plain]:
    values = {key: value for key, value in edge_object(edge).items() if key != "source" and value is not None}
    return {"@type": "Reference", **({"document": iri(target)} if target else {}), **values}
