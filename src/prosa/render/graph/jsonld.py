"""The graph as JSON-LD 1.1. In: a selection. Out: documents with their references, under a context of their own.

A document's IRI is its path, relative to the root of the corpus and percent-encoded, so it cannot be anything else.
Its typed relationships are properties; `references` keeps every reference with its origin and line.
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.data import Value
from prosa.graph.inverse import INVERSES
from prosa.graph.node import Edge, Node
from prosa.graph.selection import Selection
from prosa.render.graph.objects import edge_object
from prosa.render.json import dump
from prosa.source.url import quoted_relative

VOCABULARY = "urn:prosa:graph:"


def jsonld(selection: Selection) -> str:
    """Return the document."""
    leaving: dict[str, list[Edge]] = {}
    for edge in selection.edges:
        leaving.setdefault(edge.source, []).append(edge)
    documents = [_document(node, leaving.get(node.id, ()), selection) for node in selection.nodes]
    return dump({"@context": context(), "@graph": documents}, indent=2) + "\n"


def context() -> dict[str, Value]:
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


def _document(node: Node, edges: Iterable[Edge], selection: Selection) -> dict[str, Value]:
    found: dict[str, Value] = {"@id": iri(node), "@type": "Document", "id": node.id, "path": node.path}
    found |= {"dialect": node.dialect}
    found |= {key: value for key, value in (("title", node.title), ("kind", node.type), ("url", node.url)) if value}
    references: list[dict[str, Value]] = []
    for edge in edges:
        target = selection.by_id.get(edge.target) if edge.resolved else None
        if target is not None:
            same = found.setdefault(_property(edge), [])
            if iri(target) not in same:
                same.append(iri(target))
        references.append(_reference(edge, target))
    return found | ({"references": references} if references else {})


def _property(edge: Edge) -> str:
    """Return the rel if the context knows it; an untyped or unknown one becomes a `link`, its name is in the
    reference."""
    return edge.rel if edge.rel is not None and edge.rel in INVERSES else "link"


def _reference(edge: Edge, target: Node | None) -> dict[str, Value]:
    values = {key: value for key, value in edge_object(edge).items() if key != "source" and value is not None}
    return {"@type": "Reference", **({"document": iri(target)} if target else {}), **values}
