"""Documents like one of an open corpus, by what they share and by the vectors that the index has.

In: an open corpus and the path of a document, or a vector. Out: hits, best first. Nothing is sent anywhere (X6), and
nothing that makes a vector is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.sqlite.similar import models, near, similar, vector_of
from prosa.corpus.similar import from_bytes

if TYPE_CHECKING:
    from prosa.adapters.sqlite.search_hits import SectionHit
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.search import Hit, Search

MAX_RANKED = 200
"""Sections of each ranking that take part in the fusion; those behind would not change the first hits."""


def search_similar(corpus: OpenCorpus, path: str, asked: Search) -> list[Hit]:
    """Return documents like the one at ``path``: by the rare words and the links that they share, and by vectors where
    the index has some. Nothing is sent anywhere."""
    statement = "SELECT id FROM document WHERE path = ?"
    (number,) = corpus.index.connection().execute(statement, (path,)).fetchone()
    return similar(corpus.index, path, asked, near=similar_by_vectors(corpus, number, asked))


def nearest_sections(corpus: OpenCorpus, vector: Sequence[float], model: str, asked: Search) -> list[SectionHit]:
    """Return the sections nearest to a vector, best first."""
    from prosa.adapters.embeddings.local import nearest

    return near(corpus.index.connection(), model, vector, asked, nearest=nearest, limit=asked.limit)


def similar_by_vectors(corpus: OpenCorpus, document: int, asked: Search) -> list[SectionHit]:
    """Return the documents nearest to one that has vectors, by the model that most vectors are of; none where it has
    none."""
    connection = corpus.index.connection()
    for model, _ in models(connection):
        own = vector_of(connection, model, document)
        if own:
            hits = nearest_sections(corpus, _mean(own), model, replace(asked, limit=MAX_RANKED))
            return [hit for hit in hits if hit.document != document]
    return []


def _mean(vectors: Sequence[bytes]) -> list[float]:
    """Return the middle of several vectors."""
    read = [from_bytes(data) for data in vectors]
    return [sum(numbers) / len(read) for numbers in zip(*read, strict=True)]
