"""The documents of a corpus and what they are called, before and after a move.

In: records. Out: `World`: where each reference leads. Made anew after a change; nothing in it is ever replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from prosa.graph.build import RecordNames
from prosa.graph.keys import keys_of, tiers_of
from prosa.graph.names import Key
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import Resolution, resolve_tiers
from prosa.graph.sites import Sites, sites_of


class Lead(Struct, frozen=True):
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
    """``records`` by path; ``given`` says that the user named the root, which makes it the root of a site."""

    records: Mapping[str, Record]
    given: bool = False

    @classmethod
    def of(cls, records: Iterable[Record], *, given: bool = False) -> World:
        """The world of some documents."""
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
        """The same with other records in place of those at some paths; a record may have another path now."""
        rest = (record for path, record in self.records.items() if path not in changed)
        return World.of((*rest, *changed.values()), given=self.given)

    def lead(self, record: Record, reference: Reference) -> Lead:
        """Where a reference of ``record`` leads."""
        tiers = tiers_of(record, reference, self.sites)
        for number, tier in enumerate(tiers):
            found: Resolution[Record] = resolve_tiers(record, reference, (tier,), self.names)
            if found.targets:
                return Lead(found.state, tuple(each.path for each in found.targets), found.exact, number)
        return Lead(resolve_tiers(record, reference, (), self.names).state, (), True, -1)

    def keys(self, path: str) -> frozenset[Key]:
        """What the document at a path answers to."""
        return frozenset(keys_of(self.records[path], self.sites))

    def asks(self, record: Record, reference: Reference, keys: frozenset[Key]) -> bool:
        """Whether a reference looks under any of some keys."""
        return any(not keys.isdisjoint(tier.keys) for tier in tiers_of(record, reference, self.sites))
