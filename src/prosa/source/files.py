"""The port through which pure code reads files: a rooted, read-only view (X5); and the base of all errors.
`adapters.files` meets the port, `TextFiles` puts one text in front of it."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from prosa.source.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash


MUCH = 1024 * 1024
"""Bytes from which OpenSSL is worth loading: it hashes five times as fast as Python's own SHA-256, but loading it takes
a third as long as starting Python."""


def sha256(data: bytes = b"", *, size: int = 0) -> _Hash:
    """Return the SHA-256 of bytes, to which more can be added; ``size`` is how many there will be. The function is
    that of `hashlib` where something has loaded it, or for much."""
    if "hashlib" in sys.modules or max(size, len(data)) >= MUCH:
        import hashlib

        return hashlib.sha256(data)
    return _own_sha256()(data)


@cache
def _own_sha256() -> Callable[[bytes], _Hash]:
    """Return the function that Python is built with, if it has one."""
    for name in ("_sha2", "_sha256", "hashlib"):
        with suppress(ImportError):
            constructor: Callable[[bytes], _Hash] = import_module(name).sha256
            return constructor
    raise AssertionError  # Python has `hashlib`


def is_hidden(path: str) -> bool:
    """Return whether a part of a path with `/`, relative to what was named, begins with a dot."""
    return path.startswith(".") or "/." in path


_BLANKS = str.maketrans("\u00a0\u202f", "  ")


def compared_name(name: str) -> str:
    """Return the name of a file as wikilinks compare it, like Obsidian: a no-break space is a space, and a letter with
    its accent is one letter (YA21)."""
    if name.isascii():
        return name
    import unicodedata  # only here: most names are ASCII

    return unicodedata.normalize("NFC", name.translate(_BLANKS))


def hidden_folder(path: str) -> str:
    """Return the path of the outermost hidden folder that a file is in, with `/` behind; empty where it is in none."""
    at = 0 if path.startswith(".") else path.find("/.") + 1
    end = path.find("/", at)
    return path[: end + 1] if end >= 0 and path.startswith(".", at) else ""


class ProsaError(Exception):
    """Base of the errors of Prosa. ``hint`` says what to do, and is empty where the message alone is enough."""

    hint: str = ""

    def __reduce__(self) -> tuple[Callable[..., ProsaError], tuple[object, ...], dict[str, object]]:
        """Restore the message and the fields rather than call `__init__`, whose arguments are others: an error that
        cannot be read back breaks the process pool that it was raised in."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[ProsaError], args: tuple[object, ...]) -> ProsaError:
    """Return an error as it was pickled, without its fields."""
    return kind.__new__(kind, *args)


class FileProblem(ProsaError):
    """A file that cannot be read as a document. ``reason`` stands alone in a sentence after the path.

    ``kind`` is one of ``missing``, ``not-a-file``, ``outside-root``, ``unreadable``, ``not-utf-8``, ``too-large``,
    ``changed`` (only when writing).
    """

    def __init__(self, path: Path, kind: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.kind = kind
        self.reason = reason


class Renamed(Struct, frozen=True):
    """A file that a commit renamed, with its paths below the root, and the commit in short."""

    before: str
    after: str
    commit: str


class Skipped(Struct):
    """What walks passed over although a user might look for it: ``folders``, and ``files`` that are texts of other
    kinds. Files ignored by git are in neither."""

    folders: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class Files(Protocol):
    """Read-only access to documents. Paths are absolute or relative to the working directory."""

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        ...

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved, whether or not it exists."""
        ...

    def inside_root(self, path: Path) -> bool:
        """Return whether the file may be opened: its real path lies inside the root, or the user named it."""
        ...

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there, inside the root. Opens nothing."""
        ...

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 in hex of the raw bytes of a regular file inside the root (Y19). Raises `FileProblem`, of
        kind ``too-large`` for a file of more than ``limit`` bytes."""
        ...


def is_there(files: Files, path: Path, written: str) -> bool:
    """Return whether the path that a text names exists. One ``written`` with a slash at its end must be a folder;
    a `Path` has lost that slash."""
    if not files.exists(path):
        return False
    if not written.endswith("/"):
        return True
    try:
        files.digest(path, 0)
    except FileProblem as problem:
        return problem.kind in ("not-a-file", "missing")  # a folder has no bytes, and none in a commit
    return False


class TextFiles(Struct, frozen=True):
    """Meets `Files`: ``source`` under its own path, everything else from ``under``.

    Without ``under`` there is nothing else: every other path lies outside the root, so nothing is opened for it.
    """

    source: SourceText
    under: Files | None = None

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        if self._is_source(path):
            return self.source
        if self.under is None:
            raise FileProblem(path, "outside-root", "is not opened for a text that has no file")
        return self.under.read(path)

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved; as it is without files."""
        return self.under.real(path) if self.under else path

    def inside_root(self, path: Path) -> bool:
        """Return whether the real path lies inside the root."""
        return self.under.inside_root(path) if self.under else self._is_source(path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there, inside the root."""
        return self._is_source(path) or (self.under is not None and self.under.exists(path))

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file. Raises `FileProblem`."""
        if self.under is None:
            raise FileProblem(path, "outside-root", "is not opened for a text that has no file")
        return self.under.digest(path, limit)

    def _is_source(self, path: Path) -> bool:
        return self.real(path) == self.real(Path(self.source.path))
