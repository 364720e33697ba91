"""`prosa run doc.mda`: the ai-scripts of a document in, their results on stdout or in the document, the rest on stderr.

Without a choice nothing runs: the plan is printed and the exit status is 2 (MA12). Scripts that ask to run by
themselves do so only in a document that the user trusts (X7).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prosa.cli.console import Console, PipeClosed
from prosa.cli.errors import FAILED, OK, WRONG_USE
from prosa.cli.run_arguments import choices_from
from prosa.cli.script_loading import Loaded, loaded
from prosa.cli.script_refusals import is_trusted, require_named, require_sense, require_trust
from prosa.cli.script_results import Delivery, failure_of
from prosa.cli.surroundings import surroundings

if TYPE_CHECKING:
    from datetime import datetime

    from prosa.app.run.jobs import Course
    from prosa.app.scripts.load import ScriptJob
    from prosa.cli.watch import Watch
    from prosa.dialects.magi.choosing import Row
    from prosa.runtime.events import Listener

CHOOSE = "choose what runs: --script ID…, --auto, --all or --stale"


@dataclass(slots=True)
class _Report:
    """What the summary needs to know."""

    course: Course
    started: datetime
    since: float
    delivery: Delivery | None = None
    failed: list[str] = field(default_factory=list)


def run(args: argparse.Namespace, console: Console) -> int:
    """Runs the chosen scripts. 0 when all went well, 1 when one failed or nothing may run, 2 without a choice."""
    from prosa.app.run.jobs import Course
    from prosa.app.run.world import system_clock
    from prosa.cli.watch import watch

    clock = system_clock()
    report = _Report(Course(), clock.now(), clock.monotonic())
    choices = choices_from(args)
    try:
        with watch(console, args.file.stem, events=args.events, debug=args.debug, progress=not args.no_progress) as at:
            try:
                around = surroundings(console, args.file, at.notice)
                status = _run(args, loaded(args, choices, around, console), console, at, report)
            except BaseException as error:
                at.ended(_words(error))
                raise
    except PipeClosed:
        _summary(args, console, report, None)
        raise
    except BaseException as error:
        _summary(args, console, report, _words(error))
        raise
    _summary(args, console, report, failure_of(report.failed))
    return status


def _run(args: argparse.Namespace, found: Loaded, console: Console, at: Watch, report: _Report) -> int:
    from prosa.app.run.jobs import run_scripts
    from prosa.app.run.service import settle
    from prosa.app.scripts.choose import made_ready
    from prosa.cli.stopping import run_stoppable

    if not found.choice.is_made:
        return _plan_only(args, found, console, report)
    require_sense(args, found)
    require_trust(found, console)
    require_named(found)
    rows = [row for row in found.rows if row.runs or row.kind == "error"]
    _tell_passed_over(found, at)
    if not rows:
        at.say("nothing to run")
        return OK
    delivery = report.delivery = _delivery(args, found, rows, console, at)
    report.failed = delivery.failed
    jobs, refused = made_ready(rows, found.choice, found.preparing)
    for each in refused:
        delivery.refused(each.name, each.error.message, each.error.hint)
    choices, around = found.preparing.choices, found.preparing.around
    listener = _live(args, jobs, delivery, at, console)
    if any(job.row is None for job in jobs):
        choices = settle(choices, around)
    report.course.order = delivery.order
    work = run_scripts(
        jobs,
        choices,
        around,
        done=delivery.done,
        listener=listener,
        at_once=args.jobs,
        course=report.course,
        refused=refused,
        meanwhile=delivery.batches.keep_writing if delivery.batches else None,
    )
    try:
        run_stoppable(work)
    finally:
        delivery.finish()
    if delivery.written and console.shows_progress:
        at.say(f"{args.file}: {delivery.written} of {len(rows)} results written")
    return FAILED if delivery.failed else OK


def _plan_only(args: argparse.Namespace, found: Loaded, console: Console, report: _Report) -> int:
    """MA12: what would run, in which order and why, and how to choose."""
    from prosa.app.scripts.plan import planned
    from prosa.cli.errors import say
    from prosa.render.scripts import plan_text

    text = plan_text(
        planned(
            found.rows, found.choice, found.preparing, found.states, whole=False, trusted=is_trusted(found, console)
        )
    )
    (console.err if args.form == "jsonl" else console.out)(text)
    report.failed.append("nothing was chosen")
    return say(console, f"nothing was run: {CHOOSE}", f"see: prosa plan {args.file}", status=WRONG_USE)


def _tell_passed_over(found: Loaded, at: Watch) -> None:
    """Which of the chosen scripts do not run, for people who watch and where that is all there is to say."""
    nothing = not any(row.runs for row in found.rows)
    for row in found.rows:
        if row.kind in ("environment", "edited", "text") or (row.kind == "result" and nothing):
            at.notice(f"note: {row.script.address} is not run: {row.why}")


def _delivery(args: argparse.Namespace, found: Loaded, rows: Sequence[Row], console: Console, at: Watch) -> Delivery:
    from prosa.app.scripts.choose import writer_of

    writer = writer_of(found.file, found.choice, found.preparing.choices, found.preparing.around)
    order = [row.script.address for row in rows]
    return Delivery(console, order, args.form, args.output, writer, at.status.clear)


def _live(
    args: argparse.Namespace, jobs: Sequence[ScriptJob], delivery: Delivery, at: Watch, console: Console
) -> Listener:
    """What hears the run: on a terminal the one text that streams is shown as it arrives, in place of a status line."""
    from prosa.cli.script_results import Live
    from prosa.runtime.events import tell

    printed = delivery.writer is None and args.output is None and args.form == "text" and len(delivery.order) == 1
    streams = bool(jobs) and jobs[0].stream and jobs[0].form in ("text", "markdown") and not jobs[0].program.has_tools
    if not (printed and streams and console.stdout.isatty()):
        return at
    at.status = replace(at.status, enabled=False)
    delivery.live = Live(console)
    return tell(at, delivery.live)


def _summary(args: argparse.Namespace, console: Console, report: _Report, failure: str | None) -> None:
    """One summary on stderr for all scripts, if asked for (L43, L44)."""
    if not args.summary:
        return
    from prosa.app.run.world import system_clock
    from prosa.cli.run import as_json
    from prosa.runtime.summaries import Together

    clock = system_clock()
    began = report.course.summaries(failure or "interrupted")
    seconds = clock.monotonic() - report.since
    together = Together(args.file.name, failure, began, seconds, report.started, clock.now())
    console.err(as_json(together.as_dict()))


def _words(error: BaseException) -> str:
    from prosa.cli.run import words

    return words(error)
