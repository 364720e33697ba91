"""What a parsed document holds. Spans count characters of the whole source, front matter included.

Blocks are listed by kind, each list in document order. ``nested`` says that a block lies inside a quotation, a list or
a footnote; a format that gives blocks a meaning usually wants the top-level ones only.
"""

from __future__ import annotations

from dataclasses import dataclass

from prosa.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1–6. ``text`` is its inline source without the marks of the heading, ``content`` its span."""

    level: int
    text: str
    span: Span
    content: Span
    nested: bool


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``text`` is its source, line ends and inline marks included."""

    text: str
    span: Span
    nested: bool


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block. ``info`` is the info string as CommonMark decodes it.

    ``content`` are the pieces of the source that make up the code: more than one where a quotation or a list indents
    the lines. Line ends inside a piece are the author's own.
    """

    info: str
    span: Span
    content: tuple[Span, ...]
    nested: bool

    @property
    def language(self) -> str:
        """The first word of the info string, or an empty string."""
        words = self.info.split(maxsplit=1)
        return words[0] if words else ""


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed body. ``body`` is the part of the source that was parsed as Markdown."""

    source: SourceText
    body: Span
    headings: tuple[Heading, ...]
    paragraphs: tuple[Paragraph, ...]
    fences: tuple[Fence, ...]
