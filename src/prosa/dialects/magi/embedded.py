"""One JSON object inside a document: the content of an ai-script fence or of a relationship footnote.

In: the pieces of the source it is written in: the code of a fence in a list, a code span over two lines. Out: the
object, every offset, span, node and problem of it at its place in the source, and what is wrong with it.

It is read strictly first; only a text that is not JSON is read again as people write it (MA1): with commas at the end
of a list, and with comments: `//`, `/* … */`, and, as real documents have them, `#` to the end of the line and `<!-- …
-->`, outside of strings. These are blanked, so that the text keeps its length and lines, and the strict reader does
the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Entry, Mapping, Node, Reading, Scalar, read_json
from prosa.data import Sequence as Items
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name
from prosa.regex import regex
from prosa.source import SourceText, Span

_LINE = regex(r"[^\r\n]+|\r\n|\n|\r")
_MARKS = regex(r"[ \t>]*")


class Pieces(Struct, frozen=True):
    """The joined text of several spans: ``text`` is the pieces ``spans`` of a source, character for character;
    ``starts`` are the offsets in ``text`` at which they start."""

    text: str
    spans: tuple[Span, ...]
    starts: tuple[int, ...]

    def place(self, offset: int) -> int:
        """Return where a character of the text is in the source; the end of the text is the end of the last piece."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        span = self.spans[index]
        return min(span.start + offset - self.starts[index], span.end)

    def span(self, start: int, end: int) -> Span:
        """Return the stretch of the source from the first to the last of these characters."""
        first = self.place(start)
        return Span(first, max(first, self.place(end - 1) + 1 if end > start else first))

    def node(self, node: Node) -> Node:
        """Return a tree read from the text, with its spans in the source. Depth is bounded by the reader."""
        span = self.span(node.span.start, node.span.end)
        if isinstance(node, Scalar):
            return replace(node, span=span)
        if isinstance(node, Items):
            return Items(tuple(self.node(item) for item in node.items), span)
        return Mapping(tuple(self._entry(entry) for entry in node), span)

    def problem(self, problem: Problem) -> Problem:
        """Return a problem found in the text, with its places in the source. It has no fix yet."""
        annotations = tuple(
            replace(annotation, span=self.span(annotation.span.start, annotation.span.end))
            for annotation in problem.annotations
        )
        return replace(problem, span=self.span(problem.span.start, problem.span.end), annotations=annotations)

    def _entry(self, entry: Entry) -> Entry:
        key = replace(entry.key, span=self.span(entry.key.span.start, entry.key.span.end))
        return Entry(key, self.node(entry.value))


def joined(source: SourceText, spans: Sequence[Span], empty: int) -> Pieces:
    """Return the stretches of a fence. ``empty`` is where an empty text would stand."""
    merged = list(_merged(spans)) or [Span(empty, empty)]
    texts = [source.slice(span) for span in merged]
    return Pieces("".join(texts), tuple(merged), tuple(accumulate((len(text) for text in texts[:-1]), initial=0)))


def unfolded(source: SourceText, span: Span) -> Pieces:
    """Return inline text over several lines as a code span reads it: each line end becomes one space, and the
    container markers of the next line (white space, `>`) are removed."""
    if "\n" not in (text := source.slice(span)) and "\r" not in text:
        return Pieces(text, (span,), (0,))
    spans: list[Span] = []
    texts: list[str] = []
    for match in _LINE.finditer(text):
        line_end = match[0][0] in "\r\n"
        marks = 0 if line_end or match.start() == 0 else len(_leading(match[0]))
        start = span.start + (match.end() - 1 if line_end else match.start() + marks)
        spans.append(Span(start, span.start + match.end()))
        texts.append(" " if line_end else match[0][marks:])
    return Pieces("".join(texts), tuple(spans), tuple(accumulate((len(text) for text in texts[:-1]), initial=0)))


def _leading(line: str) -> str:
    match = _MARKS.match(line)
    return match[0] if match else ""


def _merged(spans: Iterable[Span]) -> Iterable[Span]:
    """Stretch that touch become one: most fences are a single stretch."""
    pending: Span | None = None
    for span in spans:
        if pending is not None and pending.end == span.start:
            pending = Span(pending.start, span.end)
            continue
        if pending is not None:
            yield pending
        pending = span
    if pending is not None:
        yield pending


