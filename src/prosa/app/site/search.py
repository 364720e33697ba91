"""What the index has for all published documents (X23): sections that answer a query, actions, and summaries."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from prosa.app.corpus.search import search_corpus
from prosa.app.site.catalogue import still_published
from prosa.app.site.live import LiveSite
from prosa.corpus.search import Hit, Search
from prosa.data import Value
from prosa.site.layout import NodeRow
from prosa.site.search_index import IndexedSection
from prosa.source import FileProblem


class PublishedHit(NamedTuple):
    """A hit and the node that it is in."""

    hit: Hit
    row: NodeRow


_SECTIONS = """SELECT d.path, s.heading, s.anchor, s.text FROM section s JOIN document d ON d.id = s.document
  ORDER BY d.path, s.number"""


def published_sections(site: LiveSite) -> Mapping[str, list[IndexedSection]]:
    """Return the sections of every published document, by its path, in order. Raises `CorpusError`."""
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_SECTIONS).fetchall())
    sections: dict[str, list[IndexedSection]] = defaultdict(list)
    for path, heading, anchor, text in rows:
        if path in site.index.catalogue.by_path:
            sections[path].append(IndexedSection(heading.rpartition(" › ")[2], anchor, text))
    return sections


def published_hits(site: LiveSite, asked: Search) -> tuple[PublishedHit, ...]:
    """Return at most ``asked.limit`` hits; none without an index. Unpublished hits are filtered out before the limit
    applies. Raises `CorpusError`."""
    catalogue = site.index.catalogue
    wanted = replace(asked, limit=asked.limit + catalogue.hidden)
    hits: list[Hit] = site.index.ask(lambda corpus: corpus.ask(lambda _: search_corpus(corpus, wanted)))
    visible = [PublishedHit(hit, row) for hit in hits if (row := catalogue.by_path.get(hit.path)) is not None]
    paths, private = {published.hit.path for published in visible[: asked.limit]}, site.options.private
    # a newly read text may no longer be shown while the catalogue is older
    shown = site.index.ask(lambda corpus: still_published(corpus.index.connection(), paths, private=private))
    return tuple(published for published in visible[: asked.limit] if published.hit.path in shown)


_WITH_ACTIONS = "SELECT path, actions FROM document WHERE actions <> '[]' ORDER BY path"
_SUMMARIES = """SELECT d.path, m.key, m.text FROM metadata m JOIN document d ON d.id = m.document
  WHERE m.key IN ('summary', 'description', 'footer.ops.page.seo.description')
    AND m.n = 0 AND m.kind = 'text' AND m.lent_by IS NULL"""

MAX_SUMMARY = 300


def declared_actions(site: LiveSite) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield every action with the id of its node, by path."""
    for path in _paths(site):
        try:
            view = site.view(path)
        except FileProblem:
            continue
        if view is not None:
            yield from ((view.id, action) for action in view.actions)


def summaries(site: LiveSite) -> dict[str, str]:
    """Return what documents say of themselves in one line, by path; `summary` before `description`."""
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_SUMMARIES).fetchall())
    by_path: dict[str, str] = {}
    for path, key, text in rows:
        if key != "description" or path not in by_path:
            by_path[path] = " ".join(text.split())[:MAX_SUMMARY]
    return by_path


def _paths(site: LiveSite) -> list[str]:
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_WITH_ACTIONS).fetchall())
    declaring = {path for path, actions in rows if json.loads(actions)}
    if site.options.actions is not None:
        declaring |= {row.path for row in site.index.catalogue.rows if row.dialect == "markdownlang"}
    return sorted(path for path in declaring if path in site.index.catalogue.by_path)
