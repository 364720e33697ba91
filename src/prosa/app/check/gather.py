"""Named documents, files, folders and a text without a file, grouped by root (X5), with the settings of their project
(X7).

A path that does not exist is a `FileProblem`; a file that cannot be read is left to the engine, which makes a
diagnostic of it, as it does of problems in settings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.places import is_marked, is_project
from prosa.adapters.files.read import MAX_DOCUMENT_BYTES, decode, real_path
from prosa.adapters.files.scan import scan
from prosa.adapters.files.stamps import FileStamps
from prosa.adapters.files.walk import Listing, Walk, documents_in, files_in
from prosa.app.check.project import Project, project_at
from prosa.corpus.found import Folders
from prosa.dialects.context.places import JSON_FILES, PLUGIN_FILES
from prosa.dialects.table import (
    CASES,
    DOCUMENT_SUFFIXES,
    EVALS,
    SKILL_MD,
    TRIGGERS,
    dialect_of_file_name,
    skill_folder,
)
from prosa.rules.analyzer import Sighted
from prosa.rules.policy import specification
from prosa.rules.rule import Rooted
from prosa.settings.model import Given
from prosa.source import FileProblem, Files, Renamed, SourceText, TextFiles
from prosa.source.files import Skipped, is_hidden

STDIN = "-"
STDIN_NAME = "<stdin>"

META_SUFFIX = ".mda"
"""Suffix of documents that others inherit from, besides those that the project's settings make MAGI documents."""

MAX_BESIDE = 50_000
"""Documents beside the ones named that are considered; ids beyond them are unknown."""

MAX_FILES = 500_000
"""Files of any kind that are looked for by name."""

MAX_FOLDERS_BESIDE = 20_000
"""Folders that are searched for them."""

MAX_FOLDERS_UNMARKED = 500
"""The same below a folder that nothing marks as a project: it may be a home or a download folder."""


class Group(Struct, frozen=True):
    """Documents that share a root, in their order. ``whole`` is true if the root itself was named, ``given`` if the
    user set it (`--root`). ``unnamed`` are documents in hidden folders that were not named: they are read, and never
    written. ``walked`` is what the folders held when the whole root was walked just now."""

    files: Files
    paths: tuple[Path, ...]
    root: Path
    project: Project
    whole: bool = False
    gitignore: bool = True
    given: bool = False
    agents: bool = False
    unnamed: frozenset[Path] = frozenset()
    walked: Sequence[Listing] | None = None

    @property
    def marked(self) -> bool:
        """Whether something in the root says that a project begins there."""
        return is_marked(self.root)

    @property
    def rooted(self) -> Rooted:
        """How the root is known (`rules.subject.Corpus`)."""
        if self.given:
            return "given"
        if is_project(self.root):
            return "project"
        return "known" if self.whole or self.marked else "guessed"

    def beside(self) -> tuple[Sequence[Path], bool]:
        """Return all documents below the root, and whether these are all (`rules.engine.CorpusScope`)."""
        most = MAX_FOLDERS_BESIDE if self.marked else MAX_FOLDERS_UNMARKED
        walk = Walk(DOCUMENT_SUFFIXES, self.files, self.gitignore, most, self.agents)
        documents = list(islice(walk.documents(_shown(self.root)), MAX_BESIDE + 1))
        paths = [path for path in documents if isinstance(path, Path)]
        return paths[:MAX_BESIDE], len(paths) == len(documents) <= MAX_BESIDE

    def sighted(self, stamps: FileStamps) -> Sighted | None:
        """Return the same without a `Path` for each; None where they are not all, or where stamps tell nothing."""
        most = MAX_FOLDERS_BESIDE if self.marked else MAX_FOLDERS_UNMARKED
        try:
            scanned = scan(
                self.root, self.files, gitignore=self.gitignore, agents=self.agents, most_folders=most, most=MAX_BESIDE
            )
        except FileProblem:
            return None
        if scanned.problems or not isinstance(scanned.documents, Folders):
            return None
        shown = _shown(self.root)
        return Sighted(
            scanned.documents.root,
            os.path.join(shown, "") if shown.parts else "",  # noqa: PTH118 - the beginning of thousands of paths
            scanned.documents.stamps,
            scanned.links,
            partial(stamps.tells, at_ns=scanned.at_ns),
            lambda stamp: stamp[0] <= stamps.files.max_size,
            stamps.apart,
        )

    def file_names(self) -> dict[str, str]:
        """Return the files of any kind below the root by their name but for case, each with the path below the root of
        the first one."""
        most = MAX_FOLDERS_BESIDE if self.marked else MAX_FOLDERS_UNMARKED
        walk = Walk(("",), self.files, self.gitignore, most)
        shown = _shown(self.root)
        names: dict[str, str] = {}
        for document in islice(walk.documents(shown), MAX_FILES):
            if isinstance(document, Path):
                names.setdefault(document.name.casefold(), document.relative_to(shown).as_posix())
        return names

    def listing(self) -> list[str] | None:
        """Return the paths of the files of any kind below the root, also in the folders of agents, without folders that
        git ignores; None if these are not all."""
        most = MAX_FOLDERS_BESIDE if self.marked else MAX_FOLDERS_UNMARKED
        top = os.fspath(_shown(self.root))
        walked = self.walked
        if walked is None:
            walked = list[Listing]()
            walk = Walk((), self.files, self.gitignore, most + 1, agents=True, walked=walked)
            if any(isinstance(listing, FileProblem) for listing in walk.listings(Path(top))):
                return None
        if len(walked) > most or sum(len(listing.entries) for listing in walked) > MAX_FILES:
            return None
        start = len(os.path.join(walked[0].folder, "")) if walked else 0  # noqa: PTH118 - thousands of paths
        listed: list[str] = []
        for folder, names in files_in(walked, self.files):
            prefix = os.path.join(folder[start:], "").replace(os.sep, "/")  # noqa: PTH118 - thousands of paths
            listed += (prefix + name for name in names)
        return listed

    def renames(self) -> Sequence[Renamed]:
        """Return the files below the root that git renamed, the newest first."""
        from prosa.adapters.files.git_files import renames_below  # it loads tarfile

        return renames_below(self.root)

    def metas(self) -> list[Path]:
        """Return the documents below the root that others may inherit from (M20): for a guessed root those in
        the folder itself."""
        settings = self.project.settings
        by_glob = settings is not None and any(name == "magi" for _, name in settings.dialects)
        most = 1 if self.rooted == "guessed" else MAX_FOLDERS_BESIDE
        walk = Walk(DOCUMENT_SUFFIXES if by_glob else (META_SUFFIX,), self.files, self.gitignore, most)
        documents = islice(walk.documents(_shown(self.root)), MAX_BESIDE)
        return [path for path in documents if isinstance(path, Path)]


