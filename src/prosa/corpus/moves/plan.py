"""The plan of a move: every text that changes, and what the reader should know. Nothing is written here.

In: a `Move` and a `DocumentStore`. Out: `Plan`, or `MoveRefused`. The plan holds because it was tried: the changed
texts are read again, and every reference of the corpus leads where it led before, but for the new name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from prosa.corpus.moves.checks import check_move, check_result, notes_of
from prosa.corpus.moves.draft import Change, Draft
from prosa.corpus.moves.effects import Effects, Note, effects
from prosa.corpus.moves.move import Move
from prosa.corpus.moves.store import DocumentStore
from prosa.corpus.moves.world import World
from prosa.graph.names import Key
from prosa.graph.record import Record
from prosa.source.url import PATH_SAFE


class Plan(Struct, frozen=True):
    """``others`` are the documents that only refer, in the order of their paths; ``moved`` is the document itself."""

    move: Move
    moved: Change
    others: tuple[Change, ...]
    notes: tuple[Note, ...]

    @property
    def count(self) -> int:
        """The total number of rewritten places."""
        return sum(len(change.edits) for change in (*self.others, self.moved))


def plan_move(move: Move, store: DocumentStore) -> Plan:
    """Return the plan of a move of one document. Raises `MoveRefused`, and `FileProblem` for a document that cannot be
    read any more."""
    changes, notes = changes_of(move, store)
    others = (change for path, change in changes.items() if path != move.path)
    return Plan(move, changes[move.path], tuple(each for each in others if each.after != each.before.text), notes)


def changes_of(move: Move, store: DocumentStore) -> tuple[dict[str, Change], tuple[Note, ...]]:
    """Return what becomes of every document that a move concerns, by the path before, in order; and notes. Raises as
    `plan_move` does."""
    before = store.world()
    check_move(move, before)
    expected = before.with_records({path: _expected(before.records[path], move) for path in move.paths})
    found = effects(move, before, expected, touched(before, expected, move.paths))
    found.refuse()
    draft = Draft(move, store, before, expected)
    for path in sorted({*found.referring, *_mentioning(move, store), *move.paths} & before.records.keys()):
        draft.add(path)
    draft.keep_attachments()
    records = draft.records()
    after = before.with_records(records)
    own = tuple(check_result(move, before, after, draft.readings))
    found = _rest(move, before, after, expected, records, found)
    notes = tuple(dict.fromkeys((*found.notes, *own, *notes_of(move, before, after))))
    return {path: draft.changes[path] for path in sorted(draft.changes)}, notes


def _mentioning(move: Move, store: DocumentStore) -> Iterator[str]:
    """Yield the documents that may name the one that moves in a way that is no reference."""
    if not move.changes_id:
        names = frozenset(name for path in (*move.paths, *(old for old, _ in move.files)) for name in stems(path))
        mentioned = mentions(names, wikilinks=bool(move.files))
        yield from (path for path, text in store.texts(names) if mentioned(text))


def _expected(record: Record, move: Move) -> Record:
    """Return the record of the moved document before its own references are read."""
    definitions = tuple(
        each._replace(name=move.new_id) if each.kind == "id" and each.name == move.old_id else each
        for each in record.definitions
    )
    known = definitions if move.changes_id else record.definitions
    return replace(record, path=move.path_after(record.path), definitions=known)


def touched(before: World, after: World, paths: Mapping[str, str]) -> frozenset[Key] | None:
    """Return the keys with another result than before, after the documents at ``paths`` changed; None means all, since
    the sites changed."""
    if before.sites != after.sites:
        return None
    found: set[Key] = set()
    for path, new_path in paths.items():
        old, new = before.keys(path), after.keys(new_path)
        found |= old ^ new
        if path != new_path:  # folders decide between documents of one name
            found |= {key for key in old | new if key.space not in ("path", "site", "url")}
    return frozenset(found)


def _rest(
    move: Move, before: World, after: World, expected: World, records: Mapping[str, Record], found: Effects
) -> Effects:
    """Return the effects again, where the new texts are known by other names than was expected: a link in a title
    changed."""
    changed = touched(before, after, {path: record.path for path, record in records.items()})
    known = touched(before, expected, move.paths)
    if known is None or (changed is not None and changed <= known):
        return found
    again = effects(move, before, after, changed, leave_out=frozenset(records))
    again.refuse()
    return again


# Places that name a document without being edges: images, attributes of HTML, unused link definitions. They still
# break if a file moves. In: the names of documents. Out: whether a text may contain one. False positives are possible;
# the purpose is to leave most texts unread.

_REACH = 300
"""Characters of a destination in front of the name of the file; a bound that keeps the search linear."""


def mentions(names: Collection[str], *, wikilinks: bool = False) -> Callable[[str], bool]:
    """Return whether a text has one of some names in a destination; ``wikilinks`` includes double brackets."""
    before = r"(?:\b(?:[Hh][Rr][Ee][Ff]|[Ss][Rr][Cc])\s{0,9}=\s{0,9}[\"']|\]\(\s{0,9}<?|\]:\s{0,9}<?)"
    before = rf"(?:{before}|\[\[)" if wikilinks else before
    pattern = re.compile(rf"{before}[^\"'<>\n]{{0,{_REACH}}}?(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    return lambda text: any(name in text for name in names) and pattern.search(text) is not None


def stems(path: str) -> frozenset[str]:
    """Return the stem of ``path`` in each spelling that a destination may use."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    if stem.lower() in ("index", "readme", "_index"):
        stem = posixpath.basename(posixpath.dirname(path)) or stem  # a page may be named by its folder alone
    return frozenset((stem, quote(stem), quote(stem, safe=PATH_SAFE)))
