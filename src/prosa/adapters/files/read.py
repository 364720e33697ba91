"""Reading documents: regular files inside a root, strictly UTF-8, of a bounded size (X5, X9).

In: paths that a user or a document named. Out: a `SourceText` with the digest of its bytes, or `FileProblem`. It
follows no link out of the root, waits for no pipe or device, and repairs nothing.
"""

# Texts, not Paths: thousands of files are read one after the other.
# ruff: noqa: PTH110, PTH114, PTH116, PTH118
from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from prosa.source import FileProblem, SourceText

# X9: a document that a person wrote is far below this; a larger one needs --max-size.
MAX_DOCUMENT_BYTES = 10 * 1024 * 1024

# Either marks the folder that documents belong to (X5).
ROOT_MARKS = ("prosa.toml", ".git")

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FLAGS |= getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

# Bytes read at once where a file is only hashed.
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RootedFiles:
    """Meets `prosa.source.Files`. ``root`` None opens files anywhere; ``max_size`` is in bytes.

    A ``root`` is resolved once, when the value is made.
    """

    root: Path | None = None
    max_size: int = MAX_DOCUMENT_BYTES
    _reals: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Real paths, asked for once. A file that becomes a link later is refused when it is opened."""

    def __post_init__(self) -> None:
        if self.root is not None:
            object.__setattr__(self, "root", real_path(self.root))

    def __reduce__(self) -> tuple[type[RootedFiles], tuple[Path | None, int]]:
        return RootedFiles, (self.root, self.max_size)

    def read(self, path: Path) -> SourceText:
        """The text of a document, byte-order mark and line ends as they are. Raises `FileProblem`."""
        real = self._real(path)
        if not self._inside(real):
            reason = f"lies outside the root {self.root}; give another --root to open it"
            raise FileProblem(path, "outside-root", reason)
        data = read_bytes(path, real, self.max_size)
        return SourceText(decode(path, data), str(path), hashlib.sha256(data).hexdigest())

    def real(self, path: Path) -> Path:
        """The path with links and ``..`` resolved, whether or not it exists. A link loop stays as written."""
        return Path(self._real(path))

    def inside_root(self, path: Path) -> bool:
        """Whether the real path lies inside the root (always true without a root)."""
        return self.root is None or self._inside(self._real(path))

    def _inside(self, real: str) -> bool:
        root = os.fspath(self.root) if self.root is not None else ""
        return real == root or real.startswith(root if root.endswith(os.sep) else root + os.sep) or not root

    def _real(self, path: Path) -> str:
        """As `real`. A folder is resolved once for all files in it: a corpus has many files in few folders."""
        text = os.fspath(path)
        real = self._reals.get(text)
        if real is None:
            real = self._reals[text] = self._resolved(path, *os.path.split(text))
        return real

    def _resolved(self, path: Path, folder: str, name: str) -> str:
        if name in ("", os.curdir, os.pardir):
            return os.fspath(real_path(path))
        key = folder + os.sep  # no path ends so, so folders and files do not meet
        if key not in self._reals:
            self._reals[key] = os.fspath(real_path(Path(folder)))
        real = os.path.join(self._reals[key], name)
        try:
            return os.fspath(real_path(path)) if os.path.islink(real) else real
        except ValueError:
            return os.fspath(path.absolute())  # a NUL in the name

    def exists(self, path: Path) -> bool:
        """Whether a file or a folder is there, inside the root. Opens nothing."""
        real = self._real(path)
        try:
            return self._inside(real) and os.path.exists(real)
        except (OSError, ValueError):
            return False

    def digest(self, path: Path, limit: int) -> str:
        """The SHA-256 of the raw bytes of a file of any kind, read piece by piece (Y19). Raises `FileProblem`."""
        if not self.inside_root(path):
            raise FileProblem(path, "outside-root", f"lies outside the root {self.root}")
        return digest_bytes(path, self.real(path), limit)


def real_path(path: Path) -> Path:
    """The path with links and ``..`` resolved as far as it exists. Never raises."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path.absolute()  # a NUL in the name: no such file exists, and reading it says so


