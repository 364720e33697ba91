"""`prosa run doc.mda`: the ai-scripts of a document in, their results on stdout or in the document, the rest on stderr.

Without a choice nothing runs: the plan is printed and the exit status is 2 (MA12). Scripts that ask to run by
themselves do so only in a document that the user trusts (X7).

A result that was paid for is never lost: what cannot be written into the document is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.permission import is_trusted
from prosa.app.run.jobs import Progress
from prosa.app.run.service import complete_options
from prosa.app.scripts.choose import Selection
from prosa.app.scripts.plan import planned
from prosa.app.scripts.run import run_scripts
from prosa.cli.console import Console, PipeClosed
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, OK, WRONG_USE, say, words_of
from prosa.cli.options import options_from
from prosa.cli.parser import WrongUse
from prosa.cli.progress import Watch, watch
from prosa.cli.run.choosing import loaded
from prosa.cli.run.delivery import as_json
from prosa.cli.run.interaction import run_stoppable
from prosa.cli.run.resuming import tell_unfinished
from prosa.render.plan import headed, result_line, result_text, scripts_plan_text
from prosa.runtime.errors import RunError
from prosa.runtime.events import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from prosa.app.scripts.load import ScriptJob
    from prosa.app.scripts.run import ScriptResult
    from prosa.runtime.events import Event, Listener


CHOOSE = "choose what runs: --script ID…, --auto, --all or --stale"


def run(args: argparse.Namespace, console: Console) -> int:
    """Run the chosen scripts. 0 when all went well, 1 when one failed or nothing may run, 2 without a choice."""
    progress, failed = Progress(), list[str]()
    options = options_from(args, console.environ)
    if options.journal is not None:
        options = replace(options, journal=replace(options.journal, door="script"))
    try:
        with watch(console, args.file.stem, events=args.events, debug=args.debug, wanted=not args.no_progress) as at:
            environment = environment_of(console, args.file, at.notice)
            status = _run(args, loaded(args, options, environment, console), console, at, progress, failed)
    except PipeClosed:
        _summary(args, console, progress, None)
        raise
    except BaseException as error:
        _summary(args, console, progress, words_of(error))
        tell_unfinished(console, progress, args.store, error)
        raise
    _summary(args, console, progress, failure_of(failed))
    tell_unfinished(console, progress, args.store)
    return status


def _run(
    args: argparse.Namespace, selection: Selection, console: Console, at: Watch, progress: Progress, failed: list[str]
) -> int:
    if not selection.choice.is_made:
        failed.append("nothing was chosen")
        return _plan_only(args, selection, console)
    require_sense(args, selection)
    require_trust(selection, console)
    require_named(selection)
    for text in selection.passed_over():
        at.notice(text)
    if not selection.chosen:
        at.say("nothing to run")
        return OK
    ready, options, environment = selection.made_ready(), selection.preparing.options, selection.preparing.environment
    into = selection.file.path if selection.choice.writes else None
    delivery = Delivery(console, ready.order, args.form, args.output, into, at.status.clear, failed)
    listener = _live(args, ready.jobs, delivery, at, console)
    if any(job.row is None for job in ready.jobs):
        options = complete_options(options, environment)
    work = run_scripts(
        ready, options, environment, on_result=delivery.take, listener=listener, at_once=args.jobs, progress=progress
    )
    try:
        run_stoppable(work)
    finally:
        delivery.finish()
    if delivery.written and console.shows_progress:
        at.say(f"{args.file}: {delivery.written} of {len(ready.order)} results written")
    return FAILED if failed else OK


def _plan_only(args: argparse.Namespace, selection: Selection, console: Console) -> int:
    """MA12: what would run, in which order and why, and how to choose."""
    if console.failures is None:
        trusted = is_trusted(selection.file.trusted_source, console.environ)
        console.out(scripts_plan_text(planned(selection, whole=False, trusted=trusted)))
    return say(
        console, f"nothing was run: {CHOOSE}", f"see: prosa plan {args.file}", status=WRONG_USE, cause="wrong-use"
    )


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


def require_sense(args: argparse.Namespace, selection: Selection) -> None:
    """Refuse flags that contradict each other."""
    from prosa.cli.run.delivery import require_writable

    if selection.file.beside is not None and (selection.choice.writes or selection.choice.stale):
        flag = "--stale" if selection.choice.stale else "--write"
        raise WrongUse(f"{flag} needs blocks in the document, and --scripts takes them from {args.beside}")
    if selection.choice.force and not selection.choice.writes and args.record is None:
        raise WrongUse("--force is about results in the document: add --write or --stale")
    if args.has_output and selection.choice.writes:
        raise WrongUse("--output and --write are two places for one result: give one of them")
    require_writable(args.output)
    if selection.choice.writes:
        _require_document_writable(args)


def _require_document_writable(args: argparse.Namespace) -> None:
    """Refuse what would only fail once the run has been paid for."""
    import os

    if not os.access(args.file, os.W_OK):
        raise RunError(
            f"{args.file} may not be written (permission denied)", hint="without --write results are printed"
        )


def require_trust(selection: Selection, console: Console) -> None:
    """Require the user's trust (X7): a document's own request to run is only a wish."""
    from prosa.app.permission import require_trust as require
    from prosa.runtime.errors import NotTrusted

    if not selection.choice.auto:
        return
    try:
        require(selection.file.trusted_source, console.environ)
    except NotTrusted as error:
        hint = f"{error.hint}\nor choose what runs: --script ID…, --all"
        raise NotTrusted(error.message, hint=hint) from None


def require_named(selection: Selection) -> None:
    """Refuse scripts that were named and do not run before any script runs."""
    from prosa.app.scripts.choose import ScriptNotRun

    try:
        selection.require_named()
    except ScriptNotRun as error:
        if error.kind == "environment":
            env = error.script.fields.text("runtime-env")
            raise WrongUse(error.message, hint=f"to run it here all the same: --env {env}") from None
        if error.kind == "text":
            raise WrongUse(error.message) from None
        raise


PRINTED = "it is printed instead, so that it is not lost"

Format: TypeAlias = Literal["text", "jsonl"]


class LiveScript(Struct):
    """A `Listener` that shows the one streaming result on the terminal as it arrives (M36). ``shown`` is the text on
    the screen; after a failed attempt it restarts below a note."""

    console: Console
    shown: str = ""

    def __call__(self, event: Event, /) -> None:
        """Show a piece."""
        from prosa.runtime.events import AttemptFailed, TextArrived

        if isinstance(event, TextArrived):
            self.shown += event.text
            self.console.out(event.text, end="")
        elif isinstance(event, AttemptFailed) and self.shown:
            self.shown = ""
            self.console.out("")
            self.console.note(f"note: the answer was interrupted and restarts: {event.reason}")


class Delivery(Struct):
    """Where results go. ``order`` are the addresses of all that were chosen; one alone is printed bare. ``into`` is the
    document that they are written into, None where they are printed.

    ``clear`` takes the status line away, so that other text can follow. ``failed`` says what did not go well.
    """

    console: Console
    order: Sequence[str]
    form: Format
    output: Path | None
    into: Path | None
    clear: Callable[[], None]
    failed: list[str]
    live: LiveScript | None = None
    written: int = 0
    _hints: set[str] = field(default_factory=set)
    _ready: dict[str, str] = field(default_factory=dict)
    _kept: list[str] = field(default_factory=list)
    _next: int = 0
    _printed: bool = False

    def take(self, result: ScriptResult) -> None:
        """Take what came of one script. What could not be written into the document is printed, and on stderr why."""
        error = result.error
        if result.written:
            self.written += 1
        if error is not None:
            self.failed.append(f"{result.script}: {error.message}")
            if result.written is None:
                self._refused(result, error)
                return
            self._complain(
                f"{result.script}: the result is not in {self.into}: {error.message}", PRINTED, "not-written"
            )
        self._put(result.script, self._shown(result))

    def _shown(self, result: ScriptResult) -> str:
        """Return the printed form of a result; empty if it is written to the document."""
        name = result.script
        if self.form == "jsonl":
            return f"{_line(result, None)}\n"
        if result.written:
            return ""
        if self.live is not None and self.live.shown:
            return "" if self.live.shown.endswith("\n") else "\n"
        text = result_text(result.output)
        return text if len(self.order) == 1 else headed(name, text)

    def _refused(self, result: ScriptResult, error: RunError) -> None:
        """Take a script that has no result."""
        self._complain(f"{result.script}: {error.message}", error.hint, error)
        self._put(result.script, f"{_line(result, error)}\n" if self.form == "jsonl" else "")

    def finish(self) -> None:
        """Print what still waits, for one before it that never came too, and write ``--output``."""
        for name in self.order[self._next :]:
            self._print(self._ready.pop(name, ""))
        self._next = len(self.order)
        if self.output is not None and self._kept:
            self._write_output(self.output)

    def _write_output(self, output: Path) -> None:
        from prosa.app.text_files import write_output

        text, self._kept = "".join(self._kept), []
        try:
            write_output(output, text)
        except OSError as error:
            self.failed.append(f"--output {output}: {error.strerror or error}")
            self._complain(self.failed[-1], PRINTED, "not-written")
            self.console.out(text, end="")

    def _put(self, name: str, text: str) -> None:
        """Hold a text back until everything before it has arrived."""
        self._ready[name] = text
        while self._next < len(self.order) and self.order[self._next] in self._ready:
            self._print(self._ready.pop(self.order[self._next]))
            self._next += 1

    def _print(self, text: str) -> None:
        if not text:
            return
        if self._printed and self.form == "text":
            text = f"\n{text}"  # a blank line between several results
        self._printed = True
        if self.output is not None:
            self._kept.append(text)
        else:
            self.clear()
            self.console.out(text, end="")

    def _complain(self, message: str, hint: str, cause: BaseException | str) -> None:
        """Print a complaint. The same hint is printed once: a missing key keeps every script from running."""
        self.clear()
        say(self.console, message, "" if hint in self._hints else hint, cause=cause)
        self._hints.add(hint)


def _line(result: ScriptResult, error: RunError | None) -> str:
    """Return a result as one line of JSON; ``error`` says why there is none."""
    summary = result.summary
    return result_line(
        result.script,
        result.output if error is None else None,
        error.message if error is not None else None,
        form=result.form,
        model=summary.model_name if result.form else None,
        answered_by=summary.answered_by,
        cut=summary.cut,
        written=result.written if error is None else None,
    )


def failure_of(failed: Sequence[str]) -> str | None:
    """Return why the whole did not go well, in one line."""
    if not failed:
        return None
    return failed[0] if len(failed) == 1 else f"{len(failed)} scripts failed; the first: {failed[0]}"
