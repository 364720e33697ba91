"""The settings that hold here: the user's own file, and that of the project a document belongs to (X7)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, config_dir, find_root
from prosa.adapters.files.places import is_settings_file
from prosa.app.options import say_nothing
from prosa.diagnostics import Problem, Severity
from prosa.runtime.errors import RunError
from prosa.settings import DOCUMENTATION, PROJECT_FILE, PROJECT_FILES, USER_FILE, Settings, is_about_prosa, merge
from prosa.settings.environment import given_here
from prosa.settings.model import SET_VARIABLE, Given
from prosa.source import FileProblem, SourceText


def settings_for(
    path: Path | None, environ: Mapping[str, str], notice: Callable[[str], None] = say_nothing
) -> Settings:
    """Return the user's settings, with those of the project that ``path`` belongs to.

    A project's are in `prosa.toml` in its root, or otherwise in `[tool.prosa]` of its `pyproject.toml`. Raises
    `RunError` with file and line if a file has errors; settings without effect are reported to ``notice`` and never
    dropped silently. Raises `FileProblem` for a file that cannot be read.
    """
    overrides = given_in(environ)
    user = _settings_in(config_dir(environ) / USER_FILE, "user", notice, overrides) or Settings()
    if "/" in (user.default_model or "") or (user.default_model or "").startswith(("embedded", "gguf:")):
        from prosa.app.run.routes import with_default_provider

        user = with_default_provider(user, environ)
    if path is None:
        return user
    return merge(user, _settings_in(_project_file(path), "project", notice, overrides) or Settings())


def _project_file(path: Path) -> Path:
    root = find_root(path)
    return next((root / name for name in PROJECT_FILES if is_settings_file(root / name)), root / PROJECT_FILE)


class SettingsInUse:
    """The settings of a project that were read at the start of a server, which keeps them."""

    def __init__(self, root: Path, environ: Mapping[str, str], settings: Settings) -> None:
        self.root, self.environ, self.settings = root, environ, settings
        self._stamp = self._look()

    def news(self) -> str:
        """Return what to say when the file has changed since the last call and says something else than at the start;
        empty otherwise."""
        stamp = self._look()
        if stamp == self._stamp:
            return ""
        self._stamp = stamp
        try:
            if settings_for(self.root, self.environ) == self.settings:
                return ""
            reason = "the settings of the project changed"
        except (RunError, FileProblem) as problem:
            reason = f"the settings of the project changed and have an error: {problem}"
        return f"note: {reason}; those from the start of this server hold until it is started again"

    def _look(self) -> tuple[str, int, int]:
        path = _project_file(self.root)
        try:
            status = path.stat()
        except OSError:
            return str(path), 0, 0
        return str(path), status.st_size, status.st_mtime_ns


def nav_place(root: Path, entry: str) -> str:
    """Return the place of an entry of `site.nav` in the settings of the project that ``root`` belongs to, as
    `prosa.toml:3:8`; empty where no file holds it."""
    from prosa.rules.project import nav_span

    path = _project_file(root)
    try:
        source = RootedFiles().read(path)
    except FileProblem:
        return ""
    span = nav_span(source, entry)
    where = source.position(span.start)
    return f"{path.name}:{where.line}:{where.column}" if span.end else ""


def with_given(environ: Mapping[str, str], texts: Sequence[str]) -> Mapping[str, str]:
    """Return the environment with more settings for this call, `KEY=VALUE` with the names of either file."""
    return {**environ, SET_VARIABLE: "\n".join((environ.get(SET_VARIABLE, ""), *texts))}


def require_setting(text: str, *, user: bool = True) -> None:
    """Check a setting for one call; without ``user``, only one of a project. Raises `BadSetting`."""
    from prosa.rules.project import read_project
    from prosa.settings.given import BadSetting, given_settings

    overrides = given_settings([text])
    _, problems = read_project("", PROJECT_FILE, overrides.project)
    for problem in problems:
        raise BadSetting(problem.message, "\n".join(problem.notes))
    if overrides.user and not user:
        raise BadSetting("it has no effect here", "docs/settings.md lists the settings of a project, which have")


def given_in(environ: Mapping[str, str]) -> Given | None:
    """Return the settings for this call. Raises `RunError`."""
    if not environ.get(SET_VARIABLE):
        return None
    from prosa.settings.given import BadSetting

    try:
        return given_here(environ)
    except BadSetting as problem:
        raise RunError(f"{SET_VARIABLE}: {problem.message}", hint=problem.hint) from None


def documentation_address(environ: Mapping[str, str]) -> str:
    """Return where the documentation is published: according to the user, else the release; empty if unknown. Raises
    as `settings_for` does."""
    return settings_for(None, environ).documentation or DOCUMENTATION


def size_limit(chosen: int | None, settings: Settings | None) -> int:
    """Return bytes of the largest document that is read: as the user chose, as the settings say, or
    `MAX_DOCUMENT_BYTES`."""
    return chosen or (settings.max_size if settings else None) or MAX_DOCUMENT_BYTES


def _settings_in(
    path: Path, level: Literal["user", "project"], notice: Callable[[str], None], overrides: Given | None
) -> Settings | None:
    is_there = os.path.lexists(path)
    if not is_there and overrides is None:
        return None
    from prosa.settings.read import NONE, read_project_settings, read_user_settings

    # The reader of TOML loads only where there is something to read.
    source = RootedFiles().read(path) if is_there else SourceText("", SET_VARIABLE)
    if not is_about_prosa(path.name, source.text):
        if overrides is None:
            return None  # whatever it is, and however long, it is not about us
        source = SourceText("", SET_VARIABLE)
    if level == "user":
        settings, problems = read_user_settings(source.text, overrides.user if overrides else NONE)
    else:
        settings, problems = read_project_settings(source.text, path.name, overrides.project if overrides else NONE)
    for problem in problems:
        if problem.severity is Severity.ERROR:
            raise RunError(_words(source, problem), hint="\n".join(problem.notes))
        notice(f"warning: {'; '.join((_words(source, problem), *problem.notes))}")
    return settings


def _words(source: SourceText, problem: Problem) -> str:
    where = source.position(problem.span.start)
    return f"{source.path}:{where.line}:{where.column}: {problem.message}"
