"""`prosa report`: what is stored of tests, batches and runs, as a file to show; nothing is asked again (X37)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.argument_types import output, store_place
from prosa.cli.console import Console
from prosa.cli.errors import OK
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.records.run import StorePlace

FORMATS = ("text", "md", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="a test, a batch or a run, as `prosa view` lists them (the last test)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output,
        metavar="FILE|DIR",
        help="a page (.html), .md or .json, or a folder with every answer whole; a folder for several IDs",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how to print where no file is named (default: text)"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is not a report")
    parser.add_argument(
        "--store", type=store_place, metavar="PATH|URL", help="the store of runs: a file, postgresql://…"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `RunError` for what is not in the store, or a store that cannot be used."""
    from prosa.app.evals.reports import stored_subject, target_of, write_report
    from prosa.app.journal.place import store_of

    place: StorePlace = store_of(args.store, console.environ)
    ids = list(dict.fromkeys(args.ids)) or [""]
    if args.output is None:
        if len(ids) > 1:
            raise WrongUse("several reports need a folder", hint="-o DIR/")
        from prosa.app.evals.reports import printed_report

        console.out(printed_report(stored_subject(place, ids[0]), args.format, color=console.color))
        return OK
    target = target_of(args.output, force=args.force)
    if len(ids) > 1 and target.form != "folder":
        raise WrongUse("several reports need a folder", hint="-o DIR/")
    subjects = [stored_subject(place, name) for name in ids]
    for subject in subjects:
        console.note(f"wrote {write_report(subject, target, console.note, apart=len(ids) > 1)}")
    return OK
