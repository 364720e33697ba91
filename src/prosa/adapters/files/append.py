"""Text below a file that others may edit, replace or remove at the same time (PW4).

In: pieces of text, whole lines each, as they come. Out: the file with them at its end. The file is opened by its path
for every write, so a file that an editor put in its place is the one that is written to; a link is followed and stays
one. What cannot be written is kept and tried again; at the end it is an error, and the caller saves it elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.adapters.files.read import decode
from prosa.adapters.files.write import FileChanged, replace_file
from prosa.source import FileProblem, Span

PAGE = 4096
"""A write within so many bytes of a file is complete or absent, even if the process is killed meanwhile; page sizes
are multiples of it."""

ATTEMPTS = 5
"""Maximum number of attempts to save a file that another process saves at the same moment."""

_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_APPEND |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

Stamp: TypeAlias = tuple[int, int, int, int]
State: TypeAlias = Literal["new", "below", "between"]


class Joint(Struct, frozen=True):
    """How text joins a file. ``separator`` returns what stands between them, ``line_end`` the line end of the file,
    ``find`` the place of lines written earlier, before the last line end. A line that starts with ``whole`` is never
    left incomplete."""

    separator: Callable[[str], str]
    line_end: Callable[[str], str]
    find: Callable[[list[str], str], Span | None]
    whole: str


class Below(Struct):
    """Text at the end of a file. ``pieces`` end with a line feed each; ``problem`` is why the last write failed.

    ``lost`` is true if another process removed the text, so that it was written again. If another process wrote below
    it, ``state`` is ``between``: nothing more is written until `finish` puts all of it at its start.
    """

    path: Path
    joint: Joint
    max_size: int
    pieces: list[str] = field(default_factory=list)
    problem: OSError | FileProblem | None = None
    lost: bool = False
    state: State = "new"
    _line_end: str = "\n"
    _separator: str = ""
    _written: list[str] = field(default_factory=list)
    _stamp: Stamp | None = None
    _origin: int = 0
    _start: int = 0

    def add(self, *pieces: str) -> None:
        """Write more. Never raises: see ``problem``."""
        self.pieces += pieces
        self._try()

    def cut(self, count: int) -> None:
        """Remove everything after the first ``count`` pieces again. Never raises."""
        del self.pieces[count:]
        self._try()

    def finish(self) -> None:
        """Everything is in the file, or this raises `OSError` or `FileProblem`."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._sync()
                if self.state == "between" and self._written != self.pieces:
                    self._put_between()
            except FileChanged:
                if attempt == ATTEMPTS:
                    raise
            else:
                return

    def follows(self, before: str) -> bool:
        """Return whether the file is exactly its old content followed by our text."""
        text = "".join(self.pieces)
        with _opened(self.path) as stream:
            return self.state == "below" and self._read(stream) == before.encode() + self._bytes(self._separator + text)

    def above(self) -> str:
        """Return the present text above ours. Raises `OSError` and `FileProblem`."""
        with _opened(self.path) as stream:
            text = decode(self.path, self._read(stream))
        span = self._place(text)
        return text[: span.start] if span else text

    def _try(self) -> None:
        try:
            self._sync()
        except (OSError, FileProblem) as problem:
            self.problem = problem

    def _sync(self) -> None:
        """Make the end of the file equal to ``pieces``, unless another process has written below."""
        if self._written == self.pieces and self.problem is None and self.state != "between":
            return
        with _opened(self.path) as stream:
            if _stamp(os.fstat(stream.fileno())) != self._stamp:
                self._look(stream)
            elif self.state != "between" and self.pieces[: len(self._written)] != self._written:
                self._take_away(stream, self._start if self.pieces else self._origin)
            try:
                if self.state != "between" and self.pieces != self._written:
                    self._put_below(stream)
            finally:
                self._stamp = self._stamp or _stamp(os.fstat(stream.fileno()))
        self.problem = None

    def _look(self, stream: FileIO) -> None:
        """Find out where ours is in a file that is not as it was left."""
        text = decode(self.path, self._read(stream))
        self._stamp = None
        if self._written:
            place = self._place(text)
            if place is not None and text[place.end :].strip():
                self.state = "between"
                return
            if place is not None:
                self.state = "below"
                self._origin = self._start = len(text[: place.start].encode())
                self._take_away(stream, self._start)
                return
            self.lost = True
        self.state, self._written = "new", []
        self._line_end, self._separator = self.joint.line_end(text), self.joint.separator(text)
        self._origin = len(text.encode())
        self._start = self._origin + len(self._bytes(self._separator))

    def _take_away(self, stream: FileIO, size: int) -> None:
        """Remove our text, to write it again."""
        stream.truncate(size)
        self._written, self._stamp = [], None
        if not self.pieces:
            self.state = "new"

    def _put_below(self, stream: FileIO) -> None:
        text = "".join(self.pieces[len(self._written) :])
        data = self._bytes(self._separator + text if self.state == "new" else text)
        size = os.fstat(stream.fileno()).st_size
        self._stamp = None
        if not (self._is_across(data, size) and self._replaced(stream, data)):
            _write(stream, data, size)
        self.state, self._written = "below", list(self.pieces)

    def _replaced(self, stream: FileIO, data: bytes) -> bool:
        """Put the whole file in its place with the text below, in one step. Not every file allows that."""
        before = self._read(stream)
        text = decode(self.path, before + data)
        try:
            replace_file(self.path, text, expect_digest=hashlib.sha256(before).hexdigest())
        except OSError:
            return False
        self._stamp = _stamp(self.path.stat())
        return True

    def _put_between(self) -> None:
        """Put our text where it starts. Text written below it stays there. Raises `FileChanged`."""
        with _opened(self.path) as stream:
            data = self._read(stream)
        text = decode(self.path, data)
        place = self._place(text)
        if place is None:
            raise FileChanged(self.path)
        block = "".join(self.pieces).rstrip("\n").replace("\n", self._line_end)
        whole = text[: place.start] + block + text[place.end :]
        replace_file(self.path, whole, expect_digest=hashlib.sha256(data).hexdigest())
        self._written, self.problem = list(self.pieces), None

    def _place(self, text: str) -> Span | None:
        return self.joint.find("".join(self._written).split("\n"), text)

    def _read(self, stream: FileIO) -> bytes:
        """Return the whole file. Raises `FileProblem` for one that has grown too large."""
        stream.seek(0)
        data = bytearray()
        while len(data) <= self.max_size and (chunk := stream.read(self.max_size + 1 - len(data))):
            data += chunk
        if len(data) > self.max_size:
            raise FileProblem(self.path, "too-large", f"has more than {self.max_size:,} bytes")
        return bytes(data)

    def _bytes(self, text: str) -> bytes:
        # A model's text may contain half of a surrogate pair, which no file can.
        return text.replace("\n", self._line_end).encode("utf-8", "replace")

    def _is_across(self, data: bytes, at: int) -> bool:
        """Return whether a line that has to be whole lies across two pages when written at an offset."""
        lines = re.finditer(b"^" + re.escape(self.joint.whole.encode()) + rb"[^\r\n]*", data, re.MULTILINE)
        return any((at + line.start()) // PAGE != (at + line.end()) // PAGE for line in lines)


def save_beside(path: Path, text: str) -> Path:
    """Save a text in a new file beside another one, `talk.reply.md` beside `talk.md`, and return its path. Existing
    files are never overwritten. Raises `OSError`."""
    for number in range(1, 10_000):
        name = f"{path.stem.encode()[:200].decode(errors='ignore')}.reply{'' if number == 1 else f'-{number}'}.md"
        beside = path.with_name(name)
        try:
            stream = beside.open("xb", buffering=0)
        except FileExistsError:
            continue
        try:
            with stream:
                _write(stream, text.encode("utf-8", "replace"), 0)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
        return beside
    raise FileExistsError(errno.EEXIST, "there are too many saved replies beside it", str(path))


def check_appendable(path: Path) -> None:
    """Refuse a file that could not be written to later. Raises `OSError` and `FileProblem`."""
    with _opened(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    """Return a regular file, open to be read and appended to. Raises `OSError` and `FileProblem`."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise FileProblem(path, "not-a-file", "is not a regular file")
    with FileIO(os.open(path, _APPEND), "a+") as stream:
        yield stream


def _write(stream: FileIO, data: bytes, size: int) -> None:
    """All bytes at the end of a file, or none of them where the system refuses some."""
    view = memoryview(data)
    try:
        while view:
            view = view[stream.write(view) or 0 :]
    except OSError:
        with contextlib.suppress(OSError):
            stream.truncate(size)
        raise


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
