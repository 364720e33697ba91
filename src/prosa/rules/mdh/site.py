"""Sites: the nodes of a corpus, grouped, with the URL of every document, and the meaning of a path that is no document
(HA2, HA5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from posixpath import commonpath
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from msgspec import Struct, field

from prosa.diagnostics.nearest import nearest
from prosa.dialects.mdh.url import Destination, md_url, names_of, resolve
from prosa.graph.sites import INDEX_NAMES, Sites, below
from prosa.rules.corpus_names import corpus_names
from prosa.rules.rule import Corpus, DocumentFacts
from prosa.source import FileProblem, Files, Span
from prosa.source.values import kept

if TYPE_CHECKING:
    from prosa.dialects.mdh.facts import CorpusFacts


class Page(Struct, frozen=True, dict=True):
    """A document of a site. ``name`` is its path below the root of the site, ``url`` its `md_url`; ``extra`` is that
    of its ``facts``. Of one that is no node only path and dialect of its ``facts`` are used: they may be older."""

    real: Path
    facts: DocumentFacts
    name: str
    url: str
    extra: CorpusFacts

    @property
    def is_node(self) -> bool:
        """Whether it has a meaning in MDH."""
        return self.facts.dialect == "mdh"

    @property
    def id(self) -> str:
        """The id of the node, or an empty text."""
        return self.extra.get("id", "")

    @property
    def anchor(self) -> Span:
        """Where to point at the whole node."""
        return span_of(self.extra.get("anchor", (0, 0)))

    @kept
    def destinations(self) -> tuple[Destination, ...]:
        """Where the links of its body lead, in their order."""
        return tuple(resolve(self.url, href) for href, _ in self.extra.get("links", ()))


class Site(Struct, frozen=True, eq=False, dict=True):
    """One site. ``pages`` are its documents in the order of the corpus, ``nodes`` those that are nodes."""

    standing: Standing
    pages: tuple[Page, ...]
    nodes: tuple[Page, ...]
    files: Files

    @property
    def root(self) -> Path:
        """Its root folder."""
        return self.standing.root

    def page_at(self, path: str) -> Page | None:
        """Return the document that a decoded URL path leads to: by file name first, then `/node/ID` (H7), then by the
        path of a `canonical_url`."""
        at = self.standing.names.get(path)
        return self.pages[at] if at is not None else self._named.get(path)

    @cached_property
    def _named(self) -> Mapping[str, Page]:
        """The nodes by what they say of themselves."""
        pages: dict[str, Page] = {}
        for page in self.nodes:
            if page.id:
                pages.setdefault(f"/node/{page.id}", page)
            if canonical := page.extra.get("canonical", ""):
                pages.setdefault(resolve(page.url, canonical).path, page)
        return pages

    @cached_property
    def leads(self) -> Leads:
        """What else there is: actions and files."""
        declared = (action for page in self.nodes for action in page.extra.get("actions", ()))
        return Leads(self.root, [(url, name) for name, _, url, _, _ in declared], self.files)

    @cached_property
    def by_id(self) -> Mapping[str, Page]:
        """The nodes by id; the first of several."""
        pages: dict[str, Page] = {}
        for page in self.nodes:
            pages.setdefault(page.id, page)
        return pages

    @cached_property
    def other_names(self) -> Mapping[str, str]:
        """Titles and aliases, and the ids behind them (HA22: they find, they do not resolve)."""
        return {
            definition.name: page.id
            for page in self.nodes
            if page.id
            for definition in page.facts.defs
            if definition.kind != "id"
        }

    def path(self, page: Page, href: str) -> str | None:
        """Return the URL path on this site that a link leads to, decoded; None for one that leads elsewhere (HA5)."""
        return self._inside(resolve(page.url, href))

    def links(self, page: Page) -> Iterator[tuple[str, str, tuple[int, int]]]:
        """Yield the links of the body that lead to this site: the decoded URL path, and how and where it is written."""
        for (href, pair), to in zip(page.extra.get("links", ()), page.destinations, strict=True):
            if (path := self._inside(to)) is not None:
                yield path, href, pair

    def _inside(self, to: Destination) -> str | None:
        return to.path if not to.origin or to.origin in self.standing.origins else None

    def like(self, path: str) -> str | None:
        """Return the most likely intended URL of a node: one with the same last part, otherwise a similar one."""
        likes = self.standing.likes
        if path not in likes:
            if len(likes) >= MAX_LIKES:
                likes.clear()
            likes[path] = self.standing.like(path)
        return likes[path]


MAX_LIKES = 1_000
"""URLs that lead nowhere of which the most similar one is remembered."""


class Standing(Struct, eq=False, dict=True):
    """How the documents of one site stand, which few edits change. ``places`` are its pages as they were when they were
    placed, ``nodes`` the numbers of those that are nodes. ``origins`` are the addresses that are this site: those of a
    `canonical_url` whose path is the node's own URL. ``likes`` are the URLs that were compared."""

    root: Path
    origins: frozenset[str]
    places: list[Page]
    nodes: tuple[int, ...]
    likes: dict[str, str | None] = field(default_factory=dict)

    @kept
    def names(self) -> Mapping[str, int]:
        """The number of the document at every decoded URL path that the name of a file gives."""
        positions: dict[str, int] = {}
        for at, page in enumerate(self.places):
            for name in names_of(page.name, stands=page.url.endswith("/")):
                positions.setdefault(name, at)
        return positions

    @kept
    def collisions(self) -> Sequence[tuple[int, int]]:
        """The numbers of documents that live at the URL of an earlier one, with that one; one of them is a node."""
        first: dict[str, int] = {}
        pairs: list[tuple[int, int]] = []
        for at, page in enumerate(self.places):
            earlier = first.setdefault(unquote(page.url).rstrip("/"), at)
            if earlier != at and (page.is_node or self.places[earlier].is_node):
                pairs.append((earlier, at))
        return pairs

    def like(self, path: str) -> str | None:
        """Return the URL of a node that is most like one that leads nowhere."""
        last = path.rstrip("/").rpartition("/")[2].lower()
        same = self._by_last_part.get(last.removesuffix(".md").removesuffix(".html"), [])
        return same[0] if len(same) == 1 else nearest(path, (self.places[at].url for at in self.nodes))

    @kept
    def _by_last_part(self) -> Mapping[str, list[str]]:
        by_part: dict[str, list[str]] = {}
        for url in (self.places[at].url for at in self.nodes):
            by_part.setdefault(url.rstrip("/").rpartition("/")[2].lower(), []).append(url)
        return by_part

    def now(self, corpus: Corpus) -> Site:
        """Return the site with the nodes as they are now."""
        for at in self.nodes:
            page = self.places[at]
            facts = corpus.entries[page.real]
            if facts is not page.facts:
                self.places[at] = Page(page.real, facts, page.name, page.url, _extra(facts))
        return Site(self, tuple(self.places), tuple([self.places[at] for at in self.nodes]), corpus.files)


