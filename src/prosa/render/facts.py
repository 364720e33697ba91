"""What `prosa show` knows about a document: the keys every document has, then those of its dialect (interface.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prosa.diagnostics import Diagnostic
from prosa.render.json import diagnostic_object
from prosa.rules.engine import CheckedDocument


def document_facts(document: CheckedDocument, diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """One object; ``diagnostics`` are those of this document. Front matter that is not a mapping is null."""
    return {
        "path": document.front.source.path,
        "dialect": document.dialect,
        "front_matter": document.front.value,
        "diagnostics": [diagnostic_object(each) for each in diagnostics],
        **_dialect_facts(document),
    }


def _dialect_facts(document: CheckedDocument) -> dict[str, Any]:
    if document.program is not None:
        from prosa.dialects.markdownlang.facts import facts

        return facts(document.program.model)
    return {}
