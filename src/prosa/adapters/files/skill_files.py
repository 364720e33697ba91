"""The files below the folder of a skill (X32): their names, and the text of one, or why it is refused.

In: the real path of a folder, and paths from a model. Out: names, and text. No link out of the folder is followed,
hidden files are not shown, and host paths are not revealed. Evaluations of a skill are not shown to it: `evals/` holds
the answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from prosa.adapters.files.read import MAX_DOCUMENT_BYTES, RootedFiles, read_piece, real_path
from prosa.runtime.ports import MOUNT, ToolResult
from prosa.source import FileProblem

SKILL_FILE = "SKILL.md"
"""The file name of a skill."""

MAX_FILES = 2_000
"""Files of a skill that are known by name; a real one has dozens."""

MAX_DEPTH = 16
"""Folders inside one another."""

UNSHOWN = frozenset({"evals", "__pycache__"})
"""Folders that are not shown: the tests of a skill, and what Python keeps for itself."""

_ROOM = 200
"""Bytes of a result reserved for the note about missing parts."""

_WORDS = {
    "missing": "there is no such file",
    "not-a-file": "it is not a regular file",
    "not-utf-8": "it is not text: only text files can be read",
    "too-large": f"it is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB",
}


def is_skill(path: Path) -> bool:
    """Return whether a path names a skill: its file, or a folder that holds one."""
    return path.name.lower() == SKILL_FILE.lower() or (path.is_dir() and skill_file(path).is_file())


def skill_file(path: Path) -> Path:
    """Return the file of a skill that is named by it or by its folder."""
    if path.name.lower() == SKILL_FILE.lower() and not path.is_dir():
        return path
    other = path / SKILL_FILE.lower()
    return other if other.is_file() and not (path / SKILL_FILE).is_file() else path / SKILL_FILE


def skill_files(folder: Path) -> tuple[str, ...]:
    """Return the paths of the files below a folder, as `/` paths in order, without the `SKILL.md` itself: as far as
    there are not too many."""
    root = real_path(folder)
    paths: list[str] = []
    for path in _walk(root):
        if len(paths) >= MAX_FILES:
            break
        if path.lower() != SKILL_FILE.lower():
            paths.append(path)
    return tuple(sorted(paths))


def heads(folder: Path, files: Iterable[str], most: int = 65_536) -> Iterator[tuple[str, str]]:
    """Yield the beginning of each of the files, as text; those that cannot be read are left out."""
    root = real_path(folder)
    for path in files:
        real = real_path(root / path)
        try:
            data = read_piece(root / path, real, 0, most, root)[1] if real.is_relative_to(root) else b""
        except FileProblem:
            continue
        yield path, data.decode("utf-8", "replace")


def _walk(root: Path) -> Iterator[str]:
    """Yield files breadth first, so that those near the top are known where there are many."""
    from prosa.adapters.files.walk import is_foreign

    level = [""]
    for _ in range(MAX_DEPTH):
        below: list[str] = []
        for folder in level:
            for entry in _entries(root / folder):
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if not is_foreign(entry.path):
                        below.append(f"{path}/")
                elif _is_file(entry, root):
                    yield path
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if _is_shown(entry.name)), key=lambda entry: entry.name)
    except OSError:
        return []


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name not in UNSHOWN


def _is_file(entry: os.DirEntry[str], root: Path) -> bool:
    """Return whether it is a regular file; a link counts where it stays in the folder."""
    try:
        return entry.is_file() and (not entry.is_symlink() or real_path(entry.path).is_relative_to(root))
    except OSError:
        return False


class RootedSkillFiles:
    """Meets `prosa.runtime.ports.SkillFiles`."""

    def read(self, folder: str, path: str, first: int, most: int) -> ToolResult:
        """Return the text of a file below ``folder`` from a line on, or the names in a folder there."""
        below = _below(path)
        if below is None:
            return _refused(path, "it lies outside of the folder of the skill")
        if not all(map(_is_shown, below.parts)):
            return _refused(path, "it is not shown")
        root = real_path(folder)
        real = real_path(root / below)
        if not real.is_relative_to(root):
            return _refused(path, "it lies outside of the folder of the skill: a link leads there")
        if os.path.isdir(real):  # noqa: PTH112 - a name that is too long is no folder
            return ToolResult(_listing(root, real, below))
        try:
            data = RootedFiles(root).data(root / below)
            text = data.decode("utf-8")
        except FileProblem as problem:
            return _refused(path, _WORDS.get(problem.kind, "it cannot be read"))
        except UnicodeDecodeError:
            return _refused(path, _WORDS["not-utf-8"])
        return _refused(path, _WORDS["not-utf-8"]) if "\0" in text else _part(path, text, first, most)


def _below(path: str) -> PurePosixPath | None:
    """Return a path below the folder; None for one that is not. `/skill/…`, the name in the sandbox, is the folder
    itself."""
    if path == MOUNT or path.startswith(f"{MOUNT}/"):
        path = path[len(MOUNT) :].lstrip("/")
    parts: list[str] = []
    if "\0" in path or path.startswith("/"):
        return None
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return PurePosixPath(*parts)


def _listing(root: Path, real: Path, below: PurePosixPath) -> str:
    names = [
        f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
        for entry in _entries(real)
        if entry.is_dir(follow_symlinks=False) or _is_file(entry, root)
    ]
    shown = names[:MAX_FILES]
    more = f"\n[and {len(names) - len(shown)} more]" if len(names) > len(shown) else ""
    return f"{below}/\n" + "\n".join(f"  {name}" for name in shown) + more if shown else f"{below}/ is empty"


def _part(path: str, text: str, first: int, most: int) -> ToolResult:
    lines = text.splitlines(keepends=True)
    if first > max(1, len(lines)):
        return _refused(path, f"it has {len(lines)} lines")
    kept: list[str] = []
    room = most - _ROOM
    for line in lines[first - 1 :]:
        size = len(line.encode())
        if size > room:
            break
        kept.append(line)
        room -= size
    last = first - 1 + len(kept)
    if last >= len(lines):
        return ToolResult("".join(kept))
    if not kept:  # one line that is longer than a result may be
        piece = lines[first - 1].encode()[: max(0, most - _ROOM)].decode("utf-8", "ignore")
        return ToolResult(f"{piece}\n[line {first} of {len(lines)} is longer than this and was cut]")
    return ToolResult(f"{''.join(kept)}\n[lines {first} to {last} of {len(lines)}; continue with from_line {last + 1}]")


def _refused(path: str, reason: str) -> ToolResult:
    return ToolResult(f"error: {path[:200]} cannot be read: {reason}", is_error=True)
