"""Reading documents: regular files inside a root, strictly UTF-8, of a bounded size (X5, X9).

In: paths that a user or a document named. Out: a `SourceText` with the digest of its bytes, or `FileProblem`. It
follows no link out of the root, waits for no pipe or device, and repairs nothing.
"""

# Texts, not Paths: thousands of files are opened and read one after the other.
# ruff: noqa: PTH110, PTH114, PTH116, PTH118

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from prosa.source import FileProblem, SourceText
from prosa.source.files import sha256
from prosa.source.values import PartlyCompared, PartlyShown

# X9: a document that a person wrote is far below this; a larger one needs --max-size.
MAX_DOCUMENT_BYTES = 10 * 1024 * 1024

_TRIES = 4
"""Times that a path is resolved while links on it change."""

# Bytes read at once where a file is only hashed.
_CHUNK = 1024 * 1024


class RootedFiles(PartlyShown, PartlyCompared, Struct, frozen=True):
    """Meets `prosa.source.Files`. ``root`` None opens files anywhere; ``max_size`` is in bytes; ``named`` are files
    that the user named, which are opened wherever they lie. Without ``hashes`` a text has no digest.

    A ``root`` is resolved once, when the value is made. What lies outside of it is never quoted.
    """

    root: Path | None = None
    max_size: int = MAX_DOCUMENT_BYTES
    named: tuple[Path, ...] = ()
    hashes: bool = True
    _reals: dict[str, str] = field(default_factory=dict)
    """Real paths, resolved once. A file or folder that becomes a link later is refused when it is opened."""

    _opened: frozenset[str] = frozenset()
    """The real paths of the files that the user named."""

    unshown: ClassVar = frozenset({"_reals", "_opened"})
    uncompared: ClassVar = unshown

    def __post_init__(self) -> None:
        if self.root is not None:
            force_setattr(self, "root", real_path(self.root))
        if self.named and not self._opened:
            force_setattr(self, "_opened", frozenset(map(self._real, self.named)))

    def __reduce__(self) -> tuple[type[RootedFiles], tuple[Path | None, int, tuple[Path, ...], bool]]:
        return RootedFiles, (self.root, self.max_size, self.named, self.hashes)

    def within(self, root: Path) -> RootedFiles:
        """Return a copy with another root. Resolved paths are not resolved again."""
        return replace(self, root=root)

    def read(self, path: Path) -> SourceText:
        """Return the text of a document, byte-order mark and line ends unchanged. Raises `FileProblem`."""
        root, data = self._read(path)
        return _source(path, data, quotable=root is not None or not self.root, hashed=self.hashes)

    def read_all(self, paths: Iterable[Path]) -> Iterator[SourceText | FileProblem]:
        """Yield the text of each document, or why it cannot be read. A folder stays open for those that follow in
        it."""
        with self.held() if self.root is not None else nullcontext() as held:
            for path in paths:
                try:
                    outcome: SourceText | FileProblem = self.read(path) if held is None else self.read_in(held, path)
                except FileProblem as problem:
                    outcome = problem
                yield outcome

    def read_undigested(self, path: Path) -> SourceText:
        """Return the text without a digest, for files that are neither written nor cached. Raises `FileProblem`."""
        root, data = self._read(path)
        return _source(path, data, quotable=root is not None or not self.root, hashed=False)

    def data(self, path: Path) -> bytes:
        """Return the bytes of a document, whatever they are. Raises `FileProblem`."""
        return self._read(path)[1]

    def data_of_many(self, paths: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
        """Yield the same of those documents that can be read, in their order. A folder stays open for those that follow
        in it: to open it takes longer than to read a document."""
        if self.root is None or not CHAINED:
            for path in paths:
                with suppress(FileProblem):
                    yield path, self.data(path)
            return
        with self.held() as held:
            for path in paths:
                real = self._real(path)
                if self._out(real):
                    continue
                try:
                    data = held.read(real, self.max_size)
                except (OSError, ValueError, NotRegular):
                    continue
                if data is not None:
                    yield path, data

    def held(self) -> HeldFolder:
        """Return a folder below the root that stays open between the files of it that are read. Raises
        `ValueError` without a root."""
        if self.root is None:
            raise ValueError("only below a root does a folder stay open")
        return HeldFolder(os.fspath(self.root))

    def read_in(self, held: HeldFolder, path: Path) -> SourceText:
        """Do what `read` does, in less time for the next file of a folder that is ``held``."""
        real = self._real(path)
        if CHAINED and not self._out(real):
            try:
                data = held.read(real, self.max_size)
            except (OSError, ValueError, NotRegular):
                data = None  # `read` knows the words for it
            if data is not None:
                return _source(path, data, quotable=True, hashed=self.hashes)
        return self.read(path)

    def _read(self, path: Path) -> tuple[Path | None, bytes]:
        real = self._real(path)
        if not self._may_open(real):
            reason = f"lies outside the root {self.root}; give another --root to open it"
            raise FileProblem(path, "outside-root", reason)
        root = self._root_of(real)
        return root, read_bytes(path, real, self.max_size, root)

    def read_outside(self, path: Path) -> SourceText:
        """Return the text of a file anywhere that no link leads to; it is never quoted. Raises `FileProblem`."""
        whole = os.path.abspath(path)  # noqa: PTH100 - without `..`, and without a look at the files
        if self._real(path) != whole:
            raise FileProblem(path, "outside-root", "is reached through a link")
        return _source(path, read_bytes(path, whole, self.max_size, Path(whole).anchor), quotable=False)

    def real(self, path: Path) -> Path:
        """Return the path with links and ``..`` resolved, whether or not it exists. A link loop stays as written."""
        real = self._real(path)
        return path if real == os.fspath(path) else Path(real)  # a path that is there knows its hash already

    def met(self, paths: Sequence[Path], folder: str) -> None:
        """Take in that a listing of a folder, a real path, has files at ``paths``, none of them a link. On Windows a
        folder that looks like one may lead elsewhere."""
        if sys.platform != "win32":
            top = os.path.join(folder, "")
            for path in paths:
                self._reals.setdefault(os.fspath(path), top + path.name)

    def inside_root(self, path: Path) -> bool:
        """Return whether the file may be opened: its real path lies inside the root, or the user named it."""
        return self.root is None or self._may_open(self._real(path))

    def _may_open(self, real: str) -> bool:
        return not self._out(real) or real in self._opened

    def _root_of(self, real: str) -> Path | None:
        """Return the root, for a file in it."""
        return None if self._out(real) else self.root

    def _out(self, real: str) -> bool:
        root = os.fspath(self.root) if self.root is not None else ""
        return bool(root) and real != root and not real.startswith(root if root.endswith(os.sep) else root + os.sep)

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
        """Return whether a file or a folder is there, inside the root. Opens nothing."""
        real = self._real(path)
        try:
            return self._may_open(real) and os.path.exists(real)
        except (OSError, ValueError):
            return False

    def look(self, path: Path) -> os.stat_result | None:
        """Return the stamp of a file that `read` would read; None for any other. Opens nothing."""
        real = self._real(path)
        try:
            status = os.stat(real, follow_symlinks=False)
        except (OSError, ValueError):
            return None
        wanted = stat.S_ISREG(status.st_mode) and status.st_size <= self.max_size and self._may_open(real)
        return status if wanted else None

    def digest(self, path: Path, limit: int) -> str:
        """Return the SHA-256 of the raw bytes of a file of any kind, read piece by piece (Y19). Raises
        `FileProblem`."""
        real = self._real(path)
        if not self._may_open(real):
            raise FileProblem(path, "outside-root", f"lies outside the root {self.root}")
        return digest_bytes(path, real, limit, self._root_of(real))


def _source(path: Path, data: bytes, *, quotable: bool, hashed: bool = True) -> SourceText:
    return SourceText(decode(path, data), str(path), sha256(data).hexdigest() if hashed else "", quotable)


def real_path(path: Path | str) -> Path:
    """Return the path with links and ``..`` resolved as far as it exists. Never raises: a path that keeps changing
    during resolution stays as written, without ``..``, and `RootedFiles` opens no link on it."""
    for _ in range(_TRIES):
        try:
            return Path(os.path.realpath(path))
        except OSError:
            continue  # a link that was a file or a folder when it was to be read
        except ValueError:
            break  # a NUL in the name: no such file exists, and reading it says so
    return Path(os.path.abspath(path))  # noqa: PTH100 - `absolute` keeps `..`


def link_on_the_way(folder: Path, path: str) -> Path | None:
    """Return the first part of a path below a folder that is a link, broken or not; None if there is none."""
    place = folder
    for part in path.split("/"):
        place = place / part
        if place.is_symlink():
            return place
    return None


def read_bytes(path: Path, real: Path | str, max_size: int, root: Path | str | None = None) -> bytes:
    """Return the bytes of a regular file. ``path`` is the name for messages; ``real`` is followed by no link, and below
    ``root`` by none in any of its folders, whatever changes meanwhile. Raises `FileProblem`."""
    with _opened(path, real, root) as (descriptor, status):
        try:
            data = _whole(descriptor, status.st_size, max_size)
        except OSError as error:
            raise _problem(path, error) from None
    if data is None:
        raise _too_large(path, status.st_size, max_size)
    return data


def read_piece(
    path: Path, real: Path, start: int, most: int, root: Path | str | None = None
) -> tuple[os.stat_result, bytes]:
    """Return at most that many bytes of a regular file from an offset on, opened as by `read_bytes`, and the stamp of
    the opened file. Raises `FileProblem`."""
    with _opened(path, real, root) as (descriptor, status):
        try:
            os.lseek(descriptor, start, os.SEEK_SET)
            return status, _up_to(descriptor, most)
        except OSError as error:
            raise _problem(path, error) from None


def digest_bytes(path: Path, real: Path | str, limit: int, root: Path | str | None = None) -> str:
    """Return the SHA-256 in hex of a regular file of at most ``limit`` bytes, opened as by `read_bytes`. Raises
    `FileProblem`."""
    seen = 0
    with _opened(path, real, root) as (descriptor, status):
        size = status.st_size
        hashed = sha256(size=size)
        try:
            while size <= limit and seen <= limit and (chunk := os.read(descriptor, _CHUNK)):
                seen += len(chunk)
                hashed.update(chunk)
        except OSError as error:
            raise _problem(path, error) from None
    if max(size, seen) > limit:
        raise FileProblem(path, "too-large", f"is larger than {limit:,} bytes")
    return hashed.hexdigest()


@contextmanager
def _opened(path: Path, real: Path | str, root: Path | str | None) -> Iterator[tuple[int, os.stat_result]]:
    """Return an open regular file, and its stamp. Raises `FileProblem`."""
    try:
        descriptor = open_real(os.fspath(real)) if root is None else open_below(*_split(os.fspath(real), root))
    except (OSError, ValueError) as error:
        raise _problem(path, error) from None
    except NotRegular as other:
        raise _not_regular(path, other.mode) from None
    try:
        status = os.fstat(descriptor)
        require_regular(status)
        yield descriptor, status
    except NotRegular as other:
        raise _not_regular(path, other.mode) from None
    finally:
        os.close(descriptor)


def _whole(descriptor: int, size: int, max_size: int) -> bytes | None:
    """Return the bytes of a file that says it has ``size`` of them; None where it has too many. Raises `OSError`."""
    if size > max_size:
        return None
    # The size is verified by reading one byte more: some files report 0 and are not, others grow.
    data = os.read(descriptor, size + 1)
    if 0 < len(data) == size:  # as nearly always, and one call fewer
        return data
    data += _up_to(descriptor, size + 1 - len(data))
    if len(data) > size:
        data += _up_to(descriptor, max_size + 1 - len(data))
    return data if len(data) <= max_size else None


def _up_to(descriptor: int, length: int) -> bytes:
    """Return the bytes from here on, at most so many. Raises `OSError`."""
    data = b""
    while len(data) < length and (piece := os.read(descriptor, length - len(data))):
        data = data + piece if data else piece
    return data


def _split(real: str, root: Path | str) -> tuple[str, list[str]]:
    """Return the root and the parts of a real path below it."""
    base = os.fspath(root)
    return base, real[len(base) :].lstrip(os.sep).split(os.sep)  # noqa: PTH206 - what ends in a separator is no file


def decode(path: Path, data: bytes) -> str:
    """Decode strict UTF-8. Raises `FileProblem` with the line and the likely encoding of the bytes."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line} (offset {error.start})"
        raise FileProblem(path, "not-utf-8", reason + _likely(data)) from None


def _likely(data: bytes) -> str:
    """Return what text that is not UTF-8 probably is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "; it looks like UTF-16, save it as UTF-8"
    return "; it looks like a binary file" if b"\0" in data[:8192] else "; save it as UTF-8"


def _not_regular(path: Path, mode: int) -> FileProblem:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    return FileProblem(path, "not-a-file", f"is {kind}, not a regular file")


def _too_large(path: Path, size: int, limit: int) -> FileProblem:
    shown = f"{size:,} bytes" if size > limit else f"more than {limit:,} bytes"
    return FileProblem(path, "too-large", f"is too large: {shown}, the limit is {limit:,} (raise it with --max-size)")


def _problem(path: Path, error: OSError | ValueError) -> FileProblem:
    """Return the problem that an error of the system means."""
    code = error.errno if isinstance(error, OSError) else errno.ENOENT
    if code in (errno.ENOENT, errno.ENOTDIR):
        link = "is a link to a file that does not exist"
        return FileProblem(path, "missing", link if os.path.islink(path) else "no such file")
    if code == errno.ELOOP:
        return FileProblem(path, "unreadable", "is a link that leads back to itself")
    if code in (errno.EACCES, errno.EPERM):
        return FileProblem(path, "unreadable", "may not be read (permission denied)")
    return FileProblem(path, "unreadable", f"cannot be read ({getattr(error, 'strerror', None) or error})")


READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
READING |= getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""How a document is opened: it waits for no pipe, follows no link, and takes no terminal."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_INNER = _FOLDER | getattr(os, "O_NOFOLLOW", 0)

CHAINED = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether a file can be opened in an open folder."""


class NotRegular(Exception):
    """Something else than a regular file. ``mode`` is its mode as `os.stat` gives it."""

    def __init__(self, mode: int) -> None:
        super().__init__("not a regular file")
        self.mode = mode


def open_below(folder: str, parts: Sequence[str]) -> int:
    """Return a descriptor of the regular file at ``parts`` below a folder, a real path. Raises `OSError`, of ``ELOOP``
    for a file that is a link, and `NotRegular`, before anything else than a file is opened."""
    if not any(parts):
        raise NotRegular(stat.S_IFDIR)
    if any(part in ("", os.curdir, os.pardir) for part in parts):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return _in_chain(folder, parts) if CHAINED else _compared(folder, parts)


def open_real(path: str) -> int:
    """Return a descriptor of the regular file at a real path, whatever folders lead to it. Raises as `open_below`."""
    require_regular(os.stat(path))
    return os.open(path, READING)


def require_regular(status: os.stat_result) -> None:
    """Refuse folders, pipes, sockets and devices. Raises `NotRegular`."""
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(status.st_mode)


def _in_chain(folder: str, parts: Sequence[str]) -> int:
    at = _folder_in_chain(folder, parts[:-1])
    try:
        return _in_folder(at, parts[-1])
    finally:
        os.close(at)


def _folder_in_chain(folder: str, parts: Sequence[str]) -> int:
    at = os.open(folder, _FOLDER)
    try:
        for part in parts:
            inner = os.open(part, _INNER, dir_fd=at)
            os.close(at)
            at = inner
    except BaseException:
        os.close(at)
        raise
    return at


def _in_folder(folder: int, name: str) -> int:
    require_regular(os.stat(name, dir_fd=folder, follow_symlinks=False))
    return os.open(name, READING, dir_fd=folder)


class HeldFolder:
    """The open folder of the last document that was read below a root, a real path."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folder: str | None = None
        self._descriptor = -1

    def __enter__(self) -> HeldFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, real: str, max_size: int) -> bytes | None:
        """Return the bytes of a regular file at a real path below the root; None where it is too large. Raises as
        `open_below`."""
        folder, _, name = real.rpartition(os.sep)
        if folder != self._folder:
            self._close()
            _, parts = _split(folder, self._root)
            self._descriptor = _folder_in_chain(self._root, [part for part in parts if part])
            self._folder = folder
        descriptor = _in_folder(self._descriptor, name)
        try:
            status = os.fstat(descriptor)
            require_regular(status)
            return _whole(descriptor, status.st_size, max_size)
        finally:
            os.close(descriptor)

    def _close(self) -> None:
        if self._folder is not None:
            self._folder = None
            os.close(self._descriptor)


def _compared(folder: str, parts: Sequence[str]) -> int:
    before = _without_links(folder, parts)
    require_regular(before)
    descriptor = os.open(os.path.join(folder, *parts), READING)
    try:
        if not _same(os.fstat(descriptor), before) or not _same(before, _without_links(folder, parts)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _without_links(folder: str, parts: Sequence[str]) -> os.stat_result:
    """Return what lies at a path that no link leads to. Raises `OSError`."""
    for end in range(1, len(parts)):
        inner = os.stat(os.path.join(folder, *parts[:end]), follow_symlinks=False)
        if not stat.S_ISDIR(inner.st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return os.stat(os.path.join(folder, *parts), follow_symlinks=False)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
