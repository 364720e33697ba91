"""Skills as one file: an archive that is the same wherever it is made, and one that is safe to unpack (X40).

In: the files of a skill, or the bytes of an archive. Out: bytes, or files. Nothing is written here, and nothing of an
archive is believed: links, paths that lead out of it, and what grows without end are refused.
"""

from __future__ import annotations

import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import TypeAlias
from unicodedata import normalize

from prosa.regex import regex

Files: TypeAlias = Sequence[tuple[str, bytes]]
"""The files of a skill by their paths with `/` below its folder."""

SKILL_FILE = "SKILL.md"

MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024
"""Files of a skill that is published, and bytes of all of them (SEP-2640, "Limits": every host takes as many)."""

MOST_FOREIGN_FILES = 1_000
MOST_FOREIGN_BYTES = 50 * 1024 * 1024
"""The same for an archive of another site. The limits of Agent Skills Discovery are those of its clients."""

MOST_PATH = 240
"""Characters of a path in an archive: some file systems take no longer ones."""

_PIECE = 65_535
"""Bytes of a stored block of DEFLATE (RFC 1951, section 3.2.4)."""

_ODD = regex(r"[\x00-\x1f\x7f\\:*?\"<>|]")
_DEVICE = regex(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


class ArchiveProblem(Exception):
    """An archive that is not unpacked, or files that make none; the message says why."""


def pack(files: Files) -> bytes:
    """Return the files as `.tar.gz`. Order, owner, mode and time are fixed, and nothing is compressed: two versions of
    a compressor make different bytes. Raises `ArchiveProblem`."""
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8", errors="strict") as tar:
        for path, content in sorted(files):
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.mtime = len(content), 0o644, 0
            try:
                tar.addfile(member, BytesIO(content))
            except (ValueError, UnicodeError):
                raise ArchiveProblem(f"the path {path!r} is too long for an archive") from None
    return _stored(out.getvalue())


def _stored(data: bytes) -> bytes:
    """Return data as gzip without compression (RFC 1952)."""
    blocks = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)] or [b""]
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    body = b"".join(
        struct.pack("<BHH", at == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
        for at, block in enumerate(blocks)
    )
    return head + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def unpack(data: bytes) -> Files:
    """Return the files of a `.tar.gz` or `.zip`, by path. Raises `ArchiveProblem` for one with links or other special
    files, with paths that are absolute or have `..`, with two files at one path, without a `SKILL.md` at its root, and
    for one with too many files or bytes."""
    if data.startswith(b"\x1f\x8b"):
        members = _tar(data)
    elif data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        members = _zip(data)
    else:
        raise ArchiveProblem("it is neither a .tar.gz nor a .zip")
    contents: dict[str, tuple[str, bytes]] = {}
    total = 0
    for path, content in members:
        total += len(content)
        if len(contents) >= MOST_FOREIGN_FILES or total > MOST_FOREIGN_BYTES:
            raise ArchiveProblem(_TOO_MUCH)
        if (known := folded(path)) in contents:
            raise ArchiveProblem(f"it has two files at {path[:100]!r}, one of them perhaps in other case")
        contents[known] = path, content
    files = sorted(contents.values())
    require_files([path for path, _ in files])
    return files


_TOO_MUCH = f"it has more than {MOST_FOREIGN_FILES:,} files, or more than {MOST_FOREIGN_BYTES // 2**20} MiB unpacked"


def folded(path: str) -> str:
    """Return what is the same for paths that some file system takes for one."""
    return normalize("NFC", normalize("NFC", path).casefold())


def require_files(paths: Iterable[str]) -> None:
    """Raise `ArchiveProblem` where one of the paths of a skill leads out of its folder, is no portable name, or is a
    folder of another one; and where none is `SKILL.md`."""
    every = set(paths)
    known = {folded(path) for path in every}
    if len(known) < len(every):
        raise ArchiveProblem("two of its paths differ in case alone")
    for path in every:
        if complaint := path_complaint(path):
            raise ArchiveProblem(f"the path {path[:100]!r} {complaint}")
        above = folded(path).split("/")[:-1]
        if any("/".join(above[: at + 1]) in known for at in range(len(above))):
            raise ArchiveProblem(f"the path {path[:100]!r} has a file in the place of a folder")
    if SKILL_FILE not in every:
        raise ArchiveProblem(f"it has no {SKILL_FILE} at its root")


def path_complaint(path: str) -> str:
    """Return why a path may not be written below a folder; empty if it may."""
    parts = path.split("/")
    if path.startswith("/") or path[1:2] == ":":
        return "is absolute"
    if ".." in parts:
        return "leads out of the archive"
    if _ODD.search(path) or len(path) > MOST_PATH or any(part in ("", ".") for part in parts):
        return "is not a name that every system takes"
    if any(part[-1] in ". " or _DEVICE.fullmatch(part.lower()) for part in parts):
        return "is not a name that every system takes"
    return ""


def _tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    reader = zlib.decompressobj(31)
    try:
        plain = reader.decompress(data, MOST_FOREIGN_BYTES + 1)
        if len(plain) > MOST_FOREIGN_BYTES or reader.unconsumed_tail:
            raise ArchiveProblem(_TOO_MUCH)
        if not reader.eof:
            raise ArchiveProblem("it ends too early")
        with tarfile.open(fileobj=BytesIO(plain), mode="r:") as tar:
            for at, member in enumerate(tar):
                if at >= 2 * MOST_FOREIGN_FILES:
                    raise ArchiveProblem(_TOO_MUCH)
                if member.isdir():
                    _require_path(member.name.rstrip("/").removeprefix("./"))
                    continue
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                    raise ArchiveProblem(f"{member.name[:100]!r} is a link or another special file")
                file = tar.extractfile(member)
                yield _require_path(member.name.removeprefix("./")), file.read() if file is not None else b""
    except (zlib.error, tarfile.TarError, ValueError, OSError, EOFError, OverflowError, RecursionError) as error:
        raise ArchiveProblem(f"it cannot be read: {error}") from None


def _zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as box:
            members = box.infolist()
            if (
                len(members) > 2 * MOST_FOREIGN_FILES
                or sum(member.file_size for member in members) > MOST_FOREIGN_BYTES
            ):
                raise ArchiveProblem(_TOO_MUCH)
            for member in members:
                kind = stat.S_IFMT(member.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise ArchiveProblem(f"{member.filename[:100]!r} is a link or another special file")
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ArchiveProblem(f"{member.filename[:100]!r} is encrypted, or compressed in an unusual way")
                path = _require_path(member.filename.rstrip("/").removeprefix("./"))
                if not member.is_dir():
                    yield path, box.read(member)
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveProblem(f"it cannot be read: {error}") from None


def _require_path(path: str) -> str:
    """Return a path that may be written. Raises `ArchiveProblem`."""
    if complaint := path_complaint(path) if path not in ("", ".") else "":
        raise ArchiveProblem(f"the path {path[:100]!r} {complaint}")
    return path
