"""Brings documents to the normal form of their dialect as every door does it, under the settings of their projects.

In: groups of documents and options. Out: each document with its text before and after, or why it was left alone.
Nothing is written; `app.check.fix.write_changes` does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from prosa.adapters.processes import Pool, worker_count
from prosa.app.check.fix import Change
from prosa.app.check.gather import Group
from prosa.dialects import DialectName
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.dialects.table import known_dialect
from prosa.rules.formatting import format_text
from prosa.rules.policy import Profile
from prosa.source import FileProblem, Files, SourceText, TextFiles

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
    return tuple(each for group in groups for each in _formatted(group, options or FormatOptions(), chosen, pool))


def _formatted(
    group: Group, options: FormatOptions, dialect: DialectName | None, pool: Pool
) -> list[FormattedDocument]:
    profile = Profile(dialect, settings=group.project.settings, root=group.root)
    work = partial(_format_some, files=group.files, profile=profile, options=options)
    chunks = [group.paths[start : start + CHUNK] for start in range(0, len(group.paths), CHUNK)]
    return [each for some in pool.map(work, chunks) for each in some]


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
