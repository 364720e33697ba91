"""CommonMark with places: one parse per document into an immutable tree whose spans are character offsets (X2)."""

from prosa.document.document import Document
from prosa.document.fences import fence_texts
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
from prosa.document.parse import parse
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
