"""A folder of generated files that remembers which files are its own (`prosa build`).

In: files one after the other. Out: the folder holds exactly these, and whatever else it held before. A file that was
not made by a build, or that somebody changed since, is neither replaced nor removed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from prosa.adapters.files.read import link_on_the_way
from prosa.adapters.files.write import replace_file

RECORD = ".prosa-build.json"
"""The list of files with their digests, in the folder itself."""

_HALF = re.compile(r"\.(.+)\.[0-9a-f]{12}\.tmp")
"""What `replace_file` writes before it has the whole."""


@dataclass(slots=True)
class Build:
    """One build into ``out``. ``kept`` are files in the way, or changed by others."""

    out: Path
    written: int = 0
    same: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list)
    _before: dict[str, str] = field(default_factory=dict)
    _now: dict[str, str] = field(default_factory=dict)
    _halves: dict[str, set[str]] = field(default_factory=dict)

    def __enter__(self) -> Build:
        self.out.mkdir(parents=True, exist_ok=True)
        if (self.out / RECORD).is_symlink():
            raise OSError(errno.ELOOP, "is a link; the record of a build is a file of its own", str(self.out / RECORD))
        self._before = _read(self.out / RECORD)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._remove_old()
            self._remove_halves()
            self._record(self._now)
        else:  # what is there is remembered, so that the next build goes on
            self._record({**self._before, **self._now})

    def put(self, path: str, content: bytes) -> None:
        """Writes a file at a path with `/` below the folder; the first of several at one path counts. Raises
        `OSError`."""
        if path in self._now:
            return
        target = self.out / path
        if link_on_the_way(self.out, path):
            self.kept.append(path)
            return
        digest = hashlib.sha256(content).hexdigest()
        found = _digest(target)
        if found not in (None, digest, self._before.get(path)):
            self.kept.append(path)
            return
        self._now[path] = digest
        if found == digest:
            self.same += 1
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, content)
        self.written += 1

    def _remove_halves(self) -> None:
        """Removes what a process that was killed left half-written beside files of a build."""
        for path in self._before.keys() | self._now.keys():
            folder, _, name = path.rpartition("/")
            if not link_on_the_way(self.out, path):
                self._halves.setdefault(folder, set()).add(name)
        for folder, names in self._halves.items():
            place = self.out / folder
            for each in place.iterdir() if place.is_dir() else ():
                found = _HALF.fullmatch(each.name)
                if found and found[1] in names and not each.is_symlink():
                    each.unlink(missing_ok=True)

    def _remove_old(self) -> None:
        for path in self._before.keys() - self._now.keys():
            target = self.out / path
            if link_on_the_way(self.out, path):
                continue
            found = _digest(target)
            if found == self._before[path]:
                target.unlink()
                self.removed += 1
                _remove_empty(target.parent, self.out)
            elif found is not None and path not in self.kept:
                self.kept.append(path)

    def _record(self, files: dict[str, str]) -> None:
        text = json.dumps({"files": dict(sorted(files.items()))}, indent=1, ensure_ascii=False)
        replace_file(self.out / RECORD, f"{text}\n")


def _read(path: Path) -> dict[str, str]:
    """The files of the last build; none where there was none. Names that lead out of the folder are not believed."""
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {name: digest for name, digest in files.items() if isinstance(digest, str) and _is_inside(name)}


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return all(part not in ("", ".", "..") for part in parts) and "\0" not in name and "\\" not in name


def _digest(path: Path) -> str | None:
    """The digest of a file; None where there is none. Something else in its place has one that nothing matches."""
    if path.is_dir():
        return "a folder"
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
    except OSError:
        return "unreadable"


def _remove_empty(folder: Path, out: Path) -> None:
    """Removes folders that a removed file leaves empty, up to the output itself."""
    while folder != out and folder.is_relative_to(out) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
