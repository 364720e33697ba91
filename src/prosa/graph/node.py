"""Nodes and edges: what the graph consists of, whatever dialect the documents are written in (X21, interface.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.document.references import Origin, RefKind

State: TypeAlias = Literal["resolved", "ambiguous", "unresolved", "external", "file"]
"""Where a reference leads: to one document, to one of several, to none, to a URL outside the corpus, to a file that is
no document. Only the first makes ``resolved`` true; the last two are nobody's mistake."""


class Node(Struct, frozen=True):
    """A document. ``id`` is its doc-id, MDH id or program name, else its path; an id that several documents have
    gives each of them its path. ``path`` is relative to the root, ``url`` its `md_url` on its site, empty outside one.
    """

    id: str
    path: str
    dialect: DialectName
    title: str = ""
    type: str = ""
    url: str = ""


class Edge(Struct, frozen=True):
    """A reference after it was resolved. ``source`` and ``target`` are ids of nodes; a target that is none stands as
    written. ``line`` counts from 1, ``start`` and ``end`` are offsets in the source document.

    ``rel`` is normalised, None where the notation has none. ``exact`` is False where only another case of the name
    matched (YA21). ``candidates`` are the ids of the documents that an ambiguous target may mean. ``derived`` marks an
    edge that nobody wrote: the inverse of one that stands at that line of the *target* document (X21).
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

    @property
    def resolved(self) -> bool:
        """Whether it leads to one document of the corpus."""
        return self.state == "resolved"

    @property
    def is_missing(self) -> bool:
        """Whether it should lead to a document and does not: unresolved or ambiguous."""
        return self.state in ("unresolved", "ambiguous")
