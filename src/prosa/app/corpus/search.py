"""Searches an open corpus: by words and filters, or by meaning.

In: an open corpus and a `Search`. Out: hits, best first. Only a search by meaning sends text anywhere (X6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prosa.adapters.sqlite.search import UnknownName, nearest_field, search, unknown_names
from prosa.app.corpus.open import OpenCorpus
from prosa.corpus.search import Hit, Search

if TYPE_CHECKING:
    from prosa.corpus.embedding import Embedder

__all__ = ["UnknownName", "nearest_field_of", "search_by_meaning", "search_corpus", "unknown_in"]


def search_corpus(corpus: OpenCorpus, asked: Search) -> list[Hit]:
    """Return what full text and filters find. Raises `WhereError`, `QueryError`."""
    return search(corpus.index, asked)


async def search_by_meaning(
    corpus: OpenCorpus,
    asked: Search,
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] | None = None,
    left_out: Callable[[int], None] | None = None,
) -> list[Hit]:
    """Return the results of full text, fused with the neighbours of the query as a vector. Sends the query, and
    sections without a vector, to the ``embedder``, which is closed at the end. ``progress`` is called with the numbers
    of finished and of all vectors, ``left_out`` with the number of sections left without one. Raises `EmbeddingError`,
    `ProviderError`."""
    from prosa.app.corpus.semantic import make_vectors, semantic_search
    from prosa.app.run.world import system_clock

    try:
        made = await make_vectors(corpus, embedder, system_clock(), progress=progress)
        if made.left and left_out is not None:
            left_out(made.left)
        return await semantic_search(corpus, asked, embedder, system_clock())
    finally:
        await embedder.aclose()


def unknown_in(corpus: OpenCorpus, asked: Search) -> tuple[UnknownName, ...]:
    """Return names in a search that no document has: they explain why nothing is found, or too much."""
    return tuple(unknown_names(corpus.index.connection(), asked))


def nearest_field_of(corpus: OpenCorpus, name: str) -> str | None:
    """Return the field of some document that is most like a name; None where the name itself is one or none is near."""
    return nearest_field(corpus.index.connection(), name)
