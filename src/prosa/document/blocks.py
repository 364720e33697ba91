"""Blocks made of what the walk found: headings and their sections, paragraphs, code, quotations and lists."""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from prosa.document.model import Fence, Heading, Paragraph, Section
from prosa.document.walk import FoundCode, FoundHeading, Parsed, Piece, moved_pieces
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from pyromark.event import Range

_RUN = regex(r"`{3,}|~{3,}")
_LINE_END = regex(r"\r\n|\n|\r")
_BLANK = regex(r"\s*")
_BEFORE_LIST = regex(r"[ \t>]*")
_VISIBLE = frozenset({"Text", "Code", "SoftBreak", "HardBreak"})


def heading_texts(parsed: Parsed) -> tuple[str, ...]:
    """Return what a reader sees of each heading."""
    if parsed.masked:
        return tuple(_shown(parsed, heading) for heading in parsed.found.headings)
    return tuple(
        ["".join([text for kind, text, _ in heading.pieces if kind in _VISIBLE]) for heading in parsed.found.headings]
    )


def _shown(parsed: Parsed, heading: FoundHeading) -> str:
    pieces = moved_pieces(heading.pieces, heading.moved)
    return "".join([parsed.shown(text, parsed.span(where)) for kind, text, where in pieces if kind in _VISIBLE])


class OutlineEntry(NamedTuple):
    """What a table of contents needs of a heading besides its text: where it starts, and whether another block holds
    it."""

    level: int
    start: int
    nested: bool


def outline(parsed: Parsed) -> tuple[OutlineEntry, ...]:
    """Return the same of all headings, without the headings themselves."""
    place = parsed.place
    return tuple(
        [
            OutlineEntry(heading.level, place(heading.where["start"]), heading.outer is not None)
            for heading in parsed.found.headings
        ]
    )


def headings(parsed: Parsed, texts: Iterable[str]) -> tuple[Heading, ...]:
    """Return the headings, from their visible texts."""
    return tuple(_heading(parsed, heading, text) for heading, text in zip(parsed.found.headings, texts, strict=True))


def title(parsed: Parsed, texts: Sequence[str]) -> Heading | None:
    """Return the heading that names the document: the only one of level 1, where nothing that a reader sees stands
    above it (X45). None where it is empty, or where there is no such heading."""
    tops = [at for at, top in enumerate(parsed.found.headings) if top.level == 1 and top.outer is None]
    if len(tops) != 1 or not texts[tops[0]].strip():
        return None
    heading = _heading(parsed, parsed.found.headings[tops[0]], texts[tops[0]])
    return heading if _begins_at(parsed, heading.span.start) else None


def _begins_at(parsed: Parsed, end: int) -> bool:
    """Return whether nothing that a reader sees stands above an offset: blank space, comments, and lines that were
    hidden from the parser."""
    text, at = parsed.source.text, parsed.base
    while blank := _BLANK.match(text, at, end):
        at = blank.end()
        if at == end:
            return True
        line = text.find("\n", at, end)
        if text.startswith("<!--", at):
            at = text.find("-->", at + 2, end) + 3
            if at < 3:
                return False
        elif (
            parsed.masked
            and line > 0
            and parsed.source.slice(Span(at, line)) != parsed.text[at - parsed.base : line - parsed.base]
        ):
            at = line
        else:
            return False
    return False


def paragraphs(parsed: Parsed) -> tuple[Paragraph, ...]:
    """Return the paragraphs. The lines of a list without blank lines between its items are no paragraphs in
    CommonMark."""
    spans = ((parsed.block(where), nested) for where, nested in parsed.found.paragraphs)
    return tuple(Paragraph(parsed.source.slice(span), span, nested) for span, nested in spans)


def fences(parsed: Parsed) -> tuple[Fence, ...]:
    """Return the fenced code blocks."""
    return tuple(_fence(parsed, code, code.info) for code in parsed.found.code_blocks if code.info is not None)


def indented_code(parsed: Parsed) -> tuple[Span, ...]:
    """Return the indented code blocks, from their first character that is code."""
    return tuple(parsed.block(code.where) for code in parsed.found.code_blocks if code.info is None)


def containers(parsed: Parsed, ranges: "Iterable[Range]") -> tuple[Span, ...]:
    """Return the spans of quotations or footnotes, without blank lines at their end."""
    known: dict[int, int] = {}
    return tuple(_container(parsed, where, known) for where in ranges)


def lists(parsed: Parsed) -> tuple[Span, ...]:
    """Return the spans of lists, each from its first mark."""
    return _from_mark(parsed, parsed.found.lists)


def items(parsed: Parsed) -> tuple[Span, ...]:
    """Return the spans of the items of all lists, each from its mark."""
    return _from_mark(parsed, parsed.found.items)


