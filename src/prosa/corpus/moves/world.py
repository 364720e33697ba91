"""The documents of a corpus and their names, before and after a move.

In: records, or an index that knows them. Out: `World`: the target of each reference. Created anew after a change;
nothing in it is ever replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.dialects.reading import DialectReading
from prosa.graph.build import RecordNames
from prosa.graph.names import Key, Names, Tier
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import Resolution, keys_of, resolve_tiers, tiers_of
from prosa.graph.sites import Sites, sites_of


class LocatedTarget(Struct, frozen=True):
    """Where a reference leads: the state, the paths, whether the case fits, and how far down the names it was found
    (the number of the tier; -1 for nowhere)."""

    state: str
    paths: tuple[str, ...]
    exact: bool
    tier: int

    @property
    def to(self) -> str | None:
        """The one document, or None."""
        return self.paths[0] if self.state == "resolved" else None


class World(Struct, frozen=True, dict=True):
    """``records`` by path; ``given`` is true if the user named the root, which makes it the root of a site."""

    records: Mapping[str, Record]
    given: bool = False

    @classmethod
    def of(cls, records: Iterable[Record], *, given: bool = False) -> World:
        """Return the world of some documents."""
        by_path = {record.path: record for record in records}
        return cls({path: by_path[path] for path in sorted(by_path)}, given)

    @cached_property
    def sites(self) -> Sites:
        """The sites that the nodes form."""
        return sites_of(self.records.values(), given=self.given)

    @cached_property
    def names(self) -> RecordNames:
        """Who answers to each key."""
        return RecordNames.of(self.records.values(), self.sites)

    def with_records(self, changed: Mapping[str, Record]) -> World:
        """Return the same with other records in place of those at some paths; a record may have another path now."""
        rest = (record for path, record in self.records.items() if path not in changed)
        return World.of((*rest, *changed.values()), given=self.given)

    def asking(
        self, keys: frozenset[Key] | None, dialect: DialectName | None = None, *, besides: Collection[str] = ()
    ) -> Iterable[Record]:
        """Return the documents that may have a reference with any of some keys, in the order of their paths; None for
        all. With a ``dialect`` only its documents, and none of those at the paths ``besides``. In memory, examining all
        of them costs no more."""
        del keys
        records = (record for record in self.records.values() if dialect in (None, record.dialect))
        return (record for record in records if record.path not in besides)

    def resolve(self, record: Record, reference: Reference) -> LocatedTarget:
        """Return where a reference of ``record`` leads."""
        asked = record.path, record.dialect, reference
        target = self._resolved.get(asked)
        if target is None:
            target = self._resolved[asked] = self._resolve(record, reference)
        return target

    @cached_property
    def _resolved(self) -> dict[tuple[str, DialectName, Reference], LocatedTarget]:
        return {}

    def _resolve(self, record: Record, reference: Reference) -> LocatedTarget:
        for number, tier in enumerate(self._tiers(record, reference)):
            resolution: Resolution[Record] = resolve_tiers(record, reference, (tier,), self.names)
            if resolution.targets:
                return LocatedTarget(
                    resolution.state, tuple(target.path for target in resolution.targets), resolution.exact, number
                )
        return LocatedTarget(resolve_tiers(record, reference, (), self.names).state, (), True, -1)

    def keys(self, path: str) -> frozenset[Key]:
        """Return what the document at a path answers to."""
        return frozenset(keys_of(self.outline(path), self.sites))

    def outline(self, path: str) -> Record:
        """Return of the record of a document at least what others name it by: path, dialect, definitions and
        addresses. The lines of the definitions may be unknown."""
        return self.records[path]

    def asks(self, record: Record, reference: Reference, keys: frozenset[Key]) -> bool:
        """Return whether a reference has any of some keys."""
        return any(not keys.isdisjoint(tier.keys) for tier in self._tiers(record, reference))

    def _tiers(self, record: Record, reference: Reference) -> tuple[Tier, ...]:
        """Return where to look up a reference, which path and dialect of its record and the sites decide."""
        asked = record.path, record.dialect, reference
        tiers = self._looked_up.get(asked)
        if tiers is None:
            tiers = self._looked_up[asked] = tiers_of(record, reference, self.sites)
        return tiers

    @cached_property
    def _looked_up(self) -> dict[tuple[str, DialectName, Reference], tuple[Tier, ...]]:
        return {}


class KnownDocuments(Protocol):
    """What an index knows of the documents of a corpus; ``sites`` are those that its keys rest on."""

    def record(self, path: str) -> Record | None:
        """Return the record of a document."""
        ...

    def outline(self, path: str) -> Record | None:
        """Return the record of a document, perhaps without its references: what others name it by."""
        ...

    def records(self) -> Iterable[Record]:
        """Return all records."""
        ...

    def called(self, key: Key) -> Sequence[Record]:
        """Return the documents that answer to a key, of which path and dialect are known, in the order of their
        paths."""
        ...

    def asking(
        self, keys: Iterable[Key], dialect: DialectName | None = None, *, besides: Collection[str] = ()
    ) -> Iterable[Record]:
        """Return the documents, with a ``dialect`` only its, that have a reference with any of some keys, in
        the order of their paths, without those at the paths ``besides``."""
        ...

    def standing(self) -> Iterable[tuple[str, DialectName, tuple[str, ...]]]:
        """Path, dialect and canonical URLs of the documents that may make a site."""
        ...


class KnownWorld(World, frozen=True, dict=True, kw_only=True):
    """The same for a large corpus: records are only loaded on access. ``changed`` are records in place of those
    at some paths."""

    known: KnownDocuments
    of_sites: Sites
    changed: Mapping[str, Record] = {}

    @classmethod
    def among(
        cls, known: KnownDocuments, sites: Sites, *, given: bool, changed: Mapping[str, Record] | None = None
    ) -> KnownWorld:
        """Return the world of the documents that an index knows."""
        changed = changed or {}
        return cls(_Records(known, changed), given, known=known, of_sites=sites, changed=changed)

    @cached_property
    def sites(self) -> Sites:
        """The sites that the nodes form."""
        return self.of_sites

    @cached_property
    def names(self) -> Names[Record]:  # type: ignore[override]
        """Who answers to each key."""
        own = RecordNames.of(sorted(self.changed.values(), key=lambda record: record.path), self.sites)
        return _KnownNames(self.known, self.changed, own)

    def outline(self, path: str) -> Record:
        """Return what others name a document by, which takes no reading of it."""
        outlined = None if path in self.changed else self.known.outline(path)
        return outlined if outlined is not None else self.records[path]

    def with_records(self, changed: Mapping[str, Record]) -> World:
        """Return a copy with other records at some paths. If the sites change, every key may, and all records
        are loaded."""
        every = {**self.changed, **changed}
        if self._sites_with(every) != self.sites:
            return World.of((*self._others(every), *every.values()), given=self.given)
        world = KnownWorld.among(self.known, self.sites, given=self.given, changed=every)
        vars(world)["_looked_up"] = self._looked_up  # the sites are the same
        return world

    def asking(
        self, keys: frozenset[Key] | None, dialect: DialectName | None = None, *, besides: Collection[str] = ()
    ) -> Iterable[Record]:
        """Return the documents that may have a reference with any of some keys, including all changed ones."""
        changed = [
            record
            for record in self.changed.values()
            if dialect in (None, record.dialect) and record.path not in besides
        ]
        if keys is None:
            others = (record for record in self._others(self.changed) if dialect in (None, record.dialect))
            records = [record for record in others if record.path not in besides]
            return sorted((*records, *changed), key=lambda record: record.path)
        if not self.changed:
            return self.known.asking(keys, dialect, besides=besides)
        rest = self.known.asking(keys, dialect, besides={*besides, *self.changed})
        return sorted((*rest, *changed), key=lambda record: record.path)

    def _others(self, changed: Mapping[str, Record]) -> Iterator[Record]:
        return (record for record in self.known.records() if record.path not in changed)

    def _sites_with(self, changed: Mapping[str, Record]) -> Sites:
        if all(_standing(self.outline(path)) == _standing(record) for path, record in changed.items()):
            return self.sites
        rest = [row for row in self.known.standing() if row[0] not in changed]
        rows = [*rest, *map(_standing, changed.values())]
        canonical = ((path, url) for path, dialect, urls in rows if dialect == "mdh" for url in urls)
        return Sites.of(((path, dialect) for path, dialect, _ in rows), canonical, given=self.given)


def _standing(record: Record) -> tuple[str, DialectName, tuple[str, ...]]:
    return record.path, record.dialect, record.canonical


class _KnownNames(Struct, frozen=True):
    """Names in an index, but for documents that changed."""

    known: KnownDocuments
    changed: Mapping[str, Record]
    own: RecordNames

    def find(self, key: Key) -> Sequence[Record]:
        """Return the documents that answer to a key."""
        records = [record for record in self.known.called(key) if record.path not in self.changed]
        own = self.own.find(key)
        return sorted((*records, *own), key=lambda record: record.path) if own else records


class _Records(Mapping[str, Record]):
    """Records by path, loaded one by one."""

    def __init__(self, known: KnownDocuments, changed: Mapping[str, Record]) -> None:
        self._known = known
        self._changed = changed
        self._new = {record.path: record for record in changed.values()}

    def __getitem__(self, path: str) -> Record:
        record = self._new.get(path)
        if record is None and path not in self._changed:
            record = self._known.record(path)
        if record is None:
            raise KeyError(path)
        return record

    def __iter__(self) -> Iterator[str]:
        yield from sorted(
            (*(record.path for record in self._known.records() if record.path not in self._changed), *self._new)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


class DocumentStore(Protocol):
    """Paths are relative to the root of the corpus, with `/`."""

    def world(self) -> World:
        """Return the records of all documents."""
        ...

    def texts(self, names: Collection[str]) -> Iterable[tuple[str, str]]:
        """Return the readable documents whose text holds any of some names: paths and current texts."""
        ...

    def reading(self, path: str) -> DialectReading[object]:
        """Return a document as it is now. Raises `FileProblem`."""
        ...

    def is_of_record(self, path: str, reading: DialectReading[object]) -> bool:
        """Return whether the record of a document is known to be made of this very reading."""
        ...

    def reread(self, path: str, text: str, like: DialectReading[object] | None = None) -> DialectReading[object]:
        """Return what a text would be read as at a path. ``like`` is a reading of another path, perhaps of the same
        text, which is then not parsed again."""
        ...
