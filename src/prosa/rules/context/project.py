"""The files of the project as rules see them: what exists, and which scripts, targets and recipes are defined.

In: a corpus. Out: a `Project`. Files are read and parsed; nothing is run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from prosa.data import Value
from prosa.rules.corpus_names import corpus_names
from prosa.rules.rule import Corpus
from prosa.source import FileProblem
from prosa.source.wildmatch import as_bytes

MADE = frozenset({"dist", "build", "out", "target", "node_modules", "coverage", "tmp", "logs", "vendor", "generated"})
"""Folders that a project makes, and that are not there in a fresh copy of it."""

MAX_READ = 200
"""Files of one kind that are read to learn what a project defines."""


class Project(Struct, frozen=True, eq=False, dict=True):
    """``files`` are the paths below ``root``, ``folders`` those of the folders that hold them, ``by_name`` the files
    by the last part of their path, ``tomls`` the TOML files that were parsed."""

    root: Path
    files: frozenset[str]
    folders: frozenset[str]
    by_name: dict[str, list[str]]
    corpus: Corpus
    tomls: dict[str, dict[str, Value] | None] = field(default_factory=dict)

    @cached_property
    def as_bytes(self) -> tuple[list[bytes], list[bytes]]:
        """The files and the folders as globs are matched with them."""
        return [as_bytes(path) for path in self.files], [as_bytes(path) for path in self.folders]

    def relative(self, real: Path) -> str | None:
        """Return the path below the root."""
        return real.relative_to(self.root).as_posix() if real.is_relative_to(self.root) else None

    def exists(self, path: str) -> bool:
        """Return whether a file or folder is there, ignored by git or not."""
        return path in self.files or path in self.folders or self.corpus.files.exists(self.root / path)

    @cached_property
    def _lowered(self) -> dict[str, list[str]]:
        by_lower: dict[str, list[str]] = {}
        for path in (*self.files, *self.folders):
            by_lower.setdefault(path.lower(), []).append(path)
        return by_lower

    def in_other_case(self, path: str) -> str | None:
        """Return the only file or folder whose path differs from this one in upper and lower case alone."""
        same = self._lowered.get(path.lower(), ())
        return same[0] if len(same) == 1 else None

    def named(self, *names: str) -> list[str]:
        """Return the files with one of these names, the outermost first."""
        paths = (path for name in names for path in self.by_name.get(name, ()))
        return sorted(paths, key=lambda path: (path.count("/"), path))

    def text(self, path: str) -> str | None:
        """Return the text of a file below the root; None where it cannot be read."""
        try:
            return self.corpus.files.read(self.root / path).text
        except FileProblem:
            return None

    def texts(self, paths: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the texts of files, of the first `MAX_READ`."""
        for path in list(paths)[:MAX_READ]:
            yield path, self.text(path)


def project_of(corpus: Corpus) -> Project | None:
    """Return the project of a corpus, the same for all rules; None where not all of its files are known."""
    if corpus.root is None or corpus.listing is None or corpus.rooted == "guessed":
        return None
    return corpus_names(corpus).derived("project", "paths", lambda: _project(corpus))


def _project(corpus: Corpus) -> Project | None:
    listed = corpus.listing() if corpus.listing is not None else None
    if listed is None or corpus.root is None:
        return None
    folders: set[str] = set()
    by_name: dict[str, list[str]] = {}
    for path in listed:
        folder, _, name = path.rpartition("/")
        by_name.setdefault(name, []).append(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    return Project(corpus.files.real(corpus.root), frozenset(listed), frozenset(folders), by_name, corpus)
