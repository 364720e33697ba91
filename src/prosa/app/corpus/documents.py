"""An open corpus as the planner of a move needs it (`prosa.corpus.moves`).

In: a corpus whose index is up to date. Out: a `DocumentStore`: what the index knows of every document, and the
documents themselves, read anew where their text counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.dialect import Hints
from prosa.dialects.reading import DialectReading, open_document
from prosa.graph.record import Record
from prosa.source import FileProblem, SourceText
from prosa.source.files import is_hidden

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus


class CorpusDocuments(Struct, frozen=True):
    """Meets `DocumentStore`. ``known`` are the records by path; ``given`` says that the user named the root
    (`--root`)."""

    corpus: OpenCorpus
    known: Mapping[str, Record]
    given: bool = False

    @classmethod
    def of(cls, corpus: OpenCorpus, *, given: bool = False) -> CorpusDocuments:
        """The documents of a corpus. Raises `IndexProblem`."""
        from prosa.adapters.sqlite.linking import stored_records

        return cls(corpus, {record.path: record for _, record in stored_records(corpus.index.connection())}, given)

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        return self.corpus.root

    def without(self, path: str) -> CorpusDocuments:
        """The same without one document."""
        return replace(self, known={name: record for name, record in self.known.items() if name != path})

    def visible(self) -> CorpusDocuments:
        """The same without what lies in hidden folders."""
        return replace(self, known={name: record for name, record in self.known.items() if not is_hidden(name)})

    def records(self) -> Iterable[Record]:
        """What is known of every document."""
        return self.known.values()

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every document that can be read: its path and its text as it is now."""
        for path in self.known:
            with contextlib.suppress(FileProblem):
                yield path, self.corpus.files.read(self.root / path).text

    def reading(self, path: str) -> DialectReading[object]:
        """A document as it is now. Raises `FileProblem`."""
        return self._read(path, self.corpus.files.read(self.root / path))

    def reread(self, path: str, text: str) -> DialectReading[object]:
        """What a text would be read as at a path."""
        return self._read(path, SourceText(text, str(self.root / path)))

    def _read(self, path: str, source: SourceText) -> DialectReading[object]:
        return open_document(source, Hints(glob=self.corpus.hint_of(self.root / path)), self.corpus.relations)
