"""Fixes: the edits that diagnostics propose, applied and checked again before they are written; and the normal form of
one document (X22)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.diagnostics import Applicability, Diagnostic, Problem, Severity
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.reading import DialectReading, dialect_of, open_document
from prosa.dialects.table import dialect, dialect_of_file_name
from prosa.rules.registry import rule_named
from prosa.source import Edit, OverlappingEdits, SourceText, Span, apply_edits
from prosa.source.files import sha256

MAX_PASSES = 20
"""Rounds of fixing. Fixes overlap rarely, two or three deep; more rounds mean that two rules contradict each other."""

MAX_TRIED = 50
"""Fixes of one document that are tried one by one, when all together do harm."""

Recheck: TypeAlias = Callable[[Mapping[Path, str], Collection[Path] | None], Sequence[Diagnostic]]
"""Checks with these texts in place of the files, all documents or only some, and returns the diagnostics."""


class Dropped(Struct, frozen=True):
    """A fix that was not applied, and why."""

    diagnostic: Diagnostic
    reason: str


class Fixed(Struct, frozen=True):
    """``texts`` are the changed texts by real path; ``counts`` the number of fixes in each; ``diagnostics`` are
    the remaining ones."""

    texts: Mapping[Path, str]
    counts: Mapping[Path, int]
    dropped: tuple[Dropped, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def count(self) -> int:
        """Fixes in all."""
        return sum(self.counts.values())


def fix_documents(
    diagnostics: Sequence[Diagnostic], reals: Mapping[str, Path], recheck: Recheck, *, unsafe: bool = False
) -> Fixed:
    """Apply all permitted fixes. ``reals`` gives the real path of every document that may change, by the path of its
    diagnostics; with ``unsafe`` fixes that may change a meaning are applied too."""
    work = _Work(reals, recheck, unsafe, tuple(diagnostics))
    for _ in range(MAX_PASSES):
        if not work.advance():
            break
    return Fixed(work.texts, work.counts, tuple(work.dropped.values()), work.diagnostics)


_Key: TypeAlias = tuple[str, str]


class _Work(Struct):
    """The state of one run of fixes. A dropped fix is known by its path, rule and message, for spans move."""

    reals: Mapping[str, Path]
    recheck: Recheck
    unsafe: bool
    diagnostics: tuple[Diagnostic, ...]
    texts: dict[Path, str] = field(default_factory=dict)
    dropped: dict[tuple[str, str, str], Dropped] = field(default_factory=dict)
    counts: Counter[Path] = field(default_factory=Counter)
    crlf: dict[str, bool] = field(default_factory=dict)
    """Whether the lines of a document end with CRLF, by the path of its diagnostics; decided from its first text."""

    def advance(self) -> bool:
        """One pass; False when there was nothing to fix."""
        chosen = self._choose()
        if not chosen:
            return False
        for path, fixes in chosen.items():
            self.crlf.setdefault(path, ends_lines_with_crlf(fixes[0].source.text))
        proposed = {self.reals[path]: self._applied(path, fixes) for path, fixes in chosen.items()}
        after = self._by_path(self.recheck({**self.texts, **proposed}, None))
        before = self._by_path(self.diagnostics)
        good = {path: fixes for path, fixes in chosen.items() if _complaint(fixes, before[path], after[path]) is None}
        for path in chosen.keys() - good.keys():
            good[path] = self._sorted_out(path, chosen[path], before[path])
        changed = {path: fixes for path, fixes in good.items() if fixes}
        self.texts |= {self.reals[path]: self._applied(path, fixes) for path, fixes in changed.items()}
        self.counts.update({self.reals[path]: len(fixes) for path, fixes in changed.items()})
        if changed != chosen:
            self.diagnostics = tuple(self.recheck(self.texts, None))
        else:
            self.diagnostics = tuple(diagnostic for diagnostics in after.values() for diagnostic in diagnostics)
        return bool(changed) or bool(chosen)

    def _applied(self, path: str, fixes: Sequence[Diagnostic]) -> str:
        """Return the text after all of these fixes, and with the hash of it that it keeps."""
        source = fixes[0].source
        edits = dict.fromkeys(edit for fix in fixes for edit in _edits(fix))
        return with_kept_hash(
            source, apply_edits(source.text, with_line_ends(edits, source.text, crlf=self.crlf[path]))
        )

    def _by_path(self, diagnostics: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
        by_path: dict[str, list[Diagnostic]] = {path: [] for path in self.reals}
        for diagnostic in diagnostics:
            by_path.setdefault(diagnostic.path, []).append(diagnostic)
        return by_path

    def _choose(self) -> dict[str, list[Diagnostic]]:
        """Fix that do not overlap, by path. The first in the document wins; equal edits count once."""
        chosen: dict[str, list[Diagnostic]] = {}
        for path, diagnostics in self._by_path(self.diagnostics).items():
            if path in self.reals and (
                some := _apart(diagnostic for diagnostic in diagnostics if self._may_fix(diagnostic))
            ):
                chosen[path] = some
        return chosen

    def _may_fix(self, diagnostic: Diagnostic) -> bool:
        allowed = diagnostic.fix is not None and (self.unsafe or diagnostic.fix.applicability is Applicability.SAFE)
        return allowed and (diagnostic.path, *_key(diagnostic)) not in self.dropped

    def _sorted_out(self, path: str, fixes: list[Diagnostic], before: list[Diagnostic]) -> list[Diagnostic]:
        """Return the fixes that do no harm alone; all of them when they do none together, else the first."""
        good: list[Diagnostic] = []
        for fix in fixes[:MAX_TRIED]:
            complaint = self._tried(path, [fix], before)
            if complaint is None:
                good.append(fix)
            else:
                self.dropped[(path, *_key(fix))] = Dropped(fix, complaint)
        if len(good) > 1 and self._tried(path, good, before) is not None:
            return good[:1]
        return good

    def _tried(self, path: str, fixes: list[Diagnostic], before: list[Diagnostic]) -> str | None:
        real = self.reals[path]
        alone = all(rule_named(fix.rule).scope != "corpus" for fix in fixes)
        diagnostics = self.recheck({**self.texts, real: self._applied(path, fixes)}, (real,) if alone else None)
        return _complaint(fixes, before, [diagnostic for diagnostic in diagnostics if diagnostic.path == path])


def _key(diagnostic: Diagnostic) -> _Key:
    return diagnostic.rule, diagnostic.message


def _edits(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    return diagnostic.fix.edits if diagnostic.fix is not None else ()


def _apart(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return those whose edits do not touch the edits of earlier ones."""
    chosen: list[Diagnostic] = []
    taken: list[Span] = []
    edits: set[Edit] = set()
    for diagnostic in sorted(
        diagnostics, key=lambda item: min((edit.span for edit in _edits(item)), default=item.span)
    ):
        own = _edits(diagnostic)
        new = [edit for edit in own if edit not in edits]
        if own and all(_is_free(edit.span, taken) for edit in new) and len(set(own)) == len(own):
            chosen.append(diagnostic)
            edits.update(new)
            taken += [edit.span for edit in new]
            taken.sort()
    return chosen


