"""`prosa rename`: give a document another path or another id, and rewrite every reference to it. Thin: find the
target, plan, show or carry out."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.corpus import add_corpus_options, opened, place_of
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse, nearest
from prosa.render.plain import safe
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.corpus.documents import KnownRecords
    from prosa.app.corpus.move import Journal
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.moves import Move, Plan
    from prosa.graph.record import Record

MAX_LISTED = 5
"""Documents of one id that are named in a message."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rename`."""
    parser.add_argument("what", metavar="FILE|ID", help="the document that moves, or the id that changes")
    parser.add_argument("new", metavar="NEW", help="the new path, a folder to move into, or the new id")
    parser.add_argument("--id", dest="by_id", action="store_true", help="NEW is the new id of the document FILE")
    parser.add_argument("--dry-run", action="store_true", help="print the plan with its diff, and write nothing")
    parser.add_argument("--diff", action="store_true", help="print the diff alone, and write nothing")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    add_corpus_options(parser, refresh=False)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when the plan holds and was carried out, or shown; 1 when it would do harm. Raises `WrongUse`."""
    from prosa.app.corpus.documents import CorpusDocuments
    from prosa.app.corpus.move import Journal, carry_out, plan_for
    from prosa.corpus.moves import MoveRefused, NameRefused

    if args.write:
        console.note("note: rename writes by itself; --write has no effect and will be removed")
    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format", hint="--dry-run --format json prints the plan")
    if Path(args.what).is_dir():
        raise WrongUse(f"{args.what} is a folder, not a document", hint="rename takes a document, or an id with --id")
    place = place_of(args.what)
    with opened(place, args, console, _unreadable) as corpus:
        store = CorpusDocuments(corpus, given=args.root is not None)
        journal = Journal.of(corpus.root, console.environ)
        _say_unfinished(journal, args, console)
        unreadable = [(_below(corpus.root, problem.path), problem.reason) for problem in corpus.report.unreadable]
        try:
            plan = plan_for(_move(args, place, corpus, store.known), store, journal)
        except NameRefused as refused:
            raise WrongUse(refused.message, hint=refused.hint) from None
        except MoveRefused as refused:
            return say(console, refused.message, refused.hint, cause=refused)
        if not _is_shown_only(args):
            carry_out(plan, corpus.root, journal)
        _print(plan, unreadable, args, console)
    return 0


def _unreadable(root: Path, problem: FileProblem) -> str:
    return f"{_below(root, problem.path)} {problem.reason}; references in it stay as they are"


def _move(args: argparse.Namespace, place: Path | None, corpus: OpenCorpus, known: KnownRecords) -> Move:
    """Return the move described by the two words. Raises `WrongUse`."""
    from prosa.corpus.moves import Move

    if place is not None:
        path = _path_in(corpus, place)
        record = known.record(path)
        if record is None:
            raise WrongUse(f"{args.what} is not a document of the corpus at {corpus.root}")
        return _new_id(record, args.new) if args.by_id else Move(path, _new_path(args, corpus))
    owners = known.owners(args.what)
    if len(owners) > 1:
        paths = ", ".join(owner.path for owner in owners[:MAX_LISTED])
        hint = f"say which one: prosa rename {owners[0].path} {args.new} --id"
        raise WrongUse(f"{len(owners)} documents have the id {args.what}: {paths}", hint=hint)
    if not owners:
        raise _unknown(args, known)
    return Move(owners[0].path, owners[0].path, args.what, args.new)


def _unknown(args: argparse.Namespace, known: KnownRecords) -> WrongUse:
    ids = known.ids()
    if args.new in ids or os.path.lexists(args.new):
        return WrongUse(f"{args.what}: no such file or id", hint=f"there is {args.new}: it may be renamed already")
    near = nearest(args.what, (*known.paths(), *ids))
    return WrongUse(f"{args.what}: no such file or id", hint=f"did you mean {near}?" if near else "see: prosa graph")


def _new_id(record: Record, new: str) -> Move:
    from prosa.corpus.moves import Move

    ids = _ids(record)
    if not ids:
        raise WrongUse(f"{record.path} has no id that could change", hint="a plain document is known by its path")
    return Move(record.path, record.path, ids[0], new)


def _new_path(args: argparse.Namespace, corpus: OpenCorpus) -> str:
    """Return the new path below the root; a folder takes the document under its old name."""
    new = Path(args.new)
    if args.new.endswith(("/", os.sep)) or new.is_dir():
        new = new / Path(args.what).name
    return _path_in(corpus, new)


def _path_in(corpus: OpenCorpus, path: Path) -> str:
    """Return a path as the corpus knows it. Links in its folders are resolved, one that the path itself is not."""
    try:
        return corpus.path_of(path)
    except FileProblem as problem:
        raise WrongUse(str(problem), hint="give a --root that holds both") from None


def _ids(record: Record) -> list[str]:
    return [definition.name for definition in record.definitions if definition.kind == "id"]


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _say_unfinished(journal: Journal, args: argparse.Namespace, console: Console) -> None:
    """Report an interrupted move when another one is requested."""
    from prosa.app.corpus.move import is_under_way

    kept = journal.read()
    if kept is None or not is_under_way(kept, journal.root):
        return
    old, new = (kept.move.old_id, kept.move.new_id) if kept.move.changes_id else (kept.move.path, kept.move.new_path)
    if Path(args.what).name != Path(old).name:
        console.note(f"note: a rename of {safe(old)} to {safe(new)} was cut short; the same command finishes it")


def _print(plan: Plan, unreadable: list[tuple[str, str]], args: argparse.Namespace, console: Console) -> None:
    from prosa.render.diff import move_object, move_summary, note_line, render_move
    from prosa.render.json import dump

    if args.format == "json":
        console.out(dump(move_object(plan, written=not _is_shown_only(args), unreadable=unreadable), indent=2))
        return
    if _is_shown_only(args):
        console.out(render_move(plan), end="")
    for note in plan.notes:
        console.note(f"note: {note_line(note)}")
    if not args.diff:
        console.out(move_summary(plan, written=not args.dry_run))


def _is_shown_only(args: argparse.Namespace) -> bool:
    """Return whether the plan is printed and nothing written."""
    return bool(args.dry_run or args.diff)
