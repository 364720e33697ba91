"""The copy of a site in a folder: its pages, and their records, so that a copy can continue after a kill.

In: relative paths and texts; records as plain data. Out: files, each whole or not at all. Records are appended to a
journal before their file is written, and merged into one file at the end. Nothing is written before the first record
with a file, so a site without pages leaves nothing behind. A changed file is never overwritten: `FileChanged`. No link
below the folder is followed, whether to a page, a folder or the records.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path, PurePosixPath

from prosa.adapters.files.read import RootedFiles, link_on_the_way, read_bytes
from prosa.adapters.files.write import replace_file
from prosa.data import Value
from prosa.source import FileProblem

STATE = ".prosa-crawl.json"
JOURNAL = ".prosa-crawl.log"
MAX_STATE = 256 * 1024 * 1024
"""Bytes: 100,000 pages take less than a quarter of it."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_APPEND |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class CopyStore:
    """The folder of a copy, created with the first page. A ``dry_run`` reads it and writes nothing."""

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self.folder, self.dry_run = folder, dry_run
        self._files = RootedFiles(folder, MAX_STATE)
        self._journal: TextIOWrapper | None = None
        self._has_pages = False
        self._held_state: Mapping[str, Value] = {}
        self._held_records: list[Mapping[str, Value]] = []

    def load(self) -> tuple[dict[str, Value], list[dict[str, Value]]]:
        """Return the state that was saved, empty for none, and the records of the journal since. A line that was cut
        off by a kill is passed over. Raises `FileProblem` for a state that cannot be read, and for a link in its
        place."""
        state = self._own(STATE)
        whole = _object(_text(state)) if state.exists() else {}
        if whole is None:
            raise FileProblem(state, "unreadable", "was not written by a copy; move it away to start over")
        journal = self._own(JOURNAL)
        lines = _text(journal).splitlines() if journal.exists() else []
        self._has_pages = bool(whole or lines)
        return whole, [record for line in lines if (record := _object(line)) is not None]

    def save(self, state: Mapping[str, Value]) -> None:
        """Write the whole state in one step, and end the journal. Raises `OSError`, and `FileProblem` for a link."""
        if self.dry_run:
            return
        if not self._has_pages:
            self._held_state, self._held_records = state, []
            return
        self._replace(state)

    def _replace(self, state: Mapping[str, Value]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._own(STATE), json.dumps(state, ensure_ascii=True, indent=1))
        self.close()
        (self.folder / JOURNAL).unlink(missing_ok=True)

    def note(self, record: Mapping[str, Value]) -> None:
        """Append a record to the journal. Raises `OSError`, and `FileProblem` for a link."""
        if self.dry_run:
            return
        if not self._has_pages:
            self._held_records.append(record)
            if record.get("file"):
                self._begin()
            return
        self._append(record)

    def _begin(self) -> None:
        """Write the state and the records that were held back until the first page."""
        held, self._held_records, self._has_pages = self._held_records, [], True
        if self._held_state:
            self._replace(self._held_state)
        for record in held:
            self._append(record)

    def _append(self, record: Mapping[str, Value]) -> None:
        if self._journal is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._own(JOURNAL), _APPEND, 0o666)
            self._journal = os.fdopen(descriptor, "a", encoding="utf-8", newline="\n")
            self._journal.write("\n")  # ends a line that a kill cut off
        self._journal.write(f"{json.dumps(record)}\n")
        self._journal.flush()

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file in hex; empty where there is none. Raises `FileProblem`."""
        try:
            return self._files.digest(self._at(path), MAX_STATE)
        except FileProblem as problem:
            if problem.kind == "missing":
                return ""
            raise

    def read(self, path: str) -> str:
        """Return the text of a page that was written. Raises `FileProblem`."""
        return self._files.read(self._at(path)).text

    def write(self, path: str, text: str, *, before: str) -> None:
        """Write a page; ``before`` is the digest of the present file, empty for none. Raises `FileChanged`, `OSError`,
        `FileProblem` for a path that leads out of the folder or over a link."""
        target = self._at(path)
        if self.dry_run:
            return
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise FileProblem(target, "not-a-file", "cannot be written: a file is in the place of its folder") from None
        replace_file(target, text, expect_digest=before, durable=False)  # the site still has it

    def _own(self, name: str) -> Path:
        """Return the path of a file of records. A link there could lead to any file of the user."""
        path = self.folder / name
        if path.is_symlink():
            raise FileProblem(path, "outside-root", "is a link, which a copy never creates; move it away to start over")
        return path

    def _at(self, path: str) -> Path:
        parts = PurePosixPath(path).parts
        target = self.folder.joinpath(*parts)
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts or not self._files.inside_root(target):
            raise FileProblem(target, "outside-root", "leads out of the folder of the copy")
        if (link := link_on_the_way(self.folder, path)) is not None:
            raise FileProblem(link, "outside-root", "is a link, and a copy follows none")
        return target


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_STATE:
        raise FileProblem(path, "too-large", "is larger than the state of any copy; move it away to start over")
    return read_bytes(path, path, MAX_STATE).decode("utf-8", "replace")  # a torn line is passed over, whatever it holds


def _object(text: str) -> dict[str, Value] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
