"""The settings of a project, `prosa.toml` or a part of `pyproject.toml` (X7), and what they say of a path.

In: a folder or a path. Out: settings, with diagnostics of what is wrong in them. A run asks here for the dialect of its
file, so nothing here finds documents.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from posixpath import normpath

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.places import is_settings_file
from prosa.adapters.files.read import real_path
from prosa.diagnostics import Diagnostic, Problem
from prosa.dialects.table import dialect_of_path
from prosa.rules.policy import Policy, Profile, diagnosed
from prosa.settings.model import PROJECT_FILE, PROJECT_FILES, Given, Settings, is_about_prosa
from prosa.source import FileProblem, SourceText, Span
from prosa.source.files import is_hidden


class Project(Struct, frozen=True):
    """``settings`` without invalid ones; None if the project has none."""

    settings: Settings | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


MOST_FOLDERS = 2_000
"""Folders below the root that may be the one of the site. With more, the pages of `site.nav` are not judged."""


def project_at(root: Path, shown: Path, given: Given | None = None, *, files: bool = True) -> Project:
    """Return the settings in ``root``: `prosa.toml`, else `[tool.prosa]` of `pyproject.toml`, with those that are
    ``given`` for this call. ``shown`` is how people name the folder. Without ``files`` those that the settings name
    are not judged."""
    for name in PROJECT_FILES:
        if is_settings_file(root / name):
            project = _read(root / name, shown / name, given, files)
            if project is not None:
                return project
    return _settings_of(SourceText("", str(shown / PROJECT_FILE)), root, given, files) if given else Project()


def dialect_here(path: Path, given: Given | None = None) -> str | None:
    """Return the dialect of a document from the globs of its project, or ``given`` for this call, then from its file
    name; None if neither decides."""
    root = find_root(path)
    settings = project_at(root, root, given, files=False).settings
    if settings is not None and settings.dialects:
        by_glob = Profile(settings=settings, root=root).hints(real_path(path)).glob
        if by_glob is not None:
            return by_glob
    return dialect_of_path(real_path(path).as_posix())


def _read(path: Path, shown: Path, given: Given | None, files: bool) -> Project | None:
    """Return the settings of one file; None for a `pyproject.toml` that says nothing of Prosa."""
    try:
        source = RootedFiles(path.parent, named=(path,)).read_undigested(path)
    except FileProblem as problem:
        return Project(None, (_unreadable(problem, shown),))
    if not is_about_prosa(path.name, source.text):
        return None
    if not source.text.strip() and given is None:
        return Project()  # a file that only marks the root
    return _settings_of(replace(source, path=str(shown)), path.parent, given, files)


def _settings_of(source: SourceText, root: Path, given: Given | None, files: bool) -> Project:
    """Return what a file and this call set, with diagnostics."""
    from prosa.rules.project import nav_diagnostics, project_diagnostics, schema_diagnostics

    settings, diagnostics = project_diagnostics(source, given.project) if given else project_diagnostics(source)
    if settings.schemas and files:
        diagnostics = (*diagnostics, *schema_diagnostics(settings, source, root, RootedFiles(root)))
    if settings.site_nav and files:
        diagnostics = (*diagnostics, *nav_diagnostics(settings, source, _PagesBelow(root).has))
    return Project(settings, diagnostics)


class _PagesBelow:
    """The files below a root that may be pages of a site, whose own folder may be any of those there."""

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        self._last = self._root

    @cached_property
    def _folders(self) -> list[str]:
        """The folders below the root, without hidden ones; none where there are too many."""
        folders = [self._root]
        for folder in folders:
            with suppress(OSError), os.scandir(folder) as entries:
                inside = (entry for entry in entries if not is_hidden(entry.name))
                folders += sorted(entry.path for entry in inside if entry.is_dir(follow_symlinks=False))
            if len(folders) > MOST_FOLDERS:
                return []
        return folders

    def has(self, path: str) -> bool:
        """Return whether there may be such a page."""
        below = normpath(path).lstrip("/")
        if below.startswith("../") or below == "..":
            return False
        for folder in (self._root, self._last, *self._folders):  # most pages are beside the one before
            if os.path.lexists(os.path.join(folder, below)):  # noqa: PTH118 - the texts of thousands of folders
                self._last = folder
                return True
        return not self._folders


def _unreadable(problem: FileProblem, shown: Path) -> Diagnostic:
    finding = Problem("bad-settings-file", f"the settings cannot be read: {problem.reason}", Span(0, 0))
    return diagnosed((finding,), SourceText("", str(shown)), Policy())[0]
