"""The index changed: in place inside one transaction, or built new beside the old one and renamed when it is complete.

Documents are removed and read, links to either are resolved again, and gaps are filled with inherited metadata (MA18).
A new index is linked in memory. A killed process leaves the old index, or none if the new one was about to replace it,
and at most a file that the next build removes.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import posixpath
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.sqlite import linking, opening, stamps, writing
from prosa.adapters.sqlite.reading import Known, Reading
from prosa.adapters.sqlite.schema import migrate
from prosa.adapters.sqlite.writing import Item, Packed, Row, load_readers, pack, pack_apart, unpack_records
from prosa.corpus.extracted import FieldRow
from prosa.corpus.facets import TAG, by_name, facets_of
from prosa.corpus.found import FoundDocument, Refreshed, Scan, Stamp, sure
from prosa.dialects.magi.meta import MetaFile, effective_fields
from prosa.dialects.mdh.url import may_stand
from prosa.graph.build import own_id
from prosa.graph.names import Key
from prosa.graph.record import Record
from prosa.graph.sites import Sites
from prosa.source import FileProblem

CACHE_KIB = 16 * 1024
"""Maximum memory for pages of the file in a build, which hardly reads them again."""

CAN_REPLACE = sys.platform != "win32"
"""Whether the system lets a file be replaced that others have open. Where it does not, an index is built in place."""


def is_better_beside(scan: Scan) -> bool:
    """Return whether a new index of these documents is worth a file of its own."""
    return CAN_REPLACE and len(scan.documents) >= ENOUGH


def build_beside(path: Path, before: sqlite3.Connection, scan: Scan, reading: Reading) -> Refreshed:
    """Put a new index of all documents in the place of the one at ``path``. ``before`` is open on that one, in a
    transaction that keeps other writers away. Raises `sqlite3.Error`, `IndexProblem`."""
    opening.remove_unfinished(path)
    new = path.with_name(f"{path.name}.{os.urandom(8).hex()}{opening.UNFINISHED}")
    try:
        with contextlib.closing(_created(new)) as made:
            made.execute("BEGIN")
            made.executemany("INSERT INTO vector VALUES (?, ?, ?)", before.execute("SELECT * FROM vector"))
            update = Update(made, reading, {})
            report = update.run(scan.documents, (), scan)
            stamps.keep(made, scan, update.unread)
            made.execute("COMMIT")
            made.execute("PRAGMA journal_mode = WAL")  # in the order of use, without waiting
        _put(new, path)
    except BaseException:
        opening.remove(new)
        raise
    return report


def _created(path: Path) -> sqlite3.Connection:
    """Return a connection to a new private file, which needs no rollback."""
    opening.make_private(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    migrate(connection)
    return connection


def _put(new: Path, path: Path) -> None:
    """Put a finished file in the place of another. The log of the old one must never apply to the new one, so the old
    one is removed first, while neither is open."""
    with new.open("rb") as file:
        os.fsync(file.fileno())
    with opening.held(path, alone=True):
        opening.remove(path)
        new.rename(path)


class Before(Struct):
    """What documents were. ``names`` are the ids and paths by which they could be called; ``nodes`` are the MDH nodes
    and folder pages among them, by path, dialect and canonical URLs; ``meta_files`` says that one was a meta file."""

    numbers: set[int] = field(default_factory=set)
    keys: list[tuple[Key, int]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    nodes: set[tuple[str, str, str]] = field(default_factory=set)
    meta_files: bool = False

    def forget(self, connection: sqlite3.Connection, documents: Sequence[int]) -> None:
        """Note what documents were, and remove them."""
        for number in documents:
            self._note(connection, number)
        writing.remove(connection, documents)

    def _note(self, connection: sqlite3.Connection, number: int) -> None:
        columns = "SELECT own, path, dialect, canonical, globs IS NOT NULL FROM document WHERE id = ?"
        own, path, dialect, canonical, is_meta_file = connection.execute(columns, (number,)).fetchone()
        self.numbers.add(number)
        self.names |= {own, path}
        if dialect == "mdh" or may_stand(path):
            self.nodes.add((path, dialect, canonical))
        self.meta_files |= bool(is_meta_file)
        keys = connection.execute("SELECT space, name FROM key WHERE document = ?", (number,))
        self.keys += [(Key(space, name), number) for space, name in keys]


CHUNK = 200
"""Documents that a process reads in one go: enough to outweigh the handing over, few enough to share out evenly."""

ENOUGH = 120
"""Documents that are worth a second process; below that, starting one takes longer than the work."""

TEXTS = 2_000
"""Documents whose texts go into the full-text tables together, for which these sort their words once. A new
index merges what came of it, at the end."""

MOSTLY = 1_000
"""Number of changed documents from which on all links are resolved in memory, instead of querying the index for
each name."""


class Update(Struct, dict=True):
    """One change. ``known`` are the documents of the index that it may touch, by path. ``written`` are the documents
    that were read and are in the index now, ``lost`` those that cannot be read, at the paths ``unread``; ``nodes`` are
    the MDH nodes and folder pages among the former, ``meta_files`` says whether there are meta files."""

    connection: sqlite3.Connection
    reading: Reading
    known: Mapping[str, Known]
    before: Before = field(default_factory=Before)
    written: list[int] = field(default_factory=list)
    lost: dict[int, FileProblem] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    spooled: list[_Spooled] = field(default_factory=list)
    nodes: set[tuple[str, str, str]] = field(default_factory=set)
    meta_files: bool = False

    def run(self, changed: Sequence[FoundDocument], gone: Collection[str], scan: Scan) -> Refreshed:
        """Do it: reads ``changed``, forgets the documents at the paths ``gone``."""
        started = self.connection.execute("SELECT 1 FROM document LIMIT 1").fetchone() is None
        self.before.forget(self.connection, [self.known[path].id for path in gone])
        many = len(changed) >= ENOUGH
        with _uncollected(wanted=many), writing.in_bulk(self.connection, wanted=started and many):
            self._read(self._items(changed, scan.at_ns))
            self._link(started=started, in_bulk=started and many)
        notes = (("mark", self.reading.mark), ("given", str(self.reading.given)), ("at_ns", str(scan.at_ns)))
        for name, value in notes:
            writing.set_meta(self.connection, name, value)
        added = sum(number not in self._old for number in self.written)
        return Refreshed(
            added=added,
            changed=len(self.written) - added,
            removed=len(gone) + sum(number in self._old for number in self.lost),
            unchanged=len(scan.documents) - len(self.written) - len(self.lost),
            unreadable=(*scan.problems, *(problem for problem in self.lost.values() if problem.kind != "missing")),
        )

    @cached_property
    def _old(self) -> frozenset[int]:
        return frozenset(document.id for document in self.known.values())

    def _items(self, documents: Sequence[FoundDocument], at_ns: int) -> list[Item]:
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM document").fetchone()
        last = max(last, max(self._old, default=0))  # the number of a document that was just removed is not reused
        items: list[Item] = []
        for document in documents:
            known = self.known.get(document.path)
            last += known is None
            digest = known.digest if known is not None and known.hint == document.hint_text else ""
            number = last if known is None else known.id
            items.append(Item(number, replace(document, stamp=Stamp(*sure(document.stamp, at_ns))), digest))
        return items

    def _read(self, items: Sequence[Item]) -> None:
        done = filled = 0
        for some, packed in self._packed(items):
            self._take_in(packed)
            if packed.refused:
                self.unread |= {item.found.path for item in some if item.id in self.lost}
            done += len(some)
            if done - filled >= TEXTS:
                writing.fill_full_text(self.connection)
                filled = done
            if self.reading.progress is not None:
                self.reading.progress(done, len(items))
        writing.fill_full_text(self.connection)

    def _packed(self, items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], Packed]]:
        """Yield the rows of documents, read here or by other processes."""
        files, workers = self.reading.files, self.reading.workers
        many = workers is not None and workers.count > 1 and len(items) >= ENOUGH
        size = max(1, min(CHUNK, -(-len(items) // (workers.count * 2)))) if workers is not None and many else CHUNK
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        jobs = [(files, self.reading.relations, some) for some in chunks]
        if workers is None or not many:
            yield from zip(chunks, map(pack, jobs), strict=True)
            return
        load_readers()
        yield from zip(chunks, workers.map(pack_apart, jobs), strict=True)

    def _take_in(self, packed: Packed) -> None:
        """Write one batch of read documents."""
        self.lost |= {number: FileProblem(Path(path), kind, why) for number, path, kind, why in packed.refused}
        numbers = [row[0] for row in packed.documents]
        leaving = [*numbers, *(number for number, *_ in packed.refused)]
        self.before.forget(self.connection, [number for number in leaving if number in self._old])
        writing.add(self.connection, packed)
        writing.restamp(self.connection, packed.same)
        self.written += numbers
        self.nodes.update(packed.nodes)
        self.meta_files |= packed.meta_files
        self.spooled.append(_Spooled(packed.records))

    def _link(self, *, started: bool, in_bulk: bool) -> None:
        """Find out where references lead: all of them, or those that the change touches."""
        changed = bool(self.before.numbers or self.written)
        sites = linking.kept_sites(self.connection)
        if sites is None or self._moves_sites():
            new_sites = linking.find_sites(self.connection, given=self.reading.given)
            started, sites = started or new_sites != sites, new_sites
        elif not changed:
            return
        if started or len(self.written) > MOSTLY:
            kept = [*self._kept()]
            named = chain(*kept, *(spooled.named() for spooled in self.spooled))
            with _merging(self.connection, wanted=in_bulk) as merged:
                linking.link_all(self.connection, named, chain(kept, self.spooled), sites, merged)
            linking.name_all(self.connection)
            linking.keep_sites(self.connection, sites)
            inherit_all(self.connection)
            return
        some = [pair for spooled in self.spooled for pair in spooled]
        linking.link_some(self.connection, some, self.before.keys, sites)
        self._name(some, sites)

    def _kept(self) -> Iterator[list[tuple[int, Record]]]:
        """Yield the records of documents that did not change; their keys and edges are removed."""
        written = set(self.written)
        if len(written) < self._count():
            yield [record for record in linking.stored_records(self.connection) if record[0] not in written]
            linking.unlink_all(self.connection)

    def _count(self) -> int:
        (count,) = self.connection.execute("SELECT count(*) FROM document").fetchone()
        return int(count)

    def _moves_sites(self) -> bool:
        """Return whether the sites may be others than before."""
        other_root = writing.meta(self.connection, "given") != str(self.reading.given)
        return other_root or self.before.nodes != self.nodes

    def _name(self, records: Sequence[tuple[int, Record]], sites: Sites) -> None:
        """Update ids, URLs and inherited metadata after a small change."""
        names = self.before.names.union(*({own_id(record), record.path} for _, record in records))
        linking.name_some(self.connection, self.written, names)
        linking.url_some(self.connection, self.written, sites)
        if self.before.meta_files or self.meta_files:
            inherit_all(self.connection)
        else:
            inherit_some(self.connection, self.written)


@contextmanager
def _uncollected(*, wanted: bool) -> Iterator[None]:
    """Rows of many documents come and go without cycles: looking for some again and again takes a tenth of the time."""
    wanted = wanted and gc.isenabled()
    if wanted:
        gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


@contextmanager
def _merging(connection: sqlite3.Connection, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Merge full text on a thread of its own, which needs nothing of Python: the other processor is idle then. Gives
    what waits for the end of that."""
    if not wanted:
        yield lambda: None
        return
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(writing.merge_full_text, connection).result


