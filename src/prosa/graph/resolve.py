"""Resolving: the only place where references of all dialects are mapped to documents (X21), by the names under which
each is looked up (Y21, YA21, HA4, HA5, M50).

In: a reference of a record, the sites of the corpus, and names. Out: a `Resolution`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic
from urllib.parse import unquote

from msgspec import Struct

from prosa.dialects.mdh.url import resolve as resolve_url
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.names import (
    ACTION,
    FILE_SUFFIXES,
    Document,
    Key,
    Names,
    Tier,
    folded,
    is_attachment,
    is_name,
    is_page,
    joined,
    page_sources,
    stem_of,
    stem_tiers,
    suffix_of,
)
from prosa.graph.node import State
from prosa.graph.record import Record, Reference
from prosa.graph.sites import Sites
from prosa.regex import regex
from prosa.source.files import compared_name
from prosa.source.url import address_key, http_origin

ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:|//|[\\~@?]")
"""A scheme, another host, a home folder, an alias of a bundler, a bare query."""


def outside(record: Record, reference: Reference) -> State | None:
    """Return where a reference leads that no document answers to: `external`, `file`, or None where that is a mistake.

    A page that only a generator could make (`guide/`, `guide.html`) counts as a file, and so does what double brackets
    hold outside YMJ that is no name of a document.
    """
    if reference.kind in ("url", "capability"):
        return "external"
    if reference.kind == "stem" and reference.origin == "front-matter":
        return "file" if is_attachment(reference.target) else None
    if reference.kind == "stem":
        return None if record.dialect == "ymj" or is_name(reference.target) else "file"
    return _outside_path(record, reference) if reference.kind == "path" else None


def _outside_path(record: Record, reference: Reference) -> State | None:
    target = reference.target
    path = joined(posixpath.dirname(record.path), target)
    suffix = suffix_of(path)
    is_file = suffix in FILE_SUFFIXES and suffix not in DOCUMENT_SUFFIXES
    if record.dialect == "mdh":  # every link within a site leads to a node or a file (HA5)
        return "file" if is_file else None
    if ELSEWHERE.match(target) or path.startswith(("/", "../")) or path == "..":
        return "external"
    if is_file or reference.rel == "attachment":
        return "file"
    if reference.origin in ("import", "include"):
        return None
    return "file" if suffix not in FILE_SUFFIXES else None


# The names of a document, and where a reference is looked up (Y21, YA21, HA4, HA5, M50).

_LAST_NAME = regex(r"/\{[^{}/]*\}\Z")


def keys_of(record: Record, sites: Sites) -> tuple[Key, ...]:
    """Return the names of a document, each once."""
    return tuple(dict.fromkeys(_keys(record, sites)))


def tiers_of(record: Record, reference: Reference, sites: Sites) -> tuple[Tier, ...]:
    """Return where to look up the target of a reference of ``record``; empty if it can only lead outside."""
    return tuple(tiers(record, reference, sites))


def tiers(record: Record, reference: Reference, sites: Sites) -> Iterable[Tier]:
    """Return the same, one after the other: most references need the first one only."""
    if reference.kind == "id":
        return _id_tiers(record, reference, sites)
    if reference.kind == "url":
        return _url_tiers(reference, sites)
    if reference.kind == "stem":
        return stem_tiers(record, reference)
    if reference.kind in ("name", "capability"):
        return _name_tiers(reference)
    return _path_tiers(record, reference, sites)


def _keys(record: Record, sites: Sites) -> Iterator[Key]:
    stem = compared_name(posixpath.splitext(record.path.rpartition("/")[2])[0])
    yield Key("path", record.path)
    yield Key("stem", stem)
    yield Key("stem~", stem.casefold())
    for definition in record.definitions:
        if definition.kind == "id":
            yield Key("id", definition.name)
            yield Key(f"id@{record.dialect}", definition.name)
        elif name := folded(definition.name):
            yield Key(f"{definition.kind}~", name)
    for url in record.canonical:
        if name := address_key(url):
            yield Key("url", name)
    if (root := sites.root_of(record.path)) is not None:
        yield from _site_keys(record, root, sites)


def _site_keys(record: Record, root: str, sites: Sites) -> Iterator[Key]:
    """Yield first of all the URL paths of the file, then `/node/ID` (H7) and the path of a `canonical_url`."""
    for name in sites.names_of(root, record.path):
        yield _site_key(root, name)
    if record.dialect == "mdh":
        for definition in record.definitions:
            if definition.kind == "id":
                yield _site_key(root, f"~/node/{definition.name}")
        for url in record.canonical:
            yield _site_key(root, f"~{resolve_url(sites.url_of(record.path), url).path}")
        for url in record.actions:
            path = unquote("/" + url.partition("?")[0].lstrip("/"))
            yield Key(ACTION, f"{root}\0{_LAST_NAME.sub('/{}', path)}")


def _site_key(root: str, path: str) -> Key:
    return Key("site", f"{root}\0{path}")


def _site_tiers(root: str, path: str) -> tuple[Tier, ...]:
    """Return the keys of a document at that URL path, else an action (HA5), whose last part may be a parameter
    (HA10)."""
    actions = Key(ACTION, f"{root}\0{path}"), Key(ACTION, f"{root}\0{posixpath.dirname(path).rstrip('/')}/{{}}")
    return Tier((_site_key(root, path),)), Tier((_site_key(root, f"~{path}"),)), Tier(actions)


def _id_tiers(record: Record, reference: Reference, sites: Sites) -> Iterator[Tier]:
    """Yield the id of a node of the own site (HA20), of a document of the own dialect (M50), of any document."""
    root = sites.root_of(record.path) if record.dialect == "mdh" else None
    if root is not None:
        yield Tier((_site_key(root, f"~/node/{reference.target}"),))
    yield Tier((Key(f"id@{record.dialect}", reference.target),))
    yield Tier((Key("id", reference.target),))


def _name_tiers(reference: Reference) -> Iterator[Tier]:
    """Yield the name that a document gives itself, then that of a skill; what a host brings has no document."""
    if reference.kind == "name":
        name = folded(reference.target)
        yield from (Tier((Key("alias~", name),)), Tier((Key("title~", name),)))


def _url_tiers(reference: Reference, sites: Sites) -> tuple[Tier, ...]:
    """Return the keys of a document that declares the URL as its own, or of one on a site with that URL."""
    name = address_key(reference.target)
    if not name:
        return ()
    declared, origin = Tier((Key("url", name),)), http_origin(name) if sites.origins else ""
    roots = sorted(root for known, root in sites.origins if known == origin)
    if not roots:
        return (declared,)
    path = resolve_url("/", reference.target).path
    return (declared, *(tier for root in roots for tier in _site_tiers(root, path)))


def _path_tiers(record: Record, reference: Reference, sites: Sites) -> Iterator[Tier]:
    target = reference.target
    if record.dialect == "mdh" and (root := sites.root_of(record.path)) is not None:
        yield from _site_tiers(root, resolve_url(sites.url_of(record.path), _escaped(target)).path)  # HA6
        return
    if ELSEWHERE.match(target):
        return
    if target.startswith("/"):
        yield from _absolute_tiers(record, reference, sites)
        return
    yield from _tiers_at(joined(record.path.rpartition("/")[0], target), reference)
    if reference.origin in ("ops.graph", "front-matter"):  # written as the corpus knows them
        yield from _tiers_at(joined("", target), reference)


def _absolute_tiers(record: Record, reference: Reference, sites: Sites) -> Iterator[Tier]:
    """Yield a path from the root of the site, else from that of the corpus."""
    root = sites.root_of(record.path)
    if root is not None and reference.origin == "inline":
        yield from _site_tiers(root, resolve_url("/", _escaped(reference.target)).path)
    elif reference.origin in ("inline", "front-matter"):
        yield from _tiers_at(joined("", reference.target.lstrip("/")), reference)


def _escaped(target: str) -> str:
    """Return a decoded path escaped for a URL: characters that would end the path or be decoded again are encoded."""
    return target.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def _tiers_at(path: str, reference: Reference) -> Iterator[Tier]:
    """Yield the document at a path, or one that the page at that address may be made of."""
    if path.startswith("../") or path == "..":
        return
    suffix = suffix_of(path)
    if not is_page(path, suffix) or reference.origin in ("import", "include"):
        yield Tier((Key("path", path),))
        return
    for source in page_sources(path, suffix):
        yield Tier((Key("path", source),))


# Resolving: the only place where references of all dialects are mapped to documents (X21).

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
        matches = _found(tier, names)
        if matches and tier.keys[0].space == ACTION:
            return Resolution("file")
        if matches and reference.kind == "stem":
            matches = _meant(matches, record.path, reference.target if tier.keys[0].space in _STEMS else "", names)
        if matches:
            state: State = "resolved" if len(matches) == 1 else "ambiguous"
            return Resolution(state, tuple(matches[:MAX_CANDIDATES]), tier.exact)
    return Resolution(outside(record, reference) or "unresolved")


def _meant(matches: Sequence[Document], source: str, target: str, names: Names[Document]) -> Sequence[Document]:
    """Return those of ``matches`` that lie in the folders of a target, and of several the nearest to the source."""
    if len(matches) == 1 and "/" not in target:
        return matches
    folder, stem = stem_of(target)
    here = source.rpartition("/")[0]
    if len(matches) > MAX_ALIKE:
        near = [*_at(posixpath.join(here, folder), stem, names), *_at(folder, stem, names)]
        return near[:1] or ([] if folder else matches)
    if folder:
        ending = f"/{folder.strip('/')}".casefold()
        matches = [
            document
            for document in matches
            if f"/{compared_name(posixpath.dirname(document.path))}".casefold().endswith(ending)
        ]
    return nearest_to(here, matches) if len(matches) > 1 else matches


def nearest_to(folder: str, matches: Sequence[Document]) -> Sequence[Document]:
    """Return the documents nearest to a folder (YA21), all of them if several are equally near."""
    return next(by_nearness(folder, matches))


def by_nearness(folder: str, matches: Iterable[Document]) -> Iterator[Sequence[Document]]:
    """Return documents in groups of equal distance from a folder, the nearest first: those inside it, then by the
    number of folders up and down, then by the length of their path."""
    here = folder.split("/") if folder else []
    groups: dict[tuple[int, int], list[Document]] = {}
    for document in matches:
        groups.setdefault(_way(here, document.path.split("/")[:-1]), []).append(document)
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
    by_path = {document.path: document for key in tier.keys for document in names.find(key)}
    return [by_path[path] for path in sorted(by_path)]
