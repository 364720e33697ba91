"""The fixes of a check, the normal form of documents, and the replacement of files: each whole, and only if it is
unchanged since it was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import replace_file
from prosa.adapters.processes import Pool, worker_count
from prosa.app.check.check import Checker
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic
from prosa.dialects import DialectName
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.table import known_dialect
from prosa.rules.fix import Dropped, Fixed, fix_documents, format_text
from prosa.rules.policy import Profile, ordered
from prosa.source import FileProblem, Files, SourceText, TextFiles


class Change(Struct, frozen=True):
    """A document before and after, with the number of its fixes. ``is_stdin`` is one that has no file to write to."""

    path: Path
    before: SourceText
    after: str
    is_stdin: bool = False
    fixes: int = 0


class Fixes(Struct, frozen=True):
    """``changes`` in the order of the documents; ``dropped`` fixes with the reason; ``left`` are the findings
    after them."""

    changes: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    left: tuple[Diagnostic, ...]


def fix_groups(groups: Sequence[Group], checker: Checker, *, unsafe: bool = False) -> Fixes:
    """Fix all that may be fixed, in memory; with ``unsafe`` also what may change a meaning."""
    done = [(group, _fixed(group, checker, unsafe=unsafe)) for group in groups]
    settings = [diagnostic for group in groups for diagnostic in group.project.diagnostics]
    return Fixes(
        tuple(change for group, fixed in done for change in _changes(group, fixed)),
        tuple(dropped for _, fixed in done for dropped in fixed.dropped),
        (*settings, *ordered(diagnostic for _, fixed in done for diagnostic in fixed.diagnostics)),
    )


def write_changes(changes: Sequence[Change]) -> dict[Path, str]:
    """Replace the files, and return the words for those that were refused, by path. The others are written."""
    problems = {change.path: _problem(change) for change in changes if not change.is_stdin}
    return {path: words for path, words in problems.items() if words}


def _problem(change: Change) -> str:
    try:
        replace_file(change.path, change.after, expect_digest=change.before.digest)
    except FileProblem as problem:
        return str(problem)
    except OSError as error:
        return f"{change.path}: {error.strerror or error}; it was not written"
    return ""


def _fixed(group: Group, checker: Checker, *, unsafe: bool) -> Fixed:
    reals = {str(path): group.files.real(path) for path in group.paths if path not in group.unnamed}

    def recheck(texts: Mapping[Path, str], only: Collection[Path] | None) -> Sequence[Diagnostic]:
        return checker.check(group, texts=texts, only=only).diagnostics

    return fix_documents(checker.check(group).diagnostics, reals, recheck, unsafe=unsafe)


def _changes(group: Group, fixed: Fixed) -> list[Change]:
    named = [(path, group.files.real(path)) for path in group.paths]
    stdin = group.files.source.path if isinstance(group.files, TextFiles) else None
    return [
        Change(path, group.files.read(path), fixed.texts[real], str(path) == stdin, fixed.counts[real])
        for path, real in named
        if real in fixed.texts
    ]


CHUNK = 50
"""Documents that a process formats in one go."""


class FormattedDocument(Struct, frozen=True):
    """What became of one document: ``after`` is None when it was refused, for the ``problem`` in words. ``is_stdin``
    is one that has no file to write to."""

    path: Path
    before: SourceText | None
    after: str | None
    problem: str = ""
    is_stdin: bool = False

    @property
    def change(self) -> Change | None:
        """The change that brings it to its normal form; None where it is in that form, or was refused."""
        if self.before is None or self.after is None or self.after == self.before.text:
            return None
        return Change(self.path, self.before, self.after, self.is_stdin)


def format_groups(
    groups: Sequence[Group],
    options: FormatOptions | None = None,
    *,
    dialect: DialectName | None = None,
    jobs: int | None = 1,
) -> tuple[FormattedDocument, ...]:
    """Format every document, in memory and in the order they were named. ``dialect`` None leaves the choice to the
    project and the documents; ``jobs`` is the number of processes, None one for each processor."""
    pool = Pool(worker_count() if jobs is None else jobs, here=True)
    chosen = known_dialect(dialect) if dialect is not None else None
    return tuple(
        document for group in groups for document in _formatted(group, options or FormatOptions(), chosen, pool)
    )


def _formatted(
    group: Group, options: FormatOptions, dialect: DialectName | None, pool: Pool
) -> list[FormattedDocument]:
    profile = Profile(dialect, settings=group.project.settings, root=group.root)
    work = partial(_format_some, files=group.files, profile=profile, options=options)
    chunks = [group.paths[start : start + CHUNK] for start in range(0, len(group.paths), CHUNK)]
    return [document for some in pool.map(work, chunks) for document in some]


def _format_some(
    paths: Sequence[Path], *, files: Files, profile: Profile, options: FormatOptions
) -> list[FormattedDocument]:
    return [_format(path, files, profile.hints(files.real(path)), options) for path in paths]


def _format(path: Path, files: Files, hints: Hints, options: FormatOptions) -> FormattedDocument:
    is_stdin = isinstance(files, TextFiles) and str(path) == files.source.path
    try:
        source = files.read(path)
    except FileProblem as problem:
        return FormattedDocument(path, None, None, f"{path}: {problem.reason}", is_stdin)
    made = format_text(source, hints, options)
    if made.text is None:
        line = source.position(made.problem.span.start).line if made.problem else 1
        words = f"{made.problem.message} [{made.problem.rule}]" if made.problem else made.reason
        return FormattedDocument(path, source, None, f"{path}:{line}: {words}", is_stdin)
    return FormattedDocument(path, source, made.text, is_stdin=is_stdin)