class _Spooled(Struct, frozen=True):
    """Records as bytes: those of a large corpus are needed twice, and take a tenth of the memory meanwhile."""

    data: bytes

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        return unpack_records(self.data)

    def named(self) -> Iterator[tuple[int, Record]]:
        """Yield the same without references."""
        return unpack_records(self.data, linked=False)


_FACETS = """UPDATE document SET kind = ?, classification = ?, visibility = ?, language = ?, updated = ?, published = ?,
  expired = ? WHERE id = ?"""


def inherit_all(connection: sqlite3.Connection) -> None:
    """Rewrite all inherited metadata."""
    before = [number for (number,) in connection.execute("SELECT DISTINCT document FROM metadata WHERE lent_by > 0")]
    connection.execute("DELETE FROM metadata WHERE lent_by IS NOT NULL")
    meta_files = _meta_files(connection)
    inheriting: set[int] = set()
    if meta_files:
        inheriting = _inherit(connection, connection.execute("SELECT id, path FROM document").fetchall(), meta_files)
    _set_facets(connection, inheriting.union(before))


def inherit_some(connection: sqlite3.Connection, documents: Sequence[int]) -> None:
    """Write the inherited metadata of new documents, none of them a meta file."""
    meta_files = _meta_files(connection)
    if meta_files:
        rows = [
            connection.execute("SELECT id, path FROM document WHERE id = ?", (document,)).fetchone()
            for document in documents
        ]
        _set_facets(connection, _inherit(connection, rows, meta_files))


