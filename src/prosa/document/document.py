"""One parsed body, its elements by kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from prosa.document import blocks, code, footnotes, html, links, sections
from prosa.document.cover import Cover
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
from prosa.document.parsed import Parsed
from prosa.source import SourceText, Span


@dataclass(frozen=True)
class Document:
    """One parsed body. ``body`` is the part of the source that was parsed as Markdown.

    Each kind of element is a tuple in document order, built when it is first asked for: the parse itself only sorts
    events, and most readers want two or three kinds.
    """

    source: SourceText
    body: Span
    parsed: Parsed = field(repr=False, compare=False)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """Headings, nested ones too."""
        return blocks.headings(self.parsed)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """One section per heading, with GitHub's anchor."""
        return sections.sections(self.parsed, self.headings, self.body)

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Paragraphs. In a list without blank lines between its items the items hold none."""
        return blocks.paragraphs(self.parsed)

    @cached_property
    def fences(self) -> tuple[Fence, ...]:
        """Fenced code blocks."""
        return blocks.fences(self.parsed)

    @cached_property
    def indented_code(self) -> tuple[Span, ...]:
        """Indented code blocks, each from its first character that is code."""
        return blocks.indented_code(self.parsed)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Inline links, references and autolinks; images and wikilinks are listed apart."""
        return links.links(self.parsed, images=False)

    @cached_property
    def images(self) -> tuple[Image, ...]:
        """Images."""
        return links.links(self.parsed, images=True)

    @cached_property
    def wikilinks(self) -> tuple[Wikilink, ...]:
        """Wikilinks and their embeds."""
        return links.wikilinks(self.parsed)

    @cached_property
    def definitions(self) -> tuple[LinkDefinition, ...]:
        """Link definitions, the first of each label."""
        return links.definitions(self.parsed)

    @cached_property
    def footnote_references(self) -> tuple[FootnoteReference, ...]:
        """References to footnotes that are defined."""
        return footnotes.references(self.parsed)

    @cached_property
    def undefined_footnotes(self) -> tuple[FootnoteReference, ...]:
        """What looks like a reference to a footnote and has no definition."""
        return footnotes.undefined(self.parsed)

    @cached_property
    def footnote_definitions(self) -> tuple[FootnoteDefinition, ...]:
        """Definitions of footnotes, all that share a label."""
        return footnotes.definitions(self.parsed, self.code_spans) if "[^" in self.source.text else ()

    @cached_property
    def code_spans(self) -> tuple[CodeSpan, ...]:
        """Code inside lines."""
        return code.code_spans(self.parsed)

    @cached_property
    def html(self) -> tuple[Html, ...]:
        """HTML blocks and inline HTML."""
        return html.html(self.parsed)

    @cached_property
    def comments(self) -> tuple[Span, ...]:
        """HTML comments, those inside an HTML block too."""
        return html.comments(self.parsed, self.html)

    @cached_property
    def quotes(self) -> tuple[Span, ...]:
        """Block quotations; a quotation inside another is listed too."""
        return blocks.containers(self.parsed, self.parsed.found.quotes)

    @cached_property
    def lists(self) -> tuple[Span, ...]:
        """Lists; a list inside another is listed too."""
        return blocks.lists(self.parsed)

    @cached_property
    def items(self) -> tuple[Span, ...]:
        """The items of lists, those of inner lists too."""
        return blocks.items(self.parsed)

    @cached_property
    def anchors(self) -> frozenset[str]:
        """Every fragment that a link into this document can name: of its sections, and `id`s in its HTML."""
        written = html.ids(self.html) if html.may_have_ids(self.source.text) else ()
        return frozenset((*(section.anchor for section in self.sections), *written)) - {""}

    def fence_text(self, fence: Fence) -> str:
        """The code of a fence, with the author's line ends."""
        if fence.expanded is not None:
            return fence.expanded
        return "".join(self.source.slice(piece) for piece in fence.content)

    def in_code(self, offset: int) -> bool:
        """Whether a character lies in a fence, in indented code or in a code span, its marks included."""
        return offset in self._code

    def in_comment(self, offset: int) -> bool:
        """Whether a character lies in an HTML comment."""
        return offset in self._commented

    @cached_property
    def _code(self) -> Cover:
        fenced = (fence.span for fence in self.fences)
        return Cover((*fenced, *self.indented_code, *(each.span for each in self.code_spans)))

    @cached_property
    def _commented(self) -> Cover:
        return Cover(self.comments)
