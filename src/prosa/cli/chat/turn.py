"""A turn of a chat on the command line: opened, answered, delivered, summed up; with `--watch` one after each save,
until Ctrl-C.

In: arguments. Out: an exit status; replies on stdout, everything else on stderr.

With `--watch` one file is looked at a few times a second, by its path: that needs no library, and sees a file that an
editor puts in its place. A failure is reported, and the next save is awaited.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TypeAlias, cast

from msgspec.structs import replace

from prosa.app.chat.file import show_nobody
from prosa.app.chat.turn import Turn, TurnRequest, open_turn
from prosa.app.options import DEFAULT_MODEL
from prosa.app.run.jobs import Progress
from prosa.app.run.service import complete_options
from prosa.cli.chat.arguments import chat_choices
from prosa.cli.chat.show import LiveReplies, deliver, is_live, print_turns
from prosa.cli.console import Console, PipeClosed
from prosa.cli.environment import environment_of
from prosa.cli.errors import OK, report, words_of
from prosa.cli.options import options_from
from prosa.cli.parser import WrongUse
from prosa.cli.progress import Watch, watch
from prosa.cli.run.delivery import as_json
from prosa.cli.run.interaction import run_stoppable
from prosa.cli.run.resuming import tell_unfinished
from prosa.data import Value
from prosa.runtime.budget import Ledger
from prosa.runtime.errors import RunError
from prosa.source import FileProblem


def turn(args: argparse.Namespace, console: Console, message: str | None = None, *, quiet: bool = False) -> int:
    """Answer the chat once. ``quiet`` says nothing where there is nothing to answer. 0 when all went well or nothing
    was to be done; what goes wrong is raised, after the summary has been printed (L44)."""
    progress = Progress()
    try:
        name = args.file.stem or "chat"
        with watch(console, name, events=args.events, debug=args.debug, wanted=not args.no_progress) as at:
            _take(args, console, at, progress, message, quiet=quiet)
    except PipeClosed:
        _summary(args, console, progress, None)
        raise
    except BaseException as error:
        _summary(args, console, progress, words_of(error))
        tell_unfinished(console, progress, args.store, error, "chat")
        raise
    if progress.tallies:
        _summary(args, console, progress, None)
    return OK


def _take(
    args: argparse.Namespace, console: Console, at: Watch, progress: Progress, message: str | None, *, quiet: bool
) -> None:
    live = LiveReplies(console) if is_live(args, console) else None

    def notice(text: str) -> None:
        if live is not None:
            live.end()
        at.notice(text)

    request = TurnRequest(
        options=options_from(args, console.environ),
        environment=environment_of(console, args.file, notice),
        asked=chat_choices(args),
        speaker=args.speaker,
        write=True,
        listener=at,
        shown=live or show_nobody,
        progress=progress,
        color=console.color_err and args.events is None,
        nowhere="it could be saved nowhere, and is printed",
    )
    with open_turn(args.file, message, request) as opened:
        if opened.is_new:
            at.notice(f"{args.file}: a new chat; write your message at its end, then run this again")
            _deliver_nothing(args, console)
        elif opened.ready.dry_run:
            at.notice(f"{args.file}: `dry_run` is set, so nothing was sent")
            print_turns(opened.ready, console, args.form)
        elif opened.ready.turns:
            _answer(args, console, at, opened, live)
        elif opened.ready.shown:
            opened.show()
        elif not quiet:
            at.notice(f"{args.file}: {opened.ready.nothing}; nothing was sent")
            _deliver_nothing(args, console)


def _deliver_nothing(args: argparse.Namespace, console: Console) -> None:
    """Print a document without replies, where JSON was asked for."""
    if args.form == "json":
        deliver(args, console, (), lost=False, live=False)


def _answer(args: argparse.Namespace, console: Console, at: Watch, opened: Turn, live: LiveReplies | None) -> None:
    """Have the chat answered. Raises what goes wrong, and `RunError` for a reply that is not in the chat."""
    options = complete_options(opened.request.options, opened.request.environment)
    if live is not None:
        live.several = sum(chat_turn.n for chat_turn in opened.ready.turns)
        at.status = replace(at.status, enabled=False)
    try:
        result = run_stoppable(opened.answered(options))
    except BaseException:
        if opened.lost is not None and opened.lost.beside is None:
            console.out(opened.lost.text, end="")
        raise
    finally:
        if live is not None:
            live.end()
    lost = opened.lost is not None and opened.lost.beside is None
    deliver(args, console, result.replies, lost=lost, live=live is not None)
    if result.error is not None:
        raise result.error


def _summary(args: argparse.Namespace, console: Console, progress: Progress, failure: str | None) -> None:
    """Print the summary of a turn on stderr, if asked for: of several replies with their list (L42–L44).
    ``failure`` is why the turn did not go well, if it did not."""
    if not args.summary:
        return
    runs = progress.summaries(failure or "interrupted")
    if not runs:
        model_name = options_from(args, console.environ).model_name or DEFAULT_MODEL
        console.err(as_json(progress.alone(args.file.name, model_name, failure).as_dict()))
    elif len(runs) == 1 and runs[0].success == (failure is None):
        console.err(as_json(runs[0].as_dict()))
    else:
        data = progress.together(args.file.name, failure).as_dict()
        scripts = cast("list[dict[str, Value]]", data.pop("scripts"))
        replies = [{"reply": script.pop("script"), **script} for script in scripts]
        console.err(as_json({**data, "replies": replies}))


STEP_SECONDS = 0.2
QUIET_SECONDS = 0.5
"""A file that did not change for so long is saved: editors write in several steps."""

Stamp: TypeAlias = tuple[int, int, int] | None


def watch_chat(args: argparse.Namespace, console: Console) -> int:
    """Answer now and after every save. Return 0 at Ctrl-C while it waits; in the middle of a reply that is raised."""
    first = True
    if args.max_cost is not None:
        args.max_cost = Ledger(args.max_cost)  # all turns together, not each
    while True:
        before = _stamp(args.file)
        _once(args, console, first=first)
        first = False
        seen = _stamp(args.file)
        if seen != before:
            continue  # a reply was written; the user may have added a message meanwhile
        try:
            console.note(f"watching {args.file}; Ctrl-C ends")
            _wait_for_save(args.file, seen)
        except KeyboardInterrupt:
            return OK


def _once(args: argparse.Namespace, console: Console, *, first: bool) -> None:
    """Answer once and report failures. A failure on the first turn that no save can fix ends the command."""
    try:
        turn(args, console, quiet=True)
    except (RunError, FileProblem, WrongUse, OSError) as error:
        if first and isinstance(error, FileProblem | WrongUse):
            raise
        report(error, console, debug=args.debug)


def _wait_for_save(path: Path, seen: Stamp) -> None:
    """Wait until the file is another one than it was, and then until it rests."""
    while (now := _stamp(path)) == seen or now is None:
        time.sleep(STEP_SECONDS)
    while True:
        time.sleep(QUIET_SECONDS)
        if (then := _stamp(path)) == now:
            return
        now = then


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
