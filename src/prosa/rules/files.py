"""Views of files for a check: `RecordingFiles` records every read, since a finding is valid only while those files stay
unchanged; `Overlay` puts new texts over the files they would replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from msgspec import Struct, field

from prosa.source import FileProblem, Files, SourceText
from prosa.source.files import sha256

P = ParamSpec("P")
R = TypeVar("R")


class RecordingFiles(Struct, frozen=True):
    """Implements `Files`. ``record`` maps the requested path to the digest, or to the kind of the problem. A file is
    hashed once, however many rules read it."""

    under: Files
    record: dict[str, str] = field(default_factory=dict)
    _hashed: dict[tuple[Path, int], str | FileProblem] = field(default_factory=dict)

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        try:
            source = self.under.read(path)
        except FileProblem as problem:
            self.record[str(path)] = problem.kind
            raise
        self.record[str(path)] = source.digest or "unknown"
        return source

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved."""
        return self.under.real(path)

    def inside_root(self, path: Path) -> bool:
        """Return whether the real path lies inside the root."""
        is_inside = self.under.inside_root(path)
        self.record[f"{_INSIDE}{path}"] = str(is_inside)
        return is_inside

    def exists(self, path: Path) -> bool:
        """Return whether there is a file or folder, inside the root."""
        is_there = self.under.exists(path)
        self.record[f"{_EXISTS}{path}"] = str(is_there)
        return is_there

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file's raw bytes. Raises `FileProblem`."""
        if (path, limit) not in self._hashed:
            self._hashed[path, limit] = self._hash(path, limit)
        digest = self._hashed[path, limit]
        if isinstance(digest, FileProblem):
            raise digest
        return digest

    def _hash(self, path: Path, limit: int) -> str | FileProblem:
        try:
            digest = self.under.digest(path, limit)
        except FileProblem as problem:
            self.record[str(path)] = f"{_RAW}{limit} {problem.kind}"
            return problem
        self.record[str(path)] = f"{_RAW}{limit} {digest}"
        return digest


class Grounds(Struct):
    """What a check of a corpus asks about beside its documents. ``files`` records what rules look at, ``record`` has
    what the findings of single documents rest on. ``is_whole`` is False once something was asked for that neither says:
    then the findings hold for this check alone."""

    files: RecordingFiles
    record: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def beyond(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose answers are in no record."""

        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            self.is_whole = False
            return function(*args, **kwargs)

        return asked


_INSIDE = "inside:"
_EXISTS = "exists:"

_RAW = "raw "
"""In front of the limit and the digest of bytes that were not read as a document."""


def files_of(record: Mapping[str, str], files: Files) -> set[Path]:
    """Return the real paths of the files that a record is about."""
    return {files.real(Path(name.removeprefix(_INSIDE).removeprefix(_EXISTS))) for name in record}


def still_holds(record: Mapping[str, str], files: Files) -> bool:
    """Return whether every file of the record is as it was."""
    return all(_now(path, was, files) == was for path, was in record.items())


def _now(name: str, was: str, files: Files) -> str:
    if name.startswith(_INSIDE):
        return str(files.inside_root(Path(name.removeprefix(_INSIDE))))
    if name.startswith(_EXISTS):
        return str(files.exists(Path(name.removeprefix(_EXISTS))))
    path = Path(name)
    if was.startswith(_RAW):
        return _raw_now(path, int(was.split()[1]), files)
    try:
        return files.read(path).digest
    except FileProblem as problem:
        return problem.kind


def _raw_now(path: Path, limit: int, files: Files) -> str:
    try:
        return f"{_RAW}{limit} {files.digest(path, limit)}"
    except FileProblem as problem:
        return f"{_RAW}{limit} {problem.kind}"


class Overlay(Struct, frozen=True):
    """Meets `Files`: ``texts`` by real path, everything else from ``under``. A text of more bytes than ``max_size`` is
    refused, as its file would be. ``sources`` are those of some texts, by real path; one of an older text does not
    count."""

    texts: Mapping[Path, str]
    under: Files
    max_size: int | None = None
    sources: Mapping[Path, SourceText] = {}

    def read(self, path: Path) -> SourceText:
        """Return the text of a document. Raises `FileProblem`."""
        real = self.under.real(path)
        text = self.texts.get(real)
        if text is None:
            return self.under.read(path)
        data = text.encode("utf-8", "surrogatepass")
        if self.max_size is not None and len(data) > self.max_size:
            raise FileProblem(path, "too-large", f"is larger than {self.max_size:,} bytes")
        known = self.sources.get(real)
        if known is not None and known.text is text and known.path == str(path):
            return known
        return SourceText(text, str(path), sha256(data).hexdigest())

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved."""
        return self.under.real(path)

    def inside_root(self, path: Path) -> bool:
        """Return whether the real path lies inside the root."""
        return self.under.inside_root(path)

    def exists(self, path: Path) -> bool:
        """Return whether a file or a folder is there, inside the root; a new text is, whether or not it is written
        yet."""
        return self.under.real(path) in self.texts or self.under.exists(path)

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of a file's raw bytes. Raises `FileProblem`."""
        if self.under.real(path) in self.texts:
            return self.read(path).digest
        return self.under.digest(path, limit)
