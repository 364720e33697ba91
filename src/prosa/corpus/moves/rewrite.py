"""The edits of one document: each place that would no longer name what it named gets another name.

In: a reading, the move, the world before and after. Out: edits of the names alone, or `MoveRefused` where a notation
has no way to say the new name. Every name that is written was looked up first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from prosa.corpus.moves.move import Move, MoveRefused
from prosa.corpus.moves.paths import like, page_forms, relative, stem_forms
from prosa.corpus.moves.places import Place, places_of
from prosa.corpus.moves.spelling import spelled
from prosa.corpus.moves.world import World
from prosa.corpus.moves.writing import write
from prosa.dialects.reading import DialectReading
from prosa.graph.pages import joined
from prosa.graph.record import Record
from prosa.graph.sites import below
from prosa.source import Edit, Span


def rewritten(reading: DialectReading, path: str, move: Move, before: World, after: World) -> tuple[Edit, ...]:
    """The edits of the document at ``path``, each span once. Raises `MoveRefused`."""
    old, new = before.records[path], after.records[move.path_after(path)]
    edits: dict[Span, str] = {}
    if path == move.path and move.changes_id:
        edits |= _own_id(reading, old, move)
    for place in places_of(reading, old):
        text = _text_for(place, old, new, move, before, after)
        if text is None or place.span in edits:
            continue
        raw = place.span.of(reading.front.source.text)
        written = write(place.syntax, raw, text)
        if written is None:
            raise _unwritable(place, old)
        if written != raw:
            edits[place.span] = written
    return tuple(Edit(span, text) for span, text in sorted(edits.items()))


def _own_id(reading: DialectReading, record: Record, move: Move) -> dict[Span, str]:
    found: dict[Span, str] = {}
    for each in record.definitions:
        span = Span(each.start, each.end)
        if each.kind == "id" and each.name == move.old_id:
            written = write("yaml", span.of(reading.front.source.text), move.new_id)
            if written is not None:
                found[span] = written
    return found


def _text_for(place: Place, old: Record, new: Record, move: Move, before: World, after: World) -> str | None:
    """What the place should say; None where it may stay as it is. Raises `MoveRefused`."""
    was, now = before.lead(old, place.reference), after.lead(new, place.reference)
    mine = old.path == move.path
    if was.to is None:
        return _rebased(place, old, new) if mine else None
    wanted = move.path_after(was.to)
    fits = now.to == wanted and (was.to != move.path or now.tier == was.tier)
    if fits or not (mine or was.to == move.path):
        return None
    text = _best(place, old, new, was.to, move, before, after)
    if text is None:
        raise _unwritable(place, old)
    return text


def _best(place: Place, old: Record, new: Record, target: str, move: Move, before: World, after: World) -> str | None:
    """The first name that leads to the document; one that leads nowhere yet is preferred, so that a move that was cut
    short can be finished by asking for it again."""
    wanted, second = move.path_after(target), None
    for name in _names(place, new, target, wanted, move, after):
        reference = place.reference._replace(target=name)
        if after.lead(new, reference).to != wanted:
            continue
        text = spelled(place.form, place.text, name, spaces=place.spaces)
        if text is None:
            continue
        if before.lead(old, reference).to in (None, target):
            return text
        second = second or text
    return second


def _names(place: Place, new: Record, target: str, wanted: str, move: Move, after: World) -> Iterator[str]:
    reference = place.reference
    if target == move.path and move.changes_id:
        if reference.kind == "path" and reference.target.endswith(move.old_id):
            yield reference.target.removesuffix(move.old_id) + move.new_id
        elif reference.kind != "path":
            yield move.new_id
        return
    if reference.kind == "stem":
        yield from stem_forms(reference.target, target, wanted)
        return
    for form in page_forms(reference.target, target, wanted):
        yield from _path_names(place, new, form, target, after)


def _path_names(place: Place, new: Record, form: str, target: str, after: World) -> Iterator[str]:
    """A path from the root, as the author would write it here."""
    written = place.reference.target
    if place.reference.origin == "ops.graph" and joined("", written) == target:
        yield form  # tools write paths as the corpus knows them
    if written.startswith("/"):
        root = after.sites.root_of(new.path) or ""
        if not root or form.startswith(f"{root}/"):
            yield "/" + below(root, form).lstrip("/")
        return
    yield like(place.path, relative(posixpath.dirname(new.path), form))
    yield like("./", relative(posixpath.dirname(new.path), form))


def _rebased(place: Place, old: Record, new: Record) -> str | None:
    """A relative path that leads to no document, as seen from the new folder."""
    folder, new_folder = posixpath.dirname(old.path), posixpath.dirname(new.path)
    target = place.reference.target
    if place.reference.kind != "path" or target.startswith("/") or folder == new_folder:
        return None
    if place.form not in ("href", "path", "uri", "edge") or place.reference.target.partition(":")[1]:
        return None
    name = like(place.path, relative(new_folder, joined(folder, target)))
    return spelled(place.form, place.text, name, spaces=place.spaces)


def _unwritable(place: Place, record: Record) -> MoveRefused:
    where = f"{record.path}:{place.reference.line}"
    return MoveRefused(
        f"{where}: the reference `{place.reference.target}` has no way to name the document after the move",
        "choose a name without brackets, `|` and `#`, or write that reference as a link first",
    )
