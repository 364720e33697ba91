"""`prosa query`: one SELECT over the index of a corpus (X10). Thin: open, ask, print."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from prosa.cli.argument_types import duration, store_place
from prosa.cli.console import Console
from prosa.cli.corpus import add_corpus_options, corpus_place, opened
from prosa.cli.parser import WrongUse
from prosa.corpus.errors import QueryRefused

if TYPE_CHECKING:
    from prosa.corpus.sql import QueryAnswer, QueryLimits

MOST_SECONDS, MOST_ROWS = 3_600.0, 1_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `query`."""
    parser.add_argument("query", metavar="SELECT", help="one SELECT statement; - reads it from standard input")
    parser.add_argument("place", nargs="?", metavar="DIR", help="the folder of the corpus (default: the project)")
    parser.add_argument(
        "--format", choices=("text", "json", "jsonl", "csv"), default="text", help="how to print (default: text)"
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="with csv: an apostrophe before texts that a spreadsheet would calculate",
    )
    parser.add_argument("--limit", type=_rows, metavar="N", help="print at most N rows (default: 1000)")
    parser.add_argument(
        "--timeout",
        type=partial(duration, most=MOST_SECONDS),
        metavar="SECONDS",
        help="stop after so long (default: 10)",
    )
    parser.add_argument("--runs", action="store_true", help="query the history of runs instead of a corpus")
    parser.add_argument(
        "--store", type=store_place, metavar="PATH|URL", help="with --runs: the file that holds the runs"
    )
    add_corpus_options(parser)
    parser.add_argument_group("views and columns", _views())


def _views() -> str:
    """Return the views with their columns, and the full-text table, for a terminal of 80 columns."""
    from textwrap import fill

    from prosa.app.corpus.query import full_text_table, known_views
    from prosa.app.journal.query import run_views

    shown = [f"{name}: {', '.join(columns)}" for name, columns in known_views()]
    shown.append(f"{full_text_table()}: the full text; its rowid is the id of a section")
    shown += [f"--runs {name}: {', '.join(columns)}" for name, columns in run_views()]
    return "\n".join(fill(line, 76, subsequent_indent="  ") for line in shown)


def run(args: argparse.Namespace, console: Console) -> int:
    """0. Raises `WrongUse` for a query that is wrong or not allowed."""
    from prosa.app.corpus.query import check_query, query_corpus
    from prosa.corpus.sql import MAX_ROWS, MAX_SECONDS, QueryLimits

    if args.csv_safe and args.format != "csv":
        raise WrongUse("--csv-safe is about CSV", hint="add --format csv")
    query = console.read_bytes().decode("utf-8", "replace") if args.query == "-" else args.query
    limits = QueryLimits(args.timeout or MAX_SECONDS, args.limit or MAX_ROWS)
    if args.store is not None and not args.runs:
        raise WrongUse("--store is about runs", hint="add --runs")
    try:
        if args.runs:
            answer = _of_runs(args, query, limits, console)
        else:
            place = corpus_place(args.place)
            check_query(query)
            with opened(place, args, console) as corpus:
                answer = query_corpus(corpus, query, limits)
    except QueryRefused as error:
        raise WrongUse(error.message, hint=error.hint, failure="query-refused") from None
    _print(answer, args.format, console, guarded=args.csv_safe)
    return 0


def _of_runs(args: argparse.Namespace, query: str, limits: QueryLimits, console: Console) -> QueryAnswer:
    from prosa.app.journal.place import store_of
    from prosa.app.journal.query import query_runs

    if args.place is not None:
        raise WrongUse(f"--runs asks about no folder, and {args.place} is one too many")
    return query_runs(store_of(args.store, console.environ), query, limits)


def _print(answer: QueryAnswer, form: str, console: Console, *, guarded: bool) -> None:
    from prosa.render import rows
    from prosa.render.json import dump

    columns, records = answer.columns, answer.rows
    if form == "json":
        objects = rows.rows_objects(columns, records)
        console.out(dump({"columns": list(columns), "rows": objects, "more": answer.more}, indent=2))
        return
    if form == "csv":
        text = rows.render_csv(columns, records, guarded=guarded)
    else:
        text = (rows.render_jsonl_rows if form == "jsonl" else rows.render_table)(columns, records)
    if text:
        console.out(text)
    if form == "text" and not records:
        console.err("no rows")
    if answer.more:
        console.note(f"note: there are more than {len(records):,} rows; --limit N prints more of them")


def _rows(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_ROWS:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MOST_ROWS:,}")
    return int(text)
