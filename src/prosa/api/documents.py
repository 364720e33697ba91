"""`prosa.load` and `prosa.check`: one parsed document, and the diagnostics of many.

Nothing is run and nothing is sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import Struct

from prosa.api.arguments import path_of, words
from prosa.api.checked import checked
from prosa.app.check.baseline import open_baseline
from prosa.app.check.changed import changed_groups
from prosa.app.check.check import Checker, CheckOptions, MemoryStore
from prosa.app.check.gather import gather, judged_by
from prosa.app.settings import given_in
from prosa.diagnostics import Diagnostic
from prosa.dialects import DialectName
from prosa.dialects.table import known_dialect
from prosa.rules.engine import check_text
from prosa.runtime.errors import RunError
from prosa.settings.model import Given
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.dialects.magi.model import MagiModel
    from prosa.dialects.markdownlang import ProgramModel
    from prosa.dialects.mdh.model import NodeModel
    from prosa.dialects.plain import PlainModel
    from prosa.dialects.prapti.model import ChatModel
    from prosa.dialects.skill_md.model import SkillModel
    from prosa.dialects.ymj.model import YmjModel

_SEEN = MemoryStore()
"""The surroundings of a folder are read once, however many of its documents are loaded one after the other."""

Model: TypeAlias = "ChatModel | MagiModel | NodeModel | PlainModel | ProgramModel | SkillModel | YmjModel"
"""The typed reading of a document: one class for each dialect."""


class Document(Struct, frozen=True):
    """One document as `load` reads it.

    ``front_matter`` is plain data or None; ``model`` the typed reading of its dialect, None if the text cannot be read
    as one; ``diagnostics`` those of `prosa check` for this document.
    """

    source: SourceText
    dialect: DialectName
    front_matter: dict[str, Any] | None
    model: Model | None
    diagnostics: tuple[Diagnostic, ...]


@checked
def load(path_or_text: str | Path, dialect: DialectName | None = None) -> Document:
    """Read a document: a `Path`, one line that names a file or ends like one (`.md`), or else the text itself.

    A file is read as `prosa check` reads it: under the settings of its project, beside the documents there. For a text
    nothing else is opened. Never fails on any text; an unreadable path raises `prosa.FileProblem`, an unknown dialect
    ValueError.
    """
    path = path_of(path_or_text)
    if path is None:
        checked = check_text(SourceText(str(path_or_text)), dialect=dialect and known_dialect(dialect))
    else:
        (group,) = gather([path], given=_given())
        group.files.read(path)
        checked = Checker.of(CheckOptions(dialect), os.environ, memory=_SEEN).check(group, keep=True)
    document = checked.documents[0]
    front = document.front
    model = cast("Model", document.reading.model)  # in any dialect, its model is one of these
    return Document(front.source, document.dialect, document.reading.front_matter, model, checked.of(front.source))


@checked
def check(
    paths: str | Path | Iterable[str | Path],
    *,
    dialect: DialectName | None = None,
    strict: bool | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    root: str | Path | None = None,
    gitignore: bool = True,
    max_size: int | None = None,
    jobs: int | None = 1,
    cache: bool = False,
    profile: str | None = None,
    baseline: str | Path | None = None,
    changed_since: str | None = None,
) -> list[Diagnostic]:
    """Return the diagnostics of `prosa check` for documents and their imports, under the settings of their projects:
    those of `prosa.toml` first, then in reading order. Folders without a document are ignored.

    The options are those of the command; ``strict`` None leaves it to documents and project. ``jobs`` is the number of
    processes, None means one for each processor; ``cache`` stores the findings for the next check. ``profile`` checks
    by a specification alone, such as `agentskills`. ``baseline`` is a file whose findings are left out;
    ``changed_since`` a revision of git, since which a document has to have changed.

    Raises `prosa.FileProblem` for a path that does not exist and a file that is no baseline, ValueError for an unknown
    rule, dialect, profile or revision, and for a wrong setting in `PROSA_SET`.
    """
    named = [paths] if isinstance(paths, str | Path) else list(paths)
    options = CheckOptions(dialect, strict, words(select), words(ignore), jobs, cache, profile)
    checker = Checker.of(options, os.environ)
    known = open_baseline(Path(baseline)) if baseline is not None else None
    groups = gather(
        named,
        root=root,
        max_size=max_size,
        gitignore=gitignore,
        agents=True,
        manifests=True,
        given=_given(),
    )
    if profile is not None:
        groups = judged_by(profile, groups)
    if changed_since is not None:
        groups = changed_groups(groups, changed_since).groups
    diagnostics = checker.diagnostics(groups)
    return list(known.split(diagnostics, groups).new if known is not None else diagnostics)


def _given() -> Given | None:
    """Return the settings in the environment of this process. Raises ValueError."""
    try:
        return given_in(os.environ)
    except RunError as problem:
        raise ValueError(problem.message) from None
