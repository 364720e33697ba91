"""`import-cycle`: programs that import each other (L6, L29, LA15). Reported once, with the whole way round."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from prosa.diagnostics import Problem
from prosa.graph import Closure
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import that takes the first step of the cycle, in the program that was reached first."""
    program = subject.program
    cycle = subject.closure.cycle_from.get(program.path)
    if cycle is None:
        return
    step = cycle[1 % len(cycle)]
    first = next(each for each in program.imports if each.path == step)
    names = _names(cycle, subject.closure)
    way = " → ".join((*names, names[0]))
    message = f"import cycle: {way}" if len(cycle) > 1 else "the program imports itself"
    note = "a program waits for the programs it calls, so these would wait for each other; remove one of the imports"
    yield Problem("import-cycle", message, first.ref.span, (note,))


def _names(cycle: tuple[Path, ...], closure: Closure) -> tuple[str, ...]:
    """File names, or paths as the user knows them where two files have the same name."""
    paths = tuple(closure.programs[path].model.source.path for path in cycle)
    names = tuple(PurePath(path).name for path in paths)
    return names if len(set(names)) == len(names) else paths