class _Grouping(Struct):
    root: Path | None
    by_root: dict[Path, list[Path]] = field(default_factory=dict)
    whole: set[Path] = field(default_factory=set)
    unnamed: set[Path] = field(default_factory=set)
    named: set[Path] = field(default_factory=set)
    walked: dict[Path, list[Listing]] = field(default_factory=dict)

    def walking(self, root: Path, path: Path) -> list[Listing] | None:
        """Return where to note what is in the folders of a root, if that is what is walked."""
        is_root = root not in self.walked and path.is_dir() and real_path(path) == root
        return self.walked.setdefault(root, []) if is_root else None

    def root_of(self, path: Path) -> Path:
        """Return `--root`, else the nearest marked ancestor, else the folder of the document."""
        if self.root is not None:
            return real_path(self.root)
        root = find_root(path)
        if dialect_of_file_name(path.name) == EVALS.name and not is_marked(root) and not path.is_dir():
            return real_path(skill_folder(path).parent)  # evaluations are checked against the skill beside them
        return root

    def add(self, root: Path, paths: Sequence[Path]) -> None:
        self.by_root.setdefault(root, []).extend(paths)


def gather(
    paths: Sequence[str | Path],
    *,
    root: str | Path | None = None,
    max_size: int | None = None,
    stdin: SourceText | None = None,
    gitignore: bool = True,
    agents: bool = False,
    manifests: bool = False,
    skipped: Skipped | None = None,
    given: Given | None = None,
) -> tuple[Group, ...]:
    """Return the groups of documents under ``paths``; with ``agents`` those in the hidden folders of agents too, with
    ``manifests`` the JSON files of hosts. ``skipped`` records skipped files, ``given`` are settings of this call.
    Raises `FileProblem` for a path that does not exist."""
    most = max_size or MAX_DOCUMENT_BYTES
    grouping = _Grouping(_folder(root))
    opened = RootedFiles(None, most, _named(paths))
    for name in paths:
        if name == STDIN and stdin is not None:
            grouping.add(grouping.root_of(Path(stdin.path)), [Path(stdin.path)])
            continue
        path = Path(name)
        if not os.path.lexists(path):
            raise FileProblem(path, "missing", "no such file or folder")
        base = grouping.root_of(path)
        if path.is_dir() and base.is_relative_to(real_path(path)):
            grouping.whole.add(base)
        files = opened.within(base)
        walked = grouping.walking(base, path) if agents else None
        documents = documents_in(
            [path], DOCUMENT_SUFFIXES, files, gitignore=gitignore, agents=agents, skipped=skipped, walked=walked
        )
        if path.is_dir():
            documents = _with_evals(documents) + (manifests_in(path, documents) if agents and manifests else [])
        grouping.add(base, documents)
        hidden = {document for document in documents if _is_hidden_in(path, document)}
        grouping.unnamed |= hidden
        grouping.named.update(set(documents) - hidden)
    return tuple(
        Group(
            opened.within(base) if stdin is None else TextFiles(stdin, opened.within(base)),
            tuple(dict.fromkeys(members)),
            base,
            project_at(base, _shown(base), given),
            base in grouping.whole,
            gitignore,
            root is not None,
            agents,
            frozenset((grouping.unnamed - grouping.named).intersection(members)),
            grouping.walked.get(base),
        )
        for base, members in grouping.by_root.items()
    )


