"""Search by meaning: vectors for sections without one, the nearest to a query, fused with the results of full text.

In: an open corpus, an embedder that the user chose, and the query. Out: hits. Text is only sent to a service here and
in `app.enrich`, and never that of classified documents (X6). Vectors are stored in the index by the digest of their
text, so the same text is sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.sqlite.search import prepare, ranked_sections
from prosa.adapters.sqlite.search_hits import Found, hits_of
from prosa.adapters.sqlite.similar import file_of, models, near, placed, remember, unmade, vector_of
from prosa.corpus.embedding import BATCH, MAX_TEXT, Embedder, looks_classified
from prosa.corpus.errors import EmbeddingError
from prosa.corpus.fusion import fused
from prosa.corpus.query import parse_query
from prosa.corpus.vectors import from_bytes
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.adapters.sqlite.similar import Unmade
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.search import Hit, Search
    from prosa.runtime.ports import Clock

MAX_NEW = 1_000
"""Sections that one search sends at most where the user says nothing: some cents, and a minute of a local model."""

MAX_RANKED = 200
"""Sections of each ranking that take part in the fusion; those behind would not change the first hits."""


class Made(Struct, frozen=True):
    """What became of sections without a vector: how many got one, and how many are left without."""

    made: int = 0
    left: int = 0


async def make_vectors(
    corpus: OpenCorpus,
    embedder: Embedder,
    clock: Clock,
    *,
    most: int = MAX_NEW,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Compute missing vectors of at most ``most`` sections. Every batch is stored as soon as it arrives, so that an
    interrupted run can continue. Raises what the embedder raises."""
    from prosa.app.corpus.embedding import vectors_of

    model = embedder.model_name
    wanted = list(unmade(corpus.index.connection(), model, classified=not embedder.is_remote))
    if wanted:
        with corpus.index.writing() as connection:
            wanted = placed(connection, model, wanted)
    now, left = _to_send(corpus, wanted, most) if embedder.is_remote else (wanted[:most], len(wanted[most:]))
    for start in range(0, len(now), BATCH):
        batch: Sequence[Unmade] = now[start : start + BATCH]
        found = await vectors_of([each.text for each in batch], embedder, clock)
        with corpus.index.writing() as connection:
            remember(connection, model, zip(batch, found, strict=True))
        if progress is not None:
            progress(start + len(batch), len(now))
    return Made(len(now), left)


def _to_send(corpus: OpenCorpus, wanted: Sequence[Unmade], most: int) -> tuple[list[Unmade], int]:
    """Return the first sections that may leave this machine, and how many were not examined. The file of each document
    is read again: it may have changed since it was indexed, and broken front matter may contain more than a reader
    understood (X6)."""
    connection, looked_at = corpus.index.connection(), dict[int, bool]()
    now: list[Unmade] = []
    for count, each in enumerate(wanted):
        if len(now) == most:
            return now, len(wanted) - count
        if each.document not in looked_at:
            looked_at[each.document] = _may_go(corpus, *file_of(connection, each.document))
        if looked_at[each.document]:
            now.append(each)
    return now, 0


def _may_go(corpus: OpenCorpus, path: str, digest: str) -> bool:
    """Return whether a file is unchanged since it was indexed, and does not look classified."""
    try:
        source = corpus.files.read(corpus.root / path)
    except FileProblem:
        return False
    return source.digest == digest and not looks_classified(source.text)


async def semantic_search(corpus: OpenCorpus, asked: Search, embedder: Embedder, clock: Clock) -> list[Hit]:
    """Return the hits for a query, by words and by meaning together. Raises `EmbeddingError` for an empty query."""
    from prosa.app.corpus.embedding import vectors_of

    if not asked.text.strip():
        raise EmbeddingError("a search by meaning needs a query")
    connection = corpus.index.connection()
    (vector,) = await vectors_of([asked.text.strip()[:MAX_TEXT]], embedder, clock)
    query = parse_query(asked.text)
    prepare(connection)
    wider = replace(asked, limit=MAX_RANKED)
    by_words = [] if query.is_empty else ranked_sections(connection, query, wider)
    by_meaning = nearest_sections(corpus, vector, embedder.model_name, wider)
    return hits_of(connection, query, _together((by_words, by_meaning), asked), sections=True)


def nearest_sections(corpus: OpenCorpus, vector: Sequence[float], model: str, asked: Search) -> list[Found]:
    """Return the sections nearest to a vector, best first."""
    from prosa.adapters.embeddings.local import nearest

    return near(corpus.index.connection(), model, vector, asked, nearest=nearest, limit=asked.limit)


def similar_by_vectors(corpus: OpenCorpus, document: int, asked: Search) -> list[Found]:
    """Return the documents nearest to one that has vectors, by the model that most vectors are of; none where it has
    none. Nothing is sent anywhere."""
    connection = corpus.index.connection()
    for model, _ in models(connection):
        own = vector_of(connection, model, document)
        if own:
            found = nearest_sections(corpus, _mean(own), model, replace(asked, limit=MAX_RANKED))
            return [each for each in found if each.document != document]
    return []


def _mean(vectors: Sequence[bytes]) -> list[float]:
    """Return the middle of several vectors."""
    read = [from_bytes(data) for data in vectors]
    return [sum(numbers) / len(read) for numbers in zip(*read, strict=True)]


def _together(rankings: Sequence[Sequence[Found]], asked: Search) -> list[Found]:
    """Return several rankings as one: by section where every section is wanted, else by document."""
    by_key: dict[int, Found] = {}
    orders: list[list[int]] = []
    for ranking in rankings:
        keys = [each.section if asked.sections else each.document for each in ranking]
        orders.append(keys)
        for key, each in zip(keys, ranking, strict=True):
            by_key.setdefault(key, each)
    best = fused(orders)[: asked.limit]
    return [Found(by_key[key].section, by_key[key].document, score) for key, score in best]
