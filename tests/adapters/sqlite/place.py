"""A corpus in a folder with its index, and everything the index holds as plain data by which two can be compared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.scan import scan
from prosa.adapters.sqlite import Index
from prosa.adapters.sqlite.reading import Reading
from prosa.corpus.found import Refreshed
from prosa.rules.analyzer import Workers


@dataclass
class Place:
    """``root`` holds the documents; ``index`` is theirs."""

    root: Path
    index: Index
    given: bool = False
    workers: Workers | None = None
    mark: str = "1"

    @classmethod
    def at(cls, folder: Path, documents: Mapping[str, str] | None = None, **options: Any) -> Place:
        """A corpus below ``folder``."""
        root = folder / "corpus"
        root.mkdir(parents=True, exist_ok=True)
        place = cls(root.resolve(), Index(folder / "x-v1.sqlite"), **options)
        for path, text in (documents or {}).items():
            place.write(path, text)
        return place

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        return file

    def age(self) -> None:
        """Makes every file look as if it had been written an hour ago, as far as a program can."""
        for file in self.root.rglob("*"):
            if file.is_file():
                os.utime(file, ns=(10**18, 10**18))

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    @property
    def reading(self) -> Reading:
        return Reading(RootedFiles(self.root), self.workers, self.given, self.mark)

    def refresh(self, *, anew: bool = False) -> Refreshed:
        return self.index.refresh(scan(self.root, RootedFiles(self.root)), self.reading, anew=anew)

    def ask(self, question: str, *given: Any) -> list[Any]:
        rows = self.index.connection().execute(question, given).fetchall()
        return [row[0] if len(row) == 1 else row for row in rows]

    def dump(self) -> dict[str, list[Any]]:
        """The rows of all tables in a fixed order, with paths in place of numbers."""
        paths = dict(self.ask("SELECT id, path FROM document"))
        edges = dict(self.ask("SELECT id, document || ':' || seq FROM edge"))
        named: dict[str, list[Any]] = {}
        for table in ("document", "definition", "key", "edge", "lookup", "section", "metadata", "embedding"):
            columns = [
                name for name in self.ask(f"SELECT name FROM pragma_table_info('{table}')") if name not in _SKIPPED
            ]
            rows = self.ask(f"SELECT {', '.join(chr(34) + name + chr(34) for name in columns)} FROM {table}")
            named[table] = sorted(
                repr([_named(n, v, paths, edges) for n, v in zip(columns, row, strict=True)]) for row in rows
            )
        return named

    def check(self) -> None:
        """That the file is sound and the full-text tables fit what they index."""
        writer = self.index.writer()
        assert writer.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        writer.execute("INSERT INTO section_text (section_text, rank) VALUES ('integrity-check', 1)")
        writer.execute("INSERT INTO section_cjk (section_cjk) VALUES ('integrity-check')")
        texts = writer.execute("SELECT count(*) FROM section_text_docsize").fetchone()
        assert texts == writer.execute("SELECT count(*) FROM section").fetchone()
        cjk = writer.execute("SELECT id FROM section_cjk_docsize ORDER BY id").fetchall()
        assert cjk == writer.execute("SELECT id FROM section WHERE cjk ORDER BY id").fetchall()


_SKIPPED = ("id", "size", "mtime_ns", "ctime_ns", "inode")


def _named(name: str, value: Any, paths: dict[int, str], edges: dict[int, str]) -> Any:
    """A number of a row as what it stands for."""
    if value is None:
        return None
    if name in ("document", "target_document", "lent_by"):
        return paths[value]
    if name == "edge":
        number, _, seq = edges[value].partition(":")
        return paths[int(number)], seq
    return [paths[each] for each in json.loads(value)] if name == "candidates" else value
