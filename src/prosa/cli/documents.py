"""Documents named on a command line: files, folders and standard input, grouped by root (X5).

In: paths as typed. Out: what the engine needs to check them. A path that does not exist is wrong use; a file that
cannot be read is left to the engine, which makes a diagnostic of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.read import decode
from prosa.adapters.files.walk import documents_in
from prosa.cli.console import MAX_STDIN_BYTES, Console
from prosa.cli.parser import WrongUse
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.source import FileProblem, Files, SourceText, TextFiles

STDIN = "-"
STDIN_NAME = "<stdin>"


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that share a root, in the order they were named."""

    files: Files
    paths: tuple[Path, ...]


@dataclass(slots=True)
class _Grouping:
    root: Path | None
    by_root: dict[Path, list[Path]] = field(default_factory=dict)

    def root_of(self, path: Path) -> Path:
        """`--root`, else the nearest marked ancestor, else the folder of the document."""
        if self.root is not None:
            return self.root
        return find_root(path / STDIN_NAME if path.is_dir() else path)

    def add(self, root: Path, path: Path) -> None:
        self.by_root.setdefault(root, []).append(path)


def gather(
    paths: Sequence[str], *, root: str | None, max_size: int, stdin: SourceText | None = None
) -> tuple[Group, ...]:
    """The groups of documents under ``paths``. Raises `WrongUse` for a path that does not exist."""
    grouping = _Grouping(_folder(root))
    for name in paths:
        if name == STDIN and stdin is not None:
            grouping.add(grouping.root_of(Path(stdin.path)), Path(stdin.path))
            continue
        path = Path(name)
        if not path.exists() and not path.is_symlink():
            raise WrongUse(f"{name}: no such file or folder")
        base = grouping.root_of(path)
        for each in documents_in([path], DOCUMENT_SUFFIXES, RootedFiles(base, max_size)):
            grouping.add(base, each)
    return tuple(_group(base, found, max_size, stdin) for base, found in grouping.by_root.items())


def read_stdin(console: Console, name: str | None) -> SourceText:
    """Standard input as a document. Raises `FileProblem` when it is too large or not UTF-8."""
    path = name or STDIN_NAME
    data = console.read_bytes(MAX_STDIN_BYTES)
    if len(data) > MAX_STDIN_BYTES:
        raise FileProblem(Path(path), "too-large", f"is larger than {MAX_STDIN_BYTES:,} bytes")
    return SourceText(decode(Path(path), data), path)


def _group(base: Path, paths: Sequence[Path], max_size: int, stdin: SourceText | None) -> Group:
    files: Files = RootedFiles(base, max_size)
    if stdin is not None:
        files = TextFiles(stdin, files)
    return Group(files, tuple(dict.fromkeys(paths)))


def _folder(root: str | None) -> Path | None:
    if root is None:
        return None
    path = Path(root)
    if not path.is_dir():
        raise WrongUse(f"--root {root}: no such folder")
    return path
