"""MAGI: Markdown with metadata, instructions for models and typed relationships.

The facts that `prosa show` prints have the keys of interface.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.dialects.dialect import Dialect
from prosa.dialects.fields import declared_value
from prosa.dialects.magi.choosing import statuses
from prosa.dialects.magi.fields import FRONT
from prosa.dialects.magi.format import format_edits
from prosa.dialects.magi.model import MagiModel, Relationship, Script
from prosa.dialects.magi.read import read
from prosa.dialects.magi.regions import Region
from prosa.dialects.magi.relationships import definitions, references
from prosa.dialects.magi.result_text import owners_of

if TYPE_CHECKING:
    from typing import TypedDict

    from prosa.dialects.facts import FootnoteRelationship, MagiFacts, ScriptBlock, WrittenResult

    class CorpusFacts(TypedDict, total=False):
        """The patterns and fields of a meta file (`corpus_facts`)."""

        globs: Sequence[str]
        lends: dict[str, Value]


__all__ = [
    "DIALECT",
    "FRONT",
    "MagiModel",
    "Relationship",
    "Script",
    "corpus_facts",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
]


def facts(model: MagiModel) -> MagiFacts:
    """Return `scripts` and `relationships`, and `regions`: the written results. A script that is no JSON object has
    null for its id and its data."""
    return {
        "dialect": "magi",
        "scripts": [_script(model, script) for script in model.scripts],
        "relationships": [_relationship(model, relationship) for relationship in model.relationships],
        "regions": [_region(model, region, state) for region, state in _states(model)],
    }


def corpus_facts(model: MagiModel) -> CorpusFacts:
    """Return the patterns and fields of a meta file, which others inherit; nothing for any other document (M20)."""
    globs = model.fields.texts("globs")
    if not globs:
        return {}
    return {"globs": list(globs), "lends": declared_value(model.front.fields, FRONT) if model.front.fields else {}}


def _script(model: MagiModel, script: Script) -> ScriptBlock:
    return {
        "script-id": script.script_id,
        "line": script.line,
        "end_line": model.source.position(max(script.fence.span.start, script.fence.span.end - 1)).line,
        "data": script.data,
        "address": script.address,
        "containers": list(script.fence.containers),
    }


def _relationship(model: MagiModel, relationship: Relationship) -> FootnoteRelationship:
    return {
        "ref": relationship.label,
        "line": relationship.line,
        "data": relationship.data,
        "referenced_at": [model.source.position(span.start).line for span in relationship.referenced_at],
    }


def _states(model: MagiModel) -> list[tuple[Region, str]]:
    """Return all regions in order, each with its state: fresh, stale, edited, or orphan where no script goes with
    it."""
    owners = owners_of(model)
    states = [(status.region, str(status.state)) for _, status in statuses(model, owners)]
    states += [(region, "orphan") for region in (*owners.orphans, *owners.spare)]
    return sorted(states, key=lambda pair: pair[0].span)


def _region(model: MagiModel, region: Region, state: str) -> WrittenResult:
    return {
        "script-id": region.script_id,
        "line": model.source.position(region.span.start).line,
        "end_line": model.source.position(region.span.end - 1).line,
        "state": state,
        "model": region.about.model_name,
        "answered_by": region.about.answered_by or None,
        "cut": region.about.cut,
        "context": region.about.context,
    }


DIALECT: Dialect[MagiModel] = Dialect(
    name="magi",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
)
