"""Rows that have no file of their own: those of standard input, and those that a program made.

In: bytes. Out: a source. They are kept in a private file beside the store, named after what they are: so that they can
be read again, and the same rows are the same batch.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prosa.adapters.rows.files import RowFile
from prosa.data import Value
from prosa.runtime.errors import RowsRefused

_BLOCK = 1024 * 1024
_FOLDER, _FILE = 0o700, 0o600


def spooled(store: Path, blocks: Iterable[bytes], shown: str) -> RowFile:
    """Return bytes of JSON lines as a source, kept beside the store. Raises `RowsRefused`."""
    folder = spool_folder(store)
    found = hashlib.sha256()
    try:
        folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        temporary = folder / f".{os.urandom(8).hex()}"
        try:
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE), "wb") as file:
                for block in blocks:
                    found.update(block)
                    file.write(block)
            path = folder / f"{found.hexdigest()}.jsonl"
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise RowsRefused(f"the rows cannot be kept in {folder}: {error.strerror or error}") from None
    return RowFile(path, "jsonl", shown)


def blocks_of(read: Callable[[int], bytes]) -> Iterable[bytes]:
    """Yield the content of a stream in pieces."""
    return iter(lambda: read(_BLOCK), b"")


def as_lines(rows: Iterable[Mapping[str, Value]]) -> Iterable[bytes]:
    """Yield rows from a program as JSON lines. Raises `RowsRefused` for values that are not JSON."""
    for number, row in enumerate(rows, 1):
        try:
            yield json.dumps(dict(row), ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass") + b"\n"
        except (TypeError, ValueError) as error:
            raise RowsRefused(f"row {number} is no JSON object: {error}") from None


def spool_folder(store: Path) -> Path:
    """Return where rows are kept that have no file of their own."""
    return store.with_name(f"{store.name}.rows")
