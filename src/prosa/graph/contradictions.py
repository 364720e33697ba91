"""Contradictions: pairs of documents of which one declares that it contradicts the other, and the passages to compare
(X21, M44).

In: a graph. Out: each pair once, with the places of the declarations. The caller reads the passages from the files.

The passage of the source is the paragraph that refers to the relationship, else the one that holds it; that of the
target the section that the edge names, else its opening.
"""

from __future__ import annotations

from msgspec import Struct

from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI
from prosa.document.document import Document
from prosa.document.model import Section
from prosa.graph.graph import Graph
from prosa.graph.node import Edge, Node
from prosa.source import Span

REL = "contradicts"


class Contradiction(Struct, frozen=True):
    """Two nodes in the order of their paths, and every edge between them that declares a contradiction, in the order
    of the graph.

    The passage of the declaring document is the line of the edge; that of the other is the section its ``fragment``
    names, else the whole document.
    """

    one: Node
    other: Node
    edges: tuple[Edge, ...]


def contradictions(graph: Graph) -> tuple[Contradiction, ...]:
    """Return the contradictions of a corpus, by the path of the first document and then of the second."""
    pairs: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.resolved:
        if edge.rel == REL:
            one, other = sorted((graph.by_id[edge.source].path, graph.by_id[edge.target].path))
            pairs.setdefault((one, other), []).append(edge)
    paths = graph.by_path
    return tuple(Contradiction(paths[one], paths[other], tuple(pairs[one, other])) for one, other in sorted(pairs))


# The passages where one document contradicts another, for people to compare (M44, X21).

MAX_PASSAGE = 600
"""Maximum length of a passage. A paragraph of ten lines fits; longer ones are cut, the file has the rest."""


class Passage(Struct, frozen=True):
    """A piece of a document: ``line`` counts from 1, ``heading`` is its section, empty above the first. ``text`` has
    runs of blanks and line ends as one blank."""

    line: int
    heading: str
    text: str


def source_passage(reading: DialectReading[object], edge: Edge) -> Passage:
    """Return the passage that declares the contradiction."""
    document = reading.document
    for place in _mentions(document, edge):
        span = next((paragraph.span for paragraph in document.paragraphs if _holds(paragraph.span, place)), None)
        if span is not None:
            return _passage(document, span)
    return opening(document)


def target_passage(reading: DialectReading[object], fragment: str) -> Passage:
    """Return the contradicted passage: the section with that anchor or heading, else the opening of the document."""
    document = reading.document
    section = _section(document, fragment) if fragment else None
    if section is None:
        return opening(document)
    start = section.heading.span.end
    inside = Span(start, section.span.end)
    first = next((paragraph.span for paragraph in document.paragraphs if _holds(inside, paragraph.span.start)), inside)
    return _passage(document, first)


def named_section(reading: DialectReading[object], edge: Edge) -> str:
    """Return the section of the target that the source names: the fragment of the reference, else `context.section`
    (M49)."""
    model = reading.model_of(MAGI)
    if edge.fragment or model is None:
        return edge.fragment
    relation = next(
        (relationship for relationship in model.relationships if _holds(relationship.definition.span, edge.start)), None
    )
    return (relation.context.text("section") or "") if relation is not None else ""


def described(reading: DialectReading[object], edge: Edge) -> str:
    """Return `rel-desc` of the relationship (M46), empty where the notation has none."""
    model = reading.model_of(MAGI)
    relationships = model.relationships if model is not None else ()
    relation = next(
        (relationship for relationship in relationships if _holds(relationship.definition.span, edge.start)), None
    )
    return _one_line(relation.fields.text("rel-desc") or "") if relation is not None else ""


def opening(document: Document) -> Passage:
    """Return the first paragraph of the document itself, else its first block."""
    first = next((paragraph.span for paragraph in document.paragraphs if not paragraph.nested), document.body)
    return _passage(document, first)


def _mentions(document: Document, edge: Edge) -> list[int]:
    """Return where the reference is made: at the marks of its footnote, else where it is written."""
    footnote = next(
        (definition for definition in document.footnote_definitions if _holds(definition.span, edge.start)), None
    )
    if footnote is None:
        return [edge.start]
    return [reference.span.start for reference in document.footnote_references if reference.label == footnote.label]


def _section(document: Document, name: str) -> Section | None:
    wanted = name.strip().casefold()
    sections = document.sections
    by_anchor = next((section for section in sections if section.anchor == name), None)
    return by_anchor or next(
        (section for section in sections if section.heading.plain.strip().casefold() == wanted), None
    )


def _passage(document: Document, span: Span) -> Passage:
    source = document.source
    above = [heading for heading in document.headings if not heading.nested and heading.span.start <= span.start]
    text = _one_line(source.slice(span))
    shown = text if len(text) <= MAX_PASSAGE else text[: MAX_PASSAGE - 1] + "…"
    return Passage(source.position(span.start).line, above[-1].plain if above else "", shown)


def _holds(span: Span, offset: int) -> bool:
    return span.start <= offset < span.end


def _one_line(text: str) -> str:
    return " ".join(text.split())
