"""What an open corpus answers in rows and in numbers: one SELECT over its index, and its statistics (X10).

In: an open corpus. Out: typed values. A query reads the views and does nothing else.
"""

from __future__ import annotations

from prosa.adapters.sqlite.asking import ask_index, check_text
from prosa.adapters.sqlite.index import statistics
from prosa.adapters.sqlite.views import CORPUS_VIEWS
from prosa.app.corpus.open import OpenCorpus
from prosa.corpus.sql import QueryAnswer, QueryLimits
from prosa.corpus.statistics import Statistics


def check_query(text: str) -> None:
    """Raise `QueryRefused` for a text that is no query, before anything is opened."""
    check_text(text, CORPUS_VIEWS)


def query_corpus(corpus: OpenCorpus, text: str, limits: QueryLimits | None = None) -> QueryAnswer:
    """Return the rows of one SELECT. Raises `QueryRefused`."""
    corpus.index.connection()
    return ask_index(corpus.index.path, text, limits)


def corpus_statistics(corpus: OpenCorpus) -> Statistics:
    """Return the numbers of a corpus."""
    return statistics(corpus.index.connection(), corpus.index.path)


def known_views() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the views for queries: each with its columns, in the order of the documentation."""
    return tuple((view.name, tuple(name for name, _ in view.columns)) for view in CORPUS_VIEWS.views)


def full_text_table() -> str:
    """Return the table of the full text, whose rowid is the id of a section."""
    return CORPUS_VIEWS.full_text
