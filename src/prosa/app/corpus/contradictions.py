"""Contradictions with the passages of both documents, read from the files. In: a graph and its files. Out: passages.

A document that can no longer be read has no passage; the contradiction is still reported.
"""

from __future__ import annotations

from pathlib import Path

from prosa.dialects.dialect import Hints
from prosa.dialects.reading import DialectReading, open_document
from prosa.graph.contradictions import (
    Contradiction,
    Passage,
    contradictions,
    described,
    named_section,
    source_passage,
    target_passage,
)
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.render.graph.reports import Compared
from prosa.source import FileProblem, Files


def read_contradictions(graph: Graph, files: Files, root: Path) -> tuple[Compared, ...]:
    """Return the contradictions of a corpus below ``root`` with their passages."""
    return tuple(_read(pair, files, root) for pair in contradictions(graph))


def _read(pair: Contradiction, files: Files, root: Path) -> Compared:
    one, other = _reading(pair.one, files, root), _reading(pair.other, files, root)
    readings = {pair.one.id: one, pair.other.id: other}
    edge = pair.edges[0]
    source = readings[edge.source]
    why = next((text for link in pair.edges if (text := _why(link, readings[link.source]))), "")
    section = named_section(source, edge) if source else edge.fragment
    return Compared(pair, _passage(pair.one, pair, one, section), _passage(pair.other, pair, other, section), why)


def _passage(node: Node, pair: Contradiction, reading: DialectReading[object] | None, section: str) -> Passage | None:
    """Return the passage of a document: where it names the other, or the part that the other names."""
    if reading is None:
        return None
    own = next((edge for edge in pair.edges if edge.source == node.id), None)
    return source_passage(reading, own) if own is not None else target_passage(reading, section)


def _why(edge: Edge, reading: DialectReading[object] | None) -> str:
    return described(reading, edge) if reading is not None else ""


def _reading(node: Node, files: Files, root: Path) -> DialectReading[object] | None:
    try:
        return open_document(files.read(root / node.path), Hints(node.dialect))
    except FileProblem:
        return None
