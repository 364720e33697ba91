"""The published sections that answer a query (X23). In: a site and a question. Out: hits with their nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from prosa.app.corpus.search import search_corpus
from prosa.app.site.catalogue import still_published
from prosa.app.site.live import LiveSite
from prosa.corpus.search import Hit, Search
from prosa.site.search_index import IndexedSection
from prosa.site.view import NodeRow


class PublishedHit(NamedTuple):
    """A hit and the node that it is in."""

    hit: Hit
    row: NodeRow


_SECTIONS = """SELECT d.path, s.heading, s.anchor, s.text FROM section s JOIN document d ON d.id = s.document
  ORDER BY d.path, s.number"""


def published_sections(site: LiveSite) -> Mapping[str, list[IndexedSection]]:
    """Return the sections of every published document, by its path, in order. Raises `CorpusError`."""
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_SECTIONS).fetchall())
    found: dict[str, list[IndexedSection]] = defaultdict(list)
    for path, heading, anchor, text in rows:
        if path in site.index.catalogue.by_path:
            found[path].append(IndexedSection(heading.rpartition(" › ")[2], anchor, text))
    return found


def published_hits(site: LiveSite, asked: Search) -> tuple[PublishedHit, ...]:
    """Return at most ``asked.limit`` hits; none without an index. Unpublished hits are filtered out before the limit
    applies. Raises `CorpusError`."""
    catalogue = site.index.catalogue
    wanted = replace(asked, limit=asked.limit + catalogue.hidden)
    hits: list[Hit] = site.index.ask(lambda corpus: corpus.ask(lambda _: search_corpus(corpus, wanted)))
    found = [PublishedHit(hit, row) for hit in hits if (row := catalogue.by_path.get(hit.path)) is not None]
    paths, private = {each.hit.path for each in found[: asked.limit]}, site.options.private
    # a newly read text may no longer be shown while the catalogue is older
    shown = site.index.ask(lambda corpus: still_published(corpus.index.connection(), paths, private=private))
    return tuple(each for each in found[: asked.limit] if each.hit.path in shown)
