"""The inputs of a refresh: how documents are read, and their hints. Values only, so that a refresh that has nothing to
do loads nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from prosa.corpus.found import Stamp
from prosa.source import Files

if TYPE_CHECKING:
    from prosa.rules.analyzer import Workers


class Known(NamedTuple):
    """A document of the index."""

    id: int
    stamp: Stamp
    digest: str
    hint: str


class Reading(Struct, frozen=True):
    """How documents are read. ``given`` is true if the user named the root of the corpus (HA2); ``mark`` identifies
    everything that the rows depend on besides the documents: an index with another mark is rebuilt. ``progress`` is
    called with the numbers of finished and of all documents. ``relations`` are the fields of front matter that name
    others."""

    files: Files
    workers: Workers | None = None
    given: bool = False
    mark: str = ""
    progress: Callable[[int, int], None] | None = None
    relations: tuple[tuple[str, str], ...] = ()
