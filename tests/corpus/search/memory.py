"""A small index in memory: what `prosa index` would write of these texts, without files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from prosa.adapters.sqlite import writing
from prosa.adapters.sqlite.schema import migrate
from prosa.corpus.extract import extract
from prosa.corpus.found import FoundDocument, Stamp
from prosa.source import SourceText


def index_of(texts: Mapping[str, str]) -> sqlite3.Connection:
    """An index of documents by path. Edges lead nowhere: a search asks only for their rel."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    packed = writing.Packed()
    edges = []
    for number, (path, text) in enumerate(texts.items(), start=1):
        extracted = extract(SourceText(text, path), path)
        writing._add(extracted, writing.Item(number, FoundDocument(path, Path(path), Stamp(0, 0, 0, 0))), packed)
        for seq, each in enumerate(extracted.record.references):
            edges.append((number, seq, each.origin, each.target, each.kind, each.rel, each.start, each.end, each.line))
    writing.add(connection, packed)
    writing.fill_full_text(connection)
    columns = 'document, seq, origin, target, kind, rel, start, "end", line, state'
    connection.executemany(f"INSERT INTO edge ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'unresolved')", edges)
    return connection
