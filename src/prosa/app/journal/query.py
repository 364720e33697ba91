"""One SELECT over the history of runs (X10, X25).

In: the path of the store and a query of the user. Out: rows, or why there are none. A query reads the views and does
nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.store.schema import RUN_VIEWS
from prosa.corpus.errors import QueryRefused
from prosa.runtime.errors import NotResumed

if TYPE_CHECKING:
    from sqlite3 import Connection

    from prosa.corpus.sql import QueryAnswer, QueryLimits
    from prosa.records.run import StorePlace


def query_runs(path: StorePlace, text: str, limits: QueryLimits) -> QueryAnswer:
    """Return the rows of one SELECT over the views of runs and calls. Raises `QueryRefused`, `StoreProblem`, and
    `NotResumed` where there is no store yet."""
    if not isinstance(path, Path):
        hint = f"ask PostgreSQL itself, where its tables are in the schema prosa: psql {path}"
        raise QueryRefused("only a store in a file can be queried", hint=hint)
    from prosa.adapters.sqlite.asking import ask
    from prosa.adapters.sqlite.views import make_views
    from prosa.adapters.store.opening import in_words, open_file_reader

    def connect() -> Connection:
        connection = open_file_reader(path)
        if connection is None:
            raise NotResumed(f"there is no store of runs yet: {path}")
        make_views(connection, RUN_VIEWS.views)
        return connection

    with in_words(path):
        return ask(connect, RUN_VIEWS, text, limits)


def run_views() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what such a query can name: each view with its columns."""
    return tuple((view.name, tuple(name for name, _ in view.columns)) for view in RUN_VIEWS.views)
