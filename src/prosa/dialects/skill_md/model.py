"""The typed reading of a skill (LA30, L46). Absent fields are None or empty; derived ones are marked."""

from __future__ import annotations

from collections.abc import Mapping as Map

from msgspec import Struct

from prosa.data import Entry
from prosa.document import Document
from prosa.source import Span


class Parameter(Struct, frozen=True):
    """One item of the list under "Parameters". ``required`` is None if the item does not say."""

    name: str
    required: bool | None
    description: str
    span: Span


class SkillModel(Struct, frozen=True):
    """A skill.

    ``bare`` is true without front matter: the ``name`` then comes from the first heading, its ``description`` the
    first paragraph. ``allowed_tools`` are the tools, however they are separated; ``metadata`` values are source text
    (X1). ``entries`` are the fields that were read, by name. ``instructions`` is the body; ``anchor`` is where to
    point at what is missing.
    """

    document: Document
    bare: bool
    name: str | None
    description: str | None
    license: str | None
    compatibility: str | None
    allowed_tools: tuple[str, ...]
    metadata: Map[str, str]
    parameters: tuple[Parameter, ...]
    entries: Map[str, Entry]
    anchor: Span

    @property
    def instructions(self) -> str:
        """What an agent reads once it uses the skill."""
        return self.document.source.slice(self.document.body)

    def span(self, field: str) -> Span:
        """Return where to point when speaking of a field: its value, or the anchor when it is absent."""
        entry = self.entries.get(field)
        return entry.value.span if entry else self.anchor
