"""What `prosa show` knows about a document: the keys every document has, then those of its dialect (interface.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.diagnostics import Diagnostic, Severity
from prosa.render.json import diagnostic_object
from prosa.rules.engine import CheckedDocument

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited


def document_facts(
    document: CheckedDocument,
    diagnostics: Sequence[Diagnostic],
    *,
    strict: bool | None = None,
    lent: Mapping[str, Inherited[Value]] | None = None,
) -> dict[str, Value]:
    """Return one object; ``diagnostics`` are those of this document, ``strict`` is the user's mode (YA11), ``lent``
    the fields inherited from meta files, separate from its own (X33). Front matter that is not a mapping is null."""
    errors = frozenset(each.rule for each in diagnostics if each.severity is Severity.ERROR)
    mode = document.strict if strict is None else strict
    return {
        "path": document.front.source.path,
        "dialect": document.dialect,
        "front_matter": document.reading.front_matter,
        **({"lent": {name: {"value": each.value, "by": str(each.by)} for name, each in lent.items()}} if lent else {}),
        "diagnostics": [diagnostic_object(each) for each in diagnostics],
        **document.reading.judged_facts(strict=bool(mode), errors=errors),
    }
