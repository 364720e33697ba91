"""The subject of a suite with another text: one of its sections missing, or a proposal for it (X34, X41).

In: a suite, and texts of the file that it tries. Out: the suite as it would be, sides that are compared with the
subject as it is, and their results by case. The file itself is not touched.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from prosa.adapters.files.skill_files import skill_file, skill_files
from prosa.app.evals.skills import skill_at
from prosa.app.evals.suite import Side, Suite
from prosa.evaluation.report import Report, SuiteReport
from prosa.evaluation.statistics import Counted
from prosa.runtime.errors import RunError
from prosa.runtime.program import Program
from prosa.source import SourceText
from prosa.source.files import Files, TextFiles


def altered_side(label: str, text: str, *, named: str = "") -> Side:
    """Return the side on which the file that a suite tries has another text; an agent gets a copy of the folder of the
    skill with that file. ``named`` is what its program is called, after the name that it has. Loading it raises what
    `Suite.load` does for a text that cannot run."""

    def load(suite: Suite) -> Program:
        program = _altered(suite, text)
        return replace(program, name=f"{program.name}-{named}") if named else program

    return Side(label, load, folder=lambda folder, empty: altered_folder(folder, empty, text), text=text)


def altered_suite(suite: Suite, text: str, empty: Path | None = None) -> Suite:
    """Return a suite that tries another text of its file, where only that one is to be tried and nothing is compared.
    ``empty`` is a folder for the copy of a skill that agents get. Raises what `Suite.load` does."""
    files = _with_text(suite, text)
    program = _altered(suite, text)
    altered = replace(suite, program=program, files=files, without=None)
    if suite.subject is None or empty is None:
        return altered
    own, *beside = suite.subject()
    skills = (skill_at(altered_folder(own.folder, empty, text), own), *beside)
    return replace(altered, subject=lambda: skills)


def altered_folder(folder: Path, empty: Path, text: str) -> Path:
    """Copy the files of a skill that a model may see into an empty folder, with another text of its `SKILL.md`, and
    return that."""
    for name in skill_files(folder):
        target = empty / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / name, target)
    (empty / skill_file(folder).name).write_text(text, encoding="utf-8", newline="")
    return empty


def _altered(suite: Suite, text: str) -> Program:
    """Return the program of another text, whose model is not shown the file as it is."""
    program, folder = suite.load(suite.program_path, _with_text(suite, text)), suite.program_path.parent.resolve()
    skills = tuple(replace(skill, altered=Path(skill.folder) == folder) for skill in program.skills)
    return replace(program, skills=skills)


def _with_text(suite: Suite, text: str) -> Files:
    return TextFiles(SourceText(text, str(suite.program_path)), suite.files)


def with_cases(suite: Suite, names: Collection[str]) -> Suite:
    """Return a suite with the cases of these names alone, in its own order. Raises `RunError` for a name that no case
    has."""
    if unknown := set(names) - {case.name for case in suite.cases}:
        raise RunError(f"{suite.path}: no case is called {sorted(unknown)[0]!r}", hint="see: prosa show")
    return replace(suite, cases=tuple(case for case in suite.cases if case.name in names))


def counts_of(suite: SuiteReport) -> Mapping[str, Counted]:
    """Return how often each case passed, of how many measured attempts, by its name."""
    return {case.case.name: case.counted for case in suite.cases}


def side_reports(report: Report, path: str) -> tuple[SuiteReport, tuple[SuiteReport, ...]]:
    """Return what came of the subject of a suite on its first model, and of each side that it was compared with, in
    the order of `TestOptions.sides`."""
    tried = [suite for suite in report.suites if suite.path == path and not suite.without]
    return tried[0], tuple(suite for suite in tried if suite.baseline)
