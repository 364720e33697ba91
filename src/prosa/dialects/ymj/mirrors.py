"""Identity mirrors (Y13, YA1): keys of `index` that repeat the header. Never read as identity, never written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prosa.data import Entry, Mapping, Scalar
from prosa.dialects.ymj.model import YmjModel

MIRRORS = {"title": "subject", "summary": "doc_summary", "owner": "maintained_by"}
"""Key of `index` → field of the header that it repeats."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """One mirror; ``equal`` says that it repeats the header exactly, so that nothing is lost without it."""

    entry: Entry
    field: str
    equal: bool


def index_of(model: YmjModel) -> Mapping | None:
    """The `index` object of the footer as written, well-formed or not."""
    node = model.footer.node.get("index") if model.footer else None
    return node if isinstance(node, Mapping) else None


def mirrors(model: YmjModel) -> Iterator[Mirror]:
    """Every mirror of the record, in the order of the footer."""
    for entry in index_of(model) or ():
        field = MIRRORS.get(entry.key.text)
        if field is not None:
            yield Mirror(entry, field, _same(entry, model.header.get(field) if model.header else None))


def _same(entry: Entry, other: object) -> bool:
    return isinstance(entry.value, Scalar) and isinstance(other, Scalar) and entry.value.text == other.text
