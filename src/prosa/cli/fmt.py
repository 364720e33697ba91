"""`prosa fmt`: brings documents to the normal form of their dialect, by edits that touch nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from prosa.app.check.fix import Change, FormattedDocument, format_groups, write_changes
from prosa.app.check.gather import STDIN, gather_named
from prosa.cli.argument_types import chosen_dialect, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.documents import add_folder_options, add_format, add_work_options
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.table import WHICH_DOCUMENTS
from prosa.settings.environment import given_here


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fmt`."""
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="PATH", help="files and folders (default: .); - is standard input"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when something would change")
    parser.add_argument("--diff", action="store_true", help="show what would change, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="name what would change, and write nothing")
    parser.add_argument("--rehash", action="store_true", help="recompute stored hashes that no longer match their text")
    parser.add_argument(
        "--sync", action="store_true", help="rewrite the `relationships` of MAGI documents from their footnotes"
    )
    parser.add_argument("--as", dest="dialect", metavar="DIALECT", help="read the documents as this dialect")
    parser.add_argument("--root", metavar="DIR", help="open nothing outside this folder (default: the project)")
    parser.add_argument("--max-size", default="10MB", metavar="SIZE", help="largest document (default: 10MB)")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name to give standard input")
    add_format(parser)
    add_folder_options(parser)
    add_work_options(parser, cache=False)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when every document is in its normal form now; 1 when one could not be read or written, and with `--check` or
    `--diff` when one would change. Raises `WrongUse` when there is nothing to format."""
    if args.diff and args.format != "text":
        raise WrongUse("--diff prints a diff; it has no --format", hint="--dry-run --format json names the changes")
    paths = args.paths or [STDIN if args.stdin_filename else "."]
    named = gather_named(
        paths,
        console.read_bytes,
        stdin_name=args.stdin_filename,
        root=args.root,
        max_size=size_in_bytes(args.max_size),
        gitignore=args.gitignore,
        given=given_here(console.environ),
    )
    count = named.count
    if count == 0:
        raise WrongUse(
            f"no documents in {', '.join(paths)}",
            hint=f"{WHICH_DOCUMENTS}; a hidden folder has to be named",
        )
    options = FormatOptions(rehash=args.rehash, sync=args.sync)
    done = format_groups(named.groups, options, dialect=chosen_dialect(args.dialect), jobs=args.jobs)
    refused = _say_refused(done, console)
    changes = [change for document in done if (change := document.change) is not None]
    if args.diff:
        _show(changes, console)
    shown_only = args.check or args.diff or args.dry_run
    unwritten = {} if shown_only else write_changes(changes)
    for words in unwritten.values():
        say(console, words, cause="not-written")
    refused += len(unwritten)
    if args.format == "json":
        _print([change for change in changes if change.path not in unwritten], count, console, written=not shown_only)
    elif shown_only:
        _say_check(changes, count, args, console)
    elif named.stdin is not None:
        console.out(next((change.after for change in changes if change.is_stdin), named.stdin.text), end="")
    else:
        console.note(f"{_documents(len(changes))} changed, {count - len(changes)} unchanged")
    return int(bool(refused or (changes and (args.check or args.diff))))


def _print(changes: Sequence[Change], count: int, console: Console, *, written: bool) -> None:
    """Print the changed documents as JSON; of standard input also its text."""
    from prosa.render.json import dump

    changed = [{"path": str(change.path), **({"text": change.after} if change.is_stdin else {})} for change in changes]
    console.out(dump({"documents": count, "changed": changed, "written": written}, indent=2))


def _say_refused(done: Sequence[FormattedDocument], console: Console) -> int:
    """Print why documents were left alone, and return how many."""
    from prosa.render.plain import safe

    for document in done:
        if document.problem:
            say(console, safe(document.problem), cause="not-written", head="not formatted: ")
    return sum(bool(document.problem) for document in done)


def _show(changes: Sequence[Change], console: Console) -> None:
    from prosa.render.diff import render_diff

    for change in changes:
        console.out(render_diff(str(change.path), change.before.text, change.after), end="")


def _say_check(changes: Sequence[Change], count: int, args: argparse.Namespace, console: Console) -> None:
    if not args.diff:
        for change in changes:
            console.out(f"would change: {change.path}")
    console.note(f"{_documents(len(changes))} would change, {count - len(changes)} would not")


def _documents(number: int) -> str:
    return f"{number} document{'' if number == 1 else 's'}"