def link_on_the_way(folder: Path, path: str) -> Path | None:
    """The first part of a path below a folder that is a link, whether or not it leads anywhere; None where none is."""
    place = folder
    for part in path.split("/"):
        place = place / part
        if place.is_symlink():
            return place
    return None


def find_root(path: Path) -> Path:
    """The root of the document or the folder at ``path``: the nearest folder from there upwards that is marked as a
    project, else the folder itself (X5). Always a real path.

    Ancestors are those of the folder the document is in, links to that folder resolved; a link that *is* the document
    is not followed, so that it cannot choose its own root.
    """
    folder = real_path(path) if path.is_dir() else real_path(path.parent)
    for candidate in (folder, *folder.parents):
        if any(os.path.lexists(candidate / mark) for mark in ROOT_MARKS):
            return candidate
    return folder


def read_bytes(path: Path, real: Path | str, max_size: int) -> bytes:
    """The bytes of a regular file. ``path`` is the name for messages. Raises `FileProblem`."""
    try:
        _only_regular(path, os.stat(real))
        descriptor = os.open(real, _FLAGS)
    except (OSError, ValueError) as error:
        raise _problem(path, error) from None
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(stream.fileno())
        _only_regular(path, found)
        try:
            # The size is asked again by reading one byte more: some files report 0 and are not, others grow.
            data = b"" if found.st_size > max_size else stream.read(found.st_size + 1)
            if len(data) > found.st_size:
                data += stream.read(max_size + 1 - len(data))
        except OSError as error:
            raise _problem(path, error) from None
    if found.st_size > max_size or len(data) > max_size:
        raise _too_large(path, found.st_size, max_size)
    return data


def digest_bytes(path: Path, real: Path, limit: int) -> str:
    """The SHA-256 in hex of a regular file of at most ``limit`` bytes. Raises `FileProblem`."""
    found, seen = hashlib.sha256(), 0
    try:
        _only_regular(path, real.stat())
        descriptor = os.open(real, _FLAGS)
        with os.fdopen(descriptor, "rb") as stream:
            size = os.fstat(stream.fileno())
            _only_regular(path, size)
            while size.st_size <= limit and seen <= limit and (chunk := stream.read(_CHUNK)):
                seen += len(chunk)
                found.update(chunk)
    except (OSError, ValueError) as error:
        raise _problem(path, error) from None
    if max(size.st_size, seen) > limit:
        raise FileProblem(path, "too-large", f"is larger than {limit:,} bytes")
    return found.hexdigest()


def decode(path: Path, data: bytes) -> str:
    """Strict UTF-8. Raises `FileProblem` with the line and what the bytes look like instead."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line} (offset {error.start})"
        raise FileProblem(path, "not-utf-8", reason + _likely(data)) from None


def _likely(data: bytes) -> str:
    """What text that is not UTF-8 probably is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "; it looks like UTF-16, save it as UTF-8"
    return "; it looks like a binary file" if b"\0" in data[:8192] else "; save it as UTF-8"


def _only_regular(path: Path, found: os.stat_result) -> None:
    """Refuses folders, pipes, sockets and devices before they are opened."""
    if stat.S_ISREG(found.st_mode):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(found.st_mode), "a device")
    raise FileProblem(path, "not-a-file", f"is {kind}, not a regular file")


def _too_large(path: Path, size: int, limit: int) -> FileProblem:
    shown = f"{size:,} bytes" if size > limit else f"more than {limit:,} bytes"
    return FileProblem(path, "too-large", f"is too large: {shown}, the limit is {limit:,} (raise it with --max-size)")


def _problem(path: Path, error: OSError | ValueError) -> FileProblem:
    """The problem that an error of the system means."""
    code = error.errno if isinstance(error, OSError) else errno.ENOENT
    if code in (errno.ENOENT, errno.ENOTDIR):
        return FileProblem(path, "missing", "no such file")
    if code == errno.ELOOP:
        return FileProblem(path, "unreadable", "is a link that leads back to itself")
    if code in (errno.EACCES, errno.EPERM):
        return FileProblem(path, "unreadable", "may not be read (permission denied)")
    return FileProblem(path, "unreadable", f"cannot be read ({getattr(error, 'strerror', None) or error})")
