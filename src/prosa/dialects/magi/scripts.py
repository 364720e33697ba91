"""ai-script blocks (M23–M40): the fences of a document in, scripts and their problems out. Nothing is run.

Only real fences count, in any place: an example inside a longer fence is text, a comment is a comment (MA2, MA3, MW1).
A block that is no JSON object is still a script, without data (MW2). Comments and trailing commas have a fix that
makes the content pure JSON (MA1, X22): the text of the comments moves, as one HTML comment, above the fence if there
is room; nothing else changes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from prosa.data import Entry, Mapping
from prosa.diagnostics import Fix, Problem, Severity
from prosa.dialects.fields import Owner, read_fields
from prosa.dialects.magi.embedded import Embedded, Lenient, Pieces, comment_lines, joined, read_embedded
from prosa.dialects.magi.fields import SCRIPT, SCRIPT_NAMES, in_kebab_case
from prosa.dialects.magi.model import Fields, Script
from prosa.document import Document, Fence
from prosa.regex import regex
from prosa.schema import check_schema_shape
from prosa.source import Edit, SourceText, Span

LANGUAGE = "ai-script"
"""The first word of the info string, exactly (M23, M40)."""

MAX_COMMENTS_ABOVE = 8
"""Comments before a block that are searched for its hint."""

_HINT = regex(r"(?:<!--|^)[ \t>]*AI-PROCESSOR\b", re.MULTILINE)
_NO_TYPE = "schema-without-type"


def read_scripts(
    document: Document, inside_region: Callable[[int], bool]
) -> tuple[tuple[Script, ...], tuple[Problem, ...]]:
    """Return the ai-script blocks in order. Blocks inside a managed region are results, not scripts (X19)."""
    comments = _comments(document)
    scripts: list[Script] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for fence in document.fences:
        if fence.language == LANGUAGE and not inside_region(fence.span.start):
            script, wrong = _script(document, fence, comments, seen)
            scripts.append(script)
            problems += wrong
    return tuple(scripts), tuple(problems)


def _script(
    document: Document, fence: Fence, comments: dict[int, Span], seen: set[str]
) -> tuple[Script, tuple[Problem, ...]]:
    source = document.source
    opening_line = source.lines.line(fence.span.start)
    pieces = joined(source, fence.content, _content_start(source, opening_line, fence))
    embedded = read_embedded(pieces, "script-syntax", "an ai-script block", tolerant=True)
    pure, passed = _passed_over(source, fence, pieces, embedded)
    fields, wrong = fields_of(embedded, source)
    address = address_of(fields.text("script-id"), opening_line, seen)
    hint = _hint(source, opening_line, comments)
    script = Script(fence, pieces, embedded.node, fields, opening_line, address, hint, pure)
    return script, (*embedded.problems, *passed, *wrong)


def _content_start(source: SourceText, opening_line: int, fence: Fence) -> int:
    starts = source.lines.starts
    return min(starts[opening_line] if opening_line < len(starts) else fence.span.end, fence.span.end)


def fields_of(embedded: Embedded, source: SourceText) -> tuple[Fields, tuple[Problem, ...]]:
    """Return the well-formed fields of one script and what is wrong with the others."""
    if embedded.node is None:
        return Fields({}), ()
    named, problems = in_kebab_case(embedded.node, SCRIPT_NAMES, source)
    anchor = Span(embedded.node.span.start, embedded.node.span.start + 1)
    entries, wrong = read_fields(named, SCRIPT, Owner("an ai-script block", anchor, unknown=Severity.INFO))
    return Fields(entries), (
        *problems,
        *(_about_id(problem, named) for problem in wrong),
        *_schema(entries.get("output-schema")),
    )


def _about_id(problem: Problem, mapping: Mapping) -> Problem:
    """Return the envelope of the API calls it `id`; in a block it is `script-id`."""
    entry = mapping.entry("id")
    if problem.rule != "missing-field" or "`script-id`" not in problem.message or entry is None:
        return problem
    note = "`id` is its name in the envelope of an API; in a document write `script-id`"
    return Problem(problem.rule, problem.message, entry.key.span, (note,))


def _schema(entry: Entry | None) -> Iterator[Problem]:
    """Yield the problems of the output schema. A result may be described loosely, so a missing type is allowed."""
    if entry is not None:
        yield from (problem for problem in check_schema_shape(entry.value) if problem.rule != _NO_TYPE)


def _passed_over(
    source: SourceText, fence: Fence, pieces: Pieces, embedded: Embedded
) -> tuple[tuple[Edit, ...], tuple[Problem, ...]]:
    """Return the edits to pure JSON, and a problem each for comments and for trailing commas (MA1).

    A block with other mistakes is left unchanged: its author's intent is unknown.
    """
    lenient = embedded.lenient
    if lenient is None:
        return (), ()
    fixable = embedded.node is not None
    problems: list[Problem] = []
    pure: list[Edit] = []
    if lenient.comments:
        edits = comment_edits(source, fence, pieces, lenient) if fixable else None
        fix = Fix("move the comments above the fence", edits) if edits else None
        pure += edits or ()
        first, more = lenient.comments[0], len(lenient.comments) - 1
        notes = (f"{more} more in this block",) if more else ()
        message = "JSON has no comments: the content of an ai-script block is one JSON object and nothing else"
        problems.append(Problem("comment-in-script", message, pieces.span(first.start, first.end), notes, fix=fix))
    if lenient.commas:
        commas = comma_edits(pieces, lenient)
        pure += commas if fixable else ()
        message = "JSON has no comma after the last item"
        removal = Fix("remove it", commas) if fixable else None
        problems.append(Problem("trailing-comma-in-script", message, commas[0].span, fix=removal))
    return tuple(pure), tuple(problems)


def address_of(script_id: str | None, line: int, seen: set[str]) -> str:
    """Return the address of a script in commands (MA9). ``seen`` are the ids of earlier scripts; this one is added."""
    if not script_id:
        return f"@{line}"
    address = f"{script_id}@{line}" if script_id in seen else script_id
    seen.add(script_id)
    return address


def _comments(document: Document) -> dict[int, Span]:
    """Return the comments that are blocks, by the line on which they end."""
    position = document.source.position
    blocks = (html.span for html in document.html if html.block and html.comment)
    return {position(max(span.start, span.end - 1)).line: span for span in blocks}


def _hint(source: SourceText, opening_line: int, comments: dict[int, Span]) -> Span | None:
    """Return the hint in front of a block, other comments between them or not (M40)."""
    line = opening_line - 1
    for _ in range(MAX_COMMENTS_ABOVE):
        comment = comments.get(line)
        if comment is None:
            return None
        if _HINT.search(source.slice(comment)):
            return comment
        line = source.position(comment.start).line - 1
    return None


_LINE_END = regex(r"\r\n|\n|\r")
_CLOSES = regex(r"--(!?)>")


def comment_edits(source: SourceText, fence: Fence, pieces: Pieces, lenient: Lenient) -> tuple[Edit, ...] | None:
    """Return the edits that move the comments; None if the fence starts a footnote and leaves no line above it."""
    line_start = source.lines.starts[source.position(fence.span.start).line - 1]
    prefix = source.text[line_start : fence.span.start]
    if "[^" in prefix:
        return None
    lines = [line for comment in lenient.comments for line in comment_lines(comment.of(pieces.text))]
    removals = tuple(Edit(span, "") for span in _removals(source, pieces, lenient))
    return (_insertion(source, fence, lines, prefix), *removals) if lines else removals


def comma_edits(pieces: Pieces, lenient: Lenient) -> tuple[Edit, ...]:
    """Return the edits that remove the last commas."""
    return tuple(Edit(pieces.span(comma.start, comma.end), "") for comma in lenient.commas)


def _insertion(source: SourceText, fence: Fence, lines: list[str], prefix: str) -> Edit:
    """Return the comment in front of the fence; further lines repeat the marks of the containers around it."""
    line_end = _LINE_END.search(source.text, fence.span.start)
    next_line = (line_end[0] if line_end else "\n") + re.sub(r"[^>\s]", " ", prefix)
    safe = [_CLOSES.sub(r"-- \1>", line) for line in lines]
    words = f"<!-- {safe[0]} -->" if len(safe) == 1 else next_line.join(("<!--", *safe, "-->"))
    return Edit(Span(fence.span.start, fence.span.start), words + next_line)


def _removals(source: SourceText, pieces: Pieces, lenient: Lenient) -> list[Span]:
    """Return where the comments stand: whole lines where these have nothing else, else with the space in front of
    them."""
    spans: list[Span] = []
    for lines, comments in _by_lines(pieces.text, lenient.comments):
        if lines.of(lenient.text).strip():
            spans += (pieces.span(_before_space(pieces.text, comment.start), comment.end) for comment in comments)
        else:
            spans.append(_source_lines(source, pieces, lines.start, lines.end))
    return spans


def _by_lines(text: str, comments: Iterable[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Yield the comments in groups that share no line, each with the lines it touches."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    lines = Span(0, 0)
    group: list[Span] = []
    for comment in comments:
        first = starts[bisect_right(starts, comment.start) - 1]
        after = bisect_right(starts, comment.end - 1)
        end = starts[after] if after < len(starts) else len(text)
        if group and first >= lines.end:
            yield lines, group
            group = []
        lines = Span(lines.start if group else first, end)
        group.append(comment)
    if group:
        yield lines, group


def _before_space(text: str, offset: int) -> int:
    while offset and text[offset - 1] in " \t":
        offset -= 1
    return offset


def _source_lines(source: SourceText, pieces: Pieces, start: int, end: int) -> Span:
    """Whole lines of the source, the marks of containers in front of them included."""
    lines = source.lines
    first = lines.starts[source.position(pieces.place(start)).line - 1]
    last = source.position(pieces.place(max(start, end - 1))).line
    return Span(first, lines.starts[last] if last < lines.count else len(source.text))
