"""The question and the answer of a search, as plain values. The adapter decides how and where to search."""

from __future__ import annotations

from msgspec import Struct

DEFAULT_LIMIT = 20
"""Default number of hits: what fits a screen or a prompt."""

MAX_LIMIT = 10_000
"""Most hits of one search; who wants all of a larger corpus reads the index."""


class Search(Struct, frozen=True):
    """A question. ``text`` is the query (`corpus.query`), empty for every document that the filters let through.

    ``dialects``, ``kinds``: any of them; ``tags``, ``rels``: all of them (a rel that the document has an edge with).
    ``since`` and ``until`` are ISO dates of any precision, both inclusive, compared with `updated` or else
    `published`. ``where`` is an expression (`corpus.where`). ``current`` is today's ISO date to leave out expired
    documents, empty to show them (MA20). ``path_glob`` selects documents by path; ``below`` is a document or the
    folder that contains them, empty for the whole corpus. ``sections`` requests every matching section instead of the
    best one of each document.
    """

    text: str
    limit: int = DEFAULT_LIMIT
    dialects: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    rels: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    where: str = ""
    current: str = ""
    path_glob: str = ""
    below: str = ""
    sections: bool = False

    @property
    def has_filters(self) -> bool:
        """Whether anything besides the text selects documents."""
        chosen = (self.dialects, self.tags, self.kinds, self.rels, self.since, self.until, self.where, self.path_glob)
        return any(chosen)


class Hit(Struct, frozen=True):
    """A section that answers. ``path`` is relative to the root of the corpus, ``node`` the id in the graph.

    ``title`` is the document's, ``heading`` the path of headings to the section (`A › B`, empty above the first one)
    and ``anchor`` its anchor. ``line`` and ``column`` (from 1) are the place in the file of the first match that the
    snippet shows, the beginning of the section where only its title, heading or tags match; ``end_line`` is its last
    line. ``score`` is higher for a better match, and comparable within one search only. ``snippet`` is one line of
    plain text; ``marks`` are the pairs of offsets in it that matched.
    """

    path: str
    node: str
    title: str
    heading: str
    anchor: str
    line: int
    column: int
    end_line: int
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    dialect: str
