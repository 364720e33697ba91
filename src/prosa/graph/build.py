"""A graph from records, in memory: names in a dictionary, every reference resolved once.

In: the records of all documents of a corpus. Out: `Graph`. Linear in records, references and candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from prosa.dialects.magi.relationships import normal_rel
from prosa.graph.graph import Graph
from prosa.graph.names import Key
from prosa.graph.node import Edge, Node
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import Resolution, keys_of, resolve
from prosa.graph.sites import Sites, sites_of


class RecordNames(Struct, frozen=True):
    """Names in memory: the records that answer to each key, in the order of their paths."""

    known: Mapping[Key, Sequence[Record]]

    @classmethod
    def of(cls, records: Iterable[Record], sites: Sites) -> RecordNames:
        """Return the names of ``records``, which come in the order of their paths."""
        known: dict[Key, list[Record]] = {}
        for record in records:
            for key in keys_of(record, sites):
                known.setdefault(key, []).append(record)
        return cls(known)

    def find(self, key: Key) -> Sequence[Record]:
        """Return the records that answer to a key."""
        return self.known.get(key, ())


def build(records: Iterable[Record], sites: Sites | None = None) -> Graph:
    """Return the graph of a corpus. ``sites`` default to those found in the records. Of two records with one path the
    last one counts."""
    by_path = {record.path: record for record in records}
    ordered = [by_path[path] for path in sorted(by_path)]
    sites = sites_of(ordered) if sites is None else sites
    names = RecordNames.of(ordered, sites)
    ids = node_ids(ordered)
    edges = (
        edge_of(ids[record.path], reference, resolve(record, reference, sites, names), ids)
        for record in ordered
        for reference in record.references
    )
    return Graph.of([node_of(record, ids[record.path], sites) for record in ordered], edges)


def node_ids(records: Iterable[Record]) -> dict[str, str]:
    """Return the id of the node of every path: the document's own, else its path. If several documents share an id, or
    it is the path of another, each of them gets its path."""
    own = {record.path: own_id(record) for record in records}
    count: dict[str, int] = {}
    for name in own.values():
        count[name] = count.get(name, 0) + 1
    return {path: name if name and count[name] == 1 and name not in own else path for path, name in own.items()}


def own_id(record: Record) -> str:
    """Return the id that a document gives itself, or an empty text."""
    return next(
        (definition.name for definition in record.definitions if definition.kind == "id" and definition.name.strip()),
        "",
    )


def node_of(record: Record, name: str, sites: Sites) -> Node:
    """Return the node of a record under the id ``name``. Only MDH nodes have an URL on their site (HA2)."""
    url = sites.url_of(record.path) if record.dialect == "mdh" else ""
    return Node(name, record.path, record.dialect, record.title, record.type, url)


def edge_of(source: str, reference: Reference, resolution: Resolution[Record], ids: Mapping[str, str]) -> Edge:
    """Return the edge of a resolved reference; ``ids`` are the ids of nodes by path. What leads to no single document
    keeps its target as written."""
    candidates = tuple(ids[target.path] for target in resolution.targets)
    resolved = resolution.state == "resolved"
    return Edge(
        source=source,
        target=candidates[0] if resolved else reference.target,
        rel=normal_rel(reference.rel.strip()) if reference.rel and reference.rel.strip() else None,
        origin=reference.origin,
        line=reference.line,
        state=resolution.state,
        start=reference.start,
        end=reference.end,
        kind=reference.kind,
        strength=reference.strength,
        bidirectional=reference.bidirectional,
        fragment=reference.fragment,
        exact=resolution.exact,
        candidates=() if resolved else candidates,
        range=reference.range,
    )
