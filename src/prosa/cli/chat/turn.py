"""One turn of a chat on the command line: what was opened is shown, answered, delivered, and summed up.

In: arguments. Out: an exit status; replies on stdout, everything else on stderr.
"""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from prosa.app.chat.turn import Turn, TurnRequest, open_turn
from prosa.app.chat.writing import show_nobody
from prosa.app.options import DEFAULT_MODEL
from prosa.app.run.jobs import Progress
from prosa.app.run.service import complete_options
from prosa.cli.chat.arguments import chat_choices
from prosa.cli.chat.replies import LiveReplies, deliver, is_live
from prosa.cli.chat.show import print_turns
from prosa.cli.console import Console, PipeClosed
from prosa.cli.environment import environment_of
from prosa.cli.errors import OK
from prosa.cli.options import options_from
from prosa.cli.run.delivery import as_json, words
from prosa.cli.run.interaction import run_stoppable
from prosa.cli.run.resuming import tell_unfinished
from prosa.cli.run.watch import Watch, watch


def turn(args: argparse.Namespace, console: Console, message: str | None = None, *, quiet: bool = False) -> int:
    """Answer the chat once. ``quiet`` says nothing where there is nothing to answer. 0 when all went well or nothing
    was to be done; what goes wrong is raised, after the summary has been printed (L44)."""
    progress = Progress()
    try:
        name = args.file.stem or "chat"
        with watch(console, name, events=args.events, debug=args.debug, progress=not args.no_progress) as at:
            try:
                _take(args, console, at, progress, message, quiet=quiet)
            except BaseException as error:
                at.ended(words(error))
                raise
    except PipeClosed:
        _summary(args, console, progress, None)
        raise
    except BaseException as error:
        _summary(args, console, progress, words(error))
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
        elif opened.ready.dry_run:
            at.notice(f"{args.file}: `dry_run` is set, so nothing was sent")
            print_turns(opened.ready, console, args.form)
        elif opened.ready.turns:
            _answer(args, console, at, opened, live)
        elif opened.ready.shown:
            opened.show()
        elif not quiet:
            at.notice(f"{args.file}: {opened.ready.nothing}; nothing was sent")


def _answer(args: argparse.Namespace, console: Console, at: Watch, opened: Turn, live: LiveReplies | None) -> None:
    """Have the chat answered. Raises what goes wrong, and `RunError` for a reply that is not in the chat."""
    options = complete_options(opened.request.options, opened.request.environment)
    if live is not None:
        live.several = sum(each.n for each in opened.ready.turns)
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
        replies = [{"reply": each.pop("script"), **each} for each in data.pop("scripts")]
        console.err(as_json({**data, "replies": replies}))
