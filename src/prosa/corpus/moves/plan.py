"""The plan of a move: the new text of each affected document, read again as it will be read. Nothing is written.

In: a `Move` and a `DocumentStore`. Out: `Plan`, or `MoveRefused`. The plan holds because it was tried: the changed
texts are read again, and every reference of the corpus leads where it led before, but for the new name.

A document that differs from the index is refused: it has just changed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.corpus.moves.checks import Effects, Note, ReadingSummary, check_move, check_result, effects, notes_of
from prosa.corpus.moves.move import Move, MoveRefused
from prosa.corpus.moves.rewrite import rewritten
from prosa.corpus.moves.world import DocumentStore, World
from prosa.corpus.moves.writing import write
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import Region, marker
from prosa.dialects.magi.result_text import digest, is_edited, marks_of, shown_text
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI, YMJ
from prosa.dialects.ymj.model import YmjModel
from prosa.graph.names import Key
from prosa.graph.record import Record, Reference
from prosa.graph.records import record_of
from prosa.regex import any_of, regex
from prosa.source import Edit, FileProblem, SourceText, Span, apply_edits
from prosa.source.files import sha256
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
    return Plan(
        move, changes[move.path], tuple(change for change in others if change.after != change.before.text), notes
    )


def changes_of(move: Move, store: DocumentStore) -> tuple[dict[str, Change], tuple[Note, ...]]:
    """Return what becomes of every document that a move concerns, by the path before, in order; and notes. Raises as
    `plan_move` does."""
    before = store.world()
    check_move(move, before)
    expected = before.with_records({path: _expected(before.outline(path), move) for path in move.paths})
    draft = Draft(move, store, before, expected)
    known = touched(before, expected, move.paths)
    consequences = effects(move, before, expected, known, found=draft.attempt)
    consequences.refuse()
    draft.add_all({*consequences.referring, *_mentioning(move, store), *move.paths})
    draft.keep_attachments()
    after = before.with_records(draft.records)
    own = tuple(check_result(move, before, after, draft.readings))
    consequences = _rest(move, before, after, known, draft.records, consequences)
    notes = tuple(dict.fromkeys((*consequences.notes, *own, *notes_of(move, before, after))))
    return {path: draft.changes[path] for path in sorted(draft.changes)}, notes


def _mentioning(move: Move, store: DocumentStore) -> Iterator[str]:
    """Yield the documents that may name the one that moves other than by a reference."""
    if not move.changes_id:
        names = frozenset(name for path in (*move.paths, *(old for old, _ in move.files)) for name in stems(path))
        mentioned = mentions(names, wikilinks=bool(move.files))
        yield from (path for path, text in store.texts(names) if mentioned(text))


def _expected(record: Record, move: Move) -> Record:
    """Return the record of the moved document before its own references are read."""
    definitions = tuple(
        definition._replace(name=move.new_id)
        if definition.kind == "id" and definition.name == move.old_id
        else definition
        for definition in record.definitions
    )
    known = definitions if move.changes_id else record.definitions
    return replace(record, path=move.path_after(record.path), definitions=known)


def touched(before: World, after: World, paths: Mapping[str, str]) -> frozenset[Key] | None:
    """Return the keys with another result than before, after the documents at ``paths`` changed; None means all, since
    the sites changed."""
    if before.sites != after.sites:
        return None
    keys: set[Key] = set()
    for path, new_path in paths.items():
        old, new = before.keys(path), after.keys(new_path)
        keys |= old ^ new
        if path != new_path:  # folders decide between documents of one name
            keys |= {key for key in old | new if key.space not in ("path", "site", "url")}
    return frozenset(keys)


def _rest(
    move: Move,
    before: World,
    after: World,
    known: frozenset[Key] | None,
    records: Mapping[str, Record],
    consequences: Effects,
) -> Effects:
    """Return the effects again, where the new texts are known by other names than was expected: a link in a title
    changed. ``known`` are the keys that were touched then."""
    changed = touched(before, after, {path: record.path for path, record in records.items()})
    if known is None or (changed is not None and changed <= known):
        return consequences
    again = effects(move, before, after, changed, leave_out=frozenset(records))
    again.refuse()
    return again


# Places that name a document without being edges: images, attributes of HTML, unused link definitions. They still
# break if a file moves. In: the names of documents. Out: whether a text may contain one. False positives are possible;
# the purpose is to leave most texts unread.

_REACH = 300
"""Characters of a destination in front of the name of the file; a bound that keeps the search linear."""

_LONGEST = 24
"""Characters in which a destination begins, at most."""

_BEGIN = r"\b(?:[Hh][Rr][Ee][Ff]|[Ss][Rr][Cc])\s{0,9}=\s{0,9}[\"']|\]\(\s{0,9}<?|\]:\s{0,9}<?"
_BEGINS = regex(rf"(?:{_BEGIN})[^\"'<>\n]{{0,{_REACH}}}\Z")
_BEGINS_WIDELY = regex(rf"(?:{_BEGIN}|\[\[)[^\"'<>\n]{{0,{_REACH}}}\Z")
"""A destination up to a name in it."""


def mentions(names: Collection[str], *, wikilinks: bool = False) -> Callable[[str], bool]:
    """Return whether a text has one of some names in a destination; ``wikilinks`` includes double brackets."""
    named = re.compile(rf"{any_of(names)}(?![\w-])").search
    begins = (_BEGINS_WIDELY if wikilinks else _BEGINS).search

    def mentioned(text: str) -> bool:
        match = named(text)
        while match is not None:  # names are rarer than destinations
            start = match.start()
            if begins(text, max(0, start - _REACH - _LONGEST), start) is not None:
                return True
            match = named(text, start + 1)
        return False

    return mentioned


def stems(path: str) -> frozenset[str]:
    """Return the stem of ``path`` in each spelling that a destination may use."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    if stem.lower() in ("index", "readme", "_index"):
        stem = posixpath.basename(posixpath.dirname(path)) or stem  # a page may be named by its folder alone
    return frozenset((stem, quote(stem), quote(stem, safe=PATH_SAFE)))


