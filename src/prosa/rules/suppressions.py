"""Suppressions: comments with which an author keeps a rule quiet for a line, a block or a document.

    <!-- prosa-ignore RULE… -->         alone on its line: the block that follows; within a line: that line
    <!-- prosa-ignore-file RULE… -->    the whole document
    # prosa-ignore RULE…                in front matter: the line it ends, or alone: the entry that follows

Rules go by name, code or beginning of a code, with commas or spaces between them; a reason may follow a colon. In: a
document with its front reading. Out: `Suppression`s. A comment inside code is code, and a `#` inside a value is text.
"""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from prosa.data import Node, Scalar, Sequence
from prosa.diagnostics import Fix, Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.front import FrontReading
from prosa.regex import regex
from prosa.rules.findings import MARK, Suppression
from prosa.rules.registry import names_and_codes, removed, rule_named, selected, selects
from prosa.rules.rule import Rule
from prosa.source import Edit, SourceText, Span

if TYPE_CHECKING:
    from prosa.document import Document

MAX_SUPPRESSIONS = 1_000
"""Maximum number of suppressions in one document, each name counted; each is compared with every finding near it."""

_HTML = regex(rf"<!--\s*{MARK}(?P<file>-file)?(?P<rest>(?:[\s:,].*?)?)-->", re.DOTALL)
_YAML = regex(rf"(?:(?<=[\s])|^)#[ \t]*{MARK}(?P<file>-file)?(?P<rest>(?:[ \t:,][^\r\n]*)?)(?=[\r\n]|\Z)", re.MULTILINE)
_NAME = regex(r"[^\s,]+")
_LINE_END = regex(r"[\r\n]")
_PASSED_OVER = regex(r"(?:[\s>]|<!--.*?-->)*", re.DOTALL)
"""What may stand between a suppression and its block: blank lines, marks of quotations, further comments."""
_BLANK_LINE = regex(r"(?:\r\n|\n|\r)[ \t]*(?=[\r\n]|\Z)")
_CONTAINER_MARKS = " \t>*+-"


def find_suppressions(front: FrontReading, document: "Document") -> tuple[Suppression, ...]:
    """Return the suppressions of a document, in document order."""
    if MARK not in front.source.text:
        return ()
    return tuple(_bounded(chain(_in_front_matter(front), _in_body(document))))


def _bounded(suppressions: Iterable[Suppression]) -> Iterator[Suppression]:
    """Yield those that are read; names count as well."""
    left = MAX_SUPPRESSIONS
    for suppression in suppressions:
        if left <= 0:
            return
        yield replace(suppression, names=suppression.names[:left])
        left -= max(1, len(suppression.names))


def _in_body(document: "Document") -> Iterator[Suppression]:
    source = document.source
    blocks: tuple[Span, ...] | None = None
    behind = _Behind(source.text)
    for comment in document.comments:
        match = _HTML.fullmatch(source.text, comment.start, comment.end)
        if match is None:
            continue
        names = _names(match)
        if match["file"]:
            yield Suppression(names, comment, source.whole)
        elif _alone(source, comment):
            blocks = _blocks(document) if blocks is None else blocks
            yield Suppression(names, comment, _next_block(source, comment, blocks, behind))
        else:
            yield Suppression(names, comment, _line(source, comment.start))


def _in_front_matter(front: FrontReading) -> Iterator[Suppression]:
    text = front.source.text
    matches = tuple(_YAML.finditer(text, front.anchor.end, front.body.start))
    scalars = tuple(_scalars(front.fields)) if matches and front.fields is not None else ()
    starts = [span.start for span in scalars]
    entry = _NO_ENTRY
    for match in matches:
        at = bisect_left(starts, match.start()) - 1
        if at >= 0 and match.start() < scalars[at].end:
            continue  # part of a value
        comment = Span(*match.span())
        if match["file"]:
            covers = front.source.whole
        elif _alone(front.source, comment, marks=" \t"):
            if not entry.after <= comment.end <= entry.start:  # several comments in a row are about one entry
                entry = _next_entry(front.source, comment.end, front.body.start)
            covers = Span(comment.start, max(comment.end, entry.end))
        else:
            covers = _line(front.source, comment.start)
        yield Suppression(_names(match), comment, covers)


