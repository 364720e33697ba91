"""Check documents: read them, load what programs import, run the rules, rank what was found.

In: paths and the `Files` port. Out: `Checked`. It executes nothing, and opens nothing that X5 does not allow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal, cast

from prosa.diagnostics import Diagnostic, Problem, Severity
from prosa.dialects.detect import Detection, detect
from prosa.dialects.dialect import DialectName
from prosa.dialects.front import FrontReading, read_front
from prosa.graph import Closure, LoadedProgram, load_closure
from prosa.rules.rank import Policy, ordered, rank
from prosa.rules.subject import ProgramCheck, ProgramSubject
from prosa.rules.table import BY_NAME, RULES
from prosa.source import FileProblem, Files, SourceText, Span, TextFiles


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """One document that was asked for. ``program`` is set where it is one."""

    front: FrontReading
    dialect: DialectName
    program: LoadedProgram | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """``documents`` in the order given, without those that could not be read; ``diagnostics`` in reading order, those
    of imported programs among them; ``closure`` is None where there is no program."""

    documents: tuple[CheckedDocument, ...]
    closure: Closure | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that fail a check."""
        return tuple(each for each in self.diagnostics if each.severity is Severity.ERROR)

    def stopping(self, verb: Literal["render", "run"]) -> tuple[Diagnostic, ...]:
        """What keeps a program from being rendered or run, errors in nearly all cases (LA2, X13).

        An import that was not opened because of `--root` is no error of the document, but the run would miss a tool.
        """
        stops = ("everything",) if verb == "render" else ("everything", "run")
        return tuple(each for each in self.diagnostics if BY_NAME[each.rule].stops in stops)

    def of(self, source: SourceText) -> tuple[Diagnostic, ...]:
        """The diagnostics of one document."""
        first = bisect_left(self.diagnostics, source.path, key=_path)
        return self.diagnostics[first : bisect_right(self.diagnostics, source.path, lo=first, key=_path)]


def _path(each: Diagnostic) -> str:
    return each.path


def check_program(
    path: Path,
    files: Files,
    *,
    strict: bool | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    follow_outside_root: bool = False,
) -> Checked:
    """Checks a file as a program, with everything it imports. Raises `FileProblem` when it cannot be read."""
    closure = load_closure(path, files, follow_outside_root=follow_outside_root)
    policy = Policy(strict=bool(strict), select=tuple(select), ignore=tuple(ignore))
    document = CheckedDocument(closure.root.front, "markdownlang", closure.root)
    return Checked((document,), closure, ordered(_closure_diagnostics(closure, policy)))


def check_documents(
    paths: Sequence[Path],
    files: Files,
    *,
    dialect: DialectName | None = None,
    forced: DialectName | None = None,
    strict: bool | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    follow_outside_root: bool = False,
) -> Checked:
    """Checks documents of any dialect together. ``dialect`` is what `--as` says, ``forced`` what the command implies.

    A file that cannot be read is a diagnostic, `unreadable-file`.
    """
    policy = Policy(strict=bool(strict), select=tuple(select), ignore=tuple(ignore))
    found: list[Diagnostic] = []
    read: dict[Path, tuple[FrontReading, Detection]] = {}
    for path in paths:
        try:
            front = read_front(files.read(path))
        except FileProblem as problem:
            found += rank((_unreadable(problem),), SourceText("", str(path)), policy)
            continue
        read.setdefault(files.real(path), (front, detect(front, explicit=dialect, forced=forced)))
    programs = {real: front for real, (front, detected) in read.items() if detected.dialect == "markdownlang"}
    closure = _closure(programs, files, follow_outside_root) if programs else None
    for real, (front, detected) in read.items():
        reported = () if real in programs else front.problems
        found += rank((*detected.problems, *reported), front.source, policy)
    if closure is not None:
        found += _closure_diagnostics(closure, policy)
    documents = tuple(_document(real, *pair, closure) for real, pair in read.items())
    return Checked(documents, closure, ordered(found))


def check_text(source: SourceText, *, dialect: DialectName | None = None, strict: bool | None = None) -> Checked:
    """Checks a text that has no file; nothing else is opened."""
    return check_documents([Path(source.path)], TextFiles(source), dialect=dialect, strict=strict)


def _closure(programs: Mapping[Path, FrontReading], files: Files, follow_outside_root: bool) -> Closure:
    paths = [Path(front.source.path) for front in programs.values()]
    return load_closure(paths, files, follow_outside_root=follow_outside_root, known=programs)


def _document(real: Path, front: FrontReading, detected: Detection, closure: Closure | None) -> CheckedDocument:
    program = closure.programs.get(real) if closure and detected.dialect == "markdownlang" else None
    return CheckedDocument(front, detected.dialect, program)


def _unreadable(problem: FileProblem) -> Problem:
    return Problem("unreadable-file", f"the file cannot be read as a document: {problem.reason}", Span(0, 0))


def _closure_diagnostics(closure: Closure, policy: Policy) -> list[Diagnostic]:
    """What the readers and the rules find in every program of a closure."""
    checks = tuple(_checks(policy))
    found: list[Diagnostic] = []
    for program in closure.programs.values():
        subject = ProgramSubject(program, closure)
        problems = (*program.problems, *(problem for check in checks for problem in check(subject)))
        found += rank(problems, program.model.source, policy)
    return found


def _checks(policy: Policy) -> Iterator[ProgramCheck]:
    """The rules with a file of their own that the policy wants, loaded on demand."""
    for rule in RULES:
        if rule.module is not None and "markdownlang" in rule.dialects and policy.wants(rule):
            yield cast("ProgramCheck", import_module(rule.module).check)
