"""A corpus in memory for the planner: texts by path, read as the index reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from prosa.corpus.moves import Move, Plan, plan_move
from prosa.corpus.moves.world import World
from prosa.dialects.reading import DialectReading, open_document
from prosa.graph.record import Record
from prosa.graph.records import record_of
from prosa.source import SourceText


@dataclass(frozen=True)
class Texts:
    texts_by_path: dict[str, str]
    given: bool = False

    def records(self) -> Iterator[Record]:
        return (record_of(self.reading(path), path) for path in self.texts_by_path)

    def world(self) -> World:
        return World.of(self.records(), given=self.given)

    def texts(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        yield from ((path, text) for path, text in self.texts_by_path.items() if any(name in text for name in names))

    def reading(self, path: str) -> DialectReading[object]:
        return self.reread(path, self.texts_by_path[path])

    def is_of_record(self, path: str, reading: DialectReading[object]) -> bool:
        """Return whether the record was made of this very reading."""
        del path, reading
        return False

    def reread(self, path: str, text: str, like: DialectReading[object] | None = None) -> DialectReading[object]:
        return open_document(SourceText(text, path, hashlib.sha256(text.encode()).hexdigest()), like=like)


def plan(texts: dict[str, str], path: str, new: str, *, given: bool = False) -> Plan:
    """A file moves."""
    return plan_move(Move(path, new), Texts(texts, given))


def plan_id(texts: dict[str, str], path: str, old: str, new: str, *, given: bool = False) -> Plan:
    """An id changes."""
    return plan_move(Move(path, path, old, new), Texts(texts, given))


def after(texts: dict[str, str], made: Plan) -> dict[str, str]:
    """The texts once the plan is carried out."""
    rest = {path: text for path, text in texts.items() if path != made.moved.path}
    rest |= {change.path: change.after for change in made.others}
    return rest | {made.moved.new_path: made.moved.after}
