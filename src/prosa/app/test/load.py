"""Test documents that somebody names, checked and made ready: cases, the program they try, who else is tried.

In: paths, options, the environment. Out: suites. What `prosa check` calls an error in a test document, or in a program
that it tests, is said before anything runs; nothing is asked of a model for a suite that cannot be right (X28).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.git_files import RevisionFiles, resolve_revision, top_of
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group, gather
from prosa.app.options import Environment, Options
from prosa.app.run.load import load_program
from prosa.diagnostics import Severity
from prosa.dialects.detect import decided
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.dialects.table import TEST
from prosa.dialects.test.model import SuiteModel
from prosa.dialects.test.rows import read_rows
from prosa.evaluation.case import Case, Requirement
from prosa.regex import regex
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.program import Program
from prosa.source import Files
from prosa.source.wildmatch import glob_matches

CLASSIFIED = ("confidential", "secret")
"""What a document is never kept of on the disk (X25)."""


class Suite(Struct, frozen=True):
    """A test document that is ready. ``path`` is as the user named it, ``program_path`` where its program is; ``root``
    and ``files`` bound what may be read. ``classified``: nothing of it is kept on the disk."""

    path: Path
    model: SuiteModel
    cases: tuple[Case, ...]
    program: Program
    program_path: Path
    root: Path
    files: Files
    classified: bool = False

    @property
    def requirement(self) -> Requirement:
        """What its document asks for."""
        return self.model.requirement


def find_tests(paths: Sequence[str], root: Path | None = None, max_size: int | None = None) -> tuple[Group, ...]:
    """The test documents at ``paths``: a file is one whatever its name; of a folder those that are called so, and that
    the globs of its project name. Raises `FileProblem`."""
    named = {Path(path) for path in paths if not Path(path).is_dir()}
    found = gather(paths, root=root, max_size=max_size)
    groups = []
    for group in found:
        chosen = tuple(path for path in group.paths if path in named or _is_test(path, group))
        if chosen:
            groups.append(replace(group, paths=chosen, whole=False))
    return tuple(groups)


def _is_test(path: Path, group: Group) -> bool:
    settings, below = group.project.settings, _below(path, group)
    by_glob = next((name for glob, name in settings.dialects if glob_matches(glob, below)), None) if settings else None
    if decided(str(path), Hints(glob=by_glob)) != TEST.name:  # type: ignore[arg-type]
        return False
    return settings is None or not settings.tests or any(glob_matches(glob, below) for glob in settings.tests)


def _below(path: Path, group: Group) -> str:
    real = group.files.real(path)
    return real.relative_to(group.root).as_posix() if real.is_relative_to(group.root) else real.name


def load_suites(groups: Sequence[Group], options: Options, environment: Environment) -> tuple[Suite, ...]:
    """The suites of test documents, each with its program. Raises `ProgramRefused` where one of them, or
    its program, has an error, and `FileProblem`."""
    checker = Checker.of(CheckOptions(TEST.name), environment.environ)
    found = [each for group in groups for each in checker.check(group).diagnostics]
    if any(each.severity is Severity.ERROR for each in found):
        raise ProgramRefused(found, "the tests have errors and were not run")
    return tuple(_suite(path, group, options, environment) for group in groups for path in group.paths)


def _suite(path: Path, group: Group, options: Options, environment: Environment) -> Suite:
    reading = open_document(group.files.read(path), Hints(explicit=TEST.name))
    model = reading.model_of(TEST)
    if model is None or model.tests is None:
        raise RunError(f"{path}: it names no program")
    place = path.parent / model.tests
    program = load_program(place, options, environment.settings, environ=environment.environ, within=group.root)
    cases = [model.case(each) for each in model.cases]
    if model.rows is not None:
        cases += [each for each in read_rows(group.files.read(path.parent / model.rows)) if isinstance(each, Case)]
    if (
        twice := next((name for name, times in Counter(each.name for each in cases).items() if times > 1), None)
    ) is not None:
        raise RunError(f"{path}: two cases are called {twice!r}", hint="give the rows names of their own")
    fields = reading.front_matter or {}
    classified = _is_classified(fields) or _is_classified_program(place, group.files)
    return Suite(
        path,
        model,
        tuple(cases),
        replace(program, classified=classified),
        place,
        group.root,
        group.files,
        classified,
    )


def _is_classified(fields: Mapping[str, object]) -> bool:
    return str(fields.get("classification", "")).strip().lower() in CLASSIFIED


def _is_classified_program(path: Path, files: Files) -> bool:
    fields = open_document(files.read(path), Hints(forced="markdownlang")).front_matter or {}
    return _is_classified(fields)


class Side(Struct, frozen=True):
    """What a suite is compared with: another program, the same one as it was at a revision, or another model."""

    label: str
    load: Callable[[Suite], Program] | None = None
    model: str | None = None


_LIKE_A_REVISION = regex(r"\AHEAD\b|[~^]|@\{")
"""What no name of a model has: it is never asked for by that name."""


def side_of(text: str, options: Options, environment: Environment, folder: Path) -> Side:
    """The other side that ``--against`` names: the file of a program, a revision of git, else a model. A prefix
    `file:`, `rev:` or `model:` decides."""
    kind, colon, rest = text.partition(":")
    kind, name = (kind, rest) if colon and kind in ("file", "rev", "model") else ("", text)
    path = Path(name)
    if kind == "file" or (not kind and path.suffix == ".md" and path.is_file()):

        def of_file(_suite: Suite) -> Program:
            return load_program(path, options, environment.settings, environ=environment.environ)

        return Side(name, of_file)
    commit, top = (None, None) if kind == "model" else (resolve_revision(name, folder), top_of(folder))
    if commit is not None and top is not None:

        def of_revision(suite: Suite) -> Program:
            files = RevisionFiles(suite.root, top, commit)
            about = options, environment.settings
            return load_program(suite.program_path, *about, environ=environment.environ, within=suite.root, files=files)

        return Side(name, of_revision)
    if not kind and path.suffix == ".md":
        raise RunError(f"--against {text[:80]}: no such file", hint=f"for a model of this name: model:{name[:80]}")
    if kind == "rev" or (not kind and _LIKE_A_REVISION.search(name)):
        raise RunError(f"--against {text[:80]}: git knows no such revision here", hint="see: git log --oneline")
    return Side(name, model=name)
