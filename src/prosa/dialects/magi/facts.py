"""What `prosa show` says about a MAGI document, with the keys that interface.md fixes."""

from __future__ import annotations

from typing import Any

from prosa.dialects.magi.model import MagiModel, Relationship, Script


def facts(model: MagiModel) -> dict[str, Any]:
    """`scripts` and `relationships`. A script that is no JSON object has null for its id and its data."""
    return {
        "scripts": [_script(model, script) for script in model.scripts],
        "relationships": [_relationship(model, each) for each in model.relationships],
    }


def _script(model: MagiModel, script: Script) -> dict[str, Any]:
    return {
        "script-id": script.script_id,
        "line": script.line,
        "end_line": model.source.position(max(script.fence.span.start, script.fence.span.end - 1)).line,
        "data": script.data,
        "address": script.address,
        "containers": list(script.fence.containers),
    }


def _relationship(model: MagiModel, relationship: Relationship) -> dict[str, Any]:
    return {
        "ref": relationship.label,
        "line": relationship.line,
        "data": relationship.data,
        "referenced_at": [model.source.position(span.start).line for span in relationship.referenced_at],
    }
