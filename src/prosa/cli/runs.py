"""`prosa runs`: the history of runs. Thin: open, ask, print (X25).

In: ids and filters. Out: a list, one run with the tree of its calls, or where two runs start to differ.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.argument_types import store_place
from prosa.cli.console import Console
from prosa.cli.environment import prices_of
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.records.run import RunRecord, StorePlace

SHOWN = 50
MOST = 1_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `runs`."""
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="one ID: the run with its calls; two: where they start to differ"
    )
    parser.add_argument("--program", metavar="NAME", help="runs of a program, by its name or its file")
    parser.add_argument("--since", metavar="WHEN", help="runs that started since then: 7d, 12h, or a date")
    parser.add_argument("--failed", action="store_true", help="failed runs")
    parser.add_argument("--limit", type=_limit, default=SHOWN, metavar="N", help=f"list at most N runs ({SHOWN})")
    parser.add_argument(
        "--prices", choices=("then", "now"), default="then", help="prices at the time of the run, or of today (then)"
    )
    parser.add_argument(
        "--trace",
        nargs="?",
        const=Path(),
        type=Path,
        metavar="DIR",
        help="write the run as a recording (needs its full history)",
    )
    parser.add_argument("--forget", metavar="BEFORE", help="delete runs that started before: 30d, or a date")
    parser.add_argument("--dry-run", action="store_true", help="with --forget: only count them")
    parser.add_argument(
        "--store", type=store_place, metavar="PATH|URL", help="the store of runs: a file, postgresql://…"
    )
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text", help="how to print (text)")


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `RunError` for a run or a store that is not there or cannot be used."""
    from prosa.app.journal.place import store_of

    _require_sense(args)
    path = store_of(args.store, console.environ)
    if args.forget is not None:
        return _forget(args, path, console)
    if args.trace is not None:
        return _trace(args, path, console)
    if len(args.ids) == 2:
        return _compare(args, path, console)
    return _show(args, path, console) if args.ids else _list(args, path, console)


def _require_sense(args: argparse.Namespace) -> None:
    filters = [flag for flag in ("program", "since", "failed") if getattr(args, flag)]
    if len(args.ids) > 2:
        raise WrongUse("one run is shown, or two are compared", hint="prosa runs ID ID")
    if args.ids and filters:
        raise WrongUse(f"--{filters[0]} chooses among all runs, and an id names one")
    if args.forget is not None and (args.ids or filters):
        raise WrongUse("--forget takes all runs that started before a moment, without ids and filters")
    if args.trace is not None and len(args.ids) != 1:
        raise WrongUse("--trace writes one run: name it", hint="prosa runs ID --trace")
    if args.dry_run and args.forget is None:
        raise WrongUse("--dry-run needs --forget")


def _list(args: argparse.Namespace, path: StorePlace, console: Console) -> int:
    from prosa.app.journal.history import listed
    from prosa.records.run import RunFilter
    from prosa.render.json import dump
    from prosa.render.runs import run_object, runs_table

    program = args.program
    if program is not None and ("/" in program or Path(program).is_file()):
        program = str(Path(program).absolute())
    since = None if args.since is None else _moment("--since", args.since)
    listing = listed(path, RunFilter(program, since, failed=args.failed, limit=args.limit))
    runs = _priced(args, path, listing.runs, console)
    objects = [run_object(record) | {"scripted": record.id in listing.scripted} for record in runs]
    if args.format == "json":
        console.out(dump({"runs": objects, "more": listing.more}, indent=2))
    elif args.format == "jsonl":
        for item in objects:
            console.out(dump(item))
    elif runs:
        console.out(runs_table(runs, listing.scripted))
    else:
        console.err("no runs")
    if listing.more:
        console.note(f"note: there are more than {len(runs):,} runs; --limit N lists more of them")
    return 0


def _show(args: argparse.Namespace, path: StorePlace, console: Console) -> int:
    from prosa.app.journal.history import one
    from prosa.render.json import dump
    from prosa.render.runs import call_object, run_object, run_tree, was_scripted

    recorded = one(path, args.ids[0])
    runs = _priced(args, path, [entry.run for entry in recorded], console)
    pairs = [(run, entry.calls) for run, entry in zip(runs, recorded, strict=True)]
    if args.format == "text":
        console.out("\n\n".join(run_tree(run, calls) for run, calls in pairs))
        return 0
    objects = [
        run_object(run) | {"scripted": was_scripted(calls), "calls": [call_object(call) for call in calls]}
        for run, calls in pairs
    ]
    if args.format == "json":
        console.out(dump(objects[0] if len(objects) == 1 else {"runs": objects}, indent=2))
    else:
        for item in objects:
            console.out(dump(item))
    return 0


def _compare(args: argparse.Namespace, path: StorePlace, console: Console) -> int:
    from prosa.app.journal.history import compared
    from prosa.render.json import dump
    from prosa.render.runs import difference_object, difference_text

    left, right, difference = compared(path, *args.ids)
    if args.format == "text":
        console.out(difference_text(left.run, right.run, difference))
    else:
        about = difference_object(left.run, right.run, difference)
        console.out(dump(about, indent=2 if args.format == "json" else None))
    return 0


def _trace(args: argparse.Namespace, path: StorePlace, console: Console) -> int:
    from prosa.app.journal.history import one
    from prosa.app.journal.trace import write_trace

    for entry in one(path, args.ids[0]):
        console.out(str(write_trace(entry, args.trace)))
    return 0


def _forget(args: argparse.Namespace, path: StorePlace, console: Console) -> int:
    from prosa.app.journal.history import forget

    number = forget(path, _moment("--forget", args.forget), dry_run=args.dry_run)
    runs = "1 run" if number == 1 else f"{number:,} runs"
    console.out(f"{runs} would be forgotten" if args.dry_run else f"{runs} forgotten")
    return 0


def _priced(
    args: argparse.Namespace, path: StorePlace, runs: list[RunRecord] | tuple[RunRecord, ...], console: Console
) -> list[RunRecord]:
    """Return the runs with what they cost."""
    from prosa.app.journal.history import priced

    return priced(path, runs, partial(prices_of, console), datetime.now(UTC), anew=args.prices == "now")


def _moment(flag: str, text: str) -> str:
    from prosa.app.journal.history import moment

    try:
        return moment(text, datetime.now(UTC))
    except ValueError:
        hint = "an age such as 7d or 12h, or a date such as 2026-03-01"
        raise WrongUse(f"{flag} {text[:40]}: that is not a moment", hint=hint) from None


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MOST:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MOST:,}")
    return int(text)
