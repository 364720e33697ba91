"""CommonMark into a `Document`: one parsed body, its elements by kind, with character spans."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.document import anchors as anchor_names
from prosa.document import blocks, links
from prosa.document.blocks import OutlineEntry, containers
from prosa.document.links import InlinePlace
from prosa.document.model import (
    CodeSpan,
    Cover,
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
from prosa.document.rewalk import made_of_links, walk_recently
from prosa.document.walk import FoundLink, Parsed, Piece, encodable, mask
from prosa.regex import regex
from prosa.source import LineIndex, SourceText, Span
from prosa.source.values import PartlyCompared, PartlyShown, kept

if TYPE_CHECKING:
    from prosa.document.autolinks import Address

T = TypeVar("T")
Placed = TypeVar("Placed", Link, Wikilink)


_DOLLAR = regex(r"\$")

_MARKED = ("](", "<", "]: ")
"""What precedes the destination of a link: most documents have no other addresses, so none is searched for."""


class Document(PartlyShown, PartlyCompared, Struct, frozen=True, dict=True):
    """One parsed body. ``body`` is the part of the source that was parsed as Markdown.

    Each kind of element is a tuple in document order, built on first access: the parse itself only sorts events, and
    most readers need two or three kinds.
    """

    source: SourceText
    body: Span
    parsed: Parsed

    unshown: ClassVar = frozenset({"parsed"})
    uncompared: ClassVar = frozenset({"parsed"})

    def at(self, source: SourceText) -> Document:
        """Return the same for a source of the same text with another name."""
        return Document(source, self.body, replace(self.parsed, source=source))

    @kept
    def headings(self) -> tuple[Heading, ...]:
        """Headings, nested ones too."""
        return blocks.headings(self.parsed, self.heading_texts)

    @kept
    def outline(self) -> tuple[OutlineEntry, ...]:
        """Level, beginning and nesting of each heading. Who needs no more of it saves making the headings."""
        return blocks.outline(self.parsed)

    @kept
    def heading_texts(self) -> tuple[str, ...]:
        """What a reader sees of each heading: words and code, without markup. Most who ask need no more of it."""
        return blocks.heading_texts(self.parsed)

    @kept
    def heading_anchors(self) -> tuple[str, ...]:
        """GitHub's anchor of each heading, possibly empty."""
        return anchor_names.anchors_of(self.heading_texts)

    @kept
    def heading_names(self) -> Mapping[str, int]:
        """The numbers of the sections by everything that a fragment may call them (`anchors.heading_named`)."""
        written = ((section.anchor, section.heading.plain, section.heading.text) for section in self.sections)
        return anchor_names.heading_names(written)

    @kept
    def title(self) -> Heading | None:
        """The heading that names the document: the only one of level 1, where it is the first block (X45)."""
        return blocks.title(self.parsed, self.heading_texts)

    @kept
    def sections(self) -> tuple[Section, ...]:
        """One section per heading, with GitHub's anchor."""
        return blocks.sections(self.parsed, self.headings, self.heading_anchors, self.body)

    @kept
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Paragraphs. In a list without blank lines between its items the items hold none."""
        return blocks.paragraphs(self.parsed)

    @kept
    def fences(self) -> tuple[Fence, ...]:
        """Fenced code blocks."""
        return blocks.fences(self.parsed)

    @kept
    def indented_code(self) -> tuple[Span, ...]:
        """Indented code blocks, each from its first character that is code."""
        return blocks.indented_code(self.parsed)

    @kept
    def links(self) -> tuple[Link, ...]:
        """Inline links, references and autolinks; images and wikilinks are listed apart."""
        return self._outside_maths(links.links(self.parsed, images=False))

    @kept
    def images(self) -> tuple[Image, ...]:
        """Images."""
        return self._outside_maths(links.links(self.parsed, images=True))

    @kept
    def wikilinks(self) -> tuple[Wikilink, ...]:
        """Wikilinks and their embeds."""
        return self._outside_maths(links.wikilinks(self.parsed))

    @kept
    def addresses(self) -> tuple[Address, ...]:
        """The addresses in running text that stand for links without marks (GFM 6.9), in places of the source."""
        from prosa.document.autolinks import addresses  # only here: the graph alone asks

        text, base = self.parsed.text, self.body.start
        candidates = [*addresses(text, _MARKED)]
        if not candidates:
            return ()
        byte, marks = self.parsed.bytes.byte_offset, self.parsed.found
        inside = ((address, byte(address.start)) for address in candidates)
        candidates = [address for address, at in inside if not (marks.in_code(at) or marks.in_html(at))]
        if not candidates:
            return ()
        taken = Cover(
            (
                *map(self.parsed.span, (link.where for link in marks.links)),
                *(definition.span for definition in self.definitions),
            )
        )
        placed = (address._replace(start=address.start + base, end=address.end + base) for address in candidates)
        return tuple(
            address
            for address in placed
            if address.start not in taken and address.start not in self._maths and not self._is_masked(address)
        )

    @kept
    def definitions(self) -> tuple[LinkDefinition, ...]:
        """Link definitions, the first of each label."""
        return links.definitions(self.parsed)

    @kept
    def footnote_references(self) -> tuple[FootnoteReference, ...]:
        """References to footnotes that are defined."""
        return references(self.parsed)

    @kept
    def undefined_footnotes(self) -> tuple[FootnoteReference, ...]:
        """Text that looks like a reference to a footnote without a definition."""
        return undefined(self.parsed)

    @kept
    def footnote_definitions(self) -> tuple[FootnoteDefinition, ...]:
        """Definitions of footnotes, all that share a label."""
        return definitions(self.parsed, self.code_spans) if self.parsed.found.footnotes else ()

    @kept
    def code_spans(self) -> tuple[CodeSpan, ...]:
        """Code inside lines."""
        return code_spans(self.parsed)

    @kept
    def html(self) -> tuple[Html, ...]:
        """HTML blocks and inline HTML."""
        return html(self.parsed)

    @kept
    def comments(self) -> tuple[Span, ...]:
        """HTML comments, those inside an HTML block too."""
        return comments(self.parsed) if self.parsed.masked or "<!--" in self.html_text else ()

    @kept
    def html_text(self) -> str:
        """The HTML as the parser saw it, each piece behind a line end: one look tells what none of them holds."""
        result = self.parsed.found
        pieces = [text for text, _ in result.inline_html]
        pieces += [text for _, some in result.html_blocks for _, text, _ in some]
        return "\n" + "\n".join(pieces) if pieces else ""

    @kept
    def quotes(self) -> tuple[Span, ...]:
        """Block quotations; a quotation inside another is listed too."""
        return blocks.containers(self.parsed, self.parsed.found.quotes)

    @kept
    def lists(self) -> tuple[Span, ...]:
        """Lists; a list inside another is listed too."""
        return blocks.lists(self.parsed)

    @kept
    def items(self) -> tuple[Span, ...]:
        """The items of lists, those of inner lists too."""
        return blocks.items(self.parsed)

    @kept
    def anchors(self) -> frozenset[str]:
        """Every fragment that a link into this document can name: of its sections, and `id`s in its HTML."""
        named = ids(self.parsed) if self.parsed.masked or may_hold_ids(self.html_text) else ()
        return frozenset((*self.heading_anchors, *named)) - {""}

    @kept
    def block_names(self) -> frozenset[str]:
        """The names of blocks, in lower case: lines outside code that end with ` ^name` (YA21)."""
        text = self.source.text
        if "^" not in text:
            return frozenset()
        matches = NAMED_BLOCK.finditer(text)
        return frozenset(match[1].lower() for match in matches if not self.in_code(match.start(1)))

    def of_places(
        self,
        name: str,
        wanted: Callable[[str], bool],
        make: Callable[[InlinePlace], T | None],
        moved: Callable[[Sequence[T | None], int], list[T | None]],
    ) -> list[T]:
        """Return what ``make`` makes of the place of each inline link and image with a ``wanted`` destination, in the
        order of the text. It looks at nothing else than the place and the text there: in a text that is being edited,
        what lies apart from the change is ``moved`` by some characters, and found by its ``name``."""
        parsed = self.parsed

        def made(link: FoundLink) -> T | None:
            place = links.inline_place(parsed, link, wanted)
            return None if place is None or (dollars and place.at in self._maths) else make(place)

        dollars = self._has_dollars
        if dollars or parsed.masked:  # what stands elsewhere decides on each link
            made_links = [made(link) for link in parsed.found.links]
        else:
            made_links = made_of_links(parsed.found, f"{name} {parsed.base}", made, moved)
        return [link for link in made_links if link is not None]

    def fence_text(self, fence: Fence) -> str:
        """Return the code of a fence, with the author's line ends."""
        if fence.expanded is not None:
            return fence.expanded
        return "".join(self.source.slice(piece) for piece in fence.content)

    def in_code(self, offset: int) -> bool:
        """Return whether a character lies in a fence, in indented code or in a code span, its marks included."""
        return offset in self._code

    def is_running_text(self, offset: int) -> bool:
        """Return whether a character lies in no code, HTML, link, link definition or mathematics."""
        return offset not in self._taken and offset not in self._maths

    def in_comment(self, offset: int) -> bool:
        """Return whether a character lies in an HTML comment."""
        return offset in self._commented

    @kept
    def _code(self) -> Cover:
        fenced = (fence.span for fence in self.fences)
        return Cover((*fenced, *self.indented_code, *(span.span for span in self.code_spans)))

    @kept
    def _taken(self) -> Cover:
        """Spans that are not running text: code, HTML, links and their definitions."""
        links = (link.span for some in (self.links, self.images, self.wikilinks, self.definitions) for link in some)
        fenced = (fence.span for fence in self.fences)
        code = (*fenced, *self.indented_code, *(span.span for span in self.code_spans))
        return Cover((*links, *code, *(element.span for element in self.html)))

    def _is_masked(self, address: Address) -> bool:
        """Return whether part of an address was hidden from the parser: a template fills it in later."""
        if not self.parsed.masked:
            return False
        start, end = address.start - self.body.start, address.end - self.body.start
        return self.source.text[address.start : address.end] != self.parsed.text[start:end]

    @kept
    def _maths(self) -> Cover:
        """Spans of mathematics: they contain no links."""
        text, base, offset = self.parsed.text, self.body.start, self.parsed.bytes.offset_of_byte
        if not self._has_dollars:
            return Cover(())
        from prosa.document.maths import joined, maths  # only here: most documents hold none

        whole = joined(text, lambda at: self.in_code(at + base))
        spans = ((offset(math.where["start"]), offset(math.where["end"])) for math in maths(whole))
        return Cover(Span(start + base, end + base) for start, end in spans)

    @kept
    def _has_dollars(self) -> bool:
        """Whether two signs stand outside of code, which are needed for mathematics."""
        text = self.parsed.text
        if "$" not in text:
            return False
        from prosa.document.maths import may_hold_maths  # only here: most documents hold none

        if not may_hold_maths(text):
            return False
        byte, in_code = self.parsed.bytes.byte_offset, self.parsed.found.in_code
        outside = (True for match in _DOLLAR.finditer(text) if not in_code(byte(match.start())))
        return len(list(islice(outside, 2))) == 2

    def _outside_maths(self, places: tuple[Placed, ...]) -> tuple[Placed, ...]:
        if not places or not self._has_dollars:
            return places
        return tuple(link for link in places if link.span.start not in self._maths)

    @kept
    def _commented(self) -> Cover:
        return Cover(self.comments)