def _extra(facts: DocumentFacts) -> CorpusFacts:
    return cast("CorpusFacts", facts.extra)


@lru_cache(maxsize=1)
def sites(corpus: Corpus) -> tuple[Site, ...]:
    """Return the sites of a corpus that have a node, in the order of their first documents; computed once for all
    rules. A link may lead to a node in a file without the name of a document."""
    return tuple(standing.now(corpus) for standing in _standing(corpus)[0])


def _standing(corpus: Corpus) -> tuple[tuple[Standing, ...], tuple[Path, ...]]:
    """Return how the sites of a corpus stand, and the nodes without a site. Both are kept while the corpus is."""
    return corpus_names(corpus).derived("standing", "standing", partial(_placed, corpus))


def _placed(corpus: Corpus) -> tuple[tuple[Standing, ...], tuple[Path, ...]]:
    top = top_of(corpus)
    known = _sites(corpus, top)
    grouped: dict[str, list[Page]] = {}
    alone: list[Path] = []
    for real, facts in corpus.entries.items():
        path = real.as_posix()
        root = known.root_of(path[len(top) :]) if known.roots and path.startswith(top) else None
        if root is not None:
            name = below(root, path[len(top) :])
            url = md_url(name, stands=path[len(top) :] in known.readmes)
            grouped.setdefault(root, []).append(Page(real, facts, name, url, _extra(facts)))
        elif facts.dialect == "mdh":
            alone.append(real)
    standings = [
        Standing(
            Path(top, root), known.origins_of(root), pages, tuple(at for at, page in enumerate(pages) if page.is_node)
        )
        for root, pages in grouped.items()
    ]
    return tuple(standing for standing in standings if standing.nodes), tuple(alone)


@lru_cache(maxsize=1)
def neighbours(corpus: Corpus) -> tuple[tuple[Page, ...], ...]:
    """Return the nodes of every site together, and every node without a site alone (its ``url`` is empty)."""
    alone = (
        (Page(real, facts, real.name, "", _extra(facts)),)
        for real in _standing(corpus)[1]
        if (facts := corpus.entries[real])
    )
    return (*(site.nodes for site in sites(corpus)), *alone)


