"""Documents as rows of the index, packed in the process that reads them, and written in the one transaction of the
caller.

For an unreadable or unchanged document only the name is packed. References are stored separately as bytes, since
resolving needs all documents. A section leaves the full-text tables before it is removed.
"""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from prosa.corpus.extracted import Extracted
from prosa.corpus.found import FoundDocument
from prosa.corpus.words import is_cjk
from prosa.data import Plain
from prosa.dialects.dialect import Hints
from prosa.dialects.mdh.url import may_stand
from prosa.dialects.relations import Relations
from prosa.graph.record import Definition, Record, Reference
from prosa.source import FileProblem, Files, SourceText

_DOCUMENT = f"INSERT INTO document VALUES (?{', ?' * 25})"  # noqa: S608 - only question marks
_SECTION = f"INSERT INTO section VALUES (NULL{', ?' * 13})"  # noqa: S608 - only question marks

_INDEX_TEXT = """INSERT INTO section_text (rowid, title, heading, tags, text)
  SELECT id, title, heading, tags, text FROM section WHERE id > ?"""
_INDEX_CJK = """INSERT INTO section_cjk (rowid, text, title, heading, tags)
  SELECT id, text, title, heading, tags FROM section WHERE id > ? AND cjk"""
_FORGET_TEXT = """INSERT INTO section_text (section_text, rowid, title, heading, tags, text)
  SELECT 'delete', id, title, heading, tags, text FROM section WHERE document = ?"""
_FORGET_CJK = """INSERT INTO section_cjk (section_cjk, rowid, text, title, heading, tags)
  SELECT 'delete', id, text, title, heading, tags FROM section WHERE document = ? AND cjk"""

_OF_DOCUMENTS = ("definition", "key", "metadata", "section", "embedding", "edge")
"""Tables with a column `document`, in which a document leaves rows."""

_FULL_TEXT = ("section_text", "section_cjk")


def add(connection: sqlite3.Connection, packed: Packed) -> None:
    """Write documents that are not in the index: everything but keys, edges and full text."""
    connection.executemany(_DOCUMENT, packed.documents)
    connection.executemany("INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?)", packed.definitions)
    connection.executemany("INSERT INTO metadata VALUES (?, ?, ?, ?, ?, ?, ?)", packed.fields)
    connection.executemany(_SECTION, packed.sections)
    connection.executemany("INSERT INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?, ?)", packed.embeddings)


def fill_full_text(connection: sqlite3.Connection) -> None:
    """Fill the full-text tables with the sections that were written since they were filled: those with higher ids."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM section_text_docsize").fetchone()
    connection.execute(_INDEX_TEXT, (last,))
    connection.execute(_INDEX_CJK, (last,))


def remove(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    """Remove documents and all their rows."""
    numbers = [(number,) for number in documents]
    connection.executemany(_FORGET_TEXT, numbers)
    connection.executemany(_FORGET_CJK, numbers)
    connection.executemany("DELETE FROM lookup WHERE edge IN (SELECT id FROM edge WHERE document = ?)", numbers)
    for table in _OF_DOCUMENTS:
        connection.executemany(f"DELETE FROM {table} WHERE document = ?", numbers)  # noqa: S608 - names of ours
    connection.executemany("DELETE FROM document WHERE id = ?", numbers)


def remove_all(connection: sqlite3.Connection) -> None:
    """Empty the index."""
    for table in _FULL_TEXT:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608 - names of ours
    for table in ("lookup", *_OF_DOCUMENTS, "document", "meta"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours


@contextmanager
def in_bulk(connection: sqlite3.Connection, *, wanted: bool) -> Iterator[None]:
    """Insert many documents into an empty index: the row indexes are built once, at the end; full text is written in
    few large pieces, for `merge_full_text`. Documents themselves stay in order meanwhile, since ids and sites are
    queried."""
    if not wanted:
        yield
        return
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' AND tbl_name <> 'document'"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    _configure_full_text(connection, _LARGE_PIECES)
    yield
    for _, statement in indexes:
        connection.execute(statement)
    _configure_full_text(connection, _SMALL_PIECES)


def merge_full_text(connection: sqlite3.Connection) -> None:
    """Make one piece of those that full text was written in: a search looks into each of them."""
    for table in _FULL_TEXT:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - names of ours


_LARGE_PIECES = {"hashsize": 16 * 1024 * 1024, "automerge": 0, "crisismerge": 8}
_SMALL_PIECES = {"hashsize": 1024 * 1024, "automerge": 4, "crisismerge": 16}
"""How many bytes FTS5 holds in memory before it writes a piece, and how many pieces it merges; the last are its own
values."""


def _configure_full_text(connection: sqlite3.Connection, settings: Mapping[str, int]) -> None:
    for table in _FULL_TEXT:
        statement = f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)"  # noqa: S608 - names of ours
        connection.executemany(statement, settings.items())


def restamp(connection: sqlite3.Connection, items: Iterable[Item]) -> None:
    """Note that files are as they were, though the system says something else of them."""
    rows: list[Row] = [(*item.found.stamp, item.id) for item in items]
    connection.executemany("UPDATE document SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?", rows)


def set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Store a value about the whole index."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def meta(connection: sqlite3.Connection, name: str) -> str:
    """Return a stored note, or an empty text."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return "" if row is None else str(row[0])


Row: TypeAlias = "tuple[Plain | bytes, ...]"
Numbered: TypeAlias = "tuple[int, *Row]"
"""A row that begins with the number of its document."""

STAGE = 20
"""Number of documents that pass through the stages together: small enough that results stay in the processor cache."""


