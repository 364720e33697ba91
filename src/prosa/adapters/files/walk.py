"""The documents in a folder, in a fixed order (X5).

In: a folder and the suffixes that count. Out: paths, sorted by name, each real file once. Passed over are hidden
folders, but for those of agents, and others with a skill in them, where these are wanted; what git ignores; and what
others wrote, in `node_modules` or a Python environment. Links to folders are not followed, so a walk ends. A link to a
file counts when it stays inside the root and the walk does not meet the file itself: links come last, so that a
document has the path where it lies.
"""

# Texts, not Paths: a walk over thousands of files takes half the time.
# ruff: noqa: PTH111, PTH112, PTH113, PTH114, PTH118, PTH119, PTH120, PTH123, PTH206

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files.places import VAULT_MARK
from prosa.adapters.files.read import RootedFiles, real_path
from prosa.dialects.table import AGENT_FOLDERS, SKILL_MD
from prosa.regex import regex
from prosa.source import FileProblem, Files
from prosa.source.files import Skipped
from prosa.source.wildmatch import PathGlob, path_glob

MAX_FOLDER_DEPTH = 64
"""Folders inside one another; deeper trees are made, not written."""

FOREIGN_FOLDERS = frozenset({"node_modules", "third_party", "vendor"})
"""Folders that hold what others wrote, by custom."""

ENVIRONMENT_FILE = "pyvenv.cfg"
"""The file that is in every Python environment."""

UNREAD_TEXTS = (".rst", ".adoc", ".asciidoc", ".org", ".textile", ".rmd", ".qmd", ".ipynb")
"""Text documents that Prosa does not read."""

