"""The files around a document as a check sees them at the door of agents: those that are published, and no other (X23);
and which imports of a program are not.

`PublishedFiles` and `PublishedGroup` take the place of the files on the disk. Paths are relative to the root of the
site, so that nothing of a finding names a place on this machine. Nothing runs here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.places import VAULT_MARK
from prosa.adapters.files.read import decode
from prosa.app.check.gather import MAX_BESIDE, META_SUFFIX, Group
from prosa.app.check.project import Project
from prosa.app.site.files import is_document
from prosa.app.site.live import LiveSite
from prosa.app.site.unindexed import has_folder
from prosa.runtime.program import Program, reachable
from prosa.source import FileProblem, SourceText


class PublishedFiles(Struct, frozen=True):
    """Implements `Files` with unpublished files missing. ``schemas`` are the schema files named in the project's
    settings: they are only read to validate, and not shown."""

    site: LiveSite
    under: RootedFiles
    schemas: frozenset[str] = frozenset()

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        below = self._below(path)
        try:
            if below in self.schemas:
                return self.under.read(self.site.root / below)
            if not is_document(below):
                data = self.site.assets.read(below, self.under.max_size)
                return SourceText(decode(path, data), str(path), sha256(data).hexdigest())
            source = self.site.source(below)
        except FileProblem as problem:
            raise FileProblem(path, problem.kind, problem.reason) from None
        if source is None:
            raise FileProblem(path, "missing", "no such file or folder")
        return SourceText(source.text, str(path), source.digest)

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved."""
        return self.under.real(self.site.root / path)

    def inside_root(self, path: Path) -> bool:
        """Return whether the file may be opened."""
        return self.under.inside_root(self.site.root / path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there and published. That the root is a vault is no secret."""
        below = self._below(path)
        if below in ("", VAULT_MARK):
            return os.path.isdir(self.site.root / below)  # noqa: PTH112 - a name too long is no error
        return self.site.has(below) or has_folder(self.site, f"{below}/")

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file. Raises `FileProblem`."""
        below = self._below(path)
        if is_document(below):
            return self.read(path).digest
        try:
            return sha256(self.site.assets.read(below, limit)).hexdigest()
        except FileProblem as problem:
            raise FileProblem(path, problem.kind, problem.reason) from None

    def _below(self, path: Path) -> str:
        """Return the path below the root, without `.` and `..`; one outside begins with `..`, and is nowhere
        published."""
        below = os.path.relpath(self.site.root / path, self.site.root).replace(os.sep, "/")
        return "" if below == "." else below


class PublishedGroup(Group, frozen=True, kw_only=True):
    """Documents with those around them that are published."""

    site: LiveSite

    def beside(self) -> tuple[Sequence[Path], bool]:
        """Return the published documents, and whether these are all."""
        paths = [Path(document) for document in islice(_documents(self.site), MAX_BESIDE + 1)]
        return paths[:MAX_BESIDE], len(paths) <= MAX_BESIDE

    def file_names(self) -> dict[str, str]:
        """Return the published files of any kind by their name but for case."""
        paths = (*_documents(self.site), *(asset.path for asset in self.site.assets.all()))
        return {path.rpartition("/")[2].casefold(): path for path in sorted(paths, reverse=True)}

    def metas(self) -> list[Path]:
        """Return the published documents that others may inherit from."""
        settings = self.project.settings
        by_glob = settings is not None and any(name == "magi" for _, name in settings.dialects)
        return [path for path in self.beside()[0] if by_glob or path.name.lower().endswith(META_SUFFIX)]


def published_files(site: LiveSite, project: Project) -> PublishedFiles:
    """Return the files of a site as a check sees them."""
    named = project.settings.schemas if project.settings is not None else ()
    return PublishedFiles(site, RootedFiles(site.root, site.files.max_size), frozenset(path for _, path in named))


def _documents(site: LiveSite) -> Iterator[str]:
    """Yield the paths of the published documents; while there is no index each of them is read."""
    if site.index.is_ready:
        yield from (row.path for row in site.index.catalogue.rows)
    else:
        yield from (path for path in site.files.others(is_document) if site.has(path))


def unpublished(site: LiveSite, program: Program) -> Iterator[str]:
    """Yield the imported programs that are no published documents, and the files of skills that may not be seen: their
    documents are published, their other files have paths that say nothing against them."""
    programs = reachable(program)
    for reached in programs[1:]:
        path = _below(site, Path(reached.folder, reached.file))
        if not site.has(path):
            yield reached.name
    for reached in programs:
        for skill in reached.skills:
            for file in skill.files:
                path = _below(site, Path(skill.folder, file))
                if not (site.has(path) if is_document(path) else site.is_open(path)):
                    yield f"{skill.name}/{file}"


def as_published(site: LiveSite, program: Program) -> Program:
    """Return a program that names no file of its skills but published ones, for readers who do not run it."""
    shown = (
        replace(
            skill, scripts=(), files=tuple(file for file in skill.files if site.has(_below(site, skill.folder, file)))
        )
        for skill in program.skills
    )
    return replace(program, skills=tuple(shown)) if program.skills else program


def _below(site: LiveSite, *parts: str | Path) -> str:
    """Return a path below the root; empty, which no file has, for one outside."""
    place = Path(*parts)
    return place.relative_to(site.root).as_posix() if place.is_relative_to(site.root) else ""
