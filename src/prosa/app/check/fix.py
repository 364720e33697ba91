"""The fixes of a check, and the replacement of files: each whole, and only if it is unchanged since it was read.

In: groups of documents and a checker. Out: new texts, remaining findings, and files that could not be written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import replace_file
from prosa.app.check.check import Checker
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic
from prosa.rules.fix import Dropped, Fixed, fix_documents
from prosa.rules.severity import ordered
from prosa.source import FileProblem, SourceText, TextFiles


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
    settings = [each for group in groups for each in group.project.diagnostics]
    return Fixes(
        tuple(change for group, fixed in done for change in _changes(group, fixed)),
        tuple(dropped for _, fixed in done for dropped in fixed.dropped),
        (*settings, *ordered(each for _, fixed in done for each in fixed.diagnostics)),
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
