"""Names a template uses and the input schema does not declare (X13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema.declared import Declarations
from prosa.source import Span
from prosa.template.analyse import NameUse

MAX_SUGGESTIONS: Final = 50
"""Maximum number of names that are compared with known ones: each comparison takes milliseconds."""


class Undeclared(Struct, frozen=True):
    """A name the schema does not declare. ``name`` is dotted, ``[]`` standing for any element.

    ``closed`` says that the schema allows no other names there; ``suggestion`` is a declared name like it.
    """

    name: str
    span: Span
    closed: bool
    suggestion: str | None


class WithUses(Protocol):
    """A template that tells which names it uses."""

    @property
    def uses(self) -> Sequence[NameUse]:
        """The uses in the order in which they stand."""
        ...


def undeclared(template: WithUses, schema: Mapping[str, Value] | bool) -> tuple[Undeclared, ...]:
    """Return the undeclared names of a template, in the order they stand, each place and name once.

    Lookups inside an undeclared value are not reported again.
    """
    declarations = Declarations(schema)
    found: dict[Undeclared, None] = {}
    suggestions: dict[str, str | None] = {}
    for use in template.uses:
        missing = declarations.missing(use.path)
        if missing is None or (missing.depth < use.start and use.path[missing.depth] is not None):
            continue
        dotted = ".".join(part if part is not None else "[]" for part in use.path[: missing.depth + 1])
        if dotted not in suggestions and len(suggestions) < MAX_SUGGESTIONS:
            suggestions[dotted] = nearest(missing.name, missing.declared)
        found[Undeclared(dotted, use.span, missing.closed, suggestions.get(dotted))] = None
    return tuple(found)