def _from_mark(parsed: Parsed, ranges: "Iterable[Range]") -> tuple[Span, ...]:
    """Without the indentation in front of the mark, which the parser counts to some lists."""
    text = parsed.source.text
    marks = (_BEFORE_LIST.match(text, span.start, span.end) for span in containers(parsed, ranges))
    return tuple(Span(mark.end(), mark.endpos) for mark in marks if mark)


def _heading(parsed: Parsed, heading: FoundHeading, plain: str) -> Heading:
    span = parsed.block(heading.where)
    content = Span(span.start, span.start)
    if heading.pieces:
        start = parsed.place(heading.pieces[0][2]["start"] + heading.moved)
        start -= parsed.source.text[span.start : start].endswith("\\")  # the parser drops the mark of an escape
        content = Span(start, parsed.place(heading.end))
    return Heading(heading.level, parsed.source.slice(content), span, content, heading.outer is not None, plain)


def _fence(parsed: Parsed, code: FoundCode, info: str) -> Fence:
    text = parsed.source.text
    span = parsed.block(code.where)
    content = _joined(parsed, code.pieces)
    run = _RUN.match(text, span.start, span.end)
    mark = run.group() if run else "```"
    last = content[-1].end if content else _after_line(text, span)
    closed = mark in text[last : span.end]
    whole = span if closed else Span(span.start, max(span.end, last if content else span.end))
    return Fence(info, whole, content, bool(code.containers), closed, mark, code.containers, _expanded(parsed, code))


def _joined(parsed: Parsed, pieces: list[Piece]) -> tuple[Span, ...]:
    """Return the spans of the pieces; neighbours are one, and so are a line and its CRLF, which the parser takes
    apart."""
    text = parsed.source.text
    joined: list[Span] = []
    start = end = -1
    for _, _, where in pieces:
        first, last = parsed.place(where["start"]), parsed.place(where["end"])
        if first != end and not (first == end + 1 and text[end] == "\r"):
            if end > start:
                joined.append(Span(start, end))
            start = first
        end = last
    if end > start:
        joined.append(Span(start, end))
    return tuple(joined)


def _expanded(parsed: Parsed, code: FoundCode) -> str | None:
    """Return the code where a tab belongs half to a list and half to the code: then it is no slice of the source."""
    if parsed.masked or all(where["end"] > where["start"] for _, _, where in code.pieces):
        return None
    return "".join(text for _, text, _ in code.pieces)


def _after_line(text: str, span: Span) -> int:
    """Return where the line after the first one of a span begins, at most its end."""
    match = _LINE_END.search(text, span.start, span.end)
    return match.end() if match else span.end


def _container(parsed: Parsed, where: "Range", known: dict[int, int]) -> Span:
    start, end = parsed.place(where["start"]), parsed.place(where["end"])
    filled = _before_blank_lines(parsed, end, known)
    return Span(start, filled if filled > start else max(start, parsed.before_line_ends(end)))


def _before_blank_lines(parsed: Parsed, end: int, known: dict[int, int]) -> int:
    """Return ``end`` without the blank lines in front of it; marks of quotations count as blank.

    ``known`` keeps answers, so that blocks ending in the same blank lines do not read them again.
    """
    if end in known:
        return known[end]
    text, answer, at = parsed.source.text, end, end
    while at > parsed.base and text[at - 1] in " \t\r\n>":
        at -= 1
        if at in known:
            answer = known[at]
            break
        if text[at] in "\r\n":
            answer = at
    known[end] = answer
    return answer


# Sections: what stands under each heading.

_LEVELS = 7


def sections(parsed: Parsed, headings: Sequence[Heading], names: Sequence[str], body: Span) -> tuple[Section, ...]:
    """Return one section per heading, in document order, with its anchor."""
    made: list[Section] = []
    ends = _ends(parsed, headings, body.end)
    for heading, anchor, end in zip(headings, names, ends, strict=True):
        made.append(Section(heading, Span(heading.span.start, max(end, heading.span.end)), heading.level, anchor))
    return tuple(made)


def _ends(parsed: Parsed, headings: Sequence[Heading], end: int) -> list[int]:
    """Return where each section ends, found from the last heading to the first.

    Headings of one outermost block, or of none, are a sequence of their own.
    """
    ends: list[int] = []
    top, inner = [end] * _LEVELS, [end] * _LEVELS
    block = None
    for heading, parsed_heading in zip(reversed(headings), reversed(parsed.found.headings), strict=True):
        nexts = top
        if parsed_heading.outer is not None:
            if parsed_heading.outer["start"] != block:
                block = parsed_heading.outer["start"]
                inner = [parsed.block(parsed_heading.outer).end] * _LEVELS
            nexts = inner
        ends.append(nexts[heading.level])
        nexts[heading.level :] = [heading.span.start] * (_LEVELS - heading.level)
    return ends[::-1]