class _NumberedFile(Struct, frozen=True):
    """A meta file. Its fields, by the first part of their keys, are rows; ``wide`` says that it may cover documents
    outside its folder."""

    number: int
    file: MetaFile[Sequence[FieldRow]]

    @property
    def wide(self) -> bool:
        return any("://" in glob or glob.startswith("/") for glob in self.file.globs)


class _MetaFiles(Struct):
    """Meta files by the folder they stand in, and those that look beyond it."""

    near: dict[str, list[_NumberedFile]] = field(default_factory=dict)
    wide: list[_NumberedFile] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.near or self.wide)

    def for_path(self, path: str) -> Iterator[_NumberedFile]:
        """Yield those that may cover the document at a path."""
        yield from self.wide
        folder = posixpath.dirname(path)
        while True:
            yield from self.near.get(folder, ())
            if not folder:
                return
            folder = posixpath.dirname(folder)


def _meta_files(connection: sqlite3.Connection) -> _MetaFiles:
    files = _MetaFiles()
    rows = connection.execute("SELECT id, path, globs FROM document WHERE globs IS NOT NULL").fetchall()
    for number, path, globs in rows:
        meta = _NumberedFile(number, MetaFile(PurePosixPath(path), tuple(json.loads(globs)), _own(connection, number)))
        if meta.wide:
            files.wide.append(meta)
        else:
            files.near.setdefault(posixpath.dirname(path), []).append(meta)
    return files