# A plan being drafted: the new text of each affected document, read again as it will be read.


class Change(Struct, frozen=True):
    """A document whose text or path changes. ``edits`` are the rewritten places of ``before``; ``after`` also updates
    valid hashes (X22)."""

    path: str
    new_path: str
    before: SourceText
    after: str
    edits: tuple[Edit, ...]


class Draft(Struct):
    """What has been made so far, by the old path: the changes, the new records, and what was read before and after."""

    move: Move
    store: DocumentStore
    before: World
    expected: World
    changes: dict[str, Change] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    readings: dict[str, tuple[ReadingSummary, ReadingSummary]] = field(default_factory=dict)
    failed: dict[str, MoveRefused | FileProblem] = field(default_factory=dict)

    def attempt(self, path: str) -> None:
        """Do what `add` does; `add_all` raises what it would raise."""
        try:
            self.add(path)
        except (MoveRefused, FileProblem) as problem:
            self.failed[path] = problem

    def add_all(self, paths: Collection[str]) -> None:
        """Rewrite what must be rewritten in some documents, those that were attempted included. Raises as `add`
        does."""
        for path in sorted(paths):
            if path in self.failed:
                raise self.failed[path]
            # One by one: to see whether a document is there may read it, and so does its change.
            if path not in self.changes and path in self.before.records:
                self.add(path)
        self.changes = {path: self.changes[path] for path in sorted(self.changes)}
        self.readings = {path: self.readings[path] for path in self.changes}

    def add(self, path: str) -> None:
        """Rewrite what must be rewritten in a document. Raises `MoveRefused`, `FileProblem`."""
        reading, record = self.store.reading(path), self.before.records[path]
        if not self.store.is_of_record(path, reading):
            _check_known(reading, record)
        edits = rewritten(reading, path, self.move, self.before, self.expected)
        self._put(path, reading, edited(self.store, path, reading, edits), edits)

    def keep_attachments(self) -> None:
        """Bring the hashes of attachments up to date where they were true (Y14)."""
        digests = {path: change.before.digest for path, change in self.changes.items()}
        texts = {path: change.after for path, change in self.changes.items() if change.after != change.before.text}
        for path, text in kept_attachments(self.before, digests, texts, self._record).items():
            change = self.changes.get(path)
            if change is None:
                self._put(path, self.store.reading(path), text, ())
            else:
                self._note(path, self.readings[path][0], self.store.reread(change.new_path, text))
                self.changes[path] = replace(change, after=text)

    def _put(self, path: str, reading: DialectReading[object], text: str, edits: tuple[Edit, ...]) -> None:
        new_path, source = self.move.path_after(path), replace(reading.front.source)  # without what was made of it
        again = reading
        if new_path != path or text != source.text:
            again = self.store.reread(new_path, text, reading)
        self._note(path, ReadingSummary.of(reading), again)
        self.changes[path] = Change(path, new_path, source, text, edits)

    def _note(self, path: str, was: ReadingSummary, again: DialectReading[object]) -> None:
        self.records[path] = record_of(again, self.move.path_after(path))
        self.readings[path] = was, ReadingSummary.of(again)

    def _record(self, path: str, text: str | None) -> YmjModel:
        model = (self.store.reading(path) if text is None else self.store.reread(path, text)).model_of(YMJ)
        assert model is not None, "only a record has attachments"
        return model


