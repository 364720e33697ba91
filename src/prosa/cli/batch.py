"""`prosa batch`: a program over many rows; the same command again continues where it stopped.

`prosa batch PROGRAM --rows FILE` starts or continues one, `prosa batch NAME --status|--cancel|--retry-failed|--export
FILE` manages one, `prosa batch` lists them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.options import JournalOptions, Options
from prosa.cli.argument_types import count, dollars, output_file
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, INTERRUPTED, OK, say
from prosa.cli.options import add_limits, add_model, add_options, add_otel, journal_of, options_from
from prosa.cli.parser import WrongUse
from prosa.cli.progress import BatchWatch, watch_batch
from prosa.cli.run.delivery import require_writable
from prosa.cli.run.interaction import stopping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prosa.app.batch.inputs import Survey
    from prosa.app.batch.prepare import Prepared
    from prosa.app.batch.rounds import RoundPlan
    from prosa.app.batch.run import BatchEnd
    from prosa.records.batch import BatchCounts, BatchPlan
    from prosa.records.run import StorePlace

MANY_ROWS, MANY_DOLLARS = 1_000, Decimal(1)
"""Above these the user must confirm before a batch starts."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa batch`."""
    parser.add_argument("target", nargs="?", metavar="PROGRAM|NAME", help="a program, skill or document; or a batch")
    parser.add_argument("--script", default="", metavar="ID", help="the ai-script of a .mda document to run")
    rows = parser.add_argument_group("rows")
    rows.add_argument("--rows", metavar="FILE", help=".jsonl, .json, .csv, .sqlite::TABLE, .parquet, or - for lines")
    rows.add_argument("--query", default="", metavar="SELECT", help="the rows of a .sqlite file by a query")
    rows.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help="the column of a field")
    rows.add_argument(
        "--id", default="", metavar="COLUMN", help="the column that identifies a row (default: its number)"
    )
    rows.add_argument("--limit", type=count, metavar="N", help="the first N rows only")
    rows.add_argument("--sample", type=count, metavar="N", help="N rows drawn from all")
    rows.add_argument("--seed", type=int, default=0, metavar="S", help="the random seed of --sample (0)")
    out = parser.add_argument_group("results")
    out.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE",
        help="JSON lines, written at the end (default: stdout)",
    )
    out.add_argument("--unordered", action="store_true", help="write rows in the order in which they finish")
    out.add_argument("--events", metavar="jsonl[:FILE]", help="write every event as a JSON line to stderr or FILE")
    out.add_argument("--no-progress", action="store_true", help="no status line")
    before = parser.add_argument_group("before it starts")
    before.add_argument("--plan", action="store_true", help="print what it would do and cost; ask no model")
    before.add_argument("--yes", action="store_true", help=f"do not ask before more than $1 or {MANY_ROWS:,} rows")
    before.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print --plan, --status and the list"
    )
    bounds = parser.add_argument_group("bounds")
    bounds.add_argument("--rpm", type=count, metavar="N", help="model calls a minute")
    bounds.add_argument("--tpm", type=count, metavar="N", help="tokens a minute")
    bounds.add_argument("--max-cost-per-row", type=dollars, metavar="USD", help="the most that one row may cost")
    bounds.add_argument(
        "--max-failures", type=_failures, default="10%", metavar="N|N%", help="stop after so many failures (10%%)"
    )
    rounds = parser.add_argument_group("batches of the service, at half the price")
    rounds.add_argument(
        "--backend", choices=("live", "openai-batch", "anthropic-batch"), default="live", help="who answers (live)"
    )
    rounds.add_argument("--waves", type=count, metavar="N", help="round trips, of up to a day each (3)")
    rounds.add_argument("--then", choices=("fail", "live"), help="rows that are not done by then (fail)")
    begun = parser.add_argument_group("existing batches")
    chosen = begun.add_mutually_exclusive_group()
    chosen.add_argument("--status", action="store_true", help="show its progress")
    chosen.add_argument("--cancel", action="store_true", help="cancel the remaining rows")
    chosen.add_argument("--retry-failed", action="store_true", help="run failed rows again")
    chosen.add_argument("--export", type=Path, metavar="FILE", help="write the results so far")
    kept = "the store of batches: a file, postgresql://…"
    add_options(begun, JournalOptions, "rerun_in_doubt", "store", store=kept)
    add_model(parser)
    add_limits(parser, at_once="rows at once (32)")
    add_otel(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when every row is done, 1 when some failed or it stopped early."""
    about = args.status or args.cancel or args.retry_failed or args.export is not None
    if args.target is None:
        if args.rows is not None or about:
            raise WrongUse("which program, or which batch?", hint="prosa batch PROGRAM --rows FILE")
        return _list(args, console)
    if args.rows is None and not about:
        raise WrongUse("--rows FILE names the rows", hint="for an existing batch: --status")
    if args.rows is not None and (args.status or args.cancel or args.export is not None):
        raise WrongUse("--status, --cancel and --export apply to an existing batch, and take only its name")
    if args.status:
        return _status(args, console)
    if args.cancel:
        return _cancel(args, console)
    if args.export is not None:
        return _export(args, console)
    if args.rows is None and (server := _requeued(args, console)) is not None:
        return server
    return _run(args, console)


def _list(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.batch.control import batch_list
    from prosa.render.batch import list_lines, status_json

    statuses = batch_list(_store(args, console))
    if args.format == "json":
        console.out(json.dumps([status_json(status) for status in statuses], ensure_ascii=False, indent=2))
    else:
        console.out("\n".join(list_lines(statuses)))
    return OK


def _status(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.batch.control import batch_status
    from prosa.render.batch import status_json, status_lines

    status = batch_status(_store(args, console), args.target)
    form = args.format == "json"
    console.out(
        json.dumps(status_json(status), ensure_ascii=False, indent=2) if form else "\n".join(status_lines(status))
    )
    return OK


def _requeued(args: argparse.Namespace, console: Console) -> int | None:
    """Return rows that failed wait again, where any worker may run them; None for a store that is a file."""
    from prosa.app.batch.prepare import RETRIED
    from prosa.records.run import StoreServer

    store = _store(args, console)
    if not isinstance(store, StoreServer) or args.backend != "live":
        return None
    from prosa.app.batch.control import requeue_failed

    status, requeued = requeue_failed(store, args.target, RETRIED)
    rows = "1 row waits" if requeued == 1 else f"{requeued:,} rows wait"
    console.note(f"{status.batch.name}: {rows} again" + ("; prosa worker takes them" if requeued else ""))
    return OK


def _cancel(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.batch.control import OVER, batch_status, cancel_batch, cancel_rounds
    from prosa.render.batch import counts_words

    store = _store(args, console)
    begun = batch_status(store, args.target)
    if begun.batch.state in OVER:
        console.note(f"{begun.batch.name}: is {begun.batch.state}; nothing is left to cancel")
        return OK
    if not begun.running:
        environment = environment_of(console, Path(begun.batch.file or "."))
        sent = asyncio.run(cancel_rounds(store, begun.batch.id, _options(args, console), environment))
        if sent:
            console.note("its requests at the service are cancelled; finished answers are fetched when it resumes")
    status = cancel_batch(store, begun.batch.id)
    console.note(f"{status.batch.name}: cancelled; {counts_words(status.counts)}")
    return OK


def _export(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.batch.control import batch_status, lines, require_own, write_results
    from prosa.render.batch import counts_words

    store = _store(args, console)
    status = batch_status(store, args.target)
    if args.export == Path("-"):
        for line in lines(store, status.batch.id, unordered=args.unordered):
            console.out(line)
        return OK
    require_writable(args.export)
    expected = require_own(args.export, status.batch)
    write_results(store, status.batch, args.export, expected=expected, unordered=args.unordered)
    console.note(f"wrote {args.export}: {counts_words(status.counts)}")
    return OK


def _store(args: argparse.Namespace, console: Console) -> StorePlace:
    from prosa.app.journal.place import store_of

    return store_of(args.store, console.environ)


def _beside(store: StorePlace, console: Console) -> Path:
    from prosa.app.journal.place import file_beside

    return file_beside(store, console.environ)


def _run(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.batch.plan import plan_batch
    from prosa.app.run.service import complete_options

    require_writable(args.output)
    if args.plan:
        return _plan(plan_batch(_prepared(args, console, console.note)), args, console)
    prints = args.output is None and args.unordered
    with watch_batch(console, events=args.events, wanted=not args.no_progress, prints=prints) as at:
        prepared = _prepared(args, console, at.notice)
        at.batch, at.model = prepared.batch.name, prepared.batch.model
        if prepared.provider is None:
            prepared = replace(prepared, options=complete_options(prepared.options, prepared.environment))
        expected = _expected(args, prepared)
        end = _go(args, console, prepared, at)
        return _delivered(args, console, end, expected, at)


def _prepared(args: argparse.Namespace, console: Console, notice: Callable[[str], None]) -> Prepared:
    """Return the batch of the arguments, or the named one with its original arguments."""
    from prosa.app.batch.inputs import RowMapping, begun_with, rows_of
    from prosa.app.batch.prepare import AT_ONCE, RETRIED, BatchOptions, prepare, subject_of

    store, name, script = _store(args, console), "", args.script
    if args.rows is None:
        from prosa.app.batch.control import batch_status

        begun = begun_with(batch_status(store, args.target).batch, store=_beside(store, console))
        path, rows, mapping, name, script = begun.program, begun.rows, begun.mapping, begun.name, begun.script
    else:
        path, mapping = Path(args.target), RowMapping(_mapped(args.map), args.id)
    environment = environment_of(console, path, notice)
    options = _options(args, console)
    subject = subject_of(path, script, options, environment, to_run=not args.plan)
    if args.rows is not None:
        rows = rows_of(args.rows, args.query, store=_beside(store, console), read=_stdin(console))
    chosen = BatchOptions(
        at_once=args.at_once or AT_ONCE,
        rpm=args.rpm,
        tpm=args.tpm,
        max_cost_per_row=args.max_cost_per_row,
        max_failures=args.max_failures,
        limit=args.limit,
        sample=args.sample,
        seed=args.seed,
        retry=RETRIED if args.retry_failed else (),
        name=name,
        rounds=_rounds(args),
    )
    prepared = prepare(subject, rows, mapping, chosen, options, environment)
    if args.rows is None:
        _require_same(args.target, prepared, store)
    return prepared


def _rounds(args: argparse.Namespace) -> RoundPlan:
    """Raise `WrongUse` for flags about rounds where there are none."""
    from prosa.app.batch.rounds import ROUNDS, RoundPlan

    if args.backend == "live" and (args.waves is not None or args.then is not None):
        flag = "--waves" if args.waves is not None else "--then"
        raise WrongUse(f"{flag} is about batches of a service", hint="--backend openai-batch or anthropic-batch")
    return RoundPlan(args.backend, args.waves or ROUNDS, args.then or "fail", agreed=args.yes)


def _require_same(name: str, prepared: Prepared, store: StorePlace) -> None:
    from prosa.app.batch.control import batch_status
    from prosa.runtime.errors import BatchRefused

    begun = batch_status(store, name).batch
    if begun.id != prepared.batch.id:
        what = "its program" if begun.closure != prepared.batch.closure else "the model"
        what = "its rows" if begun.rows_sha != prepared.batch.rows_sha else what
        asked = f", which was {begun.model}" if what == "the model" else ""
        message = f"the batch {begun.name} cannot be resumed: {what} changed since it started{asked}"
        raise BatchRefused(message, hint="what changed is another batch: prosa batch PROGRAM --rows FILE")


def _options(args: argparse.Namespace, console: Console) -> Options:
    return replace(options_from(args, console.environ), journal=journal_of("batch", args))


def _stdin(console: Console) -> Callable[[int], bytes]:
    stream = getattr(console.stdin, "buffer", None)
    return stream.read if stream is not None else lambda size: console.stdin.read(size).encode("utf-8", "surrogatepass")


def _mapped(pairs: Sequence[str]) -> dict[str, str]:
    """Raise `WrongUse`."""
    columns: dict[str, str] = {}
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not equals or not name or not column:
            raise WrongUse(f"--map {pair}: expected FIELD=COLUMN")
        if name in columns:
            raise WrongUse(f"--map {name}: two columns for one field")
        columns[name] = column
    return columns


def _failures(text: str) -> str:
    number = text.removesuffix("%")
    if not number.isascii() or not number.isdigit() or (text.endswith("%") and int(number) > 100):
        raise argparse.ArgumentTypeError(f"expected a number or a share such as 10%, found {text!r}")
    return text


def _plan(plan: BatchPlan, args: argparse.Namespace, console: Console) -> int:
    from prosa.render.batch import plan_lines

    text = (
        json.dumps(plan.as_dict(), ensure_ascii=False, indent=2)
        if args.format == "json"
        else "\n".join(plan_lines(plan))
    )
    console.out(text)
    return OK


def _expected(args: argparse.Namespace, prepared: Prepared) -> str:
    """Return the digest of the present file of results. Raises `BatchRefused` for a foreign file."""
    from prosa.app.batch.control import known_batch, require_own

    if args.output is None:
        return ""
    return require_own(args.output, known_batch(prepared.store, prepared.batch.id))


def _go(args: argparse.Namespace, console: Console, prepared: Prepared, at: BatchWatch) -> BatchEnd:
    """Run it. A first Ctrl-C lets rows under way end, a second one does not."""
    from prosa.app.batch.shared import begin_batch

    def agree(survey: Survey, counts: BatchCounts) -> None:
        _agree(args, console, prepared, survey, counts)

    async def work() -> BatchEnd:
        stop = asyncio.Event()
        with stopping(stop, lambda: at.notice("stopping: rows under way end; Ctrl-C again leaves them")):
            listens = at.listens if at.log is not None else None
            return await begin_batch(
                prepared, on_progress=at.show_progress, on_row=at.row, listens=listens, agree=agree, stop=stop
            )

    return asyncio.run(work())


def _agree(args: argparse.Namespace, console: Console, prepared: Prepared, survey: Survey, counts: BatchCounts) -> None:
    """Confirm a large batch. Raises `WrongUse` if prompting is not possible, and KeyboardInterrupt if the
    answer was no."""
    from prosa.app.batch.plan import is_large, planned
    from prosa.render.batch import plan_lines

    if args.yes:
        return
    plan = planned(prepared, survey, counts)
    if not is_large(plan, MANY_ROWS, MANY_DOLLARS):
        return
    lines = "\n".join(plan_lines(plan))
    if not console.interactive or prepared.environment.ask is None:
        raise WrongUse(
            f"this batch is large, and there is no terminal to ask for confirmation:\n{lines}",
            hint="--yes starts without confirmation",
        )
    console.err(lines)
    if not prepared.environment.ask("Begin?"):
        raise KeyboardInterrupt


def _delivered(args: argparse.Namespace, console: Console, end: BatchEnd, expected: str, at: BatchWatch) -> int:
    """Write or print the results and say show its progress."""
    from prosa.app.batch.control import lines, write_results
    from prosa.render.batch import counts_words

    early = bool(end.reason)
    if args.output is not None and not early:
        written = write_results(end.store, end.batch, args.output, expected=expected, unordered=args.unordered)
        if written.failures is not None:
            at.notice(f"failures: {written.failures}")
    elif args.output is None and not args.unordered and not early:
        for line in lines(end.store, end.batch.id):
            console.out(line)
    at.notice(f"{end.batch.name}: {counts_words(end.counts)}")
    if early:
        hint = f"to continue: {_again()}\nresults so far: prosa batch {end.batch.name} --export FILE"
        say(console, end.reason, hint, cause="stopped", head="" if end.reason == "stopped" else "stopped: ")
    elif end.counts.failures > end.counts.failed.get("input", 0):  # a wrong input is not run again
        at.notice(f"  run them again: prosa batch {end.batch.name} --retry-failed{_as_before(args)}")
    at.ended(end)
    if end.reason == "stopped":
        return INTERRUPTED
    return OK if end.ok else FAILED


def _as_before(args: argparse.Namespace) -> str:
    """Return the flags that another try needs: the model belongs to the batch, and its service is not stored."""
    import shlex

    named = ("model", "base_url", "api", "api_key_env", "store", "output")
    options = ((f"--{name.replace('_', '-')}", getattr(args, name, None)) for name in named)
    return "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in options if value is not None)


def _again() -> str:
    import shlex

    return f"prosa {shlex.join(sys.argv[1:])}" if sys.argv[1:2] == ["batch"] else "the same command again"