def _names(match: re.Match[str]) -> tuple[tuple[str, Span], ...]:
    """Return the rules named before a colon."""
    start = match.start("rest")
    listed = match["rest"].partition(":")[0]
    return tuple((name_match[0], Span(*name_match.span()).shift(start)) for name_match in _NAME.finditer(listed))


def _alone(source: SourceText, comment: Span, marks: str = _CONTAINER_MARKS) -> bool:
    """Return whether nothing but the marks of quotations and lists shares the line with the comment."""
    before = source.text[_line_start(source, comment.start) : comment.start]
    return not before.strip(marks) and not source.text[comment.end : _line_end(source, comment.end)].strip()


def _line(source: SourceText, offset: int) -> Span:
    return Span(_line_start(source, offset), _line_end(source, offset))


def _line_start(source: SourceText, offset: int) -> int:
    return source.lines.starts[bisect_right(source.lines.starts, offset) - 1]


def _line_end(source: SourceText, offset: int) -> int:
    match = _LINE_END.search(source.text, offset)
    return match.start() if match else len(source.text)


def _blocks(document: "Document") -> tuple[Span, ...]:
    """Return the blocks of a document by their start, the longer first."""
    spans = [paragraph.span for paragraph in document.paragraphs]
    spans += [heading.span for heading in document.headings]
    spans += [fence.span for fence in document.fences]
    spans += [definition.span for definition in document.footnote_definitions]
    spans += [html.span for html in document.html if html.block and not html.comment]
    spans += [*document.indented_code, *document.quotes, *document.lists]
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end)))


