"""Names a template uses and the input schema does not declare (X13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prosa.diagnostics.nearest import nearest
from prosa.schema.declared import Declarations
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.template.template import Template


@dataclass(frozen=True, slots=True)
class Undeclared:
    """A name the schema does not declare. ``name`` is dotted, ``[]`` standing for any element.

    ``closed`` says that the schema allows no other names there; ``suggestion`` is a declared name like it.
    """

    name: str
    span: Span
    closed: bool
    suggestion: str | None


def undeclared(template: Template, schema: Mapping[str, Any] | bool) -> tuple[Undeclared, ...]:
    """The undeclared names of a template, in the order they stand."""
    declarations = Declarations(schema)
    found: list[Undeclared] = []
    for use in template.uses:
        missing = declarations.missing(use.path)
        if missing is not None:
            suggestion = nearest(missing.name, missing.declared)
            dotted = ".".join(part if part is not None else "[]" for part in use.path[: missing.depth + 1])
            found.append(Undeclared(dotted, use.span, missing.closed, suggestion))
    return tuple(found)
