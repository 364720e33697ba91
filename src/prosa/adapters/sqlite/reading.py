"""What a refresh is told: how documents are read, and what is known of them. Values only, so that a refresh that has
nothing to do loads nothing."""

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
    """How documents are read. ``given`` says that the user named the root of the corpus (HA2); ``mark`` names
    everything that the rows rest on besides the documents: an index with another mark is made anew. ``progress`` is
    told how many documents are done, of how many. ``relations`` are the fields of front matter that name others."""

    files: Files
    workers: Workers | None = None
    given: bool = False
    mark: str = ""
    progress: Callable[[int, int], None] | None = None
    relations: tuple[tuple[str, str], ...] = ()
