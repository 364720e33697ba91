"""The least that an index of a folder can cost, as a program of its own: the baseline of `index`.

`python bench/bare_index.py FOLDER FILE` reads every document and puts its text into one FTS5 table of a new file: no
parsing, no sections, no metadata, no links, no ranking of titles. `python bench/bare_index.py FOLDER` only looks at
every file, as a refresh does that finds nothing changed.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

PROGRAM = str(Path(__file__).resolve())
ENDINGS = (".md", ".mda", ".ymj")
TABLE = "CREATE VIRTUAL TABLE page USING fts5(path UNINDEXED, text, tokenize = 'unicode61 remove_diacritics 2')"
ADD = "INSERT INTO page (rowid, path, text) VALUES (?, ?, ?)"
ASK = "SELECT path, snippet(page, 1, '[', ']', '…', 20) FROM page WHERE page MATCH ? ORDER BY rank LIMIT 10"


def looks(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Path and state of every document below a folder."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                yield from looks(entry.path)
            elif entry.name.endswith(ENDINGS):
                yield entry.path, entry.stat()


def opened(file: Path) -> sqlite3.Connection:
    """Return a connection with the settings that Prosa's own index has."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def build(folder: str, file: Path) -> None:
    """Make the index of a folder."""
    file.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = opened(file)
    connection.execute("BEGIN")
    connection.execute(TABLE)
    rows = ((at, path, Path(path).read_text(encoding="utf-8")) for at, (path, _) in enumerate(looks(folder), 1))
    connection.executemany(ADD, rows)
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    if sys.argv[2:]:
        build(sys.argv[1], Path(sys.argv[2]))
    else:
        print(sum(1 for _ in looks(sys.argv[1])))