UNWRITTEN_FOLDERS = frozenset(
    (".git", ".hg", ".svn", ".jj", ".obsidian", ".vscode", ".idea", ".vs", ".cache", ".tox", ".nox", ".devcontainer")
) | frozenset((".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".husky", ".circleci", ".yarn", ".trash"))
"""Hidden folders in which programs store data; skipping them is not reported."""


_SKILL = SKILL_MD.file_names[0].lower()

MAX_PROBED = 100
"""Folders that are listed to find a skill in a hidden folder of another name."""

MAX_PROBED_IN_ALL = 1000
"""The same in one walk."""


class Walk(Struct, frozen=True):
    """How folders are walked. ``gitignore`` skips files that git ignores; ``most_folders`` ends a walk early; with
    ``agents`` the hidden folders of agents count too. ``skipped`` records skipped files, ``vaults`` the folders that
    are vaults of Obsidian, ``walked`` everything in the folders that were listed. With ``every_file`` files that git
    ignores count where their folder does."""

    suffixes: Sequence[str]
    files: Files
    gitignore: bool = True
    most_folders: int | None = None
    agents: bool = False
    skipped: Skipped | None = None
    vaults: list[str] | None = None
    every_file: bool = False
    walked: list[Listing] | None = None

    def documents(self, folder: Path) -> Iterator[Path | FileProblem]:
        """Yield every document under ``folder``; a folder that cannot be listed is a `FileProblem` in its place. A walk
        with ``most_folders`` ends with a `FileProblem` of the kind ``too-large`` where it has seen so many."""
        files = self.files if isinstance(self.files, RootedFiles) else None
        for listing in self.listings(folder):
            if isinstance(listing, FileProblem):
                yield listing
                continue
            paths = [Path(entry.path) for entry in sorted(listing.entries, key=_name_of)]
            if files is not None and paths:
                files.met(paths, listing.real)
            yield from paths
            yield from map(Path, listing.links)

    def listings(self, folder: Path) -> Iterator[Listing | FileProblem]:
        """Yield the same by folder, each as soon as it was listed: the documents in no order."""
        walking = _Walking(self, tuple(self.suffixes))
        try:
            yield from self._listed(folder, walking)
        finally:
            if self.skipped is not None:
                self.skipped.folders += [path for _, path in sorted(walking.passed)]

    def _listed(self, folder: Path, walking: _Walking) -> Iterator[Listing | FileProblem]:
        real = os.fspath(real_path(folder))
        patterns = ignored_in(real) if self.gitignore else None
        waiting = [_Folder(os.fspath(folder), real, 0, patterns, 0)]
        visited = 0
        while waiting:
            current = waiting.pop()
            entries = _entries_of(current.path)
            if current.depth and walking.is_environment(entries, current):
                continue
            visited += 1
            if self.most_folders is not None and visited > self.most_folders:
                yield FileProblem(folder, "too-large", f"has more than {self.most_folders:,} folders")
                return
            if isinstance(entries, OSError):
                reason = f"the folder cannot be listed ({entries.strerror})"
                yield FileProblem(Path(current.path), "unreadable", reason)
                continue
            if self.walked is not None:
                self.walked.append(Listing(current.path, entries))
            inside, documents = walking.sorted_out(entries, current)
            waiting += reversed(inside)
            if documents:
                yield Listing(current.path, documents, (), current.real)
        yield from (Listing(os.path.dirname(link), (), (link,)) for link in walking.links if walking.is_linked(link))


class Listing(Struct, frozen=True):
    """A folder that was listed: the documents in it, and links to documents elsewhere, which come last of all. ``real``
    is the real path of a folder with documents."""

    folder: str
    entries: Sequence[os.DirEntry[str]]
    links: Sequence[str] = ()
    real: str = ""


def _entries_of(folder: str) -> list[os.DirEntry[str]] | OSError:
    """Return what is in a folder, or why it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        return error


def _name_of(entry: os.DirEntry[str]) -> str:
    return entry.name


def files_in(walked: Sequence[Listing], files: Files) -> Iterator[tuple[str, list[str]]]:
    """Yield every folder that a walk passed, with the names of its files, as one with ``every_file`` meets them."""

    def is_file(entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(".") or entry.is_dir(follow_symlinks=False):
            return False
        path = entry.path
        return not entry.is_symlink() or (os.path.isfile(path) and files.inside_root(Path(path)))

    yield from ((listing.folder, [entry.name for entry in listing.entries if is_file(entry)]) for listing in walked)


def is_foreign(folder: str) -> bool:
    """Return whether a folder holds third-party files, by its name or as a Python environment: no walk enters it, and
    no site shows its content."""
    return os.path.basename(folder) in FOREIGN_FOLDERS or _is_environment(folder)


def _is_environment(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ENVIRONMENT_FILE))


def documents_in(
    paths: Sequence[Path],
    suffixes: Sequence[str],
    files: Files,
    *,
    gitignore: bool = True,
    agents: bool = False,
    skipped: Skipped | None = None,
    walked: list[Listing] | None = None,
) -> list[Path]:
    """Return the files named and the documents of the folders named, each once; a folder that cannot be listed as its
    path, so that reading it says why. A file that is named is taken whatever git ignores."""
    walk = Walk(suffixes, files, gitignore, None, agents, skipped, walked=walked)
    documents: dict[Path, None] = {}
    for path in paths:
        inside = walk.documents(path) if path.is_dir() else (path,)
        documents |= dict.fromkeys(path.path if isinstance(path, FileProblem) else path for path in inside)
    return list(documents)


def would_meet(folder: Path, path: Path, *, agents: bool = False) -> bool:
    """Return whether a walk over a folder comes to a file below it, by the names alone; both are real paths. The file
    itself need not be there."""
    if not path.is_relative_to(folder):
        return False
    walking = _Walking(Walk((), RootedFiles(folder), agents=agents), ())
    current = _Folder(os.fspath(folder), os.fspath(folder), 0, ignored_in(os.fspath(folder)), 0)
    *folders, name = path.relative_to(folder).parts
    for part in folders:
        inner = walking.entered(part, os.path.join(current.path, part), current, current.ignored)
        if inner is None or (not part.startswith(".") and _is_environment(inner.path)):
            return False
        ignored = inner.ignored.inside(inner.real) if inner.ignored is not None else None
        current = replace(inner, ignored=ignored)
    return _is_seen(name, current, current.ignored)


class _Folder(Struct, frozen=True):
    """A folder to list: its path as named, its real path, and the ignore rules around it; ``number`` is its place in
    the order in which folders were seen."""

    path: str
    real: str
    depth: int
    ignored: Ignored | None
    number: int


class _Walking(Struct):
    """The state of one walk: the names of documents by the real path of their folder, and the links that were met.
    Links are the only way to meet a file twice. ``seen`` counts folders, ``passed`` are those that are skipped."""

    walk: Walk
    suffixes: tuple[str, ...]
    met: dict[str, list[str]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    probed: int = 0
    seen: int = 0
    passed: list[tuple[int, str]] = field(default_factory=list)

    def sorted_out(
        self, entries: Sequence[os.DirEntry[str]], current: _Folder
    ) -> tuple[list[_Folder], list[os.DirEntry[str]]]:
        """Return the folders to be listed next, in their order, and the documents. Links are noted for the end."""
        ignored, names = current.ignored, [entry.name for entry in entries]
        if ignored is not None and current.depth and IGNORE_FILE in names:
            ignored = ignored.inside(current.real)
        is_matched = ignored is not None and ignored.has_patterns and not self.walk.every_file
        matching = ignored if is_matched else None
        folders, documents = list[os.DirEntry[str]](), list[os.DirEntry[str]]()
        links, others = list[str](), list[str]()
        suffixes = self.suffixes
        for entry, name in zip(entries, names, strict=True):
            try:
                if name.endswith(suffixes) and entry.is_file(follow_symlinks=False):  # almost every entry
                    if name[0] != "." and (matching is None or _is_seen(name, current, matching)):
                        documents.append(entry)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry)
                elif name.lower().endswith(suffixes):
                    if _is_seen(name, current, matching):
                        if entry.is_symlink():
                            links.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            documents.append(entry)
                elif not name.startswith(".") and name.lower().endswith(UNREAD_TEXTS):
                    others.append(entry.path)
            except OSError:
                continue
        self.links += sorted(links)
        if self.walk.skipped is not None:
            self.walk.skipped.files += sorted(others)
        self.met[current.real] = [entry.name for entry in documents]
        inside = (self.entered(entry.name, entry.path, current, ignored) for entry in sorted(folders, key=_name_of))
        return [folder for folder in inside if folder is not None], documents

    def is_environment(self, entries: list[os.DirEntry[str]] | OSError, current: _Folder) -> bool:
        """Return whether a subfolder that was listed is a Python environment, and note it as skipped."""
        if isinstance(entries, OSError):
            has_marker = _is_environment(current.path)
        else:
            has_marker = ENVIRONMENT_FILE in [entry.name for entry in entries]
        if not has_marker or os.path.basename(current.path).startswith("."):
            return False
        self.passed.append((current.number, current.path))
        return True

    def entered(self, name: str, path: str, parent: _Folder, ignored: Ignored | None) -> _Folder | None:
        """Return a subfolder to list, or None. Whether it is a Python environment shows when it is listed."""
        self.seen += 1
        if parent.depth >= MAX_FOLDER_DEPTH:
            return None
        if name == VAULT_MARK and self.walk.vaults is not None:
            self.walk.vaults.append(parent.path)
        is_wanted = self._is_wanted(name)
        may_hold_skills = not is_wanted and self._may_hold_skills(name, path)
        if not (is_wanted or may_hold_skills) and (self.walk.skipped is None or name in UNWRITTEN_FOLDERS):
            return None
        real = os.path.join(parent.real, name)
        if ignored is not None and ignored.ignores(real, is_folder=True):
            return None
        if not is_wanted and not (may_hold_skills and self._holds_skill(real, ignored)):
            self.passed.append((self.seen, path))
            return None
        return _Folder(path, real, parent.depth + 1, ignored, self.seen)

    def _is_wanted(self, name: str) -> bool:
        if name.startswith("."):
            return self.walk.agents and name in AGENT_FOLDERS
        return name not in FOREIGN_FOLDERS

    def _may_hold_skills(self, name: str, path: str) -> bool:
        is_unknown = self.walk.agents and name.startswith(".") and name not in UNWRITTEN_FOLDERS
        return is_unknown and not is_foreign(path)

    def _holds_skill(self, folder: str, ignored: Ignored | None) -> bool:
        """Return whether there is a skill in a hidden folder; the nearest folders are examined first."""
        waiting = deque([folder])
        for _ in range(min(MAX_PROBED, MAX_PROBED_IN_ALL - self.probed)):
            if not waiting:
                return False
            self.probed += 1
            with suppress(OSError), os.scandir(waiting.popleft()) as listing:
                entries = sorted(listing, key=_name_of)
                if any(entry.name.lower() == _SKILL and entry.is_file(follow_symlinks=False) for entry in entries):
                    return True
                folders = (entry for entry in entries if entry.is_dir(follow_symlinks=False))
                waiting += (entry.path for entry in folders if self._is_probed(entry, ignored))
        return False

    def _is_probed(self, entry: os.DirEntry[str], ignored: Ignored | None) -> bool:
        name, path = entry.name, entry.path
        wanted = self._is_wanted(name) and (name.startswith(".") or not _is_environment(path))
        if not (wanted or self._may_hold_skills(name, path)):
            return False
        return ignored is None or not ignored.ignores(path, is_folder=True)

    def is_linked(self, link: str) -> bool:
        """Return whether a link leads to a file inside the root that was not met. One that leads back to itself does:
        reading it says so."""
        real = os.fspath(real_path(link))
        loops = os.path.islink(real)
        if not loops and (not os.path.isfile(link) or not self.walk.files.inside_root(Path(link))):
            return False
        names = self.met.setdefault(os.path.dirname(real), [])
        if os.path.basename(real) in names:
            return False
        names.append(os.path.basename(real))
        return True


def _is_seen(name: str, parent: _Folder, ignored: Ignored | None) -> bool:
    """Return whether a file of this name is neither hidden nor ignored."""
    if name.startswith("."):
        return False
    return ignored is None or not ignored.ignores(os.path.join(parent.real, name), is_folder=False)


IGNORE_FILE = ".gitignore"

MAX_IGNORE_BYTES = 16 * 1024 * 1024
"""Bytes of an ignore file that are read."""

MAX_CONFIG_BYTES = 1024 * 1024
"""Bytes of a configuration file of git that are read."""

_BOM = b"\xef\xbb\xbf"
_SECTION = regex(r"\[\s*([\w.-]+)\s*\]")
_EXCLUDES = regex(r"\s*excludesfile\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^#;]*))", re.IGNORECASE)
_FOLDS = regex(r"\s*+ignorecase\s*+(?:=\s*+\"?([\w+-]*+)\"?\s*+)?(?:[#;].*)?$", re.IGNORECASE)
_NO = frozenset({"", "false", "no", "off", "0"})


class Pattern(Struct, frozen=True):
    """One line: its pattern below the folder of its file, and whether it negates."""

    glob: PathGlob
    negated: bool


class Ignored(Struct, frozen=True):
    """The patterns that hold in a folder, those of the folders above it included: the last that matches decides.

    ``folder`` is the folder of the patterns, without a slash at its end, and the last of them stands first; ``above``
    are the patterns of the folders around it; ``folds`` says that upper and lower case are the same.
    """

    folder: str
    patterns: tuple[Pattern, ...]
    above: Ignored | None = None
    folds: bool = False

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the file or folder at ``path`` is ignored; an ignored folder includes its content."""
        level: Ignored | None = self
        while level is not None:
            if level.patterns:
                below = os.fsencode(path[len(level.folder) + 1 :].replace(os.sep, "/"))
                name = below[below.rfind(b"/") + 1 :]
                for pattern in level.patterns:
                    if pattern.glob.names(below, name, is_folder=is_folder):
                        return not pattern.negated
            level = level.above
        return False

    @property
    def has_patterns(self) -> bool:
        """Whether anything could be ignored at all."""
        return bool(self.patterns) or (self.above is not None and self.above.has_patterns)

    def inside(self, folder: str) -> Ignored:
        """Return what holds in a folder below this one."""
        patterns = _read(os.path.join(folder, IGNORE_FILE), follow=False, folds=self.folds)
        return Ignored(folder.rstrip(os.sep), patterns, self, self.folds) if patterns else self


def ignored_in(folder: str) -> Ignored:
    """Return what holds in ``folder``, a real path: the patterns of its work tree down to it."""
    top = _work_tree(folder)
    start = top or folder
    ignored, below, folds = Ignored("", ()), start.rstrip(os.sep), False
    if top is not None:
        store = _git_folder(top)
        excludes, folds = _settings(top, store)
        ignored = Ignored(below, _read(excludes, folds=folds), ignored)
        ignored = Ignored(below, _read(os.path.join(store, "info", "exclude"), folds=folds), ignored)
    ignored = Ignored(below, _read(os.path.join(start, IGNORE_FILE), follow=False, folds=folds), ignored, folds)
    inner = folder[len(start) :].strip(os.sep)
    for part in inner.split(os.sep) if inner else ():
        start = os.path.join(start, part)
        ignored = ignored.inside(start)
    return ignored


def _work_tree(folder: str) -> str | None:
    """Return the nearest folder with `.git`, or None."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _git_folder(top: str) -> str:
    """Return the folder that holds the configuration of a work tree; where `.git` is a file, it says where that is."""
    place = os.path.join(top, ".git")
    if os.path.isdir(place):
        return place
    named = _text(place).removeprefix("gitdir:").strip()
    place = os.path.join(top, named)
    common = _text(os.path.join(place, "commondir")).strip()
    return os.path.join(place, common) if common else place


def _settings(top: str, store: str) -> tuple[str, bool]:
    """Return the file with the user's patterns: the last `core.excludesFile`, or git's default; and whether
    case is ignored."""
    home = os.path.expanduser("~")
    config = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    named, folds = os.path.join(config, "ignore"), False
    for place in (os.path.join(config, "config"), os.path.join(home, ".gitconfig"), os.path.join(store, "config")):
        for line in _core_in(_text(place)):
            if match := _EXCLUDES.match(line):
                value = re.sub(r"\\(.)", r"\1", match[1]) if match[1] is not None else match[2].strip()
                named = os.path.join(top, os.path.expanduser(value))
            elif match := _FOLDS.match(line):
                folds = match[1] is None or match[1].lower() not in _NO
    return named, folds


def _core_in(text: str) -> Iterator[str]:
    """Yield the lines of the section `core` in a configuration file."""
    section = ""
    for line in text.splitlines():
        if heading := _SECTION.match(line.strip()):
            section = heading[1].lower()
        elif section == "core":
            yield line


def _text(path: str) -> str:
    return _bytes(path, MAX_CONFIG_BYTES, follow=True).decode("utf-8", "surrogateescape")


def _bytes(path: str, most: int, *, follow: bool) -> bytes:
    """Return the first bytes of a regular file; none when there is none or it cannot be read."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        with open(os.open(path, flags), "rb") as stream:
            return stream.read(most) or b""
    except (OSError, ValueError):
        return b""


def _read(path: str, *, follow: bool = True, folds: bool = False) -> tuple[Pattern, ...]:
    """Return the patterns of a file, the last one first. As git does, a `.gitignore` that is a link is not followed."""
    return tuple(_patterns(_bytes(path, MAX_IGNORE_BYTES, follow=follow).removeprefix(_BOM), folds=folds))[::-1]


def _patterns(data: bytes, *, folds: bool) -> Iterator[Pattern]:
    for line in data.split(b"\n"):
        if line.startswith(b"#"):
            continue
        pattern = without_blanks(line.removesuffix(b"\r").partition(b"\0")[0])
        negated = pattern.startswith(b"!")
        pattern = pattern[negated:]
        if pattern.strip(b"/"):
            yield Pattern(path_glob(pattern, folds=folds), negated)


def without_blanks(line: bytes) -> bytes:
    """Return a line without the blanks at its end; one behind a backslash stays."""
    end = len(line)
    while line.endswith(b" ", 0, end):
        end -= 1
    escapes = end - len(line[:end].rstrip(b"\\"))
    return line[: end + (escapes % 2 and end < len(line))]
