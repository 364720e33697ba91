"""Suppressions: comments with which an author keeps a rule quiet for a line, a block or a document.

    <!-- prosa-ignore RULE… -->         alone on its line: the block that follows; within a line: that line
    <!-- prosa-ignore-file RULE… -->    the whole document
    # prosa-ignore RULE…                in front matter: the line it ends, or alone: the entry that follows

Rules go by name, code or beginning of a code, with commas or spaces between them; a reason may follow a colon. In: a
document with its front reading. Out: `Suppression`s. A comment inside code is code, and a `#` inside a value is text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from prosa.data import Node, Scalar, Sequence
from prosa.dialects.front import FrontReading
from prosa.rules.suppression import Suppression
from prosa.source import SourceText, Span

if TYPE_CHECKING:
    from prosa.document import Document

MARK = "prosa-ignore"
"""The word that makes a comment a suppression."""

MAX_SUPPRESSIONS = 1_000
"""Suppressions of one document. Nobody writes as many; each is compared with every finding near it."""

_HTML = re.compile(rf"<!--\s*{MARK}(?P<file>-file)?(?P<rest>(?:[\s:,].*?)?)\s*-->", re.DOTALL)
_YAML = re.compile(
    rf"(?:(?<=[\s])|^)#[ \t]*{MARK}(?P<file>-file)?(?P<rest>(?:[ \t:,][^\r\n]*)?)(?=[\r\n]|\Z)", re.MULTILINE
)
_NAME = re.compile(r"[^\s,]+")
_LINE_END = re.compile(r"[\r\n]")
_PASSED_OVER = re.compile(r"(?:[\s>]|<!--.*?-->)*", re.DOTALL)
"""What may stand between a suppression and its block: blank lines, marks of quotations, further comments."""
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?=[\r\n]|\Z)")
_CONTAINER_MARKS = " \t>*+-"


def find_suppressions(front: FrontReading, document: Document) -> tuple[Suppression, ...]:
    """The suppressions of a document, in document order."""
    if MARK not in front.source.text:
        return ()
    found = [*_in_front_matter(front), *_in_body(document)]
    return tuple(found[:MAX_SUPPRESSIONS])


def _in_body(document: Document) -> Iterator[Suppression]:
    source = document.source
    blocks: tuple[Span, ...] | None = None
    for comment in document.comments:
        match = _HTML.fullmatch(source.text, comment.start, comment.end)
        if match is None:
            continue
        names = _names(match)
        if match["file"]:
            yield Suppression(names, comment, source.whole)
        elif _alone(source, comment):
            blocks = _blocks(document) if blocks is None else blocks
            yield Suppression(names, comment, _next_block(source, comment, blocks))
        else:
            yield Suppression(names, comment, _line(source, comment.start))


def _in_front_matter(front: FrontReading) -> Iterator[Suppression]:
    text = front.source.text
    scalars = tuple(_scalars(front.fields)) if front.fields is not None else ()
    starts = [span.start for span in scalars]
    for match in _YAML.finditer(text, front.anchor.end, front.body.start):
        at = bisect_left(starts, match.start()) - 1
        if at >= 0 and match.start() < scalars[at].end:
            continue  # part of a value
        comment = Span(*match.span())
        if match["file"]:
            covers = front.source.whole
        elif _alone(front.source, comment, marks=" \t"):
            covers = _next_entry(front.source, comment, front.body.start)
        else:
            covers = _line(front.source, comment.start)
        yield Suppression(_names(match), comment, covers)


def _names(match: re.Match[str]) -> tuple[tuple[str, Span], ...]:
    """The rules named before a colon."""
    start = match.start("rest")
    listed = match["rest"].partition(":")[0]
    return tuple((each[0], Span(*each.span()).shift(start)) for each in _NAME.finditer(listed))


def _alone(source: SourceText, comment: Span, marks: str = _CONTAINER_MARKS) -> bool:
    """Whether nothing but the marks of quotations and lists shares the line with the comment."""
    before = source.text[_line_start(source, comment.start) : comment.start]
    return not before.strip(marks) and not source.text[comment.end : _line_end(source, comment.end)].strip()


def _line(source: SourceText, offset: int) -> Span:
    return Span(_line_start(source, offset), _line_end(source, offset))


def _line_start(source: SourceText, offset: int) -> int:
    return source.lines.starts[bisect_right(source.lines.starts, offset) - 1]


def _line_end(source: SourceText, offset: int) -> int:
    found = _LINE_END.search(source.text, offset)
    return found.start() if found else len(source.text)


def _blocks(document: Document) -> tuple[Span, ...]:
    """The blocks of a document by their start, the longer first."""
    spans = [each.span for each in document.paragraphs]
    spans += [each.span for each in document.headings]
    spans += [each.span for each in document.fences]
    spans += [each.span for each in document.footnote_definitions]
    spans += [each.span for each in document.html if each.block and not each.comment]
    spans += [*document.indented_code, *document.quotes, *document.lists]
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end)))


def _next_block(source: SourceText, comment: Span, blocks: tuple[Span, ...]) -> Span:
    """From the comment to the end of the block that follows; of a block that is not listed, to a blank line."""
    text = source.text
    following = _PASSED_OVER.match(text, comment.end)
    first = following.end() if following else comment.end
    at = bisect_left(blocks, comment.end, key=lambda span: span.start)
    if at < len(blocks) and blocks[at].start <= _line_end(source, first):
        return Span(comment.start, blocks[at].end)
    blank = _BLANK_LINE.search(text, first)
    return Span(comment.start, blank.start() if blank else len(text))


def _next_entry(source: SourceText, comment: Span, end: int) -> Span:
    """From the comment over the next line of YAML and the deeper lines below it."""
    depth: int | None = None
    last = comment.end
    for line in _lines_after(source, comment.end, end):
        text = line.of(source.text)
        if text == "---":
            break
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        indent = len(text) - len(text.lstrip(" "))
        if depth is not None and indent <= depth:
            break
        depth = indent if depth is None else depth
        last = line.end
    return Span(comment.start, last)


def _lines_after(source: SourceText, offset: int, end: int) -> Iterator[Span]:
    """The lines behind the one of ``offset``, up to ``end``."""
    starts = source.lines.starts
    for start in islice(starts, bisect_right(starts, offset), None):
        if start >= end:
            return
        yield Span(start, _line_end(source, start))


def _scalars(node: Node) -> Iterator[Span]:
    """The spans of all scalars, in order."""
    if isinstance(node, Scalar):
        yield node.span
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for entry in node:
            yield entry.key.span
            yield from _scalars(entry.value)