class _Behind:
    """The text after comments that are visited in the order of a text. A range scanned for one comment is not scanned
    again for the next one in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._passed = Span(0, 0)
        self._blank = -1

    def first(self, at: int) -> int:
        """Return where the first text after a comment starts that is neither blank nor a comment."""
        if not self._passed.start <= at <= self._passed.end:
            match = _PASSED_OVER.match(self._text, at)
            self._passed = Span(at, match.end() if match else at)
        return self._passed.end

    def blank_line(self, at: int) -> int:
        """Return where the next blank line starts, else the end of the text."""
        if at > self._blank:
            match = _BLANK_LINE.search(self._text, at)
            self._blank = match.start() if match else len(self._text)
        return self._blank


def _next_block(source: SourceText, comment: Span, blocks: tuple[Span, ...], behind: _Behind) -> Span:
    """From the comment to the end of the block that follows; of a block that is not listed, to a blank line."""
    first = behind.first(comment.end)
    at = bisect_left(blocks, comment.end, key=lambda span: span.start)
    if at < len(blocks) and blocks[at].start <= _line_end(source, first):
        return Span(comment.start, blocks[at].end)
    return Span(comment.start, behind.blank_line(first))


class _Entry(NamedTuple):
    """The entry of YAML after an offset: where it starts, and where the deeper lines below it end."""

    after: int
    start: int
    end: int


_NO_ENTRY = _Entry(0, -1, 0)


def _next_entry(source: SourceText, after: int, end: int) -> _Entry:
    """Return the next line of YAML other than a comment, and the deeper lines below it."""
    depth: int | None = None
    start = last = after
    for line in _lines_after(source, after, end):
        text = line.of(source.text)
        if text == "---":
            break
        if depth is None:
            start = line.start
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        indent = len(text) - len(text.lstrip(" "))
        if depth is not None and indent <= depth:
            break
        depth = indent if depth is None else depth
        last = line.end
    return _Entry(after, start, last)


def _lines_after(source: SourceText, offset: int, end: int) -> Iterator[Span]:
    """Yield the lines behind the one of ``offset``, up to ``end``."""
    starts = source.lines.starts
    for start in islice(starts, bisect_right(starts, offset), None):
        if start >= end:
            return
        yield Span(start, _line_end(source, start))


def _scalars(node: Node) -> Iterator[Span]:
    """Yield the spans of all scalars, in order."""
    if isinstance(node, Scalar):
        yield node.span
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for entry in node:
            yield entry.key.span
            yield from _scalars(entry.value)


def apply_suppressions(
    problems: Iterable[Problem],
    suppressions: tuple[Suppression, ...],
    source: SourceText,
    wants: Callable[[Rule], bool],
    known: Mapping[str, Rule],
) -> list[Problem]:
    """Return the problems that are not suppressed, and those of the suppressions themselves: `unused-suppression` and
    `unknown-rule`. ``wants`` returns whether a rule is checked: a suppression of an unchecked rule may be needed and
    is not reported as unused. Rules that are ``known`` by name are not looked up."""
    used: set[Span] = set()

    def is_suppressed(problem: Problem) -> bool:
        return _is_suppressed(problem, known.get(problem.rule) or rule_named(problem.rule), suppressions, used)

    left = [problem for problem in problems if not is_suppressed(problem)]
    own = [complaint for suppression in suppressions for complaint in _complaints(suppression, used, source, wants)]
    return left + [problem for problem in own if not is_suppressed(problem)]


def _is_suppressed(problem: Problem, rule: Rule, suppressions: tuple[Suppression, ...], used: set[Span]) -> bool:
    """Return whether any suppression covers the problem; every name that does is used."""
    spans = [
        span
        for suppression in suppressions
        if suppression.covers.start <= problem.span.start <= suppression.covers.end
        for name, span in suppression.names
        if selects(name, rule)
    ]
    used.update(spans)
    return bool(spans)


def _complaints(
    suppression: Suppression, used: set[Span], source: SourceText, wants: Callable[[Rule], bool]
) -> Iterator[Problem]:
    if not suppression.names:
        yield Problem(
            "unused-suppression",
            "the comment names no rule, so it suppresses nothing",
            suppression.comment,
            ("write the names of the rules that should be quiet here",),
            fix=Fix("remove the comment", (_without(suppression, source),)),
        )
    for name, span in suppression.names:
        if span in used:
            continue
        rules = selected(name)
        if not rules and removed(name) is None:
            yield _unknown(name, span)
        elif any(map(wants, rules)):
            yield _unused(name, span, suppression, used, source)


def _unknown(name: str, span: Span) -> Problem:
    guess = nearest(name, names_and_codes())
    note = f"did you mean `{guess}`?" if guess else "prosa explain lists all rules"
    message = f"there is no rule `{name[:60]}` to suppress"
    return Problem("unknown-rule", message, span, (note,), misspelling=Misspelling(name, guess) if guess else None)


def _unused(name: str, span: Span, suppression: Suppression, used: set[Span], source: SourceText) -> Problem:
    """Return the fix removes the name, or the comment when no name of it is of use."""
    useless = all(name_span not in used for _, name_span in suppression.names)
    edit = _without(suppression, source) if useless else _without_name(span, source)
    what = "comment" if useless else "name"
    message = f"nothing to suppress: no `{name}` is found here"
    return Problem("unused-suppression", message, span, fix=Fix(f"remove the {what}", (edit,)))


def _without(suppression: Suppression, source: SourceText) -> Edit:
    """Remove the comment, with its line where it has one of its own."""
    comment, text = suppression.comment, source.text
    start, end = comment.start, comment.end
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    own_line = start == 0 or text[start - 1] in "\r\n"
    if own_line and text[end : end + 1] in ("\r", "\n"):
        end += 2 if text.startswith("\r\n", end) else 1
    elif own_line and end < len(text):
        start = comment.start
    return Edit(Span(start, end), "")


def _without_name(span: Span, source: SourceText) -> Edit:
    """Remove one name and the separator in front of it."""
    start = span.start
    while source.text[start - 1] in " \t\r\n,":
        start -= 1
    after = source.text[span.end : span.end + 1]
    return Edit(Span(start, span.end), "" if after in (" ", "\t", ",", "\r", "\n", ":", "-") else " ")
