"""Short ways to a graph: from texts by path, or from pairs of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prosa.dialects import DialectName
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.graph.build import RecordNames, build
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.graph.record import Definition, Record, Reference
from prosa.graph.records import record_of
from prosa.graph.resolve import Resolution, resolve
from prosa.graph.sites import sites_of
from prosa.source import SourceText


def record(path: str, text: str, dialect: DialectName | None = None) -> Record:
    """The record of a text at a path."""
    return record_of(open_document(SourceText(text, path), Hints(dialect)), path)


def graph_of(texts: Mapping[str, str]) -> Graph:
    """The graph of texts by path."""
    return build(record(path, text) for path, text in texts.items())


def ways(texts: Mapping[str, str]) -> list[tuple[str, str, str | None, str]]:
    """Source, target, rel and state of every written edge."""
    return [(each.source, each.target, each.rel, each.state) for each in graph_of(texts).edges]


def bare(path: str, dialect: DialectName = "plain", *, ids: Iterable[str] = (), titles: Iterable[str] = ()) -> Record:
    """A record that points at nothing."""
    names = [Definition("id", name, 0, 0, 1) for name in ids] + [Definition("title", name, 0, 0, 1) for name in titles]
    return Record(path, dialect, definitions=tuple(names))


def wikilink(target: str) -> Reference:
    return Reference("wikilink", target, "stem", 0, 0, 1)


def link(target: str) -> Reference:
    return Reference("inline", target, "path", 0, 0, 1)


def found(source: Record, reference: Reference, *others: Record) -> Resolution[Record]:
    """Where a reference of ``source`` leads among it and others."""
    records = sorted((source, *others), key=lambda each: each.path)
    sites = sites_of(records)
    return resolve(source, reference, sites, RecordNames.of(records, sites))


def edge(source: str, target: str, rel: str | None = None, *, start: int = 0, two_way: bool = False) -> Edge:
    """A resolved relationship."""
    return Edge(source, target, rel, "footnote", 1, "resolved", start, start, "id", bidirectional=two_way)


def graph(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> Graph:
    """A graph of nodes whose ids are their paths, and untyped edges between them."""
    made = [edge(source, target, start=at) for at, (source, target) in enumerate(edges)]
    return Graph.of([Node(name, name, "magi") for name in nodes], made)
