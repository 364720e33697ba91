"""What a MAGI document points at and what can be pointed at in it: `Ref` and `Def`, for the graph (M43–M51, X21)."""

from __future__ import annotations

from prosa.dialects.magi.model import Fields, MagiModel, Relationship
from prosa.dialects.magi.rel_types import normal_rel
from prosa.document import Def, Ref
from prosa.source import Span


def references(model: MagiModel) -> tuple[Ref, ...]:
    """One reference for each relationship: to a doc-id, else to a URL.

    A relationship with both points at the document; its URL only says where that is found (MA6). One with neither is
    an error and no reference.
    """
    return tuple(ref for each in model.relationships if (ref := _reference(each)) is not None)


def definitions(model: MagiModel) -> tuple[Def, ...]:
    """The document's doc-id and its title."""
    found = [Def("id", model.doc_id, _span(model.fields, "doc-id"))] if model.doc_id is not None else []
    if model.title:
        found.append(Def("title", model.title, _span(model.fields, "title")))
    return tuple(found)


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
        strength=None if strength is None else float(strength),
        bidirectional=fields.flag("bi-directional"),
    )


def _span(fields: Fields, name: str) -> Span:
    return fields.span(name) or Span(0, 0)
