"""Resolving: the only place where references of all dialects are mapped to documents (X21).

In: a reference of a record, the sites of the corpus, and names. Out: a `Resolution`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic

from msgspec import Struct

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.keys import tiers
from prosa.graph.names import ACTION, Document, Key, Names, Tier
from prosa.graph.node import State
from prosa.graph.outside import outside
from prosa.graph.record import Record, Reference
from prosa.graph.sites import Sites
from prosa.graph.stems import stem_of
from prosa.source.files import compared_name

MAX_CANDIDATES = 50
"""Maximum number of candidates of an ambiguous reference. More do not help, and a thousand documents of the same name
that point at one another would name each other a million times."""

MAX_ALIKE = 1000
"""Maximum number of documents of one name that are examined. With more, a wikilink needs the whole path of a
document."""

_STEMS = ("stem", "stem~")


class Resolution(Struct, Generic[Document], frozen=True):
    """``targets`` are the documents that may be meant, in the order of their paths: one when ``state`` is `resolved`,
    the first `MAX_CANDIDATES` of several when it is `ambiguous`, else none. ``exact`` is False where only another case
    of the name matched (YA21)."""

    state: State
    targets: tuple[Document, ...] = ()
    exact: bool = True


def resolve(record: Record, reference: Reference, sites: Sites, names: Names[Document]) -> Resolution[Document]:
    """Return where a reference of ``record`` leads."""
    return resolve_tiers(record, reference, tiers(record, reference, sites), names)


def resolve_tiers(
    record: Record, reference: Reference, places: Iterable[Tier], names: Names[Document]
) -> Resolution[Document]:
    """Return where a reference leads. ``places`` come the best first; of ``record`` only path and dialect count.

    The first tier that finds anything decides. A wikilink that names folders leads only to documents in them, and one
    that fits several documents means the nearest one, where exactly one is (YA21).
    """
    for tier in places:
        found = _found(tier, names)
        if found and tier.keys[0].space == ACTION:
            return Resolution("file")
        if found and reference.kind == "stem":
            found = _meant(found, record.path, reference.target if tier.keys[0].space in _STEMS else "", names)
        if found:
            state: State = "resolved" if len(found) == 1 else "ambiguous"
            return Resolution(state, tuple(found[:MAX_CANDIDATES]), tier.exact)
    return Resolution(outside(record, reference) or "unresolved")


def _meant(found: Sequence[Document], source: str, target: str, names: Names[Document]) -> Sequence[Document]:
    """Return those of ``found`` that lie in the folders of a target, and of several the nearest to the source."""
    if len(found) == 1 and "/" not in target:
        return found
    folder, stem = stem_of(target)
    here = source.rpartition("/")[0]
    if len(found) > MAX_ALIKE:
        near = [*_at(posixpath.join(here, folder), stem, names), *_at(folder, stem, names)]
        return near[:1] or ([] if folder else found)
    if folder:
        ending = f"/{folder.strip('/')}".casefold()
        found = [
            each for each in found if f"/{compared_name(posixpath.dirname(each.path))}".casefold().endswith(ending)
        ]
    return nearest_to(here, found) if len(found) > 1 else found


def nearest_to(folder: str, found: Sequence[Document]) -> Sequence[Document]:
    """Return the documents nearest to a folder (YA21), all of them if several are equally near."""
    return next(by_nearness(folder, found))


def by_nearness(folder: str, found: Iterable[Document]) -> Iterator[Sequence[Document]]:
    """Return documents in groups of equal distance from a folder, the nearest first: those inside it, then by the
    number of folders up and down, then by the length of their path."""
    here = folder.split("/") if folder else []
    groups: dict[tuple[int, int], list[Document]] = {}
    for each in found:
        groups.setdefault(_way(here, each.path.split("/")[:-1]), []).append(each)
    return map(groups.__getitem__, sorted(groups))


def _way(here: Sequence[str], there: Sequence[str]) -> tuple[int, int]:
    """Return how many folders one goes up and down, and how deep one is then."""
    shared = 0
    for one, other in zip(here, there, strict=False):
        if one != other:
            break
        shared += 1
    return len(here) + len(there) - 2 * shared, len(there)


def _at(folder: str, stem: str, names: Names[Document]) -> Iterator[Document]:
    """Yield the documents with that stem in a folder, looked up by path."""
    for suffix in DOCUMENT_SUFFIXES:
        yield from names.find(Key("path", posixpath.join(folder, f"{stem}{suffix}")))


def _found(tier: Tier, names: Names[Document]) -> Sequence[Document]:
    if len(tier.keys) == 1:
        return names.find(tier.keys[0])
    by_path = {each.path: each for key in tier.keys for each in names.find(key)}
    return [by_path[path] for path in sorted(by_path)]
