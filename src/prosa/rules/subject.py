"""What the rules of programs look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from prosa.diagnostics import Problem
from prosa.graph import Closure, LoadedProgram


@dataclass(frozen=True, slots=True)
class ProgramSubject:
    """A program under the rules, with the import graph it is part of."""

    program: LoadedProgram
    closure: Closure


ProgramCheck: TypeAlias = Callable[[ProgramSubject], Iterable[Problem]]
"""The ``check`` of a rule module under `prosa.rules.markdownlang`."""
