"""Cases made of a file of cases: the request with its files, and what is expected (X32, X36).

In: a file that was read, and the folder that its paths start in. Out: cases, with their files in the request or, for
agents, with the places where they are laid.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files.skill_files import skill_files
from prosa.app.evals.suite import Terms
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.suite.model import EvalModel, EvalsModel
from prosa.dialects.reading import open_document
from prosa.dialects.table import EVALS
from prosa.evaluation.case import Case
from prosa.runtime.errors import RunError
from prosa.source import FileProblem, Files

MAX_ATTACHED = 256 * 1024
"""Bytes of the files of one case that are put into its request."""


def read_cases(path: Path, files: Files) -> EvalsModel:
    """Return what a file of cases holds. Raises `FileProblem`, and `RunError` for one without cases."""
    model = open_document(files.read(path), Hints(explicit=EVALS.name)).model_of(EVALS)
    if model is None:
        raise RunError(f"{path}: it holds no cases")
    return model


def terms_of(model: EvalsModel | None, folder: Path) -> Terms:
    """Return how cases are tried; ``folder`` is where the path of their grader starts."""
    if model is None:
        return Terms()
    require = model.requirement
    repeat = model.repeat or (require.k if require.is_rate else 1)
    grader = folder / model.grader if model.grader else None
    return Terms(repeat, require, model.models, grader, model.votes)


class CaseMaker(Struct, frozen=True):
    """What makes cases. Their files lie below ``folder``, that of ``what`` they try. ``in_agent``: files are laid in a
    workspace, and not put into requests."""

    folder: Path
    files: Files
    in_agent: bool = False
    what: str = "the skill"

    def case(self, case: EvalModel, model: EvalsModel) -> Case:
        """Return a case. Raises `FileProblem` and `RunError` for its files."""
        return Case(
            case.name,
            {"request": case.prompt if self.in_agent else case.prompt + self._attached(case)},
            run=case.run,
            grade=case.asked,
            place=f"{model.source.path}:{model.line(case.span)}",
            assertions=case.assertions,
            request=case.prompt,
            laid=tuple(self._laid(case)) if self.in_agent else (),
            workspace=case.workspace,
            id=case.id,
        )

    def _laid(self, model: EvalModel) -> Iterator[tuple[str, str]]:
        """Yield the files of a case, those of named folders among them, each with its place in a workspace."""
        for (written, _), place in zip(model.files, model.laid, strict=True):
            path = self.folder / written
            self._require_inside(path)
            if path.is_dir():
                names = skill_files(path)
                yield from ((f"{written.rstrip('/')}/{name}", f"{place.rstrip('/')}/{name}") for name in names)
            elif path.is_file():
                yield written, place
            else:
                raise FileProblem(path, "missing", "no such file")

    def _require_inside(self, path: Path) -> None:
        """Raise `RunError` for a file of a case outside the folder of the subject."""
        files = self.files
        if not files.real(path).is_relative_to(files.real(self.folder)):
            raise RunError(f"{path}: it lies outside of {self.what} and is not read")

    def _attached(self, model: EvalModel) -> str:
        """Return the files of a case as part of its request: with the skill and without it, the run has the same.
        Raises `RunError` for a file that is not there, and for more than a request can hold."""
        files, folder = self.files, self.folder
        parts: list[str] = []
        room = MAX_ATTACHED
        for written in self._paths(model):
            path = folder / written
            self._require_inside(path)
            try:
                text = files.read(path).text
            except FileProblem as problem:
                if problem.kind != "not-utf-8":
                    raise
                parts.append(f"The file `{written}` is attached; it is no text and cannot be shown.")
                continue
            room -= len(text.encode())
            if room < 0:
                raise RunError(f"{path}: the files of a case have at most {MAX_ATTACHED // 1024} KiB together")
            parts.append(f"The file `{written}` is attached:\n\n{_fenced(text)}")
        return "".join(f"\n\n{part}" for part in parts)

    def _paths(self, model: EvalModel) -> Iterator[str]:
        """Yield the paths of the files of a case, and of those in the folders that it names."""
        for written, _ in model.files:
            folder = self.folder / written
            if folder.is_dir():
                yield from (f"{written.rstrip('/')}/{name}" for name in skill_files(folder))
            else:
                yield written


def _fenced(text: str) -> str:
    """Return a text between fences that are longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"
