"""Sites: the nodes of a corpus, grouped, with the URL of every document (HA2).

In: a corpus. Out: `Site`s. A node belongs to a site when

1. the root of the corpus (X5) was given, a node lies directly in it, or no node is an `index.md`: then that root is the
   root of the one site; else
2. an `index.md` that is a node lies in its folder or above it: the highest such folder is the root of its site. So a
   site may live inside a repository, and several beside one another.

A document alone, in a folder that nobody chose as a root, is no site: it has no URL, and nobody knows what is around
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from prosa.diagnostics.nearest import nearest
from prosa.dialects.mdh.url import md_url, names_of, origin_of, resolve
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.rules.mdh.leads import Leads
from prosa.rules.subject import Corpus, Facts
from prosa.source import Files, Span

_INDEX = frozenset(("index.md", "index.markdown"))


@dataclass(frozen=True, slots=True)
class Page:
    """A document of a site. ``name`` is its path below the root of the site, ``url`` its `md_url`."""

    real: Path
    facts: Facts
    name: str
    url: str

    @property
    def is_node(self) -> bool:
        """Whether it has a meaning in MDH."""
        return self.facts.dialect == "mdh"

    @property
    def id(self) -> str:
        """The id of the node, or an empty text."""
        return str(self.facts.extra.get("id", ""))

    @property
    def anchor(self) -> Span:
        """Where to point at the whole node."""
        return span_of(self.facts.extra.get("anchor", (0, 0)))


@dataclass(frozen=True, eq=False)
class Site:
    """One site below ``root``. ``pages`` are its documents in the order of the corpus."""

    root: Path
    pages: tuple[Page, ...]
    files: Files

    @cached_property
    def nodes(self) -> tuple[Page, ...]:
        """The documents that are nodes."""
        return tuple(page for page in self.pages if page.is_node)

    @cached_property
    def names(self) -> Mapping[str, Page]:
        """Every decoded URL path that leads to a document: by file name first, then `/node/ID` (H7), then by the path
        of a `canonical_url`."""
        found: dict[str, Page] = {}
        for page in self.pages:
            for name in names_of(page.name):
                found.setdefault(name, page)
        for page in self.nodes:
            if page.id:
                found.setdefault(f"/node/{page.id}", page)
            if canonical := page.facts.extra.get("canonical", ""):
                found.setdefault(resolve(page.url, canonical).path, page)
        return found

    @cached_property
    def origins(self) -> frozenset[str]:
        """The origins that are this site: those of a `canonical_url` whose path is the node's own URL."""
        canonical = ((page, str(page.facts.extra.get("canonical", ""))) for page in self.nodes)
        return frozenset(
            origin_of(url) for page, url in canonical if url and resolve("/", url).path in names_of(page.name)
        ) - {""}

    @cached_property
    def leads(self) -> Leads:
        """What else there is: actions and files."""
        declared = (each for page in self.nodes for each in page.facts.extra.get("actions", ()))
        return Leads(self.root, [(url, name) for name, _, url, _, _ in declared], self.files)

    @cached_property
    def by_id(self) -> Mapping[str, Page]:
        """The nodes by id; the first of several."""
        found: dict[str, Page] = {}
        for page in self.nodes:
            found.setdefault(page.id, page)
        return found

    def path(self, page: Page, href: str) -> str | None:
        """The URL path on this site that a link leads to, decoded; None for one that leads elsewhere (HA5)."""
        found = resolve(page.url, href)
        return found.path if not found.origin or found.origin in self.origins else None

    def like(self, path: str) -> str | None:
        """The URL of a node that was most likely meant: one of the same last part, else one that looks alike."""
        last = path.rstrip("/").rpartition("/")[2].lower()
        same = self._by_last_part.get(last.removesuffix(".md").removesuffix(".html"), [])
        return same[0] if len(same) == 1 else nearest(path, (page.url for page in self.nodes))

    @cached_property
    def _by_last_part(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for page in self.nodes:
            found.setdefault(page.url.rstrip("/").rpartition("/")[2].lower(), []).append(page.url)
        return found


@lru_cache(maxsize=1)
def sites(corpus: Corpus) -> tuple[Site, ...]:
    """The sites of a corpus, in the order of their first documents; found once for all rules that ask."""
    roots = _roots(corpus)
    grouped: dict[Path, list[Page]] = {}
    for real, facts in corpus.entries.items():
        root = roots.get(real.parent)
        if root is not None and real.suffix.lower() in DOCUMENT_SUFFIXES:
            name = real.relative_to(root).as_posix()
            grouped.setdefault(root, []).append(Page(real, facts, name, md_url(name)))
    return tuple(Site(root, tuple(pages), corpus.files) for root, pages in grouped.items())


def neighbours(corpus: Corpus) -> Iterator[tuple[Page, ...]]:
    """The nodes of every site together, and every node without a site alone (its ``url`` is empty)."""
    placed: set[Path] = set()
    for site in sites(corpus):
        placed.update(page.real for page in site.nodes)
        yield site.nodes
    for real, facts in corpus.entries.items():
        if facts.dialect == "mdh" and real not in placed:
            yield (Page(real, facts, real.name, ""),)


def md_urls(corpus: Corpus) -> Mapping[Path, str]:
    """The `md_url` of every node that has one, by real path (HA2)."""
    return {page.real: page.url for site in sites(corpus) for page in site.nodes}


def span_of(pair: tuple[int, int]) -> Span:
    """A span that travelled as two numbers."""
    return Span(*pair)


def _roots(corpus: Corpus) -> Mapping[Path, Path]:
    """The root of the site of every folder that has one."""
    nodes = [real for real, facts in corpus.entries.items() if facts.dialect == "mdh"]
    top = _top(corpus) if nodes and corpus.rooted != "guessed" else None
    index_folders = {real.parent for real in nodes if real.name.lower() in _INDEX}
    alone = corpus.root is None and len(corpus.entries) < 2 and not index_folders
    if top is None or alone:
        return {}
    whole = corpus.rooted == "given" or not index_folders or any(real.parent == top for real in nodes)
    found: dict[Path, Path] = {}
    for folder in dict.fromkeys(real.parent for real in corpus.entries):
        root = top if whole else _highest(folder, top, index_folders)
        if root is not None and folder.is_relative_to(root):
            found[folder] = root
    return found


def _top(corpus: Corpus) -> Path | None:
    """The root of the corpus, or the folder that holds all of its documents where it has none."""
    if corpus.root is not None:
        return corpus.files.real(corpus.root)
    folders = [real.parent for real in corpus.entries]
    above = (folders[0], *folders[0].parents) if folders else ()
    return next((each for each in above if all(folder.is_relative_to(each) for folder in folders)), None)


def _highest(folder: Path, top: Path, index_folders: set[Path]) -> Path | None:
    above = [each for each in (folder, *folder.parents) if each.is_relative_to(top) and each in index_folders]
    return above[-1] if above else None
