"""Programs and their imports, under the rules that examine both.

In: the paths of programs. Out: the problems of each of them and of every program they reach; of one that shall run, the
diagnostics. Programs that import each other are checked together, so that a cycle or a long chain is reported once
(LA15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prosa.diagnostics import Diagnostic, Problem, Severity
from prosa.dialects.markdownlang.as_dialect import masked
from prosa.dialects.table import MARKDOWNLANG
from prosa.graph import Closure, LoadedProgram, load_closure
from prosa.graph.closure import ReadOutside
from prosa.rules.findings import MARK, ProgramFindings, Suppression
from prosa.rules.policy import Policy, diagnosed, ordered
from prosa.rules.registry import program_checks, rule_named, rules_of
from prosa.rules.rule import ProgramSubject, found_by
from prosa.source import Files, SourceText

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading


class CheckedProgram(Struct, frozen=True):
    """The result of a check of a program: the programs that it reaches, and the diagnostics of all of them in reading
    order."""

    closure: Closure
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that fail a check."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.ERROR)

    def stopping(self, verb: Literal["render", "run"]) -> tuple[Diagnostic, ...]:
        """Return what keeps a program from being rendered or run, errors in nearly all cases (LA2, X13).

        An import that was not opened because of `--root` is not an error of the document, but a run would miss a tool.
        """
        stops = ("everything",) if verb == "render" else ("everything", "run")
        return tuple(diagnostic for diagnostic in self.diagnostics if rule_named(diagnostic.rule).stops in stops)


def check_program(
    path: Path,
    files: Files,
    *,
    strict: bool | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    outside: ReadOutside | None = None,
) -> CheckedProgram:
    """Check a file as a program, with everything it imports; ``outside`` reads imports from outside the root. Raises
    `FileProblem` if the file itself cannot be read.

    Suppressions do not count: a comment does not make a broken program run.
    """
    closure, findings = check_programs([path], files, outside=outside)
    policy = Policy(strict=bool(strict), select=tuple(select), ignore=tuple(ignore))
    diagnostics: list[Diagnostic] = []
    for finding in findings:
        diagnostics += diagnosed(finding.problems, finding.source or SourceText("", finding.path), policy)
    return CheckedProgram(closure, ordered(diagnostics))


def check_programs(
    paths: Sequence[Path],
    files: Files,
    *,
    known: Mapping[Path, DialectReading[object]] | None = None,
    outside: ReadOutside | None = None,
) -> tuple[Closure, tuple[ProgramFindings, ...]]:
    """Return the closure of the programs at ``paths`` and the findings in each. ``outside`` reads programs outside the
    root. Raises `FileProblem` for one of ``paths``."""
    read = ((real, program_of(reading, real)) for real, reading in (known or {}).items())
    loaded = {real: program for real, program in read if program is not None}
    closure = load_closure(paths, files, outside=outside, known=loaded)
    return closure, tuple(_findings(program, closure) for program in closure.programs.values())


def check_alone(reading: DialectReading[object]) -> tuple[Problem, ...]:
    """Return what the rules of programs find in one that imports nothing."""
    path = Path(reading.front.source.path)
    program = program_of(reading, path)
    if program is None:
        return ()
    return tuple(found_by(program_checks(), ProgramSubject(program, Closure((path,), {path: program}))))


def program_of(reading: DialectReading[object], real: Path) -> LoadedProgram | None:
    """Return the program of a reading without its imports; None for a document of another dialect."""
    model = reading.model_of(MARKDOWNLANG)
    if model is None:
        return None
    return LoadedProgram(real, reading.front, model, (*reading.front.problems, *reading.problems))


def _findings(program: LoadedProgram, closure: Closure) -> ProgramFindings:
    source = program.model.source
    problems = (*program.problems, *found_by(program_checks(), ProgramSubject(program, closure)))
    return ProgramFindings(
        program.path, source.path, source.digest, problems, rules_of(problems), _suppressions(program), source
    )


def _suppressions(program: LoadedProgram) -> tuple[Suppression, ...]:
    front = program.front
    if MARK not in front.source.text:
        return ()
    from prosa.document import parse  # only here: most programs suppress nothing
    from prosa.rules.suppressions import find_suppressions

    return find_suppressions(front, parse(front.source, body=front.body, masked=masked(front)))