def edited(store: DocumentStore, path: str, reading: DialectReading[object], edits: Sequence[Edit]) -> str:
    """Return the new text of a document. Hashes of itself that were true stay true."""
    source = reading.front.source
    if not edits:
        return source.text
    text = apply_edits(source.text, edits)
    text = apply_edits(text, reading.dialect.after_fix(source, SourceText(text, source.path)))
    model = reading.model_of(MAGI)
    after = store.reread(path, text).model_of(MAGI) if model is not None and model.regions else None
    return apply_edits(text, kept_results(model, edits, after)) if model is not None and after is not None else text


def _check_known(reading: DialectReading[object], record: Record) -> None:
    """Raise `FileProblem` if a document differs from its record."""
    now = record_of(reading, record.path)
    places = [[_place(reference) for reference in some.references] for some in (now, record)]
    if now.definitions != record.definitions or places[0] != places[1]:
        path = Path(reading.front.source.path)
        raise FileProblem(path, "changed", "changed while the move was planned; nothing was written. Run it again")


def _place(reference: Reference) -> tuple[object, ...]:
    return reference.origin, reference.target, reference.start, reference.end


# Results of ai-scripts in which a link was rewritten: their markers are updated (X19, X22). In: the reading of a MAGI
# document before, the edits made in it, the reading after. Out: edits of the text after. A result edited by hand stays
# marked as such.

_LINE_END = regex(r"\r\n|\n|\r")


def kept_results(before: MagiModel, edits: Sequence[Edit], after: MagiModel) -> Iterator[Edit]:
    """Yield the first markers of the regions that ``edits`` touched, if they were valid before."""
    for was, now in zip(before.regions, after.regions, strict=False):
        inside = [edit for edit in edits if was.content.start <= edit.span.start < was.content.end]
        if not inside or is_edited(before, was):
            continue
        about = replace(now.about, written=digest(shown_text(after, now)), escaped=_moved(before, was, inside))
        line = after.source.slice(now.opening)
        start = now.opening.start + len(line) - len(line.lstrip())
        yield Edit(Span(start, start + len(line.strip())), marker(about))


def _moved(model: MagiModel, region: Region, edits: Sequence[Edit]) -> tuple[int, ...]:
    """Return the places of the backslashes in the original result, after edits that change its length. Inside a
    quotation or a list they stay unchanged: restoring ignores places without a backslash."""
    places = list(region.about.escaped)
    if not places or marks_of(model.source, region.span.start):
        return region.about.escaped
    for edit in reversed(edits):
        at = _offset(model, region, edit.span.start)
        change = len(edit.replacement) - len(edit.span)
        places = [place + change if place + number > at else place for number, place in enumerate(places)]
    return tuple(places)


def _offset(model: MagiModel, region: Region, place: int) -> int:
    """Return the offset of a place of the source in the text that the region shows."""
    content = _LINE_END.sub("\n", model.source.text[region.content.start : place]).removeprefix("\n")
    first, line_end, rest = content.partition("\n")
    return len(rest) if line_end and not first.strip(" \t") else len(content)


# Hashes of attachments that a move rewrites: valid ones stay valid (Y14, Y19, X22).  In: the new texts so far. Out:
# new texts of records that carry such a hash. A record changed this way may itself be attached to another one: that is
# followed too, but not around a cycle, which cannot have valid hashes.

MAX_ROUNDS = 20
"""Records attached to records attached to records; a longer chain is a circle."""


def kept_attachments(
    world: World, digests: Mapping[str, str], texts: Mapping[str, str], model_of: Callable[[str, str | None], YmjModel]
) -> dict[str, str]:
    """Return the new texts of records, by path. ``digests`` are those of the files before, ``texts`` the new texts,
    both by the old path; ``model_of`` reads a record, with a new text or its own."""
    current, known, made = dict(texts), dict(digests), dict[str, str]()
    waiting = list(texts)
    for _ in range(MAX_ROUNDS):
        changed: dict[str, None] = {}
        for path in waiting:
            digest = _digest(current[path])
            for holder in _holders(world, path) if digest != known.get(path) else ():
                model = model_of(holder, current.get(holder))
                text = apply_edits(model.source.text, _edits(model, known[path], digest))
                if text != model.source.text:
                    known.setdefault(holder, model.source.digest)
                    current[holder] = made[holder] = text
                    changed[holder] = None
            known[path] = digest
        waiting = list(changed)
        if not waiting:
            break
    return made


def _holders(world: World, path: str) -> Iterator[str]:
    """Yield the records that attach a document, once for each reference to it."""
    for record in world.asking(world.keys(path), "ymj"):
        if record.path != path:
            for reference in record.references:
                if reference.rel == "attachment" and world.resolve(record, reference).to == path:
                    yield record.path


def _edits(model: YmjModel, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits that replace the old hash wherever a list of attachments has it."""
    for attachment in model.attachments:
        span = attachment.sha256_span
        if attachment.sha256 is not None and span is not None and attachment.sha256.strip().lower() == old:
            written = write("yaml", span.of(model.source.text), new)  # in double quotes it is JSON as well
            if written is not None:
                yield Edit(span, written)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
