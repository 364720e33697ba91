"""What git ignores: `.gitignore` files and `.git/info/exclude` (gitignore(5)), without asking git.

In: the folders of a walk, from the top of the work tree down. Out: whether a file or folder in them is ignored. The
user's own `core.excludesFile` is not read: what is checked must not depend on who checks it.
"""

# Texts, not Paths: a walk over thousands of files takes half the time.
# ruff: noqa: PTH118, PTH120, PTH123, PTH206
from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

IGNORE_FILE = ".gitignore"

MAX_IGNORE_BYTES = 1024 * 1024
"""Bytes of an ignore file that are read."""

MAX_PATTERN = 1_000
"""Characters of a pattern; a longer one is no pattern that anybody wrote."""

_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[(?:!|\^)?\]?(?:\\.|[^\]\\])*\]|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line: what it matches below the folder of its file, whether it takes back, whether only folders count."""

    matches: re.Pattern[str]
    negated: bool
    only_folders: bool


@dataclass(frozen=True, slots=True)
class Ignored:
    """The patterns that hold in a folder, those of the folders above it included: the last that matches decides.

    ``folder`` is the folder of the patterns; ``above`` are the patterns of the folders around it.
    """

    folder: str
    patterns: tuple[Pattern, ...]
    above: Ignored | None = None

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether the file or folder at ``path`` is ignored by itself; a folder that is takes everything along."""
        level: Ignored | None = self
        while level is not None:
            below = path[len(level.folder) + 1 :].replace(os.sep, "/")
            for pattern in reversed(level.patterns):
                if (is_folder or not pattern.only_folders) and pattern.matches.fullmatch(below):
                    return not pattern.negated
            level = level.above
        return False

    def inside(self, folder: str) -> Ignored:
        """What holds in a folder below this one."""
        patterns = _read(os.path.join(folder, IGNORE_FILE))
        return Ignored(folder, patterns, self) if patterns else self


def ignored_in(folder: str) -> Ignored:
    """What holds in ``folder``, a real path: the patterns of its work tree down to it."""
    top = _work_tree(folder)
    start = top or folder
    exclude = _read(os.path.join(start, ".git", "info", "exclude")) if top else ()
    found = Ignored(start, _read(os.path.join(start, IGNORE_FILE)), Ignored(start, exclude))
    inner = folder[len(start) :].strip(os.sep)
    for part in inner.split(os.sep) if inner else ():
        start = os.path.join(start, part)
        found = found.inside(start)
    return found


def _work_tree(folder: str) -> str | None:
    """The nearest folder with `.git`, or None."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _read(path: str) -> tuple[Pattern, ...]:
    """The patterns of a file; none when there is none or it cannot be read."""
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_IGNORE_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        return ()
    return tuple(_patterns(text))


def _patterns(text: str) -> Iterator[Pattern]:
    for line in text.split("\n"):
        pattern = re.sub(r"(?<!\\)[ \t]+\Z", "", line.removesuffix("\r"))
        if not pattern or pattern.startswith("#") or len(pattern) > MAX_PATTERN:
            continue
        negated = pattern.startswith("!")
        pattern = pattern[negated:]
        only_folders = pattern.endswith("/")
        compiled = compiled_pattern(pattern.rstrip("/") if only_folders else pattern)
        if compiled is not None:
            yield Pattern(compiled, negated, only_folders)


@cache
def compiled_pattern(pattern: str) -> re.Pattern[str] | None:
    """A pattern as an expression for whole paths below its folder; None for one that matches nothing."""
    anchored = "/" in pattern
    body = "".join(_part(token) for token in _TOKEN.findall(pattern.removeprefix("/")))
    try:
        return re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL)
    except re.error:
        return None


def _part(token: str) -> str:
    if token in _PARTS:
        return _PARTS[token]
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1]
        negated = inside[0] in "!^"
        body = inside[negated:].replace("[", r"\[").replace("&&", r"&\&").replace("||", r"|\|").replace("~~", r"~\~")
        return f"[^/{body}]" if negated else f"(?!/)[{body}]"
    if token.startswith("*"):
        return "[^/]*"
    return re.escape(token[1:] if len(token) == 2 and token[0] == "\\" else token)


_PARTS = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.+", "?": "[^/]"}