def md_urls(corpus: Corpus) -> Mapping[Path, str]:
    """Return the `md_url` of every node that has one, by real path (HA2)."""
    return {page.real: page.url for site in sites(corpus) for page in site.nodes}


def span_of(pair: tuple[int, int]) -> Span:
    """Return a span that travelled as two numbers."""
    return Span(*pair)


def _sites(corpus: Corpus, top: str) -> Sites:
    """Return the sites as the graph sees them, with paths below ``top``. A single document in a folder that was not
    chosen as a root is none."""
    nodes = {real.as_posix(): facts for real, facts in corpus.entries.items() if facts.dialect == "mdh"}
    if corpus.rooted == "guessed" or not nodes:
        return Sites()
    if corpus.root is None and len(corpus.entries) < 2 and not INDEX_NAMES.intersection(map(_name, nodes)):
        return Sites()
    inside = {path[len(top) :]: facts for path, facts in nodes.items() if path.startswith(top)}
    canonical = ((path, str(facts.extra.get("canonical", ""))) for path, facts in inside.items())
    known = ((real.as_posix(), facts.dialect) for real, facts in corpus.entries.items())
    below_top = ((path[len(top) :], dialect) for path, dialect in known if path.startswith(top))
    return Sites.of(below_top, canonical, given=corpus.rooted == "given")


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def top_of(corpus: Corpus) -> str:
    """Return the root of the corpus, or the folder that holds all of its documents where it has none; with its
    slash."""
    if corpus.root is not None:
        top = corpus.files.real(corpus.root).as_posix()
    else:
        top = commonpath([real.parent.as_posix() for real in corpus.entries] or ["/"])
    return top if top.endswith("/") else f"{top}/"


# What a URL path on a site leads to when it is no document: an action or a file beside the nodes (HA5).

_SITE_INDEXES = frozenset(("/mdh/nodes.json", "/mdh/actions.json"))
"""Indexes that a server makes (HA1)."""


class Leads(Struct, frozen=True, dict=True):
    """The files below ``root`` and the actions of one site, as pairs of URL and id. Every path is looked up once."""

    root: Path
    declared: Sequence[tuple[str, str]]
    files: Files
    _known: dict[str, str | None] = field(default_factory=dict)

    def what(self, path: str) -> str | None:
        """Return a few words for the target of a decoded URL path, or None for nothing."""
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def _look(self, path: str) -> str | None:
        action = self._actions.get(path) or self._templated(path)
        if action is not None:
            return f"the URL of the action `{action}`"
        if path in _SITE_INDEXES:
            return "an index of the site"
        return "a file of the site" if self._is_file(path) else None

    @cached_property
    def _actions(self) -> Mapping[str, str]:
        """The id of the first action at every decoded URL path."""
        actions: dict[str, str] = {}
        for url, name in self.declared:
            actions.setdefault(unquote("/" + url.partition("?")[0].lstrip("/")), name)
        return actions

    @cached_property
    def _templates(self) -> Mapping[int, list[tuple[list[str], str]]]:
        """Paths with `{name}` in them (HA10), by the number of their parts."""
        templates: dict[int, list[tuple[list[str], str]]] = {}
        for path, name in self._actions.items():
            if "{" in path:
                parts = path.split("/")
                templates.setdefault(len(parts), []).append((parts, name))
        return templates

    def _templated(self, path: str) -> str | None:
        parts = path.split("/")
        for pattern, name in self._templates.get(len(parts), ()):
            if all(_fits(part, wanted) for part, wanted in zip(parts, pattern, strict=True)):
                return name
        return None

    def _is_file(self, path: str) -> bool:
        """Return whether a file is there that a server of static files would serve: none that is hidden (X23)."""
        parts = [part for part in path.split("/") if part]
        hidden = any(part.startswith(".") and part != ".well-known" for part in parts)
        if not parts or hidden or path.endswith("/") or "\0" in path:
            return False
        file = Path(self.root, *parts)
        return self.files.exists(file) and (bool(file.suffix) or self._can_be_opened(file))

    def _can_be_opened(self, file: Path) -> bool:
        """Return whether it is a file and no folder."""
        try:
            self.files.read(file)
        except FileProblem as problem:
            return problem.kind not in ("missing", "not-a-file", "outside-root")
        return True


def _fits(part: str, pattern: str) -> bool:
    """Return whether a part of a path may come from a part of a template: what stands around the braces is equal."""
    head, opened, rest = pattern.partition("{")
    if not opened:
        return part == pattern
    tail = rest.rpartition("}")[2]
    return len(part) > len(head) + len(tail) and part.startswith(head) and part.endswith(tail)
