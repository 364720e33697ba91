"""`prosa run doc.mda`: the ai-scripts of a document in, their results on stdout or in the document, the rest on stderr.

Without a choice nothing runs: the plan is printed and the exit status is 2 (MA12). Scripts that ask to run by
themselves do so only in a document that the user trusts (X7).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.permission import is_trusted
from prosa.app.run.jobs import Progress
from prosa.app.run.service import complete_options
from prosa.app.scripts.choose import Selection
from prosa.app.scripts.plan import planned
from prosa.app.scripts.run import run_scripts
from prosa.cli.console import Console, PipeClosed
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, OK, WRONG_USE, say
from prosa.cli.options import options_from
from prosa.cli.parser import WrongUse
from prosa.cli.run.choosing import loaded
from prosa.cli.run.delivery import as_json, words
from prosa.cli.run.interaction import run_stoppable
from prosa.cli.run.results import Delivery, LiveScript, failure_of
from prosa.cli.run.resuming import tell_unfinished
from prosa.cli.run.watch import Watch, watch
from prosa.render.plan import scripts_plan_text
from prosa.runtime.errors import RunError
from prosa.runtime.events import tell

if TYPE_CHECKING:
    from prosa.app.scripts.choose import Selection
    from prosa.app.scripts.load import ScriptJob
    from prosa.runtime.events import Listener

CHOOSE = "choose what runs: --script ID…, --auto, --all or --stale"


def run(args: argparse.Namespace, console: Console) -> int:
    """Run the chosen scripts. 0 when all went well, 1 when one failed or nothing may run, 2 without a choice."""
    progress, failed = Progress(), list[str]()
    options = options_from(args, console.environ)
    if options.journal is not None:
        options = replace(options, journal=replace(options.journal, door="script"))
    try:
        with watch(console, args.file.stem, events=args.events, debug=args.debug, progress=not args.no_progress) as at:
            try:
                environment = environment_of(console, args.file, at.notice)
                status = _run(args, loaded(args, options, environment, console), console, at, progress, failed)
            except BaseException as error:
                at.ended(words(error))
                raise
    except PipeClosed:
        _summary(args, console, progress, None)
        raise
    except BaseException as error:
        _summary(args, console, progress, words(error))
        tell_unfinished(console, progress, args.store, error)
        raise
    _summary(args, console, progress, failure_of(failed))
    tell_unfinished(console, progress, args.store)
    return status


def _run(
    args: argparse.Namespace, found: Selection, console: Console, at: Watch, progress: Progress, failed: list[str]
) -> int:
    if not found.choice.is_made:
        failed.append("nothing was chosen")
        return _plan_only(args, found, console)
    require_sense(args, found)
    require_trust(found, console)
    require_named(found)
    for text in found.passed_over():
        at.notice(text)
    if not found.chosen:
        at.say("nothing to run")
        return OK
    ready, options, environment = found.made_ready(), found.preparing.choices, found.preparing.around
    into = found.file.path if found.choice.writes else None
    delivery = Delivery(console, ready.order, args.form, args.output, into, at.status.clear, failed)
    listener = _live(args, ready.jobs, delivery, at, console)
    if any(job.row is None for job in ready.jobs):
        options = complete_options(options, environment)
    work = run_scripts(
        ready, options, environment, heard=delivery.take, listener=listener, at_once=args.jobs, progress=progress
    )
    try:
        run_stoppable(work)
    finally:
        delivery.finish()
    if delivery.written and console.shows_progress:
        at.say(f"{args.file}: {delivery.written} of {len(ready.order)} results written")
    return FAILED if failed else OK


def _plan_only(args: argparse.Namespace, found: Selection, console: Console) -> int:
    """MA12: what would run, in which order and why, and how to choose."""
    text = scripts_plan_text(
        planned(found, whole=False, trusted=is_trusted(found.file.trusted_source, console.environ))
    )
    (console.err if args.form == "jsonl" else console.out)(text)
    return say(console, f"nothing was run: {CHOOSE}", f"see: prosa plan {args.file}", status=WRONG_USE)


def _live(
    args: argparse.Namespace, jobs: Sequence[ScriptJob], delivery: Delivery, at: Watch, console: Console
) -> Listener:
    """Return the listener of the run: on a terminal the one streaming text is shown as it arrives, instead of a
    status line."""
    printed = delivery.into is None and args.output is None and args.form == "text" and len(delivery.order) == 1
    streams = bool(jobs) and jobs[0].stream and jobs[0].form in ("text", "markdown") and not jobs[0].program.has_tools
    if not (printed and streams and console.stdout.isatty()):
        return at
    at.status = replace(at.status, enabled=False)
    delivery.live = LiveScript(console)
    return tell(at, delivery.live)


def _summary(args: argparse.Namespace, console: Console, progress: Progress, failure: str | None) -> None:
    """Print one summary on stderr for all scripts, if requested (L43, L44)."""
    if args.summary:
        console.err(as_json(progress.together(args.file.name, failure).as_dict()))


# Refusals before any script runs: contradicting flags, no trust, unwritable results (X7, MA12).


def require_sense(args: argparse.Namespace, found: Selection) -> None:
    """Refuse flags that contradict each other."""
    from prosa.cli.run.delivery import require_writable

    if found.file.beside is not None and (found.choice.writes or found.choice.stale):
        flag = "--stale" if found.choice.stale else "--write"
        raise WrongUse(f"{flag} needs blocks in the document, and --scripts takes them from {args.beside}")
    if found.choice.force and not found.choice.writes and args.record is None:
        raise WrongUse("--force is about results in the document: add --write or --stale")
    if args.output is not None and found.choice.writes:
        raise WrongUse("--output and --write are two places for one result: give one of them")
    require_writable(args.output)
    if found.choice.writes:
        _require_document_writable(args)


def _require_document_writable(args: argparse.Namespace) -> None:
    """Refuse what would only fail once the run has been paid for."""
    import os

    if not os.access(args.file, os.W_OK):
        raise RunError(
            f"{args.file} may not be written (permission denied)", hint="without --write results are printed"
        )


def require_trust(found: Selection, console: Console) -> None:
    """Require the user's trust (X7): a document's own request to run is only a wish."""
    from prosa.app.permission import require_trust as require
    from prosa.runtime.errors import NotTrusted

    if not found.choice.auto:
        return
    try:
        require(found.file.trusted_source, console.environ)
    except NotTrusted as error:
        hint = f"{error.hint}\nor choose what runs: --script ID…, --all"
        raise NotTrusted(error.message, hint=hint) from None


def require_named(found: Selection) -> None:
    """Refuse scripts that were named and do not run before any script runs."""
    from prosa.app.scripts.choose import ScriptNotRun

    try:
        found.require_named()
    except ScriptNotRun as error:
        if error.kind == "environment":
            env = error.script.fields.text("runtime-env")
            raise WrongUse(error.message, hint=f"to run it here all the same: --env {env}") from None
        if error.kind == "text":
            raise WrongUse(error.message) from None
        raise
