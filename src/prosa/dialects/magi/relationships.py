"""Relationships (M43–M49): the footnote definitions of a document in, those that hold a JSON object out; their types
(M44, M51, MA7), and what a document points at and can be pointed at by, for the graph (X21).

Canonical is one object in backticks and nothing else; a bare object is accepted (MA8). Any other footnote is an
ordinary footnote and none of our business, unless it clearly was meant as one: then its mistake is reported (MW2).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prosa.data import Mapping
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Owner, read_fields
from prosa.dialects.magi.embedded import Embedded, read_embedded, unfolded
from prosa.dialects.magi.fields import CONTEXT, RELATIONSHIP, RELATIONSHIP_NAMES, in_kebab_case, squashed
from prosa.dialects.magi.model import Fields, MagiModel, Relationship, RelationshipForm
from prosa.document import CodeSpan, Def, Document, FootnoteDefinition, Ref
from prosa.regex import regex
from prosa.source import SourceText, Span

ALIASES = {"cites": "citation", "reference": "citation", "references": "citation"}
"""What real documents write for one of them."""


def normal_rel(rel_type: str) -> str:
    """Return the type for the graph: aliases resolved, everything else as written."""
    return ALIASES.get(rel_type, rel_type)


_MEANT = regex(r"[\"'{,\s](?:rel[-_]?type|doc[-_]?id|source[-_]?url|rel[-_]?desc)[\"']?\s*:", re.IGNORECASE)
_OBJECT = regex(r"\s*\{\s*\"")
_WHAT = "a relationship"


def read_relationships(
    document: Document, inside_region: Callable[[int], bool]
) -> tuple[tuple[Relationship, ...], tuple[Problem, ...]]:
    """Return the relationships in order. Footnotes inside a managed region are results (X19)."""
    references = _references(document, inside_region)
    relationships: list[Relationship] = []
    problems: list[Problem] = []
    for definition in document.footnote_definitions:
        if inside_region(definition.span.start):
            continue
        relationship, wrong = _relationship(document.source, definition, references)
        problems += wrong
        if relationship is not None:
            relationships.append(relationship)
    return tuple(relationships), tuple(problems)


def label_key(label: str) -> str:
    """Return what two labels of one footnote share: case and the amount of white space do not count."""
    return " ".join(label.split()).casefold()


def _references(document: Document, inside_region: Callable[[int], bool]) -> dict[str, list[Span]]:
    """Return the author's references by label: what a result refers to is not where the author does (X19)."""
    spans: dict[str, list[Span]] = {}
    for reference in document.footnote_references:
        if inside_region(reference.span.start):
            continue
        spans.setdefault(label_key(reference.label), []).append(reference.span)
    return spans


def _relationship(
    source: SourceText, definition: FootnoteDefinition, references: dict[str, list[Span]]
) -> tuple[Relationship | None, tuple[Problem, ...]]:
    candidate = _candidate(source, definition)
    if candidate is None:
        return None, ()
    form, span = candidate
    pieces = unfolded(source, span)
    embedded = read_embedded(pieces, "relationship-syntax", _WHAT, tolerant=False)
    if not _is_meant(form, pieces.text, embedded):
        return None, ()
    if embedded.node is None:
        return None, embedded.problems
    fields, context, wrong = _fields(embedded.node, source)
    line = source.lines.line(definition.span.start)
    at = tuple(references.get(label_key(definition.label), ()))
    relationship = Relationship(definition, form, embedded.node, fields, context, span, line, at)
    return relationship, (*embedded.problems, *wrong)


def _candidate(source: SourceText, definition: FootnoteDefinition) -> tuple[RelationshipForm, Span] | None:
    """Return where an object could be."""
    whole = stripped(source, definition.content)
    code = definition.code_spans
    if len(code) == 1 and code[0].span == whole:
        return "backticked", code[0].content
    if source.text.startswith("{", whole.start) and source.text.endswith("}", whole.start, whole.end):
        return "bare", whole
    meant = next((span for span in code if _is_object_of_ours(source, span)), None)
    return ("surrounded", meant.content) if meant is not None else None


def _is_object_of_ours(source: SourceText, code: CodeSpan) -> bool:
    text = source.slice(code.content)
    return bool(_OBJECT.match(text) and _MEANT.search(text))


def _is_meant(form: RelationshipForm, text: str, embedded: Embedded) -> bool:
    """Return whether the author wrote a relationship and not some other footnote that holds braces."""
    if form == "surrounded":
        return True
    if embedded.node is None:
        return bool(_MEANT.search(text)) or (form == "backticked" and bool(_OBJECT.match(text)))
    return form == "backticked" or any(squashed(entry.key.text) in RELATIONSHIP_NAMES for entry in embedded.node)


def _fields(node: Mapping, source: SourceText) -> tuple[Fields, Fields, tuple[Problem, ...]]:
    anchor = Span(node.span.start, node.span.start + 1)
    named, cases = in_kebab_case(node, RELATIONSHIP_NAMES, source)
    entries, wrong = read_fields(named, RELATIONSHIP, Owner(_WHAT, anchor, unknown=Severity.INFO))
    context = entries["context"].value if "context" in entries else None
    if not isinstance(context, Mapping):
        return Fields(entries), Fields({}), (*cases, *wrong)
    inner, inner_wrong = read_fields(context, CONTEXT, Owner("`context`", context.span, "context.", other=_is_free))
    return Fields(entries), Fields(inner), (*cases, *wrong, *inner_wrong)


def _is_free(_: str) -> bool:
    """`context` may hold whatever the author wants (M49)."""
    return True


def meant_as_object(text: str) -> bool:
    """Return whether a text has a field of relationships in it."""
    return _MEANT.search(text) is not None


def stripped(source: SourceText, span: Span) -> Span:
    """Return a span without the blank space around its text."""
    text = source.slice(span)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


def references(model: MagiModel) -> tuple[Ref, ...]:
    """Return one reference for each relationship: to a doc-id, else to a URL.

    A relationship with both points at the document; its URL only says where that is found (MA6). One with neither is
    an error and no reference.
    """
    return tuple(ref for relationship in model.relationships if (ref := _reference(relationship)) is not None)


def definitions(model: MagiModel) -> tuple[Def, ...]:
    """Return the document's doc-id and its title."""
    defs = [Def("id", model.doc_id, _span(model.fields, "doc-id"))] if model.doc_id is not None else []
    if model.title:
        defs.append(Def("title", model.title, _span(model.fields, "title")))
    return tuple(defs)


def _reference(relationship: Relationship) -> Ref | None:
    fields = relationship.fields
    doc_id, url, rel = (fields.text(name) for name in ("doc-id", "source-url", "rel-type"))
    strength = fields.value("rel-strength")
    if not doc_id and not url:
        return None
    return Ref(
        origin="footnote",
        target=doc_id or url or "",
        kind="id" if doc_id else "url",
        span=_span(fields, "doc-id" if doc_id else "source-url"),
        rel=normal_rel(rel) if rel else None,
        strength=float(strength) if isinstance(strength, int | float) else None,
        bidirectional=fields.flag("bi-directional"),
    )


def _span(fields: Fields, name: str) -> Span:
    return fields.span(name) or Span(0, 0)
