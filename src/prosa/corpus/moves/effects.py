"""The effects of a move on the references of other documents: which must be rewritten, which would be misdirected.

In: the world before and after. Out: `Effects`. Only references to a changed name are examined.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from prosa.corpus.moves.move import Move, MoveRefused, listed
from prosa.corpus.moves.world import Lead, World
from prosa.graph.names import Key
from prosa.graph.record import Record, Reference


class Note(Struct, frozen=True):
    """Something to know that is no reason to refuse. ``line`` counts from 1."""

    path: str
    line: int
    message: str


class Effects(Struct, frozen=True):
    """``referring`` are the documents with references to the moved one that are outdated; ``astray`` the places of
    references to others that would be misdirected; ``notes`` the changes for broken references."""

    referring: frozenset[str]
    astray: tuple[str, ...]
    notes: tuple[Note, ...]

    def refuse(self) -> None:
        """Raise `MoveRefused` where a reference would be led astray."""
        if self.astray:
            count = len(self.astray)
            which = "another reference leads" if count == 1 else f"{count} other references lead"
            raise MoveRefused(
                f"the new name would change where {which}: {listed(self.astray)}",
                "choose another name, or write those references so that only one document fits",
            )


def effects(
    move: Move, before: World, after: World, touched: frozenset[Key] | None, leave_out: frozenset[str] = frozenset()
) -> Effects:
    """Return the effects on every document but the moved ones and those in ``leave_out``. ``touched`` None examines
    every reference."""
    referring: set[str] = set()
    astray: list[str] = []
    notes: list[Note] = []
    for record in before.asking(touched):
        if record.path in move.paths or record.path in leave_out:
            continue
        for reference in _asking(record, before, after, touched):
            was, now = before.lead(record, reference), after.lead(record, reference)
            if was.to is not None and was.to in move.paths:
                if now.to != move.path_after(was.to) or now.tier != was.tier:
                    referring.add(record.path)
            elif not same(was, now, move):
                if was.to is not None:
                    astray.append(f"{record.path}:{reference.line} (`{reference.target}`)")
                else:
                    notes.append(gained(record.path, reference, was, now))
    return Effects(frozenset(referring), tuple(astray), tuple(notes))


def _asking(record: Record, before: World, after: World, touched: frozenset[Key] | None) -> Iterator[Reference]:
    for reference in record.references:
        if touched is None or before.asks(record, reference, touched) or after.asks(record, reference, touched):
            yield reference


def same(was: Lead, now: Lead, move: Move) -> bool:
    """Return whether both lead to the same documents."""
    return was.state == now.state and sorted(map(move.path_after, was.paths)) == sorted(now.paths)


def gained(path: str, reference: Reference, was: Lead, now: Lead) -> Note:
    """Return what becomes of a reference that led to no single document, now in the document at ``path``."""
    before = {"ambiguous": "was ambiguous", "unresolved": "led to no document"}.get(was.state, f"led to: {was.state}")
    after = f"will lead to {now.to}" if now.to else f"will be {now.state}"
    if now.state == was.state:
        after = "will be so among others"
    return Note(path, reference.line, f"`{reference.target}` {before} and {after}")
