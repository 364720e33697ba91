"""Diagnostics for people, in the manner of compilers: place, code, headline, the line with carets, notes.

In: diagnostics. Out: text without terminal control characters, except for colours on request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from prosa.diagnostics import Annotation, Diagnostic, Severity
from prosa.render.plain import safe, safe_source, width
from prosa.source import SourceText, Span

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_COLORS = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;36m",
    Severity.HINT: "\x1b[1;32m",
}


def render_text(diagnostics: Sequence[Diagnostic], *, color: bool = False, brief: Collection[int] = frozenset()) -> str:
    """Return all diagnostics, a blank line between them; an empty text for none. Those at the positions ``brief`` are
    one line each."""
    pieces: list[str] = []
    for at, diagnostic in enumerate(diagnostics):
        if at:
            pieces.append("\n" if at in brief and at - 1 in brief else "\n\n")
        pieces.append(render_headline(diagnostic, color=color) if at in brief else "\n".join(_lines(diagnostic, color)))
    return "".join(pieces)


def render_headline(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """Return the first line alone: place, code, severity, message, rule."""
    return next(_lines(diagnostic, color))


def render_summary(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """Return the last line: the number of diagnostics by severity, and of checked documents."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    counted = [_count(counts[severity], _PLURALS[severity]) for severity in Severity if counts[severity]]
    checked = _count(files, ("document", "documents"))
    if not counted:
        return f"Nothing found in {checked}."
    return f"Found {', '.join(counted)} in {checked}."


def render_statistics(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one line for every rule that found something, most frequent first."""
    counts = Counter((diagnostic.code, diagnostic.rule, diagnostic.severity.value) for diagnostic in diagnostics)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "\n".join(f"{count:>6}  {code}  {severity:<7}  {rule}" for (code, rule, severity), count in rows)


_PLURALS = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("note", "notes"),
    Severity.HINT: ("hint", "hints"),
}


def _count(number: int, words: tuple[str, str]) -> str:
    return f"{number} {words[number != 1]}"


def _lines(diagnostic: Diagnostic, color: bool) -> Iterator[str]:
    line, column = diagnostic.start
    place = _paint(f"{safe(diagnostic.path)}:{line}:{column}:", _BOLD, color)
    severity = _paint(diagnostic.severity.value, _COLORS[diagnostic.severity], color)
    yield f"{place} {diagnostic.code} {severity}: {safe(diagnostic.message)} [{diagnostic.rule}]"
    gutter = " "
    if diagnostic.source.text and diagnostic.source.quotable:
        shown = excerpt(diagnostic.source, diagnostic.span)
        gutter = " " * len(str(shown.line))
        yield f"{gutter} {_dim('|', color)}"
        yield f"{_dim(f'{shown.line} |', color)} {shown.text}".rstrip()
        yield f"{gutter} {_dim('|', color)} {_paint(shown.carets, _COLORS[diagnostic.severity], color)}"
    for annotation in diagnostic.annotations:
        yield f"{gutter} {_dim('=', color)} see {_place(diagnostic, annotation)}: {safe(annotation.message)}"
    for note in diagnostic.notes:
        yield f"{gutter} {_dim('=', color)} help: {safe(note)}"
    if diagnostic.fix:
        yield f"{gutter} {_dim('=', color)} fix: {safe(diagnostic.fix.message)} ({diagnostic.fix.applicability.value})"


def _place(diagnostic: Diagnostic, annotation: Annotation) -> str:
    source = annotation.source or diagnostic.source
    line, column = source.position(annotation.span.start)
    return f"{safe(source.path)}:{line}:{column}"


def _paint(text: str, code: str, color: bool) -> str:
    return f"{code}{text}{_RESET}" if color else text


def _dim(text: str, color: bool) -> str:
    return _paint(text, _DIM, color)


# The source line under a diagnostic, with carets. In: a source and a span. Out: two lines of text, cut to a window.

WINDOW = 110
"""Characters of a source line that are shown; a long paragraph on one line is not repeated for every finding in it."""

_BEFORE = 40
"""Characters kept in front of the span where a line is cut."""


class SourceExcerpt(Struct, frozen=True):
    """``text`` is the line as shown, ``carets`` the marks under it, ``line`` its number."""

    line: int
    text: str
    carets: str


def excerpt(source: SourceText, span: Span) -> SourceExcerpt:
    """Return the first line of the span. An empty span has one caret. Work is bounded by `WINDOW`, not by the line."""
    at = min(span.start, len(source.text))
    line, column = source.position(at)
    line_start = at - (column - 1)
    shown_start = line_start if column - 1 <= WINDOW - _BEFORE else at - _BEFORE
    chunk = _first_line(_unread(source.text, shown_start, shown_start + WINDOW + 1))
    cut = len(chunk) > WINDOW
    chunk = chunk[:WINDOW]
    lead = "…" if shown_start > line_start else ""
    before = safe_source(chunk[: at - shown_start])
    marked = safe_source(chunk[at - shown_start : max(span.end, at) - shown_start])
    after = safe_source(chunk[max(span.end, at) - shown_start :])
    carets = " " * width(lead + before) + "^" * max(1, width(marked))
    return SourceExcerpt(line, (lead + before + marked + after + ("…" if cut else "")).rstrip(), carets)


_LONGEST = 2_000
"""Characters before and after a window in which a credential may begin and end."""


def _unread(text: str, start: int, end: int) -> str:
    """Return a piece of a text in which credentials are masked, so that no log repeats them."""
    begin = max(0, start - _LONGEST)
    from prosa.source.credentials import masked

    return masked(text[begin : end + _LONGEST])[start - begin : end - begin]


def _first_line(text: str) -> str:
    for end, char in enumerate(text):
        if char in "\r\n":
            return text[:end]
    return text
