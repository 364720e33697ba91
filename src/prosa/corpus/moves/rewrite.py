"""The edits of one document: each place that would no longer name its target gets another name.

In: a reading, the move, the world before and after. Out: edits of the names alone, or `MoveRefused` if a notation
cannot express the new name. Every new name is looked up first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from prosa.corpus.moves.move import Move, MoveRefused
from prosa.corpus.moves.places import Mention, places_of
from prosa.corpus.moves.world import World
from prosa.corpus.moves.writing import spelled, write
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.names import folded, joined
from prosa.graph.record import Record
from prosa.graph.sites import below
from prosa.source import Edit, Span


def rewritten(reading: DialectReading[object], path: str, move: Move, before: World, after: World) -> tuple[Edit, ...]:
    """Return the edits of the document at ``path``, each span once. Raises `MoveRefused`."""
    old, new = before.records[path], after.records[move.path_after(path)]
    edits: dict[Span, str] = {}
    if path == move.path and move.changes_id:
        edits |= _own_id(reading, old, move)
    for place in places_of(reading, old):
        text = text_for(place, old, new, move, before, after)
        if text is None or place.span in edits:
            continue
        raw = place.span.of(reading.front.source.text)
        written = write(place.syntax, raw, text)
        if written is None:
            raise unwritable(place, old)
        if written != raw:
            edits[place.span] = written
    return tuple(Edit(span, text) for span, text in sorted(edits.items()))


def _own_id(reading: DialectReading[object], record: Record, move: Move) -> dict[Span, str]:
    replacements: dict[Span, str] = {}
    for definition in record.definitions:
        span = Span(definition.start, definition.end)
        if definition.kind == "id" and definition.name == move.old_id:
            written = write("yaml", span.of(reading.front.source.text), move.new_id)
            if written is not None:
                replacements[span] = written
    return replacements


def text_for(place: Mention, old: Record, new: Record, move: Move, before: World, after: World) -> str | None:
    """Return what the place should say; None where it may stay as it is. Raises `MoveRefused`."""
    was, now = before.resolve(old, place.reference), after.resolve(new, place.reference)
    mine = old.path in move.paths
    if was.to is None:
        return _rebased(place, old, new, move) if mine or move.files else None
    wanted = move.path_after(was.to)
    fits = now.to == wanted and (was.to not in move.paths or now.tier == was.tier)
    if fits or not (mine or was.to in move.paths):
        return None
    text = _best(place, old, new, was.to, move, before, after)
    if text is None:
        names = _names(place, new, was.to, wanted, move, after)
        led = ((name, after.resolve(new, place.reference._replace(target=name)).paths) for name in names)
        raise unwritable(place, old, next(((name, paths) for name, paths in led if set(paths) - {wanted}), None))
    return text


def _best(place: Mention, old: Record, new: Record, target: str, move: Move, before: World, after: World) -> str | None:
    """Return the first name that leads to the document; one that leads nowhere yet is preferred, so that a move that
    was cut short can be finished by asking for it again."""
    wanted, second = move.path_after(target), None
    for name in _names(place, new, target, wanted, move, after):
        reference = place.reference._replace(target=name)
        if after.resolve(new, reference).to != wanted:
            continue
        text = spelled(place.form, place.text, name, spaces=place.spaces)
        if text is None:
            continue
        if before.resolve(old, reference).to in (None, target):
            return text
        second = second or text
    return second


def _names(place: Mention, new: Record, target: str, wanted: str, move: Move, after: World) -> Iterator[str]:
    reference = place.reference
    if target == move.path and move.changes_id:
        if reference.kind == "path" and reference.target.endswith(move.old_id):
            yield reference.target.removesuffix(move.old_id) + move.new_id
        elif reference.kind != "path":
            yield move.new_id
        return
    if reference.kind == "stem":
        if move.title[1] and folded(reference.target) == folded(move.title[0]):
            yield move.title[1]
        yield from stem_forms(reference.target, target, wanted)
        return
    for form in page_forms(reference.target, target, wanted):
        yield from _path_names(place, new, form, target, after)


def _path_names(place: Mention, new: Record, form: str, target: str, after: World) -> Iterator[str]:
    """Yield a path from the root, as the author would write it here."""
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


def _rebased(place: Mention, old: Record, new: Record, move: Move) -> str | None:
    """Return a path that leads to no document, as seen from the new folder, to where the file is then."""
    folder, new_folder = posixpath.dirname(old.path), posixpath.dirname(new.path)
    target = place.reference.target
    if place.reference.kind == "stem":
        return _attached(place, move)
    if place.form not in ("href", "path", "uri", "edge") or place.reference.kind != "path" or ":" in target:
        return None
    rooted = target.startswith("/")
    path = joined("", target.lstrip("/")) if rooted else joined(folder, target)
    after = move.file_after(path)
    if after == path and (rooted or folder == new_folder):
        return None
    name = f"/{after}" if rooted else like(place.path, relative(new_folder, after))
    return spelled(place.form, place.text, name, spaces=place.spaces)


def _attached(place: Mention, move: Move) -> str | None:
    """Return a picture that double brackets name by the end of its path."""
    written = place.reference.target.strip("/")
    for old, new in move.files:
        if f"/{old}".endswith(f"/{written}") and posixpath.basename(old) != posixpath.basename(new):
            name = new if "/" in written else posixpath.basename(new)
            return spelled(place.form, place.text, name, spaces=place.spaces)
    return None


def unwritable(place: Mention, record: Record, taken: tuple[str, tuple[str, ...]] | None = None) -> MoveRefused:
    """Return why a place cannot hold its new text; ``taken`` is a name that leads to other documents, with them."""
    where, target = f"{record.path}:{place.reference.line}", place.reference.target
    message = f"{where}: the reference `{target}` has no way to name the document after the move"
    if taken is None:
        return MoveRefused(
            message, "choose a name without brackets, `|` and `#`, or write that reference as a link first"
        )
    name, paths = taken
    message = f"{message}: `{name}` {'is ambiguous among' if len(paths) > 1 else 'leads to'} {', '.join(paths)}"
    return MoveRefused(message, "choose a name that no other document has, or write that reference as a link first")


# Paths of a corpus as text: relative to its root, with `/`. In: paths. Out: one relative to the other. Nothing is
# looked up.

_INDEX = ("index", "readme", "_index")
"""Stems of the documents that are the page of their folder."""


def relative(folder: str, path: str) -> str:
    """Return ``path`` relative to ``folder``; a slash at its end stays. ``path`` may lead out of the root (`../x`)."""
    base = [part for part in folder.split("/") if part not in ("", ".")]
    parts = [part for part in path.split("/") if part not in ("", ".")]
    same = 0
    while same < min(len(base), len(parts)) and base[same] == parts[same]:
        same += 1
    written = "/".join([".."] * (len(base) - same) + parts[same:])
    slash = path.endswith("/") or not parts
    return f"{written or '.'}{'/' if slash else ''}"


def like(written: str, path: str) -> str:
    """Return a relative path with `./` in front where the author wrote one, or where it would read as an address."""
    bare = path.startswith(("./", "../")) or path in (".", "..")
    if bare or not (written.startswith("./") or ":" in path.partition("/")[0]):
        return path
    return f"./{path}"


def page_forms(written: str, old: str, new: str) -> Iterator[str]:
    """Yield how the author may mean the document at ``new``, who wrote ``written`` for the one at ``old``: first in the
    same form (`guide/`, `guide.html`, `guide`), at last with its full name. Paths are relative to the root."""
    name = posixpath.basename(written.rstrip("/"))
    suffix = posixpath.splitext(name)[1]
    stem, old_suffix = posixpath.splitext(posixpath.basename(old))
    if suffix != old_suffix:
        if not _known(suffix):
            suffix = ""
        folder, (new_stem, _) = posixpath.dirname(new), posixpath.splitext(posixpath.basename(new))
        named = posixpath.join(folder, new_stem)
        slash = "/" if written.endswith("/") else ""
        of_folder = [f"{folder}{slash}"] if new_stem.lower() in _INDEX and not suffix and (folder or slash) else []
        of_name = [f"{named}{suffix}{slash}"]
        first = of_name if name.casefold() == f"{stem}{suffix}".casefold() and stem.lower() in _INDEX else of_folder
        yield from first
        yield from (form for form in (*of_folder, *of_name) if form not in first)
    yield new


def stem_forms(written: str, old: str, new: str) -> Iterator[str]:
    """Yield how a wikilink may name the document at ``new``, the shortest first, but with as many folders as the author
    wrote; blanks for hyphens where the author wrote them so."""
    folder, name = posixpath.split(written)
    new_name = posixpath.basename(new)
    if not name.lower().endswith(DOCUMENT_SUFFIXES):
        new_name = posixpath.splitext(new_name)[0]
    folders = [part for part in posixpath.dirname(new).split("/") if part]
    count = len([part for part in folder.split("/") if part])
    names = [new_name]
    if " " in name and "-" in posixpath.basename(old) and " " not in posixpath.basename(old):
        names.insert(0, new_name.replace("-", " "))
    for depth in range(min(count, len(folders)), len(folders) + 1):
        for variant in names:
            yield "/".join((*folders[len(folders) - depth :], variant))


def _known(suffix: str) -> bool:
    """Return whether it is the suffix of a page, and not the end of a name with a dot in it."""
    return suffix.lower() in (".html", ".htm", ".xhtml", ".json", *DOCUMENT_SUFFIXES)
