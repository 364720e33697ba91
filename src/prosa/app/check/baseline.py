"""The file of a baseline (`rules.baseline`), and what it means for a check. The file is read once, replaced whole, and
left alone if it changed meanwhile; paths in it start at its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import RootedFiles, replace_file
from prosa.adapters.files.read import real_path
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic
from prosa.rules.baseline import (
    MAX_BYTES,
    BaselineError,
    Entries,
    Split,
    baseline_text,
    count,
    entries_of,
    kept,
    read_baseline,
    split,
)
from prosa.source import FileProblem

DEFAULT_NAME = "prosa-baseline.json"
"""The file that is written where none is named."""


class Baseline(Struct, frozen=True, dict=True):
    """A baseline as it was read; ``digest`` is that of its bytes, empty where there is no file yet."""

    path: Path
    entries: Entries
    digest: str = ""

    @property
    def folder(self) -> Path:
        """The folder that paths start at."""
        return real_path(self.path).parent

    def split(self, diagnostics: Sequence[Diagnostic], groups: Sequence[Group]) -> Split:
        """Return which findings of a check are new. Raises `FileProblem` where the baseline is about other files."""
        parts = split(
            diagnostics, self._paths(diagnostics), self.entries, checked=self._checked(groups), gone=self._gone
        )
        if parts.new and not parts.known and self.entries.keys() == self._gone:
            reason = f"is about other files: none of those in it is below {self.folder}"
            raise FileProblem(self.path, "unreadable", reason)
        return parts

    def new_in(self, path: Path, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return which findings of one document are new."""
        name = self._name(str(path))
        entries = {key: self.entries[key] for key in (name, *self._gone) if key in self.entries}
        return split(diagnostics, [name] * len(diagnostics), entries, checked=(name,), gone=self._gone).new

    def replaced(self, diagnostics: Sequence[Diagnostic], groups: Sequence[Group]) -> Replaced:
        """Write the findings of a check into the file: entries of documents that were not checked stay, and those of
        files that are gone do not. Raises `FileProblem` and `OSError`."""
        fresh = entries_of(diagnostics, self._paths(diagnostics))
        known = self.split(diagnostics, groups) if self.entries else Split(tuple(diagnostics), (), 0)
        entries = {**kept(self.entries, self._checked(groups), self._gone), **fresh}
        text = baseline_text(entries)
        replace_file(self.path, text, expect_digest=self.digest)
        return Replaced(count(entries), len(known.new), known.stale)

    def _checked(self, groups: Sequence[Group]) -> set[str]:
        return {self._name(str(path)) for group in groups for path in group.paths}

    @cached_property
    def _gone(self) -> set[str]:
        return {path for path in self.entries if not os.path.lexists(self.folder / path)}

    def _paths(self, diagnostics: Sequence[Diagnostic]) -> list[str]:
        names: dict[str, str] = {}
        return [
            names.get(diagnostic.path) or names.setdefault(diagnostic.path, self._name(diagnostic.path))
            for diagnostic in diagnostics
        ]

    def _name(self, path: str) -> str:
        """Return the path of a document from the folder of the baseline, written with `/`."""
        if path.startswith("<"):
            return path
        try:
            return Path(os.path.relpath(real_path(Path(path)), self.folder)).as_posix()
        except ValueError:  # another drive
            return Path(path).as_posix()


class Replaced(Struct, frozen=True):
    """A baseline that was written: how many findings it holds, how many are ``new`` in it, and how many entries were
    ``dropped``."""

    count: int
    new: int
    dropped: int


def open_baseline(path: Path, *, new: bool = False) -> Baseline:
    """Return the baseline in a file; with ``new`` an empty one where there is no file. Raises `FileProblem`."""
    if path.is_dir():
        raise FileProblem(path, "not-a-file", "is a folder; a baseline is a file")
    if new and not os.path.lexists(path):
        return Baseline(path, {})
    source = RootedFiles(None, MAX_BYTES).read(path)
    try:
        return Baseline(path, read_baseline(source.text), source.digest)
    except BaselineError as error:
        raise FileProblem(path, "unreadable", str(error)) from None
