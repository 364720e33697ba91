"""What is wrong with one program under the rules that look at its imports too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from prosa.diagnostics import Problem
from prosa.rules.suppression import Suppression
from prosa.source import SourceText


@dataclass(frozen=True, slots=True)
class ProgramFindings:
    """``real`` is the real path of the program, ``path`` what people call it; ``source`` is None for findings that were
    made in another process or the last time."""

    real: Path
    path: str
    digest: str
    problems: tuple[Problem, ...]
    suppressions: tuple[Suppression, ...]
    source: SourceText | None = None