def _is_free(span: Span, taken: Sequence[Span]) -> bool:
    """Return whether a span neither overlaps nor touches any of ``taken``: edits that meet may depend on each other."""
    from bisect import bisect_left

    at = bisect_left(taken, span)
    before = taken[at - 1] if at else None
    after = taken[at] if at < len(taken) else None
    return (before is None or before.end < span.start) and (after is None or span.end < after.start)


def ends_lines_with_crlf(text: str) -> bool:
    """Return whether every line of a text that has an end ends at CRLF."""
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def with_line_ends(edits: Iterable[Edit], text: str, *, crlf: bool) -> list[Edit]:
    """Return the edits with the line ends of their text.

    With ``crlf`` its author uses CRLF. If the text has other line ends by now, the edits stay unchanged, and so does
    an edit of a line end itself.
    """
    if not crlf or "\n" in text.replace("\r\n", ""):
        return list(edits)
    return [edit if edit.span.of(text) in ("\r\n", "\r") else _with_crlf(edit) for edit in edits]


def _with_crlf(edit: Edit) -> Edit:
    return Edit(edit.span, "\r\n".join(edit.replacement.replace("\r\n", "\n").split("\n")))


def _complaint(fixes: Sequence[Diagnostic], before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> str | None:
    """Return what speaks against the fixes, None for nothing."""
    broken = _reader_errors(after) - _reader_errors(before)
    if broken:
        rule, message = next(iter(broken))
        return f"the document would not read back: {message} [{rule}]"
    was, now = Counter(map(_key, before)), Counter(map(_key, after))
    gone = Counter(map(_key, fixes))
    if any(now[key] > was[key] - count for key, count in gone.items()):
        return "the problem would still be there"
    return None


def _reader_errors(diagnostics: Iterable[Diagnostic]) -> Counter[_Key]:
    """Return the errors that readers report."""
    return Counter(
        _key(diagnostic)
        for diagnostic in diagnostics
        if diagnostic.severity is Severity.ERROR and rule_named(diagnostic.rule).scope == "reader"
    )


def with_kept_hash(source: SourceText, text: str) -> str:
    """Return ``text`` with the hashes that the document keeps of itself: one that was true before a fix is true after
    it (X22). Only dialects that the file name decides keep hashes."""
    name = dialect_of_file_name(PurePath(source.path).name)
    if name is None:
        return text
    name = dialect_of(source) if name == "magi" else name  # or MDA: they share a suffix
    return apply_edits(text, dialect(name).load().after_fix(source, SourceText(text, source.path)))


# The normal form of one document (X22). In: a source and the hints about its dialect. Out: its text in the normal
# form of the dialect, or why it was left unchanged.

MAX_ROUNDS = 5
"""Times a text is formatted. One edit may make room for another; a third round means that two edits disagree."""

HARMLESS = frozenset({"missing-field", "wrong-type", "wrong-form", "unknown-value", "unknown-field", "unquoted-text"})
"""Errors of readers that say what a document lacks, not that it could not be read."""


class Formatted(Struct, frozen=True):
    """``text`` is the normal form; None when the document was left alone, for a ``problem`` in it or a ``reason``."""

    text: str | None
    problem: Problem | None = None
    reason: str = ""


def format_text(source: SourceText, hints: Hints, options: FormatOptions | None = None) -> Formatted:
    """Return the normal form of ``source``. Never fails on any text; formatting the result again changes nothing."""
    try:
        return _formatted(source, hints, options or FormatOptions())
    except Exception as error:
        from prosa.diagnostics.crash import crash  # only here: nothing fails as a rule

        return Formatted(None, crash("the formatter", error))


def _formatted(source: SourceText, hints: Hints, options: FormatOptions) -> Formatted:
    reading = open_document(source, hints)
    problem = next(iter(_not_understood(reading)), None)
    if problem is not None:
        return Formatted(None, problem)
    errors = Counter(error.rule for error in _errors(reading))
    crlf = ends_lines_with_crlf(source.text)
    for _ in range(MAX_ROUNDS):
        edits = reading.format_edits(options)
        try:
            before = reading.front.source.text
            text = apply_edits(before, with_line_ends(edits, before, crlf=crlf))
        except OverlappingEdits:
            return Formatted(None, reason="its normal form contradicts itself; please report this")
        if text == reading.front.source.text:
            return Formatted(text)
        digest = sha256(text.encode("utf-8", "replace")).hexdigest()
        reading = open_document(replace(source, text=text, digest=digest), hints)
        if Counter(error.rule for error in _errors(reading)) - errors:
            return Formatted(None, reason="its normal form would not read back; please report this")
    return Formatted(None, reason="it has no stable normal form; please report this")


def _errors(reading: DialectReading[object]) -> tuple[Problem, ...]:
    """Return the errors that readers report under any profile."""
    problems = dict.fromkeys((*reading.front.problems, *reading.problems))
    return tuple(
        problem for problem in problems if (problem.severity or rule_named(problem.rule).severity) is Severity.ERROR
    )


def _not_understood(reading: DialectReading[object]) -> tuple[Problem, ...]:
    """Return the errors after which a part of the document was not understood."""
    return tuple(error for error in _errors(reading) if error.rule not in HARMLESS)