class Item(NamedTuple):
    """A document to be read. ``id`` is its number in the index, ``digest`` what its content was, or an empty text."""

    id: int
    found: FoundDocument
    digest: str = ""


class Packed(Struct):
    """Rows by table. ``records`` are pickled, the number of each document and the parts of its `Record`; only this
    program ever unpacks them. ``same`` are documents whose content is as it was, ``refused`` number, path, kind and
    reason. ``nodes`` are the MDH nodes and folder pages among the documents, by path, dialect and canonical URLs;
    ``meta_files`` says whether there are meta files (MA18)."""

    documents: list[Numbered] = field(default_factory=list)
    definitions: list[Row] = field(default_factory=list)
    fields: list[Row] = field(default_factory=list)
    sections: list[Row] = field(default_factory=list)
    embeddings: list[Row] = field(default_factory=list)
    records: bytes = b""
    nodes: list[tuple[str, str, str]] = field(default_factory=list)
    meta_files: bool = False
    same: list[Item] = field(default_factory=list)
    refused: list[tuple[int, str, str, str]] = field(default_factory=list)


def pack(job: tuple[Files, Relations, Sequence[Item]]) -> Packed:
    """Return the rows of documents, in a project with these relations."""
    from prosa.corpus.extract import extract_all

    files, relations, items = job
    packed = Packed()
    records: list[Row] = []
    for start in range(0, len(items), STAGE):
        some = items[start : start + STAGE]
        read = [(item, source) for item in some if (source := _read(files, item, packed)) is not None]
        sources = [(source, item.found.path, _hints(item.found)) for item, source in read]
        for (item, _), extracted in zip(read, extract_all(sources, relations), strict=True):
            _add(extracted, item, packed)
            records.append((item.id, *_parts(extracted.record)))
    import pickle  # only many documents at once need it

    packed.records = pickle.dumps(records, pickle.HIGHEST_PROTOCOL)
    return packed


def pack_apart(job: tuple[Files, Relations, Sequence[Item]]) -> Packed:
    """Return `pack` in a process that does nothing else: a document leaves little to collect, so nothing looks for
    it."""
    gc.disable()
    return pack(job)


def unpack_records(data: bytes, *, linked: bool = True) -> Iterator[tuple[int, Record]]:
    """Yield the number and the record of every document, as `pack` wrote them; not ``linked``, without references."""
    import pickle

    for number, path, dialect, title, kind, definitions, references, *rest in pickle.loads(data):  # noqa: S301 - ours
        made = tuple(map(Reference._make, references)) if linked else ()
        yield number, Record(path, dialect, title, kind, tuple(map(Definition._make, definitions)), made, *rest)


def _parts(record: Record) -> Row:
    """Return a record as tuples, which are packed and unpacked faster."""
    definitions, references = (tuple(map(tuple, group)) for group in (record.definitions, record.references))
    names = (record.path, record.dialect, record.title, record.type)
    return *names, definitions, references, record.canonical, record.actions


def load_readers() -> None:
    """Load here what reads documents, and what hashes many of them, so that forked processes have it."""
    import hashlib  # noqa: F401 - see `source.files.sha256`

    import prosa.corpus.extract
    import prosa.dialects.magi
    import prosa.dialects.markdownlang.as_dialect
    import prosa.dialects.mdh.as_dialect
    import prosa.dialects.plain
    import prosa.dialects.prapti
    import prosa.dialects.skill_md.as_dialect
    import prosa.dialects.ymj  # noqa: F401


def _hints(document: FoundDocument) -> Hints:
    return Hints(glob=document.hint or None, vault=document.vault)


def _read(files: Files, item: Item, packed: Packed) -> SourceText | None:
    """Return the text of a document that has to be read; of every other one it is noted why not."""
    try:
        source = files.read(Path(item.found.place))
    except FileProblem as problem:
        packed.refused.append((item.id, str(problem.path), problem.kind, problem.reason))
        return None
    if item.digest and source.digest == item.digest:
        packed.same.append(item)
        return None
    return source


def _add(extracted: Extracted, item: Item, packed: Packed) -> None:
    from prosa.graph.build import own_id

    number, document, record = item.id, item.found, extracted.record
    packed.documents.append(
        (
            *(number, document.path, extracted.digest, *document.stamp, document.hint_text),
            *(record.dialect, own_id(record), document.path, record.title, record.type, ""),
            *extracted.facets,
            *(extracted.words, extracted.lines, _json(record.canonical), _json(record.actions)),
            None if extracted.globs is None else _json(extracted.globs),
        )
    )
    if record.dialect == "mdh" or may_stand(record.path):
        packed.nodes.append((record.path, record.dialect, _json(record.canonical)))
    packed.meta_files |= extracted.globs is not None
    packed.definitions += [(number, *definition) for definition in record.definitions]
    packed.fields += [(number, *row, None) for row in extracted.fields]
    names, tags = _names(record), " ".join(extracted.tags)
    named_cjk = is_cjk(names) or is_cjk(tags)
    packed.sections += [
        (number, at, level, names, heading, tags, anchor, start, end, line, text, cjk or named_cjk, seen)
        for at, level, heading, anchor, start, end, line, text, cjk, seen in extracted.sections
    ]
    if extracted.carried is not None:
        model, dimension, vector, sha256, fresh = extracted.carried
        packed.embeddings.append((number, None, model, dimension, vector, sha256, fresh, "footer"))


def _names(record: Record) -> str:
    """Return the names of a document for the full text: its title and its aliases (HA22)."""
    return "\n".join(
        dict.fromkeys(
            (record.title, *(definition.name for definition in record.definitions if definition.kind == "alias"))
        )
    )


def _json(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False)
