"""A plan in the making: the new text of each document that a move concerns, read again as it will be read.

In: the move, the shelf, the world before and as it is expected to be. Out: `Change`s, with the records that the new
texts give. A document that is not what the index knows is refused: it changed a moment ago.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from prosa.corpus.moves.attached import kept_attachments
from prosa.corpus.moves.move import Move
from prosa.corpus.moves.results import kept_results
from prosa.corpus.moves.rewrite import rewritten
from prosa.corpus.moves.shelf import Shelf
from prosa.corpus.moves.world import World
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import dialect
from prosa.dialects.ymj.model import YmjModel
from prosa.graph.record import Record, Reference
from prosa.graph.records import record_of
from prosa.source import Edit, FileProblem, SourceText, apply_edits


@dataclass(frozen=True, slots=True)
class Change:
    """A document whose text or path changes. ``edits`` are the places of ``before`` that are written anew; ``after``
    holds hashes too that were true and stay true (X22)."""

    path: str
    new_path: str
    before: SourceText
    after: str
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class Draft:
    """What has been made so far: the changes, and the readings before and after, by the old path."""

    move: Move
    shelf: Shelf
    before: World
    expected: World
    changes: dict[str, Change] = field(default_factory=dict)
    readings: dict[str, tuple[DialectReading, DialectReading]] = field(default_factory=dict)

    def add(self, path: str) -> None:
        """Rewrites what must be rewritten in a document. Raises `MoveRefused`, `FileProblem`."""
        reading = self.shelf.reading(path)
        _check_known(reading, self.before.records[path])
        edits = rewritten(reading, path, self.move, self.before, self.expected)
        self._put(path, reading, self._text(path, reading, edits) if edits else reading.front.source.text, edits)

    def keep_attachments(self) -> None:
        """Brings the hashes of attachments up to date where they were true (Y14)."""
        digests = {path: change.before.digest for path, change in self.changes.items()}
        texts = {path: change.after for path, change in self.changes.items() if change.after != change.before.text}
        for path, text in kept_attachments(self.before, digests, texts, self._record).items():
            change = self.changes.get(path)
            reading = self.readings[path][0] if change else self.shelf.reading(path)
            self._put(path, reading, text, change.edits if change else ())

    def records(self) -> dict[str, Record]:
        """The records of the changed documents, by the old path."""
        return {path: record_of(again, self.move.path_after(path)) for path, (_, again) in self.readings.items()}

    def _put(self, path: str, reading: DialectReading, text: str, edits: tuple[Edit, ...]) -> None:
        new_path = self.move.path_after(path)
        self.readings[path] = reading, self.shelf.reread(new_path, text)
        self.changes[path] = Change(path, new_path, reading.front.source, text, edits)

    def _record(self, path: str, text: str | None) -> YmjModel:
        model: YmjModel = (self.shelf.reading(path) if text is None else self.shelf.reread(path, text)).model
        return model

    def _text(self, path: str, reading: DialectReading, edits: Sequence[Edit]) -> str:
        """The new text of a document. Hashes of itself that were true stay true."""
        source = reading.front.source
        text = apply_edits(source.text, edits)
        module = dialect(reading.name).module
        package: Any = import_module(module) if module else None
        if hasattr(package, "after_fix"):
            kept: tuple[Edit, ...] = package.after_fix(source, SourceText(text, source.path))
            text = apply_edits(text, kept)
        if reading.name == "magi" and reading.model.regions:
            text = apply_edits(text, kept_results(reading.model, edits, self.shelf.reread(path, text).model))
        return text


def _check_known(reading: DialectReading, record: Record) -> None:
    """Raises `FileProblem` where a document is not what the record says."""
    now = record_of(reading, record.path)
    places = [[_place(each) for each in some.references] for some in (now, record)]
    if now.definitions != record.definitions or places[0] != places[1]:
        path = Path(reading.front.source.path)
        raise FileProblem(path, "changed", "changed while the move was planned; nothing was written. Run it again")


def _place(reference: Reference) -> tuple[object, ...]:
    return reference.origin, reference.target, reference.start, reference.end
