"""Suites: cases that are ready to be tried on a program, and what they are compared with (X28, X32).

Where the cases come from, a test document or the files beside a skill, is for `load` and `skills` to know.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.files.git_files import RevisionFiles, exported_folder, resolve_revision, top_of
from prosa.adapters.files.near import nearest_file
from prosa.app.agents.task import AgentChoice, SkillFolder
from prosa.dialects.evals.document.model import SuiteModel
from prosa.evaluation.case import Case, Requirement
from prosa.evaluation.routing import Routing
from prosa.regex import regex
from prosa.runtime.errors import RunError
from prosa.runtime.program import Program
from prosa.source import Files

if TYPE_CHECKING:
    from prosa.runtime.journal import Journal


class Terms(Struct, frozen=True):
    """How the cases of a suite are tried: how often, on which models, what has to pass, and who grades, a program at a
    path, with how many votes."""

    repeat: int = 1
    requirement: Requirement = Requirement()
    models: tuple[str, ...] = ()
    grader: Path | None = None
    votes: int = 1


class Suite(Struct, frozen=True):
    """Cases that are ready. ``path`` is the file that they stand in, as the user named it, ``program_path`` where what
    they try is; ``root`` and ``files`` bound what may be read. ``classified``: nothing of it is kept on the disk.

    ``load`` gives the program that lies at a path instead, read from files instead of those on the disk. ``model`` is
    the test document, where it is one. ``label`` names the program in a report that has ``without`` beside it: a
    program that every case is tried on too, for the difference that the first one makes. With ``routing`` what counts
    of a run is which skills it loaded; ``around`` is then asked around its calls, over what is kept of them.
    ``subject`` returns the skill as an agent gets it, then those beside it that are offered with it. ``place`` returns
    where an agent reads a subject that is one file: it is laid there in the workspace.
    """

    path: Path
    cases: tuple[Case, ...]
    program: Program
    program_path: Path
    root: Path
    files: Files
    terms: Terms
    load: Callable[[Path, Files | None], Program]
    classified: bool = False
    model: SuiteModel | None = None
    label: str = ""
    without: Program | None = None
    routing: Routing | None = None
    around: Callable[[Journal], Journal] | None = None
    subject: Callable[[], tuple[SkillFolder, ...]] | None = None
    without_label: str = "without the skill"
    place: Callable[[AgentChoice], str] | None = None


class Side(Struct, frozen=True):
    """What a suite is compared with: another program, the same one as it was at a revision, or another model.
    ``folder`` returns the folder of the other skill for agents, given that of the suite and an empty one; ``text`` is
    the other text of the subject, where that is what differs."""

    label: str
    load: Callable[[Suite], Program] | None = None
    model: str | None = None
    folder: Callable[[Path, Path], Path] | None = None
    text: str | None = None


_LIKE_A_REVISION = regex(r"\AHEAD\b|[~^]|@\{")
"""What no name of a model has: it is never asked for by that name."""


def side_of(text: str, beside: Path) -> Side:
    """Return the other side that ``--against`` names: the file of a program or a skill, a revision of git, else a
    model. A prefix `file:`, `rev:` or `model:` decides. The repository is that of ``beside``, a file or a folder."""
    folder = beside if beside.is_dir() else beside.parent
    kind, colon, rest = text.partition(":")
    kind, name = (kind, rest) if colon and kind in ("file", "rev", "model") else ("", text)
    path = Path(name)
    if kind == "file" or (not kind and path.suffix == ".md" and path.is_file()):
        return Side(name, lambda suite: suite.load(path, None), folder=lambda _, __: path.parent)
    commit, top = (None, None) if kind == "model" else (resolve_revision(name, folder), top_of(folder))
    if commit is not None and top is not None:

        def of_revision(suite: Suite) -> Program:
            return suite.load(suite.program_path, RevisionFiles(suite.root, top, commit))

        return Side(name, of_revision, folder=lambda folder, empty: exported_folder(folder, top, commit, empty))
    if not kind and path.suffix == ".md":
        near = nearest_file(path)
        guess = f"did you mean {near}?\n" if near else ""
        raise RunError(
            f"--against {text[:80]}: no such file", hint=f"{guess}for a model of this name: model:{name[:80]}"
        )
    if kind == "rev" or (not kind and _LIKE_A_REVISION.search(name)):
        raise RunError(f"--against {text[:80]}: git knows no such revision here", hint="see: git log --oneline")
    return Side(name, model=name)
