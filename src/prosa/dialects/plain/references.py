"""What plain Markdown points at, and what others can call it."""

from __future__ import annotations

from prosa.dialects.plain.model import PlainModel
from prosa.document import Def, Ref, link_references


def references(model: PlainModel) -> tuple[Ref, ...]:
    """Links and wikilinks."""
    return link_references(model.document)


def definitions(model: PlainModel) -> tuple[Def, ...]:
    """The title and the aliases."""
    return (*((model.title,) if model.title else ()), *model.aliases)
