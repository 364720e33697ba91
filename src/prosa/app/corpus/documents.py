"""An open corpus for the planner of a move (`prosa.corpus.moves`).

In: a corpus whose index is up to date. Out: a `DocumentStore`: the records of all documents, and the documents
themselves, read again where their text counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.corpus.moves.world import KnownWorld, World
from prosa.dialects.reading import DialectReading, open_document
from prosa.source import FileProblem, SourceText
from prosa.source.files import is_hidden

if TYPE_CHECKING:
    from prosa.adapters.sqlite.linking import StoredRecords
    from prosa.app.corpus.open import OpenCorpus

    KnownRecords: TypeAlias = StoredRecords
    """What the index knows, for callers that reach it through a use case."""


class CorpusDocuments(Struct, frozen=True):
    """Meets `DocumentStore`. ``known`` are the records of the index; ``given`` says that the user named the root
    (`--root`). The documents at the paths ``left_out`` do not count, nor, with ``only_visible``, those in hidden
    folders."""

    corpus: OpenCorpus
    given: bool = False
    only_visible: bool = False
    left_out: frozenset[str] = frozenset()

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        return self.corpus.root

    @property
    def known(self) -> StoredRecords:
        """The records of these documents. Raises `IndexProblem`."""
        from prosa.adapters.sqlite.linking import StoredRecords

        return StoredRecords(self.corpus.index.connection(), self.holds)

    def holds(self, path: str) -> bool:
        """Return whether a document of the corpus counts."""
        return path not in self.left_out and not (self.only_visible and is_hidden(path))

    def paths(self) -> Sequence[str]:
        """Return the paths of these documents, in order."""
        return self.known.paths()

    def without(self, *paths: str) -> CorpusDocuments:
        """Return the same without some documents."""
        return replace(self, left_out=self.left_out | {*paths})

    def visible(self) -> CorpusDocuments:
        """Return the same without what lies in hidden folders."""
        return replace(self, only_visible=True)

    def world(self) -> World:
        """Return the records of all documents. All are loaded if the index has other sites than these form."""
        known = self.known
        sites = known.sites()
        if sites is None:
            return World.of(known.records(), given=self.given)
        return KnownWorld.among(known, sites, given=self.given)

    def texts(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the readable documents whose text holds any of some names: paths and current texts."""
        wanted = [name.encode("utf-8", "surrogatepass") for name in names]
        for path in self.known.paths():
            with contextlib.suppress(FileProblem):
                data = self.corpus.files.data(self.root / path)
                if any(name in data for name in wanted):
                    yield path, self.corpus.files.read(self.root / path).text

    def reading(self, path: str) -> DialectReading[object]:
        """Return the reading of a document in its present state. Raises `FileProblem`."""
        return self._read(path, self.corpus.files.read(self.root / path))

    def is_of_record(self, path: str, reading: DialectReading[object]) -> bool:
        """Return whether it surely was: a record of the index was made of an earlier reading."""
        del path, reading
        return False

    def reread(self, path: str, text: str, like: DialectReading[object] | None = None) -> DialectReading[object]:
        """Return the reading of a text at a path; ``like`` is one of another path, perhaps of the same text."""
        return self._read(path, SourceText(text, str(self.root / path)), like)

    def _read(
        self, path: str, source: SourceText, like: DialectReading[object] | None = None
    ) -> DialectReading[object]:
        return open_document(source, self.corpus.hints_of(self.root / path), self.corpus.relations, like)
