"""The corpus for programs: `prosa.Corpus`. A surface like the commands `search`, `graph`, `links`, `path`, `impact`,
`stats` and `query`, with the same answers as typed values.

In: a folder or a document. Out: frozen values of `prosa.graph` and `prosa.corpus`. Nothing is run, nothing is sent
anywhere, and no document is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from prosa.api.checked import checked
from prosa.app.corpus.ask import find_document, impact_of, links_of, shortest_path_between
from prosa.app.corpus.follow import follow_corpus
from prosa.app.corpus.open import OpenCorpus, corpus_root, open_corpus
from prosa.app.corpus.query import corpus_statistics, query_corpus
from prosa.app.corpus.search import search_corpus
from prosa.app.settings import settings_for
from prosa.corpus.facets import iso_moment
from prosa.corpus.search import DEFAULT_LIMIT, Hit, Search
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.corpus.found import Refreshed
    from prosa.corpus.sql import QueryAnswer
    from prosa.corpus.statistics import Statistics
    from prosa.graph.graph import Graph
    from prosa.graph.node import Node
    from prosa.graph.reach import Links, Reached

__all__ = ["Corpus"]

T = TypeVar("T")


class Corpus:
    """The documents below a folder, with an index that is updated on creation (L28, M51, H4, Y22).

    ``path`` is a folder, the root of the corpus, or a document, whose project is the root; by default the current
    folder. ``root`` sets the root independently of ``path``. With ``refresh`` False the index is used without an
    update. ``jobs`` is the number of processes that read documents; ``environ`` replaces `os.environ`, which locates
    the cache. Later changes of documents are visible after `refresh`; with ``watch``, which needs the extra `watch`,
    every query sees them, a few hundredths of a second later. Use it in a ``with`` block, or call `close`. Several
    threads may share one; it answers them one after the other.

    A document is named by a `Path`, relative to the working directory, or by a text: such a file, its path below the
    root, its id, or the name of its file. Raises `prosa.CorpusError` if the index cannot be used, a query is invalid,
    or a document is unknown (`UnknownDocument`); `prosa.source.FileProblem` for a folder that does not exist;
    `prosa.runtime.errors.RunError` for settings with errors.
    """

    @checked
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        root: str | Path | None = None,
        refresh: bool = True,
        jobs: int = 1,
        watch: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        place, folder = (None if location is None else Path(location) for location in (path, root))
        for location in (place, folder):
            if location is not None and not location.exists():
                raise FileProblem(location, "missing", "no such file or folder")
        settings = settings_for(corpus_root(place, folder), environ)
        self._stack, self._lock = ExitStack(), RLock()
        self._follower = follow_corpus(corpus_root(place, folder)) if watch else None
        if self._follower is not None:
            self._stack.callback(self._follower.close)
        opening = open_corpus(
            place,
            environ=environ,
            settings=settings,
            root=folder,
            refresh=refresh,
            jobs=max(1, jobs),
        )
        self._corpus = self._stack.enter_context(opening)

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()  # an error in the block is the caller's own

    def close(self) -> None:
        """Close the index. Every further question opens it again."""
        with self._lock:
            self._stack.close()
            self._corpus.index.close()

    def _ask(self, question: Callable[[OpenCorpus], T]) -> T:
        with self._lock:
            if self._follower is not None and not self._follower.is_quiet:
                self._follower.catch_up(self._corpus)
            return self._corpus.ask(lambda _: question(self._corpus))

    @property
    def root(self) -> Path:
        """The folder that paths in answers are relative to."""
        return self._corpus.root

    @property
    def report(self) -> Refreshed:
        """What the last refresh did: how many documents were added, changed, removed, and which cannot be read."""
        return self._corpus.report

    @checked
    def refresh(self, paths: str | Path | Iterable[str | Path] | None = None) -> Refreshed:
        """Update the index to the files, and return the value that `report` then has.

        ``paths``, one or several, limits the update to documents that were written or removed: a millisecond or two,
        however large the corpus. Raises `FileProblem` for a path outside the root.
        """
        with self._lock:
            if paths is None:
                return self._corpus.refresh()
            several = (paths,) if isinstance(paths, str | Path) else paths
            return self._corpus.refresh_paths([Path(path) for path in several])

    def documents(self) -> list[Node]:
        """Return every document, by path: ``id``, ``path``, ``dialect``, ``title``, ``type``, ``url``."""
        return self._ask(lambda corpus: corpus.index.documents())

    @checked
    def document(self, name: str | Path) -> Node:
        """Return the document called ``name``. Raises `UnknownDocument`."""
        return self._ask(lambda corpus: find_document(corpus, name))

    @checked
    def search(
        self,
        text: str = "",
        *,
        limit: int = DEFAULT_LIMIT,
        dialects: Collection[str] = (),
        tags: Collection[str] = (),
        kinds: Collection[str] = (),
        rels: Collection[str] = (),
        since: str = "",
        until: str = "",
        where: str = "",
        current: bool = False,
        path_glob: str = "",
        sections: bool = False,
    ) -> list[Hit]:
        """Return sections that answer a query, best first; with filters alone every matching document.

        ``dialects`` and ``kinds``: any of them; ``tags`` and ``rels``: all of them. ``since`` and ``until`` are ISO
        dates, inclusive. ``where`` is a condition on fields of the front matter (`audience=ops and has owner`).
        ``current`` leaves out expired documents (MA20). ``sections`` returns every matching section, not just the best
        of each document. Raises `prosa.WhereError` for an invalid condition, and ``ValueError`` for an invalid date.
        """
        asked = Search(
            text=text,
            limit=limit,
            dialects=_several(dialects),
            tags=_several(tags),
            kinds=_several(kinds),
            rels=_several(rels),
            since=_date("since", since),
            until=_date("until", until),
            where=where,
            current=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if current else "",
            path_glob=path_glob,
            sections=sections,
        )
        return self._ask(lambda corpus: search_corpus(corpus, asked))

    def graph(self) -> Graph:
        """Return all nodes and edges; implied edges are in ``derived`` (X21)."""
        return self._ask(lambda corpus: corpus.index.graph())

    @checked
    def links(self, name: str | Path) -> Links:
        """Return the links of a document (``out``), the links to it (``back``, Y22), and its broken references
        (``unresolved``). Raises `UnknownDocument`."""

        return self._ask(lambda corpus: links_of(corpus, name))

    @checked
    def path(self, start: str | Path, end: str | Path, *, directed: bool = False) -> tuple[Reached, ...] | None:
        """Return the steps of a shortest path between two documents, over references in either direction, or with
        ``directed`` only from source to target; empty from a document to itself, None if there is none. Raises
        `UnknownDocument`."""
        return self._ask(lambda corpus: shortest_path_between(corpus, start, end, directed=directed)).steps

    @checked
    def impact(
        self, name: str | Path, *, rels: Collection[str] | None = None, depth: int | None = None
    ) -> tuple[Reached, ...]:
        """Return what reaches a document, the nearest first: what a change of it concerns. ``rels`` counts only
        references of these types, ``depth`` only documents so many references away. Raises `UnknownDocument`."""
        return self._ask(lambda corpus: impact_of(corpus, name, rels=_several(rels or ()), depth=depth)).reached

    def stats(self) -> Statistics:
        """Return the corpus in numbers."""
        return self._ask(corpus_statistics)

    @checked
    def query(self, sql: str) -> QueryAnswer:
        """Return the answer to one SELECT over the documented views: ``columns``, ``rows``, and ``more`` if a limit
        cut them. Raises `prosa.QueryRefused` (X10)."""
        return self._ask(lambda corpus: query_corpus(corpus, sql))


def _several(names: Collection[str]) -> tuple[str, ...]:
    """Return the names; a text is one of them, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def _date(name: str, text: str) -> str:
    if text and iso_moment(text) is None:
        raise ValueError(f"{name}: {text!r} is not a date; write 2026, 2026-03 or 2026-03-01")
    return text
