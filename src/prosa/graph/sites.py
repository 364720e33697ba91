"""Sites: which documents form a site of nodes, and the URL of each document on it (HA2, H4).

In: the path and the dialect of every document of a corpus, and the canonical URLs of the nodes. Out: `Sites`, cheap
and comparable. A document belongs to a site when

1. the user named the root of the corpus, a node lies directly in it, or no node is an `index.md`: then that root is
   the root of the one site; else
2. an `index.md` that is a node lies in its folder or above it: the highest such folder is the root of its site. So a
   site may live inside a repository, and several beside one another.

Paths are relative to the root of the corpus, with `/`; the folder at the root is the empty text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from msgspec import Struct

from prosa.dialects import DialectName
from prosa.dialects.mdh.url import md_url, names_of, resolve, standing_readmes
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.record import Record
from prosa.source.url import http_origin

INDEX_NAMES = frozenset(("index.md", "index.markdown"))
"""Files that stand for their folder."""


class Sites(Struct, frozen=True):
    """``roots`` are the root folders of the sites, none of them inside another. ``origins`` are the addresses that are
    one of these sites, as pairs of `https://host` and its root: those of a `canonical_url` whose path is the node's
    own URL. ``readmes`` are the paths of the READMEs that represent their folders."""

    roots: frozenset[str] = frozenset()
    origins: frozenset[tuple[str, str]] = frozenset()
    readmes: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        documents: Iterable[tuple[str, DialectName]],
        canonical: Iterable[tuple[str, str]] = (),
        *,
        given: bool = False,
    ) -> Sites:
        """Return the sites of a corpus of ``documents``, pairs of path and dialect. ``canonical`` are pairs of the
        path of a node and its declared absolute URL. ``given`` is true if the user named the root (`--root`). Of other
        documents than nodes only indexes and READMEs matter."""
        known = list(documents)
        roots = _roots([path for path, dialect in known if dialect == "mdh"], given=given)
        if not roots:
            return cls()
        sites = cls(roots, readmes=standing_readmes({path for path, _ in known}))
        return cls(roots, frozenset(_origins(sites, canonical)), sites.readmes)

    def root_of(self, path: str) -> str | None:
        """Return the root folder of the site that a document is part of; None for one that is part of none."""
        if not self.roots or posixpath.splitext(path)[1].lower() not in DOCUMENT_SUFFIXES:
            return None
        return next((folder for folder in _folders(path) if folder in self.roots), None)

    def url_of(self, path: str) -> str:
        """Return the URL path of a document on its site, its `md_url`; empty outside a site (HA2)."""
        root = self.root_of(path)
        return "" if root is None else md_url(below(root, path), stands=path in self.readmes)

    def names_of(self, root: str, path: str) -> tuple[str, ...]:
        """Return every URL path that leads to a document of the site with that root, its `md_url` first."""
        return names_of(below(root, path), stands=path in self.readmes)

    def origins_of(self, root: str) -> frozenset[str]:
        """Return the origins that are the site with that root."""
        return frozenset(origin for origin, known in self.origins if known == root)


def sites_of(records: Iterable[Record], *, given: bool = False) -> Sites:
    """Return the sites of the documents of ``records``."""
    known = list(records)
    canonical = ((record.path, url) for record in known if record.dialect == "mdh" for url in record.canonical)
    return Sites.of(((record.path, record.dialect) for record in known), canonical, given=given)


def below(root: str, path: str) -> str:
    """Return a path relative to the root folder of its site."""
    return path[len(root) + 1 :] if root else path


def _roots(nodes: list[str], *, given: bool) -> frozenset[str]:
    """Return the highest folders with an index, or the root of the corpus where it is one site."""
    indexed = {posixpath.dirname(path) for path in nodes if posixpath.basename(path).lower() in INDEX_NAMES}
    if nodes and (given or not indexed or any("/" not in path for path in nodes)):
        return frozenset(("",))
    return frozenset(folder for folder in indexed if _highest(folder, indexed) == folder)


def _highest(folder: str, indexed: set[str]) -> str:
    return next(parent for parent in _folders(f"{folder}/") if parent in indexed)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders that hold a document, the highest first."""
    yield ""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _origins(sites: Sites, canonical: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for path, url in canonical:
        root = sites.root_of(path)
        if root is not None and (origin := http_origin(url)) and resolve("/", url).path in sites.names_of(root, path):
            yield origin, root
