"""Nodes and edges of the graph, for documents of all dialects (X21, interface.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.document.references import Origin, RefKind

State: TypeAlias = Literal["resolved", "ambiguous", "unresolved", "external", "file"]
"""The target of a reference: one document, one of several, none, a URL outside the corpus, a file that is no document.
Only the first makes ``resolved`` true; the last two are not mistakes."""


class Node(Struct, frozen=True):
    """A document. ``id`` is its doc-id, MDH id or program name, else its path; documents that share an id get their
    paths. ``path`` is relative to the root, ``url`` its `md_url` on its site, empty outside one."""

    id: str
    path: str
    dialect: DialectName
    title: str = ""
    type: str = ""
    url: str = ""


class Edge(Struct, frozen=True):
    """A resolved reference. ``source`` and ``target`` are ids of nodes; a target that is not a node is kept as
    written. ``line`` counts from 1, ``start`` and ``end`` are offsets in the source document.

    ``rel`` is normalised, None if the notation has none. ``exact`` is False if the name only matched in another case
    (YA21). ``candidates`` are the ids of the documents that an ambiguous target may mean. ``derived`` marks the
    inverse of an edge that is written at that line of the *target* document (X21). ``range`` are the versions that are
    meant, as written.
    """

    source: str
    target: str
    rel: str | None
    origin: Origin
    line: int
    state: State
    start: int = 0
    end: int = 0
    kind: RefKind = "path"
    strength: float | None = None
    bidirectional: bool = False
    fragment: str = ""
    exact: bool = True
    candidates: tuple[str, ...] = ()
    derived: bool = False
    range: str = ""

    @property
    def resolved(self) -> bool:
        """Whether it leads to one document of the corpus."""
        return self.state == "resolved"

    @property
    def is_missing(self) -> bool:
        """Whether it does not lead to a document as it should: unresolved or ambiguous."""
        return self.state in ("unresolved", "ambiguous")
