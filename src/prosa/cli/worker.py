"""`prosa worker`: process waiting work until stopped: rows of batches started on any machine, from a store on a
server, or with `--mail PROGRAM` the messages in the mailbox of a program, which runs for each (L47, X29).

A first Ctrl-C finishes current work and returns the rest, a second one stops at once.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from prosa.app.options import JournalOptions, Options
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, OK, say
from prosa.cli.options import add_limits, add_model, add_options, add_otel, journal_of, options_from
from prosa.cli.parser import WrongUse
from prosa.cli.run.interaction import stopping

if TYPE_CHECKING:
    from prosa.runtime.mail import Worked, WorkerEnd

T = TypeVar("T")

_OF_THE_BATCH = {"model": "model", "max_iterations": "max-iterations"}
"""The options chosen at the start of a batch, which apply to all its workers."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa worker`."""
    taken = parser.add_argument_group("what it takes")
    taken.add_argument("--batch", default="", metavar="NAME", help="rows of this batch alone; else of all")
    taken.add_argument("--mail", type=Path, metavar="PROGRAM", help="messages in the mailbox of a program, which runs")
    taken.add_argument("--until-empty", action="store_true", help="end when nothing is left")
    waiting, doubt = "where it waits (default: yours)", "tool calls that may have been made (fail)"
    add_options(taken, JournalOptions, "store", "rerun_in_doubt", store=waiting, rerun_in_doubt=doubt)
    add_model(parser)
    add_limits(parser, at_once="rows at once (32); messages, with 1 in their order (1)")
    add_otel(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0 after a regular stop, or if nothing is left; 1 if it stopped because of a failure."""
    if args.mail is None:
        return _rows(args, console)
    if args.batch:
        raise WrongUse("--batch is about rows, and --mail about messages", hint="two workers do both")
    return _mail(args, console)


def _rows(args: argparse.Namespace, console: Console) -> int:
    """Return runs rows of batches; 1 where the budget of this worker is spent."""
    from prosa.app.batch.shared import RowsWorker, work_batches
    from prosa.app.journal.place import store_of

    for name, flag in _OF_THE_BATCH.items():
        if getattr(args, name) is not None:
            raise WrongUse(f"--{flag} is a matter of the batch", hint="it is named where the batch is started")
    place = store_of(args.store, console.environ)
    options = _options(args, console)
    at_once, until_empty = args.at_once or 32, args.until_empty
    chosen = RowsWorker(
        args.root or Path(), options, at_once, args.batch, until_empty=until_empty, max_cost=args.max_cost
    )
    if not isinstance(place, Path):
        console.note(f"taking rows from {place}; Ctrl-C stops it")

    def work(stop: asyncio.Event) -> Coroutine[None, None, str]:
        return work_batches(place, chosen, partial(environment_of, console), say=console.note, stop=stop)

    spent = until_stopped(work, console)
    if spent:
        say(console, spent, cause="budget-spent", head="stopped: ")
    return FAILED if spent else OK


def _mail(args: argparse.Namespace, console: Console) -> int:
    """Handle messages. Results go to stdout, a line of JSON for each; everything else to stderr."""
    from prosa.app.mail.work import WorkerOptions, require_mailbox, work_mail
    from prosa.app.run.load import ready_program
    from prosa.app.run.service import complete_options
    from prosa.render.rows import end_words

    environment = environment_of(console, args.mail)
    options = _options(args, console)
    program = ready_program(args.mail, options, environment)
    require_mailbox(program)
    options = complete_options(options, environment)
    chosen = WorkerOptions(args.at_once or 1, until_empty=args.until_empty)
    assert program.mailbox is not None
    if not args.until_empty:
        console.note(f"{program.name} takes messages from the mailbox {program.mailbox.name}; Ctrl-C stops it")

    def work(stop: asyncio.Event) -> Coroutine[None, None, WorkerEnd]:
        return work_mail(program, chosen, options, environment, on_message=_teller(console), stop=stop)

    end = until_stopped(work, console)
    console.note(f"{program.name}: {end_words(end)}")
    if end.reason:
        say(console, end.reason, cause="stopped", head="stopped: ")
    return FAILED if end.reason else OK


def until_stopped(work: Callable[[asyncio.Event], Coroutine[None, None, T]], console: Console) -> T:
    """Run what ends when its event is set, which a signal does."""

    async def both() -> T:
        stop = asyncio.Event()
        with stopping(stop, lambda: console.note("stopping: runs in flight finish; Ctrl-C again stops at once")):
            return await work(stop)

    return asyncio.run(both())


def _teller(console: Console) -> Callable[[Worked], None]:
    from prosa.render.json import dump
    from prosa.render.rows import worked_line

    def tell(worked: Worked) -> None:
        if worked.end == "handled":
            console.out(dump(worked.as_dict()))
        line = worked_line(worked)
        if line:
            console.err(line)

    return tell


def _options(args: argparse.Namespace, console: Console) -> Options:
    return replace(options_from(args, console.environ), journal=journal_of("mail", args))
