"""What a parsed document holds. Spans count characters of the whole source, front matter included."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.source import Span

LinkForm: TypeAlias = Literal["inline", "reference", "autolink"]


class Heading(Struct, frozen=True):
    """A heading of level 1–6. ``text`` is its inline source without the markers of the heading, ``content`` its span;
    ``plain`` is its visible text: words and code, without markup."""

    level: int
    text: str
    span: Span
    content: Span
    nested: bool
    plain: str = ""


class Section(Struct, frozen=True):
    """A heading and the text under it, up to the next heading of the same or a higher level.

    ``anchor`` is the fragment that GitHub gives the heading: unique in the document, possibly empty. A nested heading
    has a section too; it ends with the outermost block around it, and does not end a section of the document.
    """

    heading: Heading
    span: Span
    level: int
    anchor: str


class Paragraph(Struct, frozen=True):
    """A paragraph; ``text`` is its source, line ends and inline marks included."""

    text: str
    span: Span
    nested: bool


class Fence(Struct, frozen=True):
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


class Link(Struct, frozen=True):
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


class LinkDefinition(Struct, frozen=True):
    """`[label]: destination`. The first of several with one label counts; the others are not listed."""

    label: str
    destination: str
    span: Span
    title: str = ""
    destination_span: Span | None = None


class CodeSpan(Struct, frozen=True):
    """Code inside a line. ``content`` lies between the backticks; ``text`` is it as CommonMark reads it."""

    text: str
    span: Span
    content: Span


class FootnoteReference(Struct, frozen=True):
    """`[^label]`. Labels are as written, blank space in them as one space; their case makes no difference."""

    label: str
    span: Span


class FootnoteDefinition(Struct, frozen=True):
    """`[^label]: …`. Definitions that share a label are all listed. ``content`` begins after the colon."""

    label: str
    span: Span
    content: Span
    code_spans: tuple[CodeSpan, ...] = ()


class Wikilink(Struct, frozen=True):
    """`[[target#fragment|label]]`; ``embed`` when an exclamation mark stands in front."""

    target: str
    label: str | None
    fragment: str | None
    embed: bool
    span: Span


class Html(Struct, frozen=True):
    """An HTML block, or one piece of HTML inside a line. ``text`` is its source without the marks of quotations
    around it; ``comment`` when it begins with a comment."""

    text: str
    span: Span
    block: bool
    comment: bool


class Cover:
    """The characters that at least one of ``spans`` covers."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in sorted(spans):
            if self._ends and span.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.end)
            elif len(span):
                self._starts.append(span.start)
                self._ends.append(span.end)

    def __contains__(self, offset: int) -> bool:
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]
