"""What a parsed document holds. Spans count characters of the whole source, front matter included.

Elements are listed by kind, each list in document order. ``nested`` says that a block lies inside a quotation, a list,
a table or a footnote; a format that gives blocks a meaning usually wants the top-level ones only. Where a string is the
text *as written*, it is a slice of the source; everything else is decoded as CommonMark says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prosa.source import Span

LinkForm: TypeAlias = Literal["inline", "reference", "autolink"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1–6. ``text`` is its inline source without the marks of the heading, ``content`` its span;
    ``plain`` is what a reader sees of it: words and code, without markup.
    """

    level: int
    text: str
    span: Span
    content: Span
    nested: bool
    plain: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, up to the next heading of the same or a higher level.

    ``anchor`` is the fragment that GitHub gives the heading: unique in the document, possibly empty. A nested heading
    has a section too; it ends with the outermost block around it, and it ends no section of the document itself.
    """

    heading: Heading
    span: Span
    level: int
    anchor: str


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
    the lines. Line ends inside a piece are the author's own. ``closed`` is False where the document, or the block
    around it, ends before the fence does. ``open_fence`` is the run of backticks or tildes that opens it.
    ``containers`` are the blocks around it, outermost first: ``quote``, ``list`` or ``footnote``. ``expanded`` is the
    code where a tab belongs half to a list and half to the code, so that no pieces of the source say it; else None.
    """

    info: str
    span: Span
    content: tuple[Span, ...]
    nested: bool
    closed: bool = True
    open_fence: str = "```"
    containers: tuple[str, ...] = ()
    expanded: str | None = None

    @property
    def language(self) -> str:
        """The first word of the info string, or an empty string."""
        words = self.info.split(maxsplit=1)
        return words[0] if words else ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link or an image. ``destination`` and ``title`` are decoded; ``text_span`` lies inside the square brackets
    (of an autolink: inside the angle brackets).

    ``destination_span`` is the destination as written, without angle brackets around it; None for a reference, whose
    destination stands in its definition. ``label`` is the label of a reference as written, else empty.
    """

    form: LinkForm
    destination: str
    title: str
    span: Span
    text_span: Span
    destination_span: Span | None
    label: str = ""


Image: TypeAlias = Link
"""An image has the same fields; ``text_span`` is its description."""


@dataclass(frozen=True, slots=True)
class LinkDefinition:
    """`[label]: destination`. The first of several with one label counts; the others are not listed."""

    label: str
    destination: str
    span: Span
    title: str = ""
    destination_span: Span | None = None


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """Code inside a line. ``content`` lies between the backticks; ``text`` is it as CommonMark reads it."""

    text: str
    span: Span
    content: Span


@dataclass(frozen=True, slots=True)
class FootnoteReference:
    """`[^label]`. Labels are as written, blank space in them as one space; their case makes no difference."""

    label: str
    span: Span


@dataclass(frozen=True, slots=True)
class FootnoteDefinition:
    """`[^label]: …`. Definitions that share a label are all listed. ``content`` begins after the colon."""

    label: str
    span: Span
    content: Span
    code_spans: tuple[CodeSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Wikilink:
    """`[[target#fragment|label]]`; ``embed`` when an exclamation mark stands in front."""

    target: str
    label: str | None
    fragment: str | None
    embed: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Html:
    """An HTML block, or one piece of HTML inside a line. ``text`` is its source without the marks of quotations
    around it; ``comment`` when it begins with a comment.
    """

    text: str
    span: Span
    block: bool
    comment: bool
