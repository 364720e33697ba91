"""Carrying a move out: the files that a plan changes, in an order that can be interrupted anywhere and continued.

In: a plan and the root of its paths. Out: files. First every referring document, then the new file, the old one last:
after a crash, the same move finishes it. On any error everything written is restored. A file changed since it was read
is never overwritten.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import FileChanged, RootedFiles, cache_dir, private_dir, replace_file
from prosa.adapters.files.read import digest_bytes, real_path
from prosa.adapters.files.walk import ignored_in
from prosa.corpus.moves import Change, DocumentStore, Move, MoveRefused, NameRefused, Plan, plan_move
from prosa.corpus.moves.checks import Note
from prosa.source import Edit, FileProblem, SourceText, Span
from prosa.source.files import is_hidden, sha256

_MAX_DIGESTED = 256 * 1024 * 1024
"""Bytes of a file that may be a document of a move."""

Documents = TypeVar("Documents", bound="MovableDocuments")


class MovableDocuments(DocumentStore, Protocol):
    """The documents that a move is planned among: of an index, or of an editor."""

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        ...

    def paths(self) -> Sequence[str]:
        """Return the paths of these documents, in order."""
        ...

    def visible(self: Documents) -> Documents:
        """Return the same without what lies in hidden folders."""
        ...

    def without(self: Documents, *paths: str) -> Documents:
        """Return the same without some documents."""
        ...


class NotPutBack(OSError):
    """A move failed, and so did restoring the files written before. The message names the files."""


def plan_for(move: Move, store: MovableDocuments, journal: Journal | None = None) -> Plan:
    """Return the plan of a move of files. Raises `MoveRefused` and `FileProblem`.

    An interrupted move continues with the plan in its ``journal``. Without one, an existing new file that equals the
    plan's result comes from such a move. Documents in hidden folders only take part if one of them moves.
    """
    if not is_hidden(move.path):
        visible = store.visible()
        plan = _plan_among(move, visible, journal)
        return replace(plan, notes=(*plan.notes, *_left_alone(move, store, visible)))
    return _plan_among(move, store, journal)


def _left_alone(move: Move, store: MovableDocuments, visible: MovableDocuments) -> Iterator[Note]:
    """Yield the documents in hidden folders that name the one that moves: they are written only when one of them
    moves."""
    name = move.old_id if move.changes_id else Path(move.path).stem
    for path, text in store.without(*visible.paths()).texts((name,)):
        if (at := text.find(name)) >= 0:
            line = text.count("\n", 0, at) + 1
            yield Note(path, line, f"mentions `{name}` and is left as it is: it lies in a hidden folder")


def _plan_among(move: Move, store: MovableDocuments, journal: Journal | None) -> Plan:
    kept = journal.read() if journal else None
    if kept is not None and kept.move == move and is_under_way(kept, store.root):
        return kept
    if move.changes_id:
        return plan_move(move, store)
    _check_places(move, store.root)
    new = store.root / move.new_path
    if not os.path.lexists(new) or _only_case(store.root / move.path, new):
        return plan_move(move, store)
    taken = NameRefused(f"{move.new_path} exists already", "choose another name, or remove that file first")
    try:
        plan = plan_move(move, store.without(move.new_path))
    except MoveRefused:
        raise taken from None
    if _digest(new) != _digest_of(plan.moved.after):
        raise taken
    return plan


def is_under_way(plan: Plan, root: Path) -> bool:
    """Return whether every file is as the plan found it or as it leaves it, and the last step is not done."""
    return not _changed(plan, root) and _digest(root / plan.moved.path) == plan.moved.before.digest


def carry_out(plan: Plan, root: Path, journal: Journal | None = None) -> None:
    """Write what the plan says; ``journal`` stores it meanwhile. Raises `FileChanged` if a file changed since it was
    read, `OSError` for errors of the system: then everything is restored, or `NotPutBack` names what is not."""
    changed = _changed(plan, root)
    if changed:
        raise FileChanged(changed[0])
    if journal is not None:
        journal.write(plan)
    work = Work(root)
    try:
        for _ in work.steps(plan):
            pass
    except BaseException as error:
        left = work.put_back()
        if left:
            raise NotPutBack(f"{error}; these files could not be put back: {', '.join(left)}") from error
        _forget(journal)
        raise
    _forget(journal)


def _forget(journal: Journal | None) -> None:
    if journal is not None:
        journal.remove()


class Work(Struct):
    """A move in progress: ``undo`` reverts its steps, each with its file."""

    root: Path
    undo: list[tuple[str, Callable[[], object]]] = field(default_factory=list)

    def steps(self, plan: Plan) -> Iterator[str]:
        """Yield every step when it is done, with the path that was written or removed."""
        for change in plan.others:
            yield self._replaced(change)
        old, new = self.root / plan.moved.path, self.root / plan.moved.new_path
        if plan.move.changes_id or _only_case(old, new):
            yield self._replaced(plan.moved)
            if old != new:
                old.rename(new)
                self.undo.append((plan.moved.new_path, partial(new.rename, old)))
                yield plan.moved.new_path
            return
        yield self._created(plan.moved, old, new)
        if _digest(old) != plan.moved.before.digest:
            raise FileChanged(old)
        self.undo.append((plan.moved.path, partial(_restored, old, new, plan.moved.before.text)))
        old.unlink()
        yield plan.moved.path

    def put_back(self) -> list[str]:
        """Take everything back, the last first, and return the files where that failed."""
        left: list[str] = []
        for path, back in reversed(self.undo):
            try:
                back()
            except (OSError, FileProblem):
                left.append(path)
        return left

    def _replaced(self, change: Change) -> str:
        path = self.root / change.path
        self.undo.append((change.path, partial(_text_back, path, change)))
        if _digest(path) != _digest_of(change.after):
            replace_file(path, change.after, expect_digest=change.before.digest)
        return change.path

    def _created(self, change: Change, old: Path, new: Path) -> str:
        """Return the new file, with the mode of the old one; the same file under a second name where its text stays."""
        self._make_folders(new.parent)
        self.undo.append((change.new_path, partial(_gone, new, _digest_of(change.after))))
        if not os.path.lexists(new):
            if change.after == change.before.text and _linked(old, new):
                return change.new_path
            replace_file(new, change.after, expect_digest="")
        shutil.copymode(old, new)
        return change.new_path

    def _make_folders(self, folder: Path) -> None:
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self.undo.append((str(path), path.rmdir))


def _text_back(path: Path, change: Change) -> None:
    """Put the old text back where the new one is there. What another process wrote meanwhile stays."""
    if _digest(path) != change.before.digest:
        replace_file(path, change.before.text, expect_digest=_digest_of(change.after))


def _gone(path: Path, digest: str) -> None:
    """Remove a file that this move created, if it is unchanged."""
    if _digest(path) == digest:
        path.unlink()


def _restored(old: Path, new: Path, text: str) -> None:
    """Create the old file again if it was removed already."""
    if not os.path.lexists(old):
        replace_file(old, text, expect_digest="")
        shutil.copymode(new, old)


def _check_places(move: Move, root: Path) -> None:
    """Check what only the file system knows of the two paths."""
    old, new = root / move.path, root / move.new_path
    if old.is_symlink():
        raise NameRefused(f"{move.path} is a link to {old.readlink()}", "rename the file that it leads to")
    above = next(parent for parent in new.parents if parent.exists())
    if not above.is_dir():
        raise NameRefused(f"{above} is not a folder", "choose another place")
    if not RootedFiles(root).inside_root(new):
        raise NameRefused(f"{move.new_path} lies outside the root {root}", "choose a place below it, or another --root")
    if _is_ignored(root, new) and not _is_ignored(root, old):
        raise NameRefused(f"git ignores {move.new_path}, so it would be no part of the corpus", "choose another place")


def _changed(plan: Plan, root: Path) -> list[Path]:
    """Return the files that are neither as the plan found them nor as it leaves them."""
    old, new = root / plan.moved.path, root / plan.moved.new_path
    there: list[tuple[Path, tuple[str, ...]]] = [
        (root / change.path, (change.before.digest, _digest_of(change.after))) for change in plan.others
    ]
    if plan.move.changes_id or _only_case(old, new):
        there.append((old, (plan.moved.before.digest, _digest_of(plan.moved.after))))
    else:
        there += [(old, (plan.moved.before.digest,)), (new, ("", _digest_of(plan.moved.after)))]
    return [path for path, good in there if _digest(path) not in good]


def _only_case(old: Path, new: Path) -> bool:
    """Return whether both names mean one entry of a folder, which happens where case makes no difference."""
    if old == new or not os.path.lexists(new) or not old.samefile(new):
        return False
    return new.name not in {path.name for path in new.parent.iterdir()}


def _is_ignored(root: Path, path: Path) -> bool:
    ignored, folder = ignored_in(os.fspath(root)), root
    for part in path.relative_to(root).parts[:-1]:
        folder /= part
        if ignored.ignores(os.fspath(folder), is_folder=True):
            return True
        ignored = ignored.inside(os.fspath(folder))
    return ignored.ignores(os.fspath(path), is_folder=False)


def _linked(old: Path, new: Path) -> bool:
    """Give the file a second name, which keeps everything about it; not every file system can do that."""
    with contextlib.suppress(OSError):
        os.link(old, new, follow_symlinks=False)
        return True
    return False


def _digest(path: Path) -> str:
    """Return the digest of a file; empty for none, and a word for anything but a file."""
    try:
        return digest_bytes(path, real_path(path), _MAX_DIGESTED)
    except FileProblem as problem:
        return "" if problem.kind == "missing" else problem.kind


def _digest_of(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()


class Journal(Struct, frozen=True):
    """The one of the corpus below ``root``."""

    path: Path
    root: Path

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Journal:
        """Return the journal of a corpus. Raises `OSError` where the cache is no private place."""
        name = sha256(os.fsencode(root)).hexdigest()[:32]
        return cls(private_dir(cache_dir(environ) / "moves") / f"{name}.json", root)

    def write(self, plan: Plan) -> None:
        """Keep a plan. Raises `OSError`."""
        move = plan.move
        changes = [_object(change) for change in (*plan.others, plan.moved)]
        kept = {"move": [move.path, move.new_path, move.old_id, move.new_id], "changes": changes}
        replace_file(self.path, json.dumps(kept), private=True)

    def read(self) -> Plan | None:
        """Return the plan that was kept, without its notes; None where there is none."""
        try:
            kept = json.loads(self.path.read_text("utf-8"))
            *others, moved = (_change(change, self.root) for change in kept["changes"])
            return Plan(Move(*kept["move"]), moved, tuple(others), ())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Forget the plan."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _object(change: Change) -> _Kept:
    return {
        "path": change.path,
        "new_path": change.new_path,
        "before": change.before.text,
        "digest": change.before.digest,
        "after": change.after,
        "edits": [(edit.span.start, edit.span.end, edit.replacement) for edit in change.edits],
    }


class _Kept(TypedDict):
    """What `_object` makes of a change."""

    path: str
    new_path: str
    before: str
    digest: str
    after: str
    edits: list[tuple[int, int, str]]


def _change(kept: _Kept, root: Path) -> Change:
    before = SourceText(kept["before"], str(root / kept["path"]), kept["digest"])
    edits = tuple(Edit(Span(start, end), text) for start, end, text in kept["edits"])
    return Change(kept["path"], kept["new_path"], before, kept["after"], edits)
