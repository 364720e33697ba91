"""What must hold before a plan is made and of the texts it would leave behind, and the effects of a move on the
references of other documents.

In: the move, the worlds, the readings before and after. Out: nothing, notes, or `MoveRefused`. For effects only
references to a changed name are examined.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest

from msgspec import Struct

from prosa.corpus.moves.move import Move, MoveRefused, NameRefused, listed
from prosa.corpus.moves.world import LocatedTarget, World
from prosa.dialects import DialectName
from prosa.dialects.magi.relationships import normal_rel
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import AGENT_FOLDERS, DOCUMENT_SUFFIXES, dialect
from prosa.graph.names import Key, joined
from prosa.graph.record import Record, Reference

MAX_ID = 500
"""Characters of an id; a longer one is no name."""

MAX_NAME_BYTES = 255
"""Bytes of the name of a file, on nearly every file system."""


def check_move(move: Move, world: World) -> None:
    """Raise `NameRefused` for a move to a name that is taken, or that no document can have."""
    if move.changes_id:
        _check_id(move, world)
        return
    for old, new in move.paths.items():
        _check_path(old, new, move, world)


def check_result(
    move: Move,
    before: World,
    after: World,
    readings: Mapping[str, tuple[ReadingSummary, ReadingSummary]],
) -> Iterator[Note]:
    """Yield what becomes of references of the changed documents that led nowhere. Raises `MoveRefused` where a new text
    does not read back as the same document, or a reference of it leads elsewhere than before."""
    for path, (was, now) in readings.items():
        old, new = before.records[path], after.records[move.path_after(path)]
        if was.dialect != now.dialect:
            raise _other_dialect(path, move.path_after(path), was.dialect, now.dialect)
        _check_problems(path, was, now)
        yield from _check_references(move, before, after, old, new)


def notes_of(move: Move, before: World, after: World) -> Iterator[Note]:
    """Yield what follows from the move outside of references."""
    for path, new_path in move.paths.items():
        yield from _notes_of_one(before.records[path], after.records[new_path], move, before, after)


def _notes_of_one(old: Record, new: Record, move: Move, before: World, after: World) -> Iterator[Note]:
    if old.dialect == "markdownlang":
        yield from _tool_name(move, old, new.path, before)
    if (was := before.sites.url_of(old.path)) != (now := after.sites.url_of(new.path)) and old.dialect == "mdh":
        yield Note(new.path, 1, f"its URL on the site was {was or 'none'} and will be {now or 'none'}")
        if old.canonical:
            yield Note(new.path, 1, f"it still says that it lives at {old.canonical[0]}")


def _check_id(move: Move, world: World) -> None:
    new = move.new_id
    if new == move.old_id:
        raise NameRefused(f"the id is `{new}` already")
    if not new.strip() or new != new.strip() or not new.isprintable() or len(new) > MAX_ID:
        raise NameRefused("an id is one line of printable characters without blanks around it", "choose another id")
    taken = [record.path for record in world.names.find(Key("id", new))] or [
        candidate for candidate in (new,) if candidate in world.records
    ]
    if taken:
        raise NameRefused(f"`{new}` is the id of {taken[0]} already", "choose another id")


def _check_path(old: str, new: str, move: Move, world: World) -> None:
    name = posixpath.basename(new)
    if new == old:
        raise NameRefused(f"{new} is where the document is already")
    if new.startswith(("/", "../")) or new in ("", ".", "..") or posixpath.normpath(new) != new:
        raise NameRefused(
            f"{new} lies outside the root of the corpus", "choose a place below the root, or another --root"
        )
    if not name.lower().endswith(DOCUMENT_SUFFIXES):
        suffix = posixpath.splitext(old)[1]
        raise NameRefused(
            f"{new} is not the name of a document: one ends in {', '.join(DOCUMENT_SUFFIXES)}",
            f"did you mean {new.rstrip('/')}{suffix}?",
        )
    if any(part.startswith(".") and part not in AGENT_FOLDERS for part in new.split("/")):
        raise NameRefused(
            f"{new} is hidden, and hidden files are not part of a corpus", "choose a name without a dot in front"
        )
    if any(not part.isprintable() or len(part.encode("utf-8", "replace")) > MAX_NAME_BYTES for part in new.split("/")):
        raise NameRefused("the name of a file is at most 255 bytes of printable characters", "choose another name")
    if new in world.records and new not in move.paths:
        raise NameRefused(f"{new} exists already", "choose another name, or remove that document first")


def _other_dialect(path: str, new_path: str, was: DialectName, now: DialectName) -> MoveRefused:
    return MoveRefused(
        f"{path} is read as {dialect(was).title}, and at {new_path} it would be read as {dialect(now).title}",
        "keep the suffix, or see the `dialects` of prosa.toml; `prosa convert` changes the dialect",
    )


def check_problems(path: str, was: DialectReading[object], now: DialectReading[object]) -> None:
    """No reader may find a mistake in the new text that it did not find in the old one."""
    _check_problems(path, ReadingSummary.of(was), ReadingSummary.of(now))


def _check_problems(path: str, was: ReadingSummary, now: ReadingSummary) -> None:
    known = Counter(rule for rule, _ in was.problems)
    for rule, words in now.problems:
        known[rule] -= 1
        if known[rule] < 0:
            message = f"{path} would not read back as before: {words} [{rule}]"
            raise MoveRefused(message, "choose another name")


def _check_references(move: Move, before: World, after: World, old: Record, new: Record) -> Iterator[Note]:
    pairs = list(zip(old.references, new.references, strict=False))
    if len(old.references) != len(new.references) or any(_said(was) != _said(now) for was, now in pairs):
        message = f"{old.path} would not read back with the same references: {_difference(old, new)}"
        raise MoveRefused(message, "choose another name")
    for was, now in pairs:
        earlier, target = before.resolve(old, was), after.resolve(new, now)
        if earlier.to is None and _as_lost(old, was, new, now, move):
            if not same(earlier, target, move):
                yield gained(new.path, now, earlier, target)
        elif earlier.to is None or target.to != move.path_after(earlier.to):
            raise MoveRefused(
                f"{old.path}:{was.line}: the reference `{was.target}` cannot be written so that it leads to the same "
                "document after the move",
                "choose another name, or write that reference in another way first",
            )


def _difference(old: Record, new: Record) -> str:
    """Return the first reference that a text has only at one of its two paths."""
    for was, now in zip_longest(old.references, new.references):
        if was is None:
            return f"`{now.target}` in line {now.line} is one at {new.path} alone"
        if now is None or _said(was) != _said(now):
            return f"`{was.target}` in line {was.line} is none at {new.path}, or one of another kind"
    return ""


def _said(reference: Reference) -> tuple[object, ...]:
    """Return the parts of a reference besides its target."""
    return (
        reference.origin,
        reference.kind,
        normal_rel(reference.rel.strip()) if reference.rel else None,  # as the index keeps it
        reference.strength,
        reference.bidirectional,
        reference.fragment,
        reference.range,
    )


def _as_lost(old: Record, was: Reference, new: Record, now: Reference, move: Move) -> bool:
    """Return whether a reference that led to no document still names the same thing."""
    if was.target == now.target:
        return True
    if was.kind == "stem":
        return any(posixpath.basename(now.target) == posixpath.basename(after) for _, after in move.files)
    if was.kind != "path":
        return False
    path = joined(posixpath.dirname(old.path), was.target)
    return move.file_after(path) == joined(posixpath.dirname(new.path), now.target) or _rooted(was, now, move)


def _rooted(was: Reference, now: Reference, move: Move) -> bool:
    """Return the same for paths from the root."""
    both = was.target.startswith("/") and now.target.startswith("/")
    return both and move.file_after(was.target[1:]) == now.target[1:]


def _tool_name(move: Move, old: Record, new_path: str, world: World) -> Iterator[Note]:
    """Programs call an imported one by its name, and their prose may say it (L6)."""
    named = any(definition.kind == "id" for definition in old.definitions)
    was, now = (posixpath.splitext(posixpath.basename(path))[0] for path in (old.path, new_path))
    if move.changes_id:
        was, now = move.old_id, move.new_id
    elif named or was == now:
        return
    yield Note(new_path, 1, f"the program was called `{was}` and will be called `{now}`")
    for record in world.asking(world.keys(old.path)):
        for reference in record.references:
            if reference.origin == "import" and world.resolve(record, reference).to == old.path:
                yield Note(record.path, reference.line, f"it imports the program: its text may still say `{was}`")


# The effects of a move on the references of other documents: which must be rewritten, which would be misdirected.


class ReadingSummary(Struct, frozen=True):
    """What the check of a result needs of a reading: the dialect, and rule and message of each problem."""

    dialect: DialectName
    problems: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, reading: DialectReading[object]) -> ReadingSummary:
        """Return the summary of a reading, which takes far less memory."""
        problems = (*reading.front.problems, *reading.problems)
        return cls(reading.name, tuple((problem.rule, problem.message) for problem in problems))


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
    move: Move,
    before: World,
    after: World,
    touched: frozenset[Key] | None,
    leave_out: frozenset[str] = frozenset(),
    found: Callable[[str], None] | None = None,
) -> Effects:
    """Return the effects on every document but the moved ones and those in ``leave_out``. ``touched`` None examines
    every reference. ``found`` is called with each referring document while its reading may still be at hand."""
    referring: set[str] = set()
    astray: list[str] = []
    notes: list[Note] = []
    for record in before.asking(touched, besides=leave_out | move.paths.keys()):
        for reference in _asking(record, before, after, touched):
            was, now = before.resolve(record, reference), after.resolve(record, reference)
            if was.to is not None and was.to in move.paths:
                if now.to != move.path_after(was.to) or now.tier != was.tier:
                    referring.add(record.path)
            elif not same(was, now, move):
                if was.to is not None:
                    astray.append(f"{record.path}:{reference.line} (`{reference.target}`)")
                else:
                    notes.append(gained(record.path, reference, was, now))
        if found is not None and record.path in referring:
            found(record.path)
    return Effects(frozenset(referring), tuple(astray), tuple(notes))


def _asking(record: Record, before: World, after: World, touched: frozenset[Key] | None) -> Iterator[Reference]:
    worlds = (before,) if before.sites is after.sites else (before, after)  # nothing else of a world decides
    for reference in record.references:
        if touched is None or any(world.asks(record, reference, touched) for world in worlds):
            yield reference


def same(was: LocatedTarget, now: LocatedTarget, move: Move) -> bool:
    """Return whether both lead to the same documents."""
    return was.state == now.state and sorted(map(move.path_after, was.paths)) == sorted(now.paths)


def gained(path: str, reference: Reference, was: LocatedTarget, now: LocatedTarget) -> Note:
    """Return what becomes of a reference that led to no single document, now in the document at ``path``."""
    before = {"ambiguous": "was ambiguous", "unresolved": "led to no document"}.get(was.state, f"led to: {was.state}")
    after = f"will lead to {now.to}" if now.to else f"will be {now.state}"
    if now.state == was.state:
        after = "will be so among others"
    return Note(path, reference.line, f"`{reference.target}` {before} and {after}")
