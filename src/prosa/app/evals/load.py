"""Named test documents, checked and prepared: their cases, the program under test, the other candidates.

In: paths, options, the environment. Out: suites. What `prosa check` calls an error in a test document, or in a program
that it tests, is reported before anything runs; no model is asked for an invalid suite (X28).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec.structs import replace

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group, evals_beside, gather
from prosa.app.evals.context import cases_of, context_suite, is_context_subject
from prosa.app.evals.skills import check_cases, check_evals, is_of_skill, skill_suites
from prosa.app.evals.suite import Suite, Terms
from prosa.app.options import Environment, Options
from prosa.app.run.load import load_program
from prosa.diagnostics import Severity
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.document.rows import read_rows
from prosa.dialects.reading import decided, open_document
from prosa.dialects.table import EVALS, SKILL_MD, TEST, dialect_of_file_name
from prosa.evaluation.case import Case
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.program import Program
from prosa.settings.model import Given
from prosa.source import Files
from prosa.source.wildmatch import glob_matches

CLASSIFIED = ("confidential", "secret")
"""What a document is never kept of on the disk (X25)."""


def find_tests(
    paths: Sequence[str], root: Path | None = None, max_size: int | None = None, given: Given | None = None
) -> tuple[Group, ...]:
    """Return the test documents at ``paths``, and the skills that have cases: a file is a test whatever its name; of a
    folder those that are called so, and that the globs of its project name. Skills are looked for where agents keep
    them too. ``given`` are settings of this call. Raises `FileProblem`."""
    named = {Path(path) for path in paths if not Path(path).is_dir()}
    gathered = gather(paths, root=root, max_size=max_size, agents=True, given=given)
    groups = []
    for group in gathered:
        chosen = dict.fromkeys(tested for path in group.paths if (tested := _tested(path, group, named)) is not None)
        if chosen:
            groups.append(replace(group, paths=tuple(chosen), whole=False, unnamed=frozenset()))
    return tuple(groups)


def _tested(path: Path, group: Group, named: Collection[Path]) -> Path | None:
    """Return what is run for a path: a test document, a skill, the file beside a skill that was named, or nothing."""
    dialect = dialect_of_file_name(path.name)
    if path in named:
        return path
    if dialect == EVALS.name:
        return None  # its skill is what is found
    if dialect == SKILL_MD.name:
        return path if evals_beside(path) and _is_wanted(path, group) else None
    return path if path not in group.unnamed and _is_test(path, group) else None


def _is_test(path: Path, group: Group) -> bool:
    settings, below = group.project.settings, _below(path, group)
    by_glob = next((name for glob, name in settings.dialects if glob_matches(glob, below)), None) if settings else None
    return decided(str(path), Hints(glob=by_glob)) == TEST.name and _is_wanted(path, group)  # type: ignore[arg-type]


def _is_wanted(path: Path, group: Group) -> bool:
    settings, below = group.project.settings, _below(path, group)
    return settings is None or not settings.tests or any(glob_matches(glob, below) for glob in settings.tests)


def _below(path: Path, group: Group) -> str:
    real = group.files.real(path)
    return real.relative_to(group.root).as_posix() if real.is_relative_to(group.root) else real.name


def load_suites(
    groups: Sequence[Group],
    options: Options,
    environment: Environment,
    *,
    in_agent: bool = False,
    cases: Path | None = None,
) -> tuple[Suite, ...]:
    """Return the suites of test documents, each with its program, of skills and of context files, ``in_agent`` for
    agents. ``cases`` is a file of cases for skills and context files, in place of those beside them.

    Raises `ProgramRefused` where one of them, or its program, has an error, and `FileProblem`.
    """
    tests, skills, context = (_parts(groups, kind) for kind in ("tests", "skills", "context"))
    if cases is not None and tests:
        raise RunError(f"{tests[0].paths[0]} has cases of its own", hint="--cases is for skills and context files")
    checker = Checker.of(CheckOptions(TEST.name), environment.environ)
    diagnostics = [diagnostic for group in tests for diagnostic in checker.check(group).diagnostics]
    beside = [cases_of(path, cases) for group in context for path in group.paths]
    if cases is None:
        diagnostics += [diagnostic for group in skills for diagnostic in check_evals(group, environment)]
    for file in dict.fromkeys([*beside, *([cases] if cases is not None and skills else [])]):
        diagnostics += check_cases(file, environment)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics):
        raise ProgramRefused(diagnostics, "the tests have errors and were not run")
    for diagnostic in diagnostics:
        if diagnostic.rule == "unjudged-expectation":
            environment.notice(f"note: {diagnostic.path}:{diagnostic.start.line}: {diagnostic.message}")
    suites = [_suite(path, group, options, environment) for group in tests for path in group.paths]
    for group in skills:
        for path in group.paths:
            suites += skill_suites(path, group, options, environment, in_agent=in_agent, named=cases)
    for group in context:
        for path in group.paths:
            suites.append(context_suite(path, group, options, environment, cases_of(path, cases), in_agent=in_agent))
    return tuple(suites)


Part: TypeAlias = Literal["tests", "skills", "context"]


def _parts(groups: Sequence[Group], part: Part) -> list[Group]:
    """Return the groups with their skills alone, with their context files, or with their test documents."""
    gathered = (
        replace(group, paths=tuple(path for path in group.paths if _part(path, group) == part)) for group in groups
    )
    return [group for group in gathered if group.paths]


def _part(path: Path, group: Group) -> Part:
    if is_of_skill(path, group.files):
        return "skills"
    return "context" if is_context_subject(path) and not path.name.endswith(".test.md") else "tests"


def _suite(path: Path, group: Group, options: Options, environment: Environment) -> Suite:
    reading = open_document(group.files.read(path), Hints(explicit=TEST.name))
    model = reading.model_of(TEST)
    if model is None or model.tests is None:
        raise RunError(f"{path}: it names no program")
    place = path.parent / model.tests

    def load(place: Path, files: Files | None = None, *, within: Path | None = None) -> Program:
        within = within if files is None else group.root
        settings = environment.settings
        return load_program(place, options, settings, environ=environment.environ, within=within, files=files)

    program = load(place, within=group.root)
    cases = [model.case(case) for case in model.cases]
    if model.rows is not None:
        cases += [row for row in read_rows(group.files.read(path.parent / model.rows)) if isinstance(row, Case)]
    if (
        twice := next((name for name, times in Counter(case.name for case in cases).items() if times > 1), None)
    ) is not None:
        raise RunError(f"{path}: two cases are called {twice!r}", hint="give the rows names of their own")
    fields = reading.front_matter or {}
    classified = _is_classified(fields) or _is_classified_program(place, group.files)
    terms = Terms(
        model.repeat,
        model.requirement,
        model.models,
        path.parent / model.grader if model.grader else None,
        model.votes,
    )
    return Suite(
        path,
        tuple(cases),
        replace(program, classified=classified),
        place,
        group.root,
        group.files,
        terms,
        load,
        classified,
        model,
    )


def _is_classified(fields: Mapping[str, object]) -> bool:
    return str(fields.get("classification", "")).strip().lower() in CLASSIFIED


def _is_classified_program(path: Path, files: Files) -> bool:
    fields = open_document(files.read(path), Hints(forced="markdownlang")).front_matter or {}
    return _is_classified(fields)