class NamedDocuments(Struct, frozen=True):
    """The documents named by the user: groups of documents, the text of standard input if it is one of them, and the
    files skipped on the way."""

    groups: tuple[Group, ...]
    stdin: SourceText | None
    skipped: Skipped

    @property
    def count(self) -> int:
        """How many documents there are."""
        return sum(len(group.paths) for group in self.groups)


def gather_named(
    paths: Sequence[str],
    read: Callable[[int], bytes],
    *,
    stdin_name: str | None = None,
    root: str | None = None,
    max_size: int | None = None,
    gitignore: bool = True,
    agents: bool = False,
    manifests: bool = False,
    given: Given | None = None,
) -> NamedDocuments:
    """Return the documents of a command line, on which `-` is standard input, called ``stdin_name`` and read by
    ``read``. Raises `FileProblem`."""
    stdin = read_stdin(read, stdin_name) if STDIN in paths else None
    skipped = Skipped()
    groups = gather(
        paths,
        root=root,
        max_size=max_size,
        stdin=stdin,
        gitignore=gitignore,
        agents=agents,
        manifests=manifests,
        skipped=skipped,
        given=given,
    )
    return NamedDocuments(groups, stdin, skipped)


def read_stdin(read: Callable[[int], bytes], name: str | None) -> SourceText:
    """Return standard input as a document. ``read`` returns at most one byte more than requested, which shows that
    there is more. Raises `FileProblem` if it is too large or not UTF-8."""
    path = name or STDIN_NAME
    data = read(MAX_DOCUMENT_BYTES)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise FileProblem(Path(path), "too-large", f"is larger than {MAX_DOCUMENT_BYTES:,} bytes")
    return SourceText(decode(Path(path), data), path)


def judged_by(profile: str, groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups with the documents alone that a profile judges. Raises `UnknownName`."""
    about = specification(profile)
    kept = (replace(group, paths=tuple(filter(about.judges, group.paths))) for group in groups)
    return tuple(group for group in kept if group.paths)


def _with_evals(paths: Sequence[Path]) -> list[Path]:
    """Return the documents of a folder, and with each skill the files that say how it is tried: the only documents that
    are looked for by their names."""
    documents: list[Path] = []
    for path in paths:
        documents.append(path)
        if dialect_of_file_name(path.name) == SKILL_MD.name:
            documents += evals_beside(path)
    return documents


def evals_beside(skill: Path) -> list[Path]:
    """Return the existing evaluation files by the path of their `SKILL.md`; unreadable ones are reported by
    their reader."""
    return [path for name in (CASES, *TRIGGERS) if os.path.lexists(path := skill.parent / name)]


def manifests_in(folder: Path, paths: Sequence[Path]) -> list[Path]:
    """Return the JSON files of hosts in a folder, and those of plugins in the folders of its documents (X3)."""
    inside: dict[Path, None] = {}
    for above in dict.fromkeys(os.path.dirname(path) for path in paths):  # noqa: PTH120 - thousands of paths
        place = Path(above)
        while place not in inside and place not in (folder, place.parent):
            inside[place] = None
            place = place.parent
    plugins = (path / name for path in inside if path.is_relative_to(folder) for name in PLUGIN_FILES)
    return [path for path in (*(folder / name for name in JSON_FILES), *plugins) if os.path.lexists(path)]


def _is_hidden_in(named: Path, path: Path) -> bool:
    """Return whether a document is in a hidden folder below the named path."""
    if "/." not in f"/{path.as_posix()}" or path == named:
        return False
    return is_hidden(os.path.relpath(path, named).replace(os.sep, "/"))


def _named(paths: Sequence[str | Path]) -> tuple[Path, ...]:
    """Return the documents that the user named one by one: they are opened wherever they lie (X5)."""
    return tuple(path for name in paths if name != STDIN and not (path := Path(name)).is_dir())


def _shown(folder: Path) -> Path:
    """Return a real folder as people would name it from here."""
    here = real_path(Path())
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _folder(root: str | Path | None) -> Path | None:
    if root is None:
        return None
    path = Path(root)
    if not path.is_dir():
        raise FileProblem(path, "missing", "no such folder, so it cannot be the root")
    return path
