"""CommonMark with places: one parse per document into an immutable tree whose spans are character offsets (X2)."""

from prosa.document.fences import fence_texts
from prosa.document.model import Document, Fence, Heading, Paragraph
from prosa.document.parse import parse

__all__ = ["Document", "Fence", "Heading", "Paragraph", "fence_texts", "parse"]
