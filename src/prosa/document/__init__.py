"""CommonMark with places: one parse per document into an immutable tree whose spans are character offsets (X2).

The parser loads at its first use: a run of a program, and a check that finds everything in its cache, need none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.document.document import Document, fence_texts, parse
    from prosa.document.model import (
        CodeSpan,
        Fence,
        FootnoteDefinition,
        FootnoteReference,
        Heading,
        Html,
        Image,
        Link,
        LinkDefinition,
        Paragraph,
        Section,
        Wikilink,
    )
    from prosa.document.references import Def, Ref, link_references

__all__ = [
    "CodeSpan",
    "Def",
    "Document",
    "Fence",
    "FootnoteDefinition",
    "FootnoteReference",
    "Heading",
    "Html",
    "Image",
    "Link",
    "LinkDefinition",
    "Paragraph",
    "Ref",
    "Section",
    "Wikilink",
    "fence_texts",
    "link_references",
    "parse",
]

_PLACES = {
    # No module is called like a name of this package: importing it would take the name.
    **dict.fromkeys(("Document", "fence_texts", "parse"), "document"),
    **dict.fromkeys(("Def", "Ref", "link_references"), "references"),
}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_PLACES.get(name, 'model')}"), name)
    return value
