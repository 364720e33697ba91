"""A plan being drafted: the new text of each affected document, read again as it will be read.

In: the move, the store, the world before and the expected world. Out: `Change`s, with the records of the new texts. A
document that differs from the index is refused: it has just changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.corpus.moves.move import Move
from prosa.corpus.moves.rewrite import rewritten
from prosa.corpus.moves.store import DocumentStore
from prosa.corpus.moves.world import World
from prosa.corpus.moves.writing import write
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.regions import Region, marker
from prosa.dialects.magi.result_text import digest, is_edited, marks_of, shown_text
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI, YMJ
from prosa.dialects.ymj.model import YmjModel
from prosa.graph.record import Record, Reference
from prosa.graph.records import record_of
from prosa.regex import regex
from prosa.source import Edit, FileProblem, SourceText, Span, apply_edits


class Change(Struct, frozen=True):
    """A document whose text or path changes. ``edits`` are the rewritten places of ``before``; ``after`` also updates
    valid hashes (X22)."""

    path: str
    new_path: str
    before: SourceText
    after: str
    edits: tuple[Edit, ...]


class Draft(Struct):
    """What has been made so far: the changes, and the readings before and after, by the old path."""

    move: Move
    store: DocumentStore
    before: World
    expected: World
    changes: dict[str, Change] = field(default_factory=dict)
    readings: dict[str, tuple[DialectReading[object], DialectReading[object]]] = field(default_factory=dict)

    def add(self, path: str) -> None:
        """Rewrite what must be rewritten in a document. Raises `MoveRefused`, `FileProblem`."""
        reading = self.store.reading(path)
        _check_known(reading, self.before.records[path])
        edits = rewritten(reading, path, self.move, self.before, self.expected)
        self._put(path, reading, edited(self.store, path, reading, edits), edits)

    def keep_attachments(self) -> None:
        """Bring the hashes of attachments up to date where they were true (Y14)."""
        digests = {path: change.before.digest for path, change in self.changes.items()}
        texts = {path: change.after for path, change in self.changes.items() if change.after != change.before.text}
        for path, text in kept_attachments(self.before, digests, texts, self._record).items():
            change = self.changes.get(path)
            reading = self.readings[path][0] if change else self.store.reading(path)
            self._put(path, reading, text, change.edits if change else ())

    def records(self) -> dict[str, Record]:
        """Return the records of the changed documents, by the old path."""
        return {path: record_of(again, self.move.path_after(path)) for path, (_, again) in self.readings.items()}

    def _put(self, path: str, reading: DialectReading[object], text: str, edits: tuple[Edit, ...]) -> None:
        new_path = self.move.path_after(path)
        self.readings[path] = reading, self.store.reread(new_path, text)
        self.changes[path] = Change(path, new_path, reading.front.source, text, edits)

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
    places = [[_place(each) for each in some.references] for some in (now, record)]
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
    current, told, made = dict(texts), dict(digests), dict[str, str]()
    waiting = list(texts)
    for _ in range(MAX_ROUNDS):
        changed: dict[str, None] = {}
        for path in waiting:
            digest = _digest(current[path])
            for holder in _holders(world, path) if digest != told.get(path) else ():
                model = model_of(holder, current.get(holder))
                text = apply_edits(model.source.text, _edits(model, told[path], digest))
                if text != model.source.text:
                    told.setdefault(holder, model.source.digest)
                    current[holder] = made[holder] = text
                    changed[holder] = None
            told[path] = digest
        waiting = list(changed)
        if not waiting:
            break
    return made


def _holders(world: World, path: str) -> Iterator[str]:
    """Yield the records that attach a document, once for each reference to it."""
    for record in world.asking(world.keys(path), "ymj"):
        if record.path != path:
            for each in record.references:
                if each.rel == "attachment" and world.lead(record, each).to == path:
                    yield record.path


def _edits(model: YmjModel, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits that replace the old hash wherever a list of attachments has it."""
    for each in model.attachments:
        if each.sha256 is not None and each.sha256_span is not None and each.sha256.strip().lower() == old:
            written = write("yaml", each.sha256_span.of(model.source.text), new)  # in double quotes it is JSON as well
            if written is not None:
                yield Edit(each.sha256_span, written)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
