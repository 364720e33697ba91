"""What git ignores: `.gitignore` files, `.git/info/exclude` and `core.excludesFile` (gitignore(5)), without asking git.

`core.ignoreCase`, which git sets by itself on Windows and macOS, holds as well.

In: the folders of a walk, from the top of the work tree down. Out: whether a file or folder in them is ignored. Tracked
files are not told apart: what a pattern names is ignored, whether or not it was committed.
"""

# Texts, not Paths: a walk over thousands of files takes half the time.
# ruff: noqa: PTH111, PTH112, PTH118, PTH120, PTH123, PTH206
from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from prosa.regex import regex
from prosa.source.wildmatch import PathGlob, path_glob

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
    found, below, folds = Ignored("", ()), start.rstrip(os.sep), False
    if top is not None:
        store = _git_folder(top)
        excludes, folds = _settings(top, store)
        found = Ignored(below, _read(excludes, folds=folds), found)
        found = Ignored(below, _read(os.path.join(store, "info", "exclude"), folds=folds), found)
    found = Ignored(below, _read(os.path.join(start, IGNORE_FILE), follow=False, folds=folds), found, folds)
    inner = folder[len(start) :].strip(os.sep)
    for part in inner.split(os.sep) if inner else ():
        start = os.path.join(start, part)
        found = found.inside(start)
    return found


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
            if found := _EXCLUDES.match(line):
                value = re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2].strip()
                named = os.path.join(top, os.path.expanduser(value))
            elif found := _FOLDS.match(line):
                folds = found[1] is None or found[1].lower() not in _NO
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
