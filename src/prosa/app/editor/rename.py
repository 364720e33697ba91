"""Renaming what stands at an offset: a document, its id, a heading, a label, a variable, an input of a program.

In: a workspace, a path, an offset and a new name. Out: the edits of every document that names it, all texts as they
stand in the workspace, and the files that move. What cannot be renamed, or would change what something else means, is
refused with a sentence (`MoveRefused`). Nothing is written.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.workspace import Workspace
from prosa.app.corpus.move import plan_for
from prosa.app.editor.changes import DocumentSpan, Edit, edits_between
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.definition import Asked, asked
from prosa.app.editor.names import Name, NameKind, names_in, same_name
from prosa.app.editor.references import heading_at, tested_inputs
from prosa.app.editor.targets import Pointer, targets_of
from prosa.corpus.moves import Change, Move, MoveRefused, NameRefused, Note, changes_of, check_problems, edited
from prosa.corpus.moves.headings import HeadingMove, heading_changes, heading_name
from prosa.corpus.moves.writing import write
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.model import Section
from prosa.graph.records import record_of
from prosa.regex import regex
from prosa.source import Edit as TextEdit
from prosa.source import SourceText, Span, apply_edits
from prosa.source.files import is_hidden

_FORMS: Mapping[NameKind, tuple[re.Pattern[str], str]] = {
    "label": (regex(r"[^\[\]\r\n\\]{1,900}"), "a label is one line without brackets"),
    "footnote": (regex(r"[^\s\[\]`<>\\^]{1,900}"), "the label of a footnote has no blanks and no brackets"),
    "variable": (regex(r"\$?[^\W\d]\w*"), "a variable is `$` and a word of letters, digits and `_`"),
    "input": (regex(r"[^\W\d]\w*"), "an input that a template uses is a word of letters, digits and `_`"),
}


class Renamable(Struct, frozen=True):
    """What can be renamed at an offset: where it stands, and the name that it has."""

    place: DocumentSpan
    name: str


class Renaming(Struct, frozen=True):
    """``edits`` refer to the texts before any move. ``moves`` are the files that move afterwards, as pairs of paths.
    ``notes`` are information for the user, ``sources`` the texts that the edits are for, of many documents."""

    edits: tuple[Edit, ...]
    moves: tuple[tuple[Path, Path], ...] = ()
    notes: tuple[Note, ...] = ()
    sources: Mapping[Path, SourceText] = {}


def renamable(workspace: Workspace, path: Path, offset: int) -> Renamable | None:
    """Return what can be renamed at an offset, if anything."""
    context = asked(workspace, path, offset)
    if context is None:
        return None
    if context.name is not None:
        known = context.name.kind in _FORMS
        return Renamable(_place(path, context.name.span), context.name.shown) if known else None
    if context.pointer is not None:
        return _renamable_target(context, context.pointer)
    if (own := _own_id(context, offset)) is not None:
        return Renamable(_place(path, own[1]), own[0])
    section = heading_at(context.reading, offset)
    span = heading_name(context.reading, section) if section is not None else None
    return Renamable(_place(path, span), span.of(context.reading.front.source.text)) if span is not None else None


def rename(workspace: Workspace, path: Path, offset: int, name: str) -> Renaming:
    """Return the renaming of what stands at an offset. Raises `MoveRefused`, and `FileProblem` for a document that
    cannot be read."""
    context = asked(workspace, path, offset)
    if context is None or renamable(workspace, path, offset) is None:
        raise MoveRefused("there is nothing here that has a name to change")
    if context.name is not None:
        return _local(context, context.name, name.strip())
    if workspace.resident is None:
        raise MoveRefused("the documents of the project are still being read", "ask again in a moment")
    if context.pointer is not None:
        return _target(context, context.pointer, name)
    if context.corpus.facts(context.path) is None:
        raise MoveRefused("this document is not part of the project that is open")
    if (own := _own_id(context, offset)) is not None:
        return _moved(context.corpus, Move(context.path, context.path, own[0], name.strip()))
    section = heading_at(context.reading, offset)
    if section is None:
        raise MoveRefused("there is nothing here that has a name to change")
    return _heading(context.corpus, context.path, section, name)


def renamed_files(workspace: Workspace, files: Iterable[tuple[Path, Path]]) -> Renaming:
    """Return the edits to make before the editor moves files and folders, given as pairs of real paths. Empty if the
    folder is no project, since the references to them are unknown. Raises as `rename` does."""
    if workspace.resident is None:
        raise MoveRefused("the documents of the project are still being read, so links to them stay as they are")
    if not workspace.is_whole:
        return Renaming(())
    corpus = EditorCorpus(workspace)
    documents: dict[str, str] = {}
    others: dict[str, str] = {}
    for old, new in files:
        if not (old.is_relative_to(workspace.root) and new.is_relative_to(workspace.root)):
            continue
        before, after = corpus.path_of(old), corpus.path_of(new)
        if old in workspace.entries:
            documents[before] = after
            continue
        others[before] = after
        inside = (path for path in corpus.paths() if path.startswith(f"{before}/"))
        documents |= {path: after + path[len(before) :] for path in inside}
    if not documents and not others:
        return Renaming(())
    store = corpus if any(map(is_hidden, documents)) else corpus.visible()
    with workspace.disk.held() as held:
        store = replace(store, held=held)
        try:
            changes, notes = changes_of(Move.of(documents, others), store)
            sources = {corpus.real_of(change.path): change.before for change in changes.values()}
            return Renaming(_edits(corpus, changes.values()), notes=notes, sources=sources)
        finally:
            store.forget()


def _place(path: Path, span: Span) -> DocumentSpan:
    return DocumentSpan(path, span.start, span.end)


def _own_id(context: Asked, offset: int) -> tuple[str, Span] | None:
    """Return the id that a document gives itself, where the offset is in it."""
    ids = (
        definition
        for definition in context.reading.definitions()
        if definition.kind == "id" and definition.name.strip()
    )
    return next(((entry.name, entry.span) for entry in ids if entry.span.start <= offset <= entry.span.end), None)


def _renamable_target(context: Asked, pointer: Pointer) -> Renamable | None:
    meant = _meant(context, pointer)
    if meant is None:
        return None
    place, (path, section) = _place(context.real, pointer.span), meant
    if section is not None:
        reading = context.corpus.reading(path)
        span = heading_name(reading, section)
        return Renamable(place, span.of(reading.front.source.text)) if span is not None else None
    if pointer.reference.kind == "id":
        return Renamable(place, pointer.reference.target)
    return Renamable(place, posixpath.splitext(posixpath.basename(path))[0])


def _meant(context: Asked, pointer: Pointer) -> tuple[str, Section | None] | None:
    """Return the one document, and the heading in it, that a pointer leads to."""
    targets = targets_of(context.corpus, context.path, context.reading, pointer)
    if len(targets) != 1:
        return None
    path = context.corpus.path_of(targets[0].whole.path)
    known = context.corpus.facts(path) is not None
    return (path, targets[0].section) if known and (pointer.reference.target or targets[0].section) else None


def _target(context: Asked, pointer: Pointer, name: str) -> Renaming:
    meant = _meant(context, pointer)
    if meant is None:
        raise MoveRefused("this leads to no single document that could be renamed")
    path, section = meant
    if section is not None:
        return _heading(context.corpus, path, section, name)
    if pointer.reference.kind == "id":
        return _moved(context.corpus, Move(path, path, pointer.reference.target, name.strip()))
    return _moved(context.corpus, Move(path, _new_path(path, name.strip())))


def _new_path(path: str, name: str) -> str:
    """Return where a document goes that gets a new name: beside the old one, unless the name has folders."""
    if not name or name.endswith("/"):
        raise NameRefused("a document needs a name", "write one, with or without its suffix")
    if not name.lower().endswith(DOCUMENT_SUFFIXES):
        name += posixpath.splitext(path)[1]
    if name.startswith("/"):
        return posixpath.normpath(name.lstrip("/"))
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def _moved(corpus: EditorCorpus, move: Move) -> Renaming:
    if not corpus.workspace.is_whole:
        raise MoveRefused(
            "the folder is too large to be read as one project, so references to this document could be missed",
            "a file prosa.toml in the folder of your documents makes them a project",
        )
    plan = plan_for(move, corpus)
    changes = [*plan.others, plan.moved]
    moves = () if move.changes_id else ((corpus.real_of(move.path), corpus.root / move.new_path),)
    return Renaming(_edits(corpus, changes), moves, plan.notes)


def _heading(corpus: EditorCorpus, path: str, section: Section, name: str) -> Renaming:
    move = HeadingMove(path, section.heading.span.start, " ".join(name.split()))
    changes, notes = heading_changes(move, corpus if is_hidden(path) else corpus.visible())
    return Renaming(_edits(corpus, changes.values()), notes=notes)


def _edits(corpus: EditorCorpus, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """Return the edits of all changed documents, narrow ones where no further changes follow from them (X22)."""
    edits: list[Edit] = []
    for change in changes:
        real, text = corpus.real_of(change.path), change.before.text
        if change.edits and apply_edits(text, change.edits) == change.after:
            edits += [Edit(real, edit.span.start, edit.span.end, edit.replacement) for edit in change.edits]
        else:
            edits += edits_between(real, text, change.after)
    return tuple(sorted(edits))


def _local(context: Asked, name: Name, new: str) -> Renaming:
    """Return a name that no other document knows."""
    pattern, demand = _FORMS[name.kind]
    if not pattern.fullmatch(new) or not new.strip():
        raise NameRefused(demand, "choose another name")
    if name.kind == "variable" and not new.startswith("$"):
        new = f"${new}"
    places = same_name(context.names, name)
    if new == name.shown and all(place.shown == new for place in places):
        raise NameRefused(f"the name is `{new}` already")
    if taken := _taken(context, name, new):
        raise NameRefused(f"`{taken}` is the name of something else here already", "choose another name")
    edits = [edit for one in places if (edit := _edit(context, one, new)) is not None]
    reading = context.reading
    text = edited(context.corpus, context.path, reading, edits)
    _check_local(context, name, new, text)
    change = Change(context.path, context.path, reading.front.source, text, tuple(edits))
    others = _in_tests(context, name, new) if name.kind == "input" else ()
    return Renaming(_edits(context.corpus, [change, *others]))


def _in_tests(context: Asked, name: Name, new: str) -> Iterator[Change]:
    """Yield the tests that give a program an input, which has another name now."""
    corpus = context.corpus
    if corpus.workspace.resident is None:
        raise MoveRefused("the documents of the project are still being read", "ask again in a moment")
    by_path: dict[str, list[TextEdit]] = {}
    for place in tested_inputs(corpus, context.path, name.key):
        written = write(place.syntax, place.span.of(corpus.reading(place.path).front.source.text), new)
        if written is not None:
            by_path.setdefault(place.path, []).append(TextEdit(place.span, written))
    for path, edits in by_path.items():
        reading = corpus.reading(path)
        text = edited(corpus, path, reading, edits)
        check_problems(path, reading, corpus.reread(path, text))
        yield Change(path, path, reading.front.source, text, tuple(edits))


def _key(name: Name, new: str) -> str:
    """Return the key that a name has after it was renamed; of variables only what they are called."""
    if name.kind in ("label", "footnote"):
        return label_key(new)
    if name.kind == "variable":
        return f"{new}@"
    return f"{name.key.rpartition('/')[0]}/{new}"


def _taken(context: Asked, name: Name, new: str) -> str:
    key = _key(name, new)
    for item in context.names:
        known = f"{item.shown}@" if item.kind == "variable" else item.key
        if item.kind == name.kind and item.key != name.key and known == key:
            return item.shown
    return ""


def _edit(context: Asked, name: Name, new: str) -> TextEdit | None:
    span, text = name.place, context.reading.front.source.text
    if name.kind == "input" and span.start < context.reading.front.body.start:
        written = write("yaml", span.of(text), new)
        return TextEdit(span, written) if written is not None and written != span.of(text) else None
    return TextEdit(span, f"{name.before}{new}{name.after}") if span.of(text) != new else None


def _check_local(context: Asked, name: Name, new: str, text: str) -> None:
    """Require that the new text reads back with the same references, and with the same names but for this one."""
    again = context.corpus.reread(context.path, text)
    check_problems(context.path, context.reading, again)
    key, now = _key(name, new), names_in(again)
    was = [(item.kind, key if item.key == name.key else item.key) for item in context.names if item.kind != "variable"]
    same = sorted(was) == sorted((item.kind, item.key) for item in now if item.kind != "variable")
    count = [item.kind for item in context.names] == [item.kind for item in now]
    references = [record_of(reading, context.path).references for reading in (context.reading, again)]
    signatures = [[(link.origin, link.kind, link.target, link.fragment) for link in some] for some in references]
    if not (same and count and signatures[0] == signatures[1]):
        raise MoveRefused(f"with the name `{new}` the document would not read back as before", "choose another name")