NAMED_BLOCK = regex(r"\^(?<![^\n \t]\^)([A-Za-z0-9-]+)[ \t]*(?=\r?$)", re.MULTILINE)
"""Where a line ends with the name of a block, ` ^id`; group 1 is the id. It begins with the circumflex, so that a
search jumps from one to the next; the text before it is checked there."""


# Code spans made of what the walk found.


def code_spans(parsed: Parsed) -> tuple[CodeSpan, ...]:
    """Return the code spans. Where the parser cuts one in two, taking a bar in it for that of a wikilink, there is
    none."""
    return tuple(_code_spans(parsed))


def _code_spans(parsed: Parsed) -> Iterator[CodeSpan]:
    source = parsed.source.text
    for text, where in parsed.found.code_spans:
        span = parsed.span(where)
        written = source[span.start : span.end]
        ticks = len(written) - len(written.lstrip("`"))
        if 0 < 2 * ticks < len(written):
            content = Span(span.start + ticks, span.end - ticks)
            yield CodeSpan(parsed.shown(text, content), span, content)


# HTML made of what the walk found: blocks and pieces in lines, the comments in them, and the ids they carry.

_TAG = regex(r"<[A-Za-z][^<>]*>")
_ID = regex(r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""", re.IGNORECASE)

_ASSIGNED = regex(r"\s(?:id|name)\s*=", re.IGNORECASE)
"""What `_ID` finds begins so."""


def html(parsed: Parsed) -> tuple[Html, ...]:
    """Return HTML blocks and inline HTML in document order."""
    htmls = [*_blocks(parsed), *_inline(parsed)]
    return tuple(sorted(htmls, key=lambda element: element.span.start))


def comments(parsed: Parsed) -> tuple[Span, ...]:
    """Return the comments, from `<!--` to `-->`, also those inside an HTML block; one without an end ends with its
    block."""
    text = parsed.source.text
    return tuple(
        span for outer in html_spans(parsed, lambda written: "<!--" in written) for span in _comments_in(text, outer)
    )


def html_spans(parsed: Parsed, wanted: Callable[[str], bool]) -> list[Span]:
    """Return where HTML stands of which a line, or a piece within one, is ``wanted``, in document order."""
    result, every = parsed.found, parsed.masked  # what was hidden from the parser may hold what is wanted
    spans = [parsed.span(where) for text, where in result.inline_html if every or wanted(text)]
    spans += [
        parsed.block(where)
        for where, pieces in result.html_blocks
        if every or any(wanted(piece[1]) for piece in pieces)
    ]
    return sorted(spans)


def may_hold_ids(written: str) -> bool:
    """Return whether tags in ``written``, pieces of HTML each behind a line end, may have an id."""
    return "=" in written and _ASSIGNED.search(written) is not None


def ids(parsed: Parsed) -> Iterator[str]:
    """Yield the values of `id` and `name` in HTML tags, which links can point at."""
    blocks = (_text_of_block(parsed, pieces) for _, pieces in parsed.found.html_blocks if _may_assign(parsed, pieces))
    inline = (
        parsed.source.slice(parsed.span(where))
        for text, where in parsed.found.inline_html
        if parsed.masked or "=" in text
    )
    for text in (*blocks, *inline):
        if "=" in text and not _is_comment(text):
            for tag in _TAG.finditer(text):
                yield from (match[1] or match[2] or match[3] or "" for match in _ID.finditer(tag.group()))


def _may_assign(parsed: Parsed, pieces: Sequence[Piece]) -> bool:
    return parsed.masked or any("=" in text for _, text, _ in pieces)


def _blocks(parsed: Parsed) -> Iterator[Html]:
    for where, pieces in parsed.found.html_blocks:
        text = _text_of_block(parsed, pieces)
        yield Html(text, parsed.block(where), block=True, comment=_is_comment(text))


def _text_of_block(parsed: Parsed, pieces: Sequence[Piece]) -> str:
    return "".join(parsed.source.slice(parsed.span(piece)) for _, _, piece in pieces).rstrip("\r\n")


def _inline(parsed: Parsed) -> Iterator[Html]:
    for _, where in parsed.found.inline_html:
        span = parsed.span(where)
        text = parsed.source.slice(span)
        yield Html(text, span, block=False, comment=_is_comment(text))


def _is_comment(text: str) -> bool:
    """Only a block has blanks in front of it."""
    return text.lstrip(" ").startswith("<!--")


def _comments_in(text: str, span: Span) -> Iterator[Span]:
    start, end = span.start, span.end
    while (start := text.find("<!--", start, end)) >= 0:
        close = text.find("-->", start + 2, end)  # `<!-->` is a whole comment
        stop = end if close < 0 else close + 3
        yield Span(start, stop)
        start = stop


# Footnotes built from what the walk found: references, definitions, and references without a definition.  The parser
# gives the last kind as plain text, its opening bracket as a piece of its own; whether such a piece begins `[^label]`
# is looked up in the source.

_REFERENCE = regex(r"\[\^([^\s\[\]`<>]+)\]")
_GAP = regex(r"[ \t]*")


def references(parsed: Parsed) -> tuple[FootnoteReference, ...]:
    """Return the references that have a definition, also those that the parser gives as text: `[^a][b]` without a
    `b`."""
    spans = ((label, parsed.span(where)) for label, where in parsed.found.footnote_references)
    recognised = [
        FootnoteReference(parsed.shown(label, Span(span.start + 2, span.end - 1)), span) for label, span in spans
    ]
    texts, defined = _as_text(parsed), _defined(parsed)
    missed = [text for text in texts if _folded(text.label) in defined]
    return tuple(sorted((*recognised, *missed), key=lambda reference: reference.span.start) if missed else recognised)


def undefined(parsed: Parsed) -> tuple[FootnoteReference, ...]:
    """Return the references without a definition. A label there has no blank space: `[^ a]` is running text."""
    if not parsed.found.brackets:  # most texts hold none
        return ()
    texts, defined = _as_text(parsed), _defined(parsed)
    return tuple(text for text in texts if _folded(text.label) not in defined)


def _as_text(parsed: Parsed) -> list[FootnoteReference]:
    starts = (parsed.place(where["start"]) for where in parsed.found.brackets)
    matches = (_REFERENCE.match(parsed.source.text, start) for start in starts)
    return [FootnoteReference(match[1], Span(*match.span())) for match in matches if match]


def _defined(parsed: Parsed) -> frozenset[str]:
    return frozenset(_folded(label) for label, _ in parsed.found.footnotes)


def _folded(label: str) -> str:
    """Return a label for comparison: case does not count."""
    return label.casefold()


def definitions(parsed: Parsed, code_spans: Sequence[CodeSpan]) -> tuple[FootnoteDefinition, ...]:
    """Return the definitions, with those of ``code_spans`` that lie in them."""
    starts = [code.span.start for code in code_spans]
    spans = containers(parsed, (where for _, where in parsed.found.footnotes))
    made = []
    for (label, _), span in zip(parsed.found.footnotes, spans, strict=True):
        inside = code_spans[bisect_left(starts, span.start) : bisect_left(starts, span.end)]
        made.append(FootnoteDefinition(label, span, _content(parsed, span), tuple(inside)))
    return tuple(made)


def _content(parsed: Parsed, span: Span) -> Span:
    """Return what follows the colon and the blank space behind it."""
    mark = parsed.text.find("]:", span.start - parsed.base, span.end - parsed.base) + parsed.base
    gap = _GAP.match(parsed.source.text, mark + 2, span.end)
    start = gap.end() if gap else mark + 2
    return Span(start, max(start, span.end))


# CommonMark into a `Document`. In: a source and the span of its body. Out: elements with character spans.

_LONE_CR = regex(r"\r(?!\n)")
_TAB_AT_END = regex(r"[\t\f\v] *(?:\r?\n|\Z)")


def parse(source: SourceText, *, body: Span | None = None, masked: Sequence[Span] = ()) -> Document:
    """Return the document of ``source``. ``body`` is the part that is Markdown (default: all of it but a byte-order
    mark); ``masked`` are ordered spans of the source, template actions say, that must not take part in the
    structure."""
    body = _whole(source) if body is None else body
    inside = [span.shift(-body.start) for span in masked if span.start >= body.start and span.end <= body.end]
    text = _readable(mask(source.slice(body), inside))
    try:
        result = walk_recently(text)
    except UnicodeEncodeError:  # the parser refuses lone surrogates, and few texts hold any
        text = encodable(text)
        result = walk_recently(text)
    parsed = Parsed(source, text, body.start, bool(inside), LineIndex(text), result)
    return Document(source, body, parsed)


def _whole(source: SourceText) -> Span:
    return Span(1 if source.text.startswith("\ufeff") else 0, len(source.text))


def _readable(text: str) -> str:
    """Return ``text`` for the parser, each character where it was. The parser knows a lone CR as the end of some lines
    only (X2: of any line); a tab or a form feed behind a heading hides its closing marks from it."""
    if "\r" in text:
        text = _LONE_CR.sub("\n", text)
    # Few texts have such a line, and splitting all lines costs more than looking for one.
    if "#" in text and any(char in text for char in "\t\f\v") and _TAB_AT_END.search(text):
        text = "\n".join(_without_last_tabs(line) if "#" in line else line for line in text.split("\n"))
    return text


def _without_last_tabs(line: str) -> str:
    """Blank space at the end of a line as spaces. Whether that makes a hard line break is nothing we ask for."""
    end = "\r" if line.endswith("\r") else ""
    kept = line.rstrip(" \t\f\v\r")
    return kept + " " * (len(line) - len(kept) - len(end)) + end


def fence_texts(text: str, *, languages: Sequence[str]) -> tuple[str, ...]:
    """Return the code of every fence in one of ``languages`` (``""``: no language), in order. Case is ignored."""
    document = parse(SourceText(text))
    wanted = {language.lower() for language in languages}
    return tuple(document.fence_text(fence) for fence in document.fences if fence.language.lower() in wanted)