def _own(connection: sqlite3.Connection, number: int) -> Mapping[str, Sequence[FieldRow] | None]:
    """Return a document's own fields by the first part of their keys; None for one that is null, which is a gap."""
    question = "SELECT key, n, kind, text, number FROM metadata WHERE document = ? AND lent_by IS NULL ORDER BY key, n"
    return by_name(FieldRow(*row) for row in connection.execute(question, (number,)))


def _inherit(connection: sqlite3.Connection, documents: Iterable[tuple[int, str]], meta_files: _MetaFiles) -> set[int]:
    """Write the inherited metadata of documents, and return those that have any."""
    inheriting: set[int] = set()
    for number, path in documents:
        near = {file.number: file for file in meta_files.for_path(path)}
        rows = _inherited_rows(connection, number, path, near) if near else []
        connection.executemany("INSERT OR REPLACE INTO metadata VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        if rows:
            inheriting.add(number)
    return inheriting


def _inherited_rows(
    connection: sqlite3.Connection, number: int, path: str, near: Mapping[int, _NumberedFile]
) -> list[Row]:
    own = _own(connection, number)
    url = own.get("source-url")
    by_fields = {id(rows): file for file in near.values() for rows in file.file.fields.values()}
    effective = effective_fields(
        {name: rows for name, rows in own.items() if name != TAG},
        PurePosixPath(path),
        [file.file for file in near.values()],
        url=url[0].text if url else None,
    )
    rows: list[Row] = []
    for name, fields in effective.items():
        if name == TAG or fields is None or own.get(name) is not None:
            continue
        meta = by_fields[id(fields)]
        tags = meta.file.fields.get(TAG) or () if name == "tags" else ()
        rows += [(number, *row, meta.number) for row in (*fields, *tags)]
    return rows


def _set_facets(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    question = "SELECT key, n, kind, text, number FROM metadata WHERE document = ? ORDER BY key, n"
    for number in sorted(documents):
        fields = [FieldRow(*row) for row in connection.execute(question, (number,))]
        connection.execute(_FACETS, (*facets_of(fields), number))
