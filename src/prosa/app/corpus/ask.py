"""Questions about a corpus that is open: which document a name means, its links, the path to another, its impact.

In: an open corpus and what people typed. Out: values of `prosa.graph`. Nothing is read but the index.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from prosa.app.corpus.open import OpenCorpus
from prosa.corpus.errors import UnknownDocument
from prosa.dialects.table import WHICH_DOCUMENTS
from prosa.graph.graph import Graph
from prosa.graph.node import Node
from prosa.graph.reach import Links, Reached, impact, shortest_path
from prosa.source import FileProblem


class ShortestPath(Struct, frozen=True):
    """A shortest path between two documents; ``steps`` is None where there is none."""

    start: Node
    end: Node
    steps: tuple[Reached, ...] | None
    graph: Graph


class Impact(Struct, frozen=True):
    """What reaches a document, directly or through others, the nearest first."""

    node: Node
    reached: tuple[Reached, ...]
    graph: Graph


def find_document(corpus: OpenCorpus, name: str | Path) -> Node:
    """Return the document that a name means.

    A `Path` is a file, relative to the working directory. A text is such a file where there is one, else a path below
    the root, an id, or the name of a file. Raises `UnknownDocument` with the nearest names, or with the reason why a
    file or folder of that name is no document of the corpus, and `FileProblem` for a `Path` outside of the root.
    """
    path = Path(name)
    if os.path.lexists(path) and (isinstance(name, Path) or not path.is_dir()):
        return _at(corpus, name)
    node = corpus.index.node(name) if isinstance(name, str) else None
    if node is None or (path.is_dir() and name not in (node.id, node.path)):  # a folder is no shortened name
        if path.is_dir():
            reason, hint = "is a folder, not a document", "for all documents of a folder: prosa graph DIR"
            raise UnknownDocument(str(name), reason=reason, hint=hint)
        raise UnknownDocument(str(name), corpus.index.near(str(name)))
    return node


def _at(corpus: OpenCorpus, name: str | Path) -> Node:
    """Return the document that a file is; one of the same name elsewhere is not meant."""
    try:
        node = corpus.document_at(Path(name))
    except FileProblem as problem:
        if isinstance(name, Path):
            raise
        node = corpus.index.node(name)
        if node is None:
            hint = "--root DIR names a folder that holds all of them"
            raise UnknownDocument(name, reason=problem.reason, hint=hint) from None
    if node is None:
        reason = f"is not a document of the corpus at {corpus.root}"
        raise UnknownDocument(str(name), reason=reason, hint=WHICH_DOCUMENTS)
    return node


def links_of(corpus: OpenCorpus, name: str | Path) -> Links:
    """Return the links of a document, the links to it, and its broken references (Y22)."""
    node = find_document(corpus, name)
    return Links.of(node, corpus.index.edges_from(node.path), corpus.index.edges_to(node.path))


def shortest_path_between(
    corpus: OpenCorpus, start: str | Path, end: str | Path, *, directed: bool = False
) -> ShortestPath:
    """Return a shortest path over references in either direction, or with ``directed`` from source to target alone."""
    first, last, graph = find_document(corpus, start), find_document(corpus, end), corpus.index.graph()
    return ShortestPath(first, last, shortest_path(graph, first.id, last.id, directed=directed), graph)


def impact_of(corpus: OpenCorpus, name: str | Path, *, rels: Collection[str] = (), depth: int | None = None) -> Impact:
    """Return the documents affected by a change, over references of the types ``rels`` (MA7), or of all types."""
    node, graph = find_document(corpus, name), corpus.index.graph()
    return Impact(node, impact(graph, node.id, _normal_rels(rels), depth), graph)


def unknown_rels(graph: Graph, rels: Collection[str]) -> Mapping[str, Collection[str]]:
    """Return the types that no reference has, in the spelling of the graph, and below each the types that there are."""
    known = {edge.rel for edge in (*graph.edges, *graph.derived) if edge.rel is not None}
    return dict.fromkeys(sorted((_normal_rels(rels) or frozenset()) - known), known)


def _normal_rels(names: Collection[str]) -> frozenset[str] | None:
    if not names:
        return None
    from prosa.dialects.magi.relationships import normal_rel  # a parser: most questions name no type

    return frozenset(normal_rel(name) for name in names)
