"""Rows of a text file: JSON lines, a JSON list, CSV; and rows that have no file of their own, kept in a private one.

Rows are read as a stream but for a JSON list, which is one value. A line that is no row is a row with a problem: it
fails alone. A file of kept rows is named after what they are, so that the same rows are the same batch.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO

from msgspec import Struct

from prosa.data import Value
from prosa.data.limits import MAX_CELL
from prosa.records.batch import MAX_ROW, Row, require_columns, too_large
from prosa.runtime.errors import RowsRefused

MAX_LIST = 256 * 1024 * 1024
"""Bytes of a JSON list, which is in memory as a whole; JSON lines have no such bound."""

_BLOCK = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


def require_regular(path: Path, name: str) -> None:
    """Raise `RowsRefused` for a pipe or a device, which could be read once at most or never ends, `OSError`."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise RowsRefused(f"{name} is not a regular file, and rows are read twice", hint=f"--rows - < {name}")


class RowFile(Struct):
    """A file of rows in one of three forms. ``shown`` takes the place of its path in messages."""

    path: Path
    form: str
    shown: str = ""
    _seen: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The path as it was given."""
        return self.shown or str(self.path)

    def digest(self) -> str:
        """SHA-256 of the bytes and the form. Raises `RowsRefused`."""
        hasher = hashlib.sha256(f"{self.form}\n".encode())
        with self._opened() as file:
            self._seen = _stamp(file)
            while block := self._read(file):
                hasher.update(block)
        return hasher.hexdigest()

    def rows(self) -> Iterator[Row]:
        """Yield the rows. Raises `RowsRefused`."""
        with self._opened() as file:
            before = self._seen or _stamp(file)
            if _stamp(file) != before:
                raise self._changed()
            if self.form == "csv":
                yield from self._csv(file)
            elif self.form == "json":
                yield from self._list(file)
            else:
                yield from self._lines(file)
            if _stamp(file) != before:
                raise self._changed()

    def _changed(self) -> RowsRefused:
        return RowsRefused(f"{self.name} changed while it was read", hint="other rows are another batch: run it again")

    def _opened(self) -> BinaryIO:
        try:
            require_regular(self.path, self.name)
            return self.path.open("rb")
        except OSError as error:
            reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
            raise RowsRefused(
                f"{self.name}: {reason}", hint="--rows FILE names the rows; - is standard input"
            ) from None

    def _read(self, file: BinaryIO) -> bytes:
        try:
            return file.read(_BLOCK)
        except OSError as error:
            raise RowsRefused(f"{self.name}: {error.strerror or error}") from None

    def _lines(self, file: BinaryIO) -> Iterator[Row]:
        number = line = 0
        while text := file.readline(MAX_ROW + 2):
            line += 1
            if line == 1:
                text = text.removeprefix(_BOM)
            whole = text
            while text and not text.endswith(b"\n"):
                text = file.readline(MAX_ROW)  # the rest of a line that is too long is not kept
            if not whole.strip():
                continue
            number += 1
            place = f"{self.name}:{line}"
            if len(whole) > MAX_ROW:
                yield Row(number, place, problem=too_large())
            else:
                yield _decoded(number, place, whole)

    def _list(self, file: BinaryIO) -> Iterator[Row]:
        data = file.read(MAX_LIST + 1)
        if len(data) > MAX_LIST:
            hint = "write it as JSON lines (.jsonl), which are read one by one"
            raise RowsRefused(
                f"{self.name} is larger than {MAX_LIST // 2**20} MiB, which a JSON list may be", hint=hint
            )
        try:
            parsed = _json(data.removeprefix(_BOM))
        except ValueError as error:
            raise RowsRefused(f"{self.name} is not valid JSON: {error}") from None
        if not isinstance(parsed, list):
            kind = "an object" if isinstance(parsed, dict) else "one value"
            raise RowsRefused(f"{self.name} holds {kind}, and rows are a list of objects", hint="see docs/batches.md")
        for number, value in enumerate(parsed, 1):
            yield _row(number, f"{self.name}: row {number}", value)

    def _csv(self, file: BinaryIO) -> Iterator[Row]:
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))  # a document in a cell is longer than 128 KiB
        reader = csv.reader(self._csv_lines(file), strict=True)
        names: list[str] | None = None
        number = 0
        while True:
            place = f"{self.name}:{reader.line_num + 1}"
            try:
                cells = next(reader, None)
            except csv.Error as error:
                if "field limit" in str(error):
                    raise RowsRefused(f"{place}: {too_large()}") from None
                raise RowsRefused(f"{place}: not valid CSV: {error}", hint="quote cells with quotes doubled") from None
            if cells is None:
                break
            if names is None:
                require_columns(f"{self.name}:1", cells)
                names = cells
            elif cells:
                number += 1
                yield _cells(number, place, names, cells)
        if names is None:
            raise RowsRefused(f"{self.name} is empty: its first line names the columns")

    def _csv_lines(self, file: BinaryIO) -> Iterator[str]:
        """Yield lines as text, with their ends, as the module `csv` wants them. A lone carriage return ends one too."""
        number, rest = 0, b""
        while data := rest + file.readline(MAX_ROW + 1):
            rest = b""
            if len(data) > MAX_ROW:
                end = data.rfind(b"\r", 0, -1) + 1
                if not end:
                    raise RowsRefused(f"{self.name}:{number + 1}: {too_large()}")
                data, rest = data[:end], data[end:]
            for line in data.splitlines(keepends=True):
                number += 1
                try:
                    yield (line.removeprefix(_BOM) if number == 1 else line).decode()
                except UnicodeDecodeError as error:
                    reason = f"not UTF-8: byte {error.start + 1} of the line"
                    raise RowsRefused(f"{self.name}:{number}: {reason}") from None


def _cells(number: int, place: str, names: list[str], cells: list[str]) -> Row:
    if len(cells) != len(names):
        return Row(number, place, problem=f"{len(cells)} cells in place of {len(names)}", columns=names)
    if sum(map(len, cells)) > MAX_ROW:
        return Row(number, place, problem=too_large(), columns=names)
    value: dict[str, Value] = {name: cell for name, cell in zip(names, cells, strict=True) if cell}
    return Row(number, place, value, texts=True, columns=names)


def _decoded(number: int, place: str, data: bytes) -> Row:
    try:
        return _row(number, place, _json(data))
    except ValueError as error:
        return Row(number, place, problem=f"not valid JSON: {error}")


def _json(data: bytes) -> Value:
    """Raise ValueError."""
    try:
        return _DECODE(data.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte {error.start + 1}") from None
    except RecursionError:
        raise ValueError("too many levels") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


# `data.parse_json` refuses the same keys, but reads a text with an error once more as a tree with places: six times the
# memory, which a list of 256 MiB has no room for, and a second for each MiB.
def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"duplicate key `{twice}`")
    return value


_DECODE: Callable[[str], Value] = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number).decode


def _row(number: int, place: str, value: Value) -> Row:
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else json.dumps(value)[:40]
        return Row(number, place, problem=f"a row is an object, and this is {kind}")
    return Row(number, place, value)


def _stamp(file: BinaryIO | TextIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


_FOLDER, _FILE = 0o700, 0o600


def spooled(store: Path, blocks: Iterable[bytes], shown: str) -> RowFile:
    """Return bytes of JSON lines as a source, kept beside the store. Raises `RowsRefused`."""
    folder = spool_folder(store)
    hasher = hashlib.sha256()
    try:
        folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        temporary = folder / f".{os.urandom(8).hex()}"
        try:
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE), "wb") as file:
                for block in blocks:
                    hasher.update(block)
                    file.write(block)
            path = folder / f"{hasher.hexdigest()}.jsonl"
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise RowsRefused(f"the rows cannot be stored in {folder}: {error.strerror or error}") from None
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
            raise RowsRefused(f"row {number} is not a JSON object: {error}") from None


def spool_folder(store: Path) -> Path:
    """Return where rows are kept that have no file of their own."""
    return store.with_name(f"{store.name}.rows")