_TOKEN = regex(r'"(?:[^"\\\r\n]++|\\[^\r\n])*+"?|//[^\r\n]*|#[^\r\n]*|/\*|<!--|[^\s"/#<]|\s+|.')
_NOT_BLANK = regex(r"[^\r\n]")
_CLOSING = {"/*": "*/", "<!--": "-->"}


class Lenient(Struct, frozen=True):
    """``text`` is the JSON with everything below blanked; spans count in it."""

    text: str
    comments: tuple[Span, ...]
    commas: tuple[Span, ...]


def tolerate(text: str) -> Lenient:
    """Return what a lenient reading of ``text`` skips. An unclosed comment is not one."""
    comments: list[Span] = []
    tokens: list[Span] = []
    missing: set[str] = set()
    at = 0
    while match := _TOKEN.match(text, at):
        token, at = match[0], match.end()
        if token in _CLOSING and token not in missing:
            end = text.find(_CLOSING[token], at)
            if end >= 0:
                at = end + len(_CLOSING[token])
                comments.append(Span(match.start(), at))
                continue
            missing.add(token)
        if token.startswith(("//", "#")):
            comments.append(Span(*match.span()))
        elif not token.isspace():
            tokens.append(Span(*match.span()))
    commas = tuple(
        first for first, second in pairwise(tokens) if first.of(text) == "," and second.of(text) in ("}", "]")
    )
    return Lenient(_blanked(text, sorted((*comments, *commas))), tuple(comments), commas)


def comment_lines(comment: str) -> list[str]:
    """Return the words of a comment without its marks, line by line, blank lines left out."""
    for opening, closing in _CLOSING.items():
        if comment.startswith(opening):
            inner = comment[len(opening) : -len(closing)]
            break
    else:
        inner = comment.lstrip("/") if comment.startswith("/") else comment.lstrip("#")
    lines = (re.sub(r"^\*(?!\*)", "", line.strip()).strip() for line in re.split(r"\r\n|\n|\r", inner))
    return [line for line in lines if line]


def _blanked(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], _NOT_BLANK.sub(" ", span.of(text)))
        done = span.end
    return "".join((*pieces, text[done:]))


_SYNTAX = frozenset({"json-syntax", "json-number", "nested-too-deep"})
"""What keeps a text from being the object that its author meant."""


class Embedded(Struct, frozen=True):
    """``node`` is None when there is no object. ``lenient`` says what was passed over, counted in the pieces' text."""

    node: Mapping | None
    problems: tuple[Problem, ...]
    lenient: Lenient | None = None


def read_embedded(pieces: Pieces, rule: str, what: str, *, tolerant: bool) -> Embedded:
    """Return the object. Syntax errors are reported as ``rule``; ``what`` names the place in messages."""
    reading = _placed(pieces, pieces.text)
    lenient: Lenient | None = None
    if tolerant and _broken(reading):
        passed = tolerate(pieces.text)
        if passed.comments or passed.commas:
            lenient, reading = passed, _placed(pieces, passed.text)
    problems = [about(problem, rule, what) for problem in reading.problems]
    node = reading.node
    if node is not None and not isinstance(node, Mapping) and not problems:
        problems.append(Problem(rule, f"{what} must be one JSON object, not {type_name(node)}", node.span))
    mapping = node if isinstance(node, Mapping) and not _broken(reading) else None
    return Embedded(mapping, tuple(problems), lenient)


def _placed(pieces: Pieces, text: str) -> Reading:
    """Return the reading of ``text``, as long as that of the pieces, with its places in the source."""
    if len(pieces.spans) == 1:
        return read_json(text, offset=pieces.spans[0].start)
    reading = read_json(text)
    node = pieces.node(reading.node) if reading.node is not None else None
    return Reading(node, tuple(pieces.problem(problem) for problem in reading.problems))


def _broken(reading: Reading) -> bool:
    return any(problem.rule in _SYNTAX for problem in reading.problems)


def about(problem: Problem, rule: str, what: str) -> Problem:
    """Return a problem of the JSON reader in words about ``what``, under the rule of that place."""
    if problem.rule not in ("json-syntax", "json-number"):
        return problem
    return replace(problem, rule=rule, message=f"{what} is not JSON: {problem.message}")
