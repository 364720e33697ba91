"""What an open corpus answers, and how fast, in a process of its own:
`python -m bench.index_answers FOLDER FILE [SECONDS]`.

In: a folder whose index is in the cache, and the bare index of the same texts (`bench.bare_index`). Out: rows of the
table, one JSON object a line.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.json import encode

from bench import bare_index
from bench.bare_index import looks
from bench.measure import Row, calls
from bench.peers import corpora
from bench.rare_words import word

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.graph.graph import Graph

SECONDS = 1.0
"""How long each question is asked again and again."""

RARE, MEDIUM, COMMON = word("en", 20_000), word("en", 100), "timetable"
"""A word of a dozen sections of 14,000 documents, one of one section in a hundred, and one of every other."""
PHRASE, COMMON_PHRASE = f'"waits for {MEDIUM}"', '"second timetable describes"'

QUERIES = {
    "a rare word": RARE,
    "a medium word": MEDIUM,
    "a common word": COMMON,
    "a phrase": PHRASE,
    "a common phrase": COMMON_PHRASE,
}
WHERE = "audience=readers and created-date>2026-06-01"
FIELDS = """SELECT path FROM document
  WHERE id IN (SELECT document FROM metadata WHERE key = 'audience' AND text = 'readers')
  AND id IN (SELECT document FROM metadata WHERE key = 'created-date' AND text > '2026-06-01') ORDER BY path LIMIT 10"""
BACK = "SELECT document, line FROM edge WHERE target_document = (SELECT id FROM document WHERE path = ?)"
COUNT = "SELECT count(*) FROM section_text WHERE section_text MATCH ?"
QUERY_AIM = "≤ 5 ms"

PAGE = "pages/part-00/page-4.md"
"""A document of every corpus that is changed, and asked for."""
AIMED = 14_000
"""Documents of the largest corpus that the aims for queries and updates are meant for."""
MIDDLE = 7_000
"""The same, for the CPU of a build and for a refresh that finds nothing."""
PICTURE = 300
"""Nodes of the picture."""


@dataclass(frozen=True, slots=True)
class Measured:
    """An open corpus of ``count`` documents and what it is compared with."""

    corpus: OpenCorpus
    bare: sqlite3.Connection
    count: int
    seconds: float

    def row(
        self, what: str, value: float, baseline: str, base: float | None, aim: str = "", *, series: str = ""
    ) -> Row:
        """Return a row in milliseconds, of microseconds. Aims are meant for corpora of up to ``AIMED`` documents."""
        compared, aimed = None if base is None else base / 1000, aim if self.count <= AIMED else ""
        size = self.count if series else 0
        what = f"{self.count:,} documents, {what}"
        return Row(what, value / 1000, "ms", baseline, compared, aimed, series=series, size=size)

    def calls(self, work: Callable[[], object], before: Callable[[], object] | None = None) -> float:
        """Return the median time of one call in microseconds."""
        return calls(work, seconds=self.seconds, before=before)


def rows(folder: Path, bare: Path, seconds: float = SECONDS) -> Iterator[Row]:
    """Yield the rows of one corpus."""
    from prosa.app.corpus.open import open_corpus

    with open_corpus(folder, environ=os.environ) as corpus:
        connection = bare_index.opened(bare)
        measured = Measured(corpus, connection, corpus.report.documents, seconds)
        yield from _updates(measured)
        yield from _queries(measured)
        yield from _graph(measured)
        connection.close()


def _updates(measured: Measured) -> Iterator[Row]:
    """Yield nothing changed, and one document that changed, named and not named."""
    path = measured.corpus.root / PAGE
    nothing = measured.calls(measured.corpus.refresh)
    looked = measured.calls(partial(_look, measured.corpus.root))
    aim = "≤ 20 ms" if len(measured.corpus.index.documents()) <= MIDDLE else ""
    yield measured.row("refresh in an open corpus, nothing changed", nothing, "walk and stat", looked, aim)
    before = path.read_text(encoding="utf-8")
    texts = (f"{before}\nSeen for the {number}th time.\n" for number in count(1))
    write = partial(_write, path, texts)
    named = measured.calls(partial(measured.corpus.refresh_paths, [path]), write)
    base = measured.calls(partial(_replace, measured.bare, path), write)
    what, bare = "one document updated, which is named", "bare FTS5, one text replaced"
    yield measured.row(what, named, bare, base, "≤ 5 ms", series="one document updated")
    found = measured.calls(partial(measured.corpus.refresh), write)
    yield measured.row("one document updated, which has to be found", found, "walk and stat", looked)
    path.write_text(before, encoding="utf-8")
    measured.corpus.refresh()
    yield from _watched(measured, write, (looked, aim))
    path.write_text(before, encoding="utf-8")
    measured.corpus.refresh()


def _watched(measured: Measured, write: Callable[[], None], scanned: tuple[float, str]) -> Iterator[Row]:
    """Yield the same where the system reports changes: nothing changed, and the time from writing to being found."""
    from prosa.app.corpus.follow import WHOLE_EVERY, follow_corpus

    follower, (looked, aim) = follow_corpus(measured.corpus.root), scanned
    end = time.monotonic() + WHOLE_EVERY

    def current() -> None:
        if not follower.is_quiet:
            follower.catch_up(measured.corpus)

    def noticed() -> None:
        write()
        while follower.is_quiet:
            time.sleep(0.001)
        current()

    try:
        current()
        while not follower.is_quiet and time.monotonic() < end:
            time.sleep(0.01)
            current()
        what = "refresh in an open corpus that is watched, nothing changed"
        yield measured.row(what, measured.calls(current), "walk and stat", looked, aim)
        what = "one document updated, until a watched corpus has it"
        yield measured.row(what, measured.calls(noticed), "walk and stat", looked)
    finally:
        follower.close()


def _queries(measured: Measured) -> Iterator[Row]:
    """Search for words and by fields, ten hits each."""
    from prosa.adapters.sqlite.search import search
    from prosa.corpus.search import Search

    index = measured.corpus.index
    for name, text in QUERIES.items():
        ((sections,),) = _fetched(index.connection(), COUNT, (text,))
        taken = measured.calls(partial(search, index, Search(text, limit=10)))
        base = measured.calls(partial(_fetched, measured.bare, bare_index.ASK, (text,)))
        what = f"search for {name} ({sections:,} sections)"
        series = f"search for {name}" if text == PHRASE else ""
        yield measured.row(what, taken, "bare FTS5, snippet", base, QUERY_AIM, series=series)
    taken = measured.calls(partial(search, index, Search("", limit=10, where=WHERE)))
    base = measured.calls(partial(_fetched, index.connection(), FIELDS, ()))
    series = "search by two fields"
    yield measured.row("`--where` over two fields", taken, "SQL by hand", base, QUERY_AIM, series=series)


def _graph(measured: Measured) -> Iterator[Row]:
    """Backlinks of a document, the whole graph, and a picture of a part of it."""
    index = measured.corpus.index
    taken = measured.calls(partial(index.edges_to, PAGE))
    base = measured.calls(partial(_fetched, index.connection(), BACK, (PAGE,)))
    yield measured.row(f"backlinks ({len(index.edges_to(PAGE))})", taken, "SQL by hand", base, QUERY_AIM)
    graph = index.graph()
    taken = measured.calls(partial(index.graph))
    base = measured.calls(partial(_everything, index.connection()))
    what = f"graph loaded ({len(graph.nodes):,} nodes, {len(graph.edges):,} edges)"
    yield measured.row(what, taken, "its rows fetched", base)
    yield _picture(measured, graph)


def _picture(measured: Measured, graph: Graph) -> Row:
    from prosa.graph.selection import GraphFilter, select
    from prosa.render.graph.scene import scene
    from prosa.render.graph.svg import Caption, svg

    near = _near(graph, next(node.id for node in graph.nodes if node.path == PAGE))
    edges = [edge for edge in (*graph.edges, *graph.derived) if edge.source in near]
    part = select([node for node in graph.nodes if node.id in near], edges, GraphFilter())
    taken = measured.calls(partial(lambda: svg(scene(part), Caption("Part", ""))))
    peer = corpora.find()["networkx"]
    placed = corpora.arranged(peer, [(edge.source, edge.target) for edge in part.resolved])
    what = f"picture of {len(part.nodes)} nodes, {len(part.resolved)} edges, SVG"
    return measured.row(what, taken, f"{peer.title}, spring_layout", None if placed is None else placed * 1000)


def _near(graph: Graph, start: str) -> set[str]:
    """Return the nodes around one of them, the nearest first, until there are enough for a picture."""
    found, queue = {start}, [start]
    for node in queue:
        for edge in (*graph.out(node), *graph.back(node)):
            for other in (edge.source, edge.target):
                if len(found) < PICTURE and edge.resolved and other not in found:
                    found.add(other)
                    queue.append(other)
    return found


def _write(path: Path, texts: Iterator[str]) -> None:
    path.write_text(next(texts), encoding="utf-8")


def _replace(bare: sqlite3.Connection, path: Path) -> None:
    """Replace a document in the bare index."""
    bare.execute("BEGIN")
    bare.execute("DELETE FROM page WHERE rowid = 1")
    bare.execute(bare_index.ADD, (1, str(path), path.read_text(encoding="utf-8")))
    bare.execute("COMMIT")


def _look(folder: Path) -> int:
    return sum(1 for _ in looks(str(folder)))


def _fetched(connection: sqlite3.Connection, statement: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return connection.execute(statement, values).fetchall()


def _everything(connection: sqlite3.Connection) -> tuple[object, ...]:
    tables = ("SELECT node, path, dialect, title, type, url FROM document", "SELECT * FROM edge")
    return tuple(connection.execute(table).fetchall() for table in tables)


if __name__ == "__main__":
    for each in rows(Path(sys.argv[1]), Path(sys.argv[2]), *map(float, sys.argv[3:])):
        print(encode(each).decode(), flush=True)
