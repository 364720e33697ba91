"""The names of a document, and where a reference is looked up (Y21, YA21, HA4, HA5, M50).

In: a record, one of its references, the sites of the corpus. Out: keys and tiers of keys. `graph.resolve` does the
look-up.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from prosa.dialects.mdh.url import resolve
from prosa.graph.names import ACTION, Key, Tier
from prosa.graph.outside import ELSEWHERE
from prosa.graph.pages import is_page, joined, page_sources, suffix_of
from prosa.graph.record import Record, Reference
from prosa.graph.sites import Sites
from prosa.graph.stems import folded, stem_tiers
from prosa.regex import regex
from prosa.source.files import compared_name
from prosa.source.url import address_key, http_origin

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
    return _path_tiers(record, reference, sites)


def _keys(record: Record, sites: Sites) -> Iterator[Key]:
    stem = compared_name(posixpath.splitext(record.path.rpartition("/")[2])[0])
    yield Key("path", record.path)
    yield Key("stem", stem)
    yield Key("stem~", stem.casefold())
    for each in record.definitions:
        if each.kind == "id":
            yield Key("id", each.name)
            yield Key(f"id@{record.dialect}", each.name)
        elif name := folded(each.name):
            yield Key(f"{each.kind}~", name)
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
        for each in record.definitions:
            if each.kind == "id":
                yield _site_key(root, f"~/node/{each.name}")
        for url in record.canonical:
            yield _site_key(root, f"~{resolve(sites.url_of(record.path), url).path}")
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


def _url_tiers(reference: Reference, sites: Sites) -> tuple[Tier, ...]:
    """Return the keys of a document that declares the URL as its own, or of one on a site with that URL."""
    name = address_key(reference.target)
    if not name:
        return ()
    origin = http_origin(name)
    roots = sorted(root for known, root in sites.origins if known == origin)
    path = resolve("/", reference.target).path
    return (Tier((Key("url", name),)), *(tier for root in roots for tier in _site_tiers(root, path)))


def _path_tiers(record: Record, reference: Reference, sites: Sites) -> Iterator[Tier]:
    target = reference.target
    if record.dialect == "mdh" and (root := sites.root_of(record.path)) is not None:
        yield from _site_tiers(root, resolve(sites.url_of(record.path), _escaped(target)).path)  # HA6
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
        yield from _site_tiers(root, resolve("/", _escaped(reference.target)).path)
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
    for each in page_sources(path, suffix):
        yield Tier((Key("path", each),))
