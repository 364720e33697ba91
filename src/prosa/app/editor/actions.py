"""Quick fixes of diagnostics, fixing of everything in a document, and formatting, as edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import Edit, edits_between
from prosa.diagnostics import Applicability, Diagnostic
from prosa.dialects.reading import DialectReading
from prosa.rules.findings import MARK
from prosa.rules.fix import ends_lines_with_crlf, fix_documents, format_text, with_kept_hash, with_line_ends
from prosa.rules.suppressions import find_suppressions
from prosa.source import LineIndex, SourceText, apply_edits
from prosa.source.text import Edit as SourceEdit
from prosa.source.text import Span

MAX_OFFERED = 20
"""Maximum number of diagnostics in a range for which actions are offered."""

MAX_QUIET = 5
"""Diagnostics in a range for which comments are offered: each comment is tried before."""

UNSURE = " (may change the meaning)"


class Action(Struct, frozen=True):
    """``edits`` of one document, under a title. ``preferred`` marks the obvious choice."""

    kind: Literal["fix", "ignore"]
    title: str
    edits: tuple[Edit, ...]
    diagnostic: Diagnostic
    preferred: bool = False


def actions_in(workspace: Workspace, path: Path, start: int, end: int) -> tuple[Action, ...]:
    """Return what can be done about the diagnostics that touch a range: first all fixes, then all comments."""
    source = workspace.source(path)
    if source is None:
        return ()
    diagnostics = [
        diagnostic
        for diagnostic in workspace.found_in(path)
        if diagnostic.span.start <= end and start <= diagnostic.span.end and diagnostic.source.text == source.text
    ][:MAX_OFFERED]
    fixes = [action for diagnostic in diagnostics if (action := _fix(path, diagnostic)) is not None]
    by_rule = {
        (diagnostic.rule, _line(source.lines, diagnostic.span.start)): diagnostic
        for diagnostic in reversed(diagnostics)
    }
    some = [*reversed(by_rule.values())][:MAX_QUIET]
    comments = [action for diagnostic in some for action in _comments(workspace, path, source, diagnostic)]
    return (*fixes, *{(comment.title, comment.edits): comment for comment in comments}.values())


def fix_all(workspace: Workspace, path: Path) -> tuple[Edit, ...]:
    """Return the edits of every fix of a document that may be applied without asking, as `prosa check --fix` applies
    them. While it is found out, the workspace sees other texts of the document; afterwards all is as it was."""
    source = workspace.source(path)
    if source is None or not any(_is_safe(diagnostic) for diagnostic in workspace.found_in(path)):
        return ()
    text = workspace.texts.get(path)

    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> Sequence[Diagnostic]:
        del only
        workspace.update(path, texts.get(path, source.text))
        return workspace.found_in(path)

    diagnostics = workspace.found_in(path)
    try:
        fixed = fix_documents(diagnostics, {diagnostic.path: path for diagnostic in diagnostics}, recheck)
    finally:
        workspace.update(path, text)
    return edits_between(path, source.text, fixed.texts.get(path, source.text))


def _is_safe(diagnostic: Diagnostic) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.applicability is Applicability.SAFE


def _fix(path: Path, diagnostic: Diagnostic) -> Action | None:
    """Return the fix of a diagnostic as the command line would apply it alone."""
    if diagnostic.fix is None:
        return None
    text = diagnostic.source.text
    edits = with_line_ends(diagnostic.fix.edits, text, crlf=ends_lines_with_crlf(text))
    plain = apply_edits(text, edits)
    kept = with_kept_hash(diagnostic.source, plain)
    title = diagnostic.fix.message if _is_safe(diagnostic) else diagnostic.fix.message + UNSURE
    if kept == plain:
        placed = tuple(Edit(path, edit.span.start, edit.span.end, edit.replacement) for edit in edits)
    else:
        placed = edits_between(path, text, kept)
    return Action("fix", title, placed, diagnostic, preferred=_is_safe(diagnostic))


def _comments(workspace: Workspace, path: Path, source: SourceText, diagnostic: Diagnostic) -> Iterator[Action]:
    """Yield the comments that keep a rule quiet: here, and in the whole document."""
    reading, diagnostics = workspace.check_alone(source, path)
    before = _Judged(reading, _said(diagnostics))
    for title, candidates in (
        (f"ignore {diagnostic.rule} here", _here(reading, diagnostic)),
        (f"ignore {diagnostic.rule} in this file", _in_file(reading, diagnostic)),
    ):
        for edit in candidates:
            if _keeps_quiet(workspace, path, before, diagnostic, edit):
                placed = Edit(path, edit.span.start, edit.span.end, edit.replacement)
                yield Action("ignore", title, (placed,), diagnostic)
                break


def _here(reading: DialectReading[object], diagnostic: Diagnostic) -> Iterator[SourceEdit]:
    """Comments for the place of a diagnostic, the best first: a name in one that is there, one above the block, one at
    the end of the line, one above the line."""
    front, source, start = reading.front, reading.front.source, diagnostic.span.start
    lines = source.lines
    for suppression in find_suppressions(front, reading.document):
        if suppression.covers.start <= start <= suppression.covers.end != source.whole.end and suppression.names:
            yield _insert(suppression.names[-1][1].end, f", {diagnostic.rule}")
    line = _line(lines, start)
    begin, text = lines.starts[line - 1], lines.line_text(line)
    end = begin + len(text)
    if start < front.body.start:
        yield _insert(end, f"  # {MARK} {diagnostic.rule}")
        yield _insert(begin, f"{_indent(text)}# {MARK} {diagnostic.rule}{_eol(source)}")
        return
    comment = f"<!-- {MARK} {diagnostic.rule} -->"
    first = _block_start(reading, start)
    if first is not None:
        above = lines.line_text(_line(lines, first))
        at = lines.starts[_line(lines, first) - 1]
        yield _insert(at, f"{_marks(above)}{comment}{_eol(source)}")
    yield _insert(end, f" {comment}")
    yield _insert(begin, f"{_marks(text)}{comment}{_eol(source)}")


def _in_file(reading: DialectReading[object], diagnostic: Diagnostic) -> Iterator[SourceEdit]:
    """Comments for the whole document: a name in one that is there, one at the top of the front matter, one above the
    text, one below it."""
    front, source = reading.front, reading.front.source
    for suppression in find_suppressions(front, reading.document):
        if suppression.covers == source.whole and suppression.names:
            yield _insert(suppression.names[-1][1].end, f", {diagnostic.rule}")
    eol = _eol(source)
    line = _line(source.lines, front.anchor.end)
    if front.fields is not None and line < source.lines.count:
        yield _insert(source.lines.starts[line], f"# {MARK}-file {diagnostic.rule}{eol}")
    comment = f"<!-- {MARK}-file {diagnostic.rule} -->"
    yield _insert(front.body.start, f"{comment}{eol}{eol}")
    ends = source.text.endswith(("\n", "\r")) or not source.text
    yield _insert(len(source.text), f"{'' if ends else eol}{eol}{comment}{eol}")


class _Judged(NamedTuple):
    """A reading, and the number of its findings by content."""

    reading: DialectReading[object]
    said: Counter[tuple[str, str]]


def _keeps_quiet(workspace: Workspace, path: Path, before: _Judged, diagnostic: Diagnostic, edit: SourceEdit) -> bool:
    """Return whether a comment is read back as a suppression that covers the diagnostic, and nothing else reads
    otherwise."""
    source = before.reading.front.source
    after, diagnostics = workspace.check_alone(SourceText(apply_edits(source.text, [edit]), source.path), path)
    counts = _said(diagnostics)
    key = diagnostic.rule, diagnostic.message
    if not counts <= before.said or (key in before.said and counts[key] == before.said[key]):
        return False
    start = diagnostic.span.start + (len(edit.replacement) if edit.span.start <= diagnostic.span.start else 0)
    covered = any(
        suppression.covers.start <= start <= suppression.covers.end
        and diagnostic.rule in [name for name, _ in suppression.names]
        for suppression in find_suppressions(after.front, after.document)
    )
    others = _covered(before.reading) <= _covered(after, edit.replacement)
    return covered and others and _shape(after) == _shape(before.reading)


def _covered(reading: DialectReading[object], without: str = "") -> Counter[str]:
    """Return the range of a document's suppressions, as text; a new one must not be inserted between them and
    that range."""
    suppressions = find_suppressions(reading.front, reading.document)
    text = reading.front.source.text
    return Counter(
        suppression.covers.of(text).replace(without, "") if without else suppression.covers.of(text)
        for suppression in suppressions
    )


def _said(diagnostics: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((diagnostic.rule, diagnostic.message) for diagnostic in diagnostics)


def _shape(reading: DialectReading[object]) -> tuple[object, ...]:
    """Return the parts that a comment must leave unchanged."""
    document = reading.document
    targets = [link.destination for link in (*document.links, *document.images)]
    targets += [definition.destination for definition in document.definitions]
    notes = [definition.label for definition in document.footnote_definitions]
    headings = [heading.text for heading in document.headings]
    wikilinks = [wikilink.target for wikilink in document.wikilinks]
    return reading.name, headings, targets, notes, wikilinks, len(document.fences), len(document.lists)


def _insert(at: int, text: str) -> SourceEdit:
    return SourceEdit(Span(at, at), text)


def _line(lines: LineIndex, offset: int) -> int:
    return lines.line(offset)


def _block_start(reading: DialectReading[object], offset: int) -> int | None:
    """Return where the innermost block around a place begins."""
    document = reading.document
    spans = [block.span for some in (document.paragraphs, document.headings, document.fences) for block in some]
    spans += [definition.span for definition in document.footnote_definitions]
    enclosing = [span for span in spans if span.start <= offset <= span.end]
    return max(enclosing, key=lambda span: span.start).start if enclosing else None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _marks(line: str) -> str:
    """Return the indentation of a line and its marks of quotations."""
    return line[: len(line) - len(line.lstrip(" >"))]


def _eol(source: SourceText) -> str:
    return "\r\n" if ends_lines_with_crlf(source.text) else "\n"


class FormatEdits(Struct, frozen=True):
    """``edits`` bring a document to its normal form; ``problem`` says why it is left alone."""

    edits: tuple[Edit, ...] = ()
    problem: str = ""


def format_document(workspace: Workspace, path: Path) -> FormatEdits:
    """Return the edits of a whole document."""
    source = workspace.source(path)
    if source is None:
        return FormatEdits(problem=f"not formatted: {path} cannot be read")
    made = format_text(source, workspace.profile.hints(path))
    if made.text is not None:
        return FormatEdits(edits_between(path, source.text, made.text))
    line = source.position(made.problem.span.start).line if made.problem else 1
    words = f"{made.problem.message} [{made.problem.rule}]" if made.problem else made.reason
    return FormatEdits(problem=f"not formatted: {path.name}:{line}: {words}")


def format_range(workspace: Workspace, path: Path, start: int, end: int) -> FormatEdits:
    """Return those of them that change lines of a range."""
    edits = format_document(workspace, path)
    source = workspace.source(path)
    some = tuple(edit for edit in edits.edits if _touches(edit, start, end))
    if source is None or not some or some == edits.edits:
        return FormatEdits(some, edits.problem)
    text = apply_edits(source.text, [SourceEdit(Span(edit.start, edit.end), edit.text) for edit in some])
    again = format_text(SourceText(text, source.path), workspace.profile.hints(path))
    if again.text is None:
        return FormatEdits(problem=f"not formatted: {path.name}: its normal form needs changes outside the selection")
    return FormatEdits(some)


def _touches(edit: Edit, start: int, end: int) -> bool:
    """Return whether an edit changes lines of a range; one that inserts does at both of its ends."""
    return edit.start < end and start < edit.end if edit.start < edit.end else start <= edit.start <= end
