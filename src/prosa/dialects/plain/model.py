"""What plain Markdown means: names for the document, nothing more. Its structure is in the document itself."""

from __future__ import annotations

from dataclasses import dataclass

from prosa.document import Def, Document


@dataclass(frozen=True, slots=True)
class PlainModel:
    """``title`` is the field `title`, else the first heading of level 1 outside quotations and lists, else None.
    ``aliases`` are the items of the field `aliases`.
    """

    document: Document
    title: Def | None
    aliases: tuple[Def, ...]
