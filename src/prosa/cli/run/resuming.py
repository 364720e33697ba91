"""`--resume ID`: an interrupted call, started again with its own arguments; and the message with its id.

In: arguments that name a run. Out: the arguments of the original call, followed by the new ones, in its original
folder. The journal stores them as long as the run can be resumed (X25).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.options import journal_from
from prosa.cli.parser import Parser, WrongUse

if TYPE_CHECKING:
    from prosa.app.run.jobs import Progress
    from prosa.records.run import StorePlace

_ABOUT_RESUMING = ("--resume", "--in-doubt")
_ALREADY_WRITTEN = ("--message",)
"""Arguments of a chat whose message is in the file since the interrupted call."""


def completed(parser: Parser, argv: Sequence[str], console: Console) -> argparse.Namespace:
    """Return the arguments of a call; those of one that names a run and no file come from the call that began it."""
    args = parser.parse_anywhere(argv)
    args.call = tuple(_without(argv))
    if args.resume is None:
        if args.file is None:
            parser.error("the following arguments are required: FILE")
        return args
    from prosa.app.journal.history import unfinished_run

    run = unfinished_run(args.resume, journal_from(args), console.environ)
    if args.file is None or _is_input(args.file):
        has_input = (
            args.file is not None or bool(getattr(args, "pairs", ())) or getattr(args, "input", None) is not None
        )
        if run.again is None and run.state == "done":
            message = f"run {run.id} is done, and only a summary of it is stored: there is nothing to resume"
            raise WrongUse(message, hint=f"its output: prosa runs {run.id}")
        begun = _begun(run.again, run.id, run.door, parser)
        argv = [*(_without_inputs(parser, begun) if has_input else begun), *argv]
        args = parser.parse_anywhere(argv)
        args.call = tuple(_without(argv))
        if has_input:
            return args
    elif getattr(args, "pairs", ()) or getattr(args, "input", None) is not None:
        return args
    import json  # only here: a run that is not resumed imports it with the libraries of a run

    args.known_input = () if run.input is None else (json.loads(run.input),)
    return args


def _without_inputs(parser: Parser, argv: list[str]) -> list[str]:
    """Return the arguments of a call without the inputs, which are added again."""
    inputs = list(getattr(parser.parse_anywhere(argv), "pairs", ()))
    kept = _without(argv, ("--input",))
    for word in inputs:
        kept.remove(word)
    return kept


def _is_input(word: Path) -> bool:
    """Return whether the word in the place of the file is a KEY=VALUE."""
    return "=" in str(word) and not word.exists()


def _begun(again: str | None, run: str, door: str, parser: Parser) -> list[str]:
    """Return the arguments of the call that began a run. Raises `WrongUse` where it was no call of this command."""
    import json

    invocation = json.loads(again) if again else None
    command = parser.prog.rpartition(" ")[2]
    if not isinstance(invocation, dict):
        raise WrongUse(
            f"run {run} was not started by this command ({door})", hint=f"name its file: prosa {command} FILE"
        )
    if invocation.get("command") not in (None, command):
        raise WrongUse(f"run {run} was started by `prosa {invocation['command']}`")
    folder, words = invocation.get("folder"), invocation.get("argv")
    if not isinstance(folder, str) or not isinstance(words, list):
        raise WrongUse(f"the stored data of run {run} is damaged", hint=f"name its file: prosa {command} FILE")
    if folder != str(Path.cwd()):
        try:
            os.chdir(folder)
        except OSError as error:
            raise WrongUse(f"run {run} was started in {folder}: {error.strerror or error}") from None
    argv = [str(word) for word in words]
    return [word for word in _without(argv, _ALREADY_WRITTEN) if word != "-"] if command == "chat" else argv


def _without(argv: Sequence[str], flags: Sequence[str] = _ABOUT_RESUMING) -> list[str]:
    """Return the arguments without flags and their values."""
    kept: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word in flags:
            skip = True
        elif word.partition("=")[0] not in flags:
            kept.append(word)
    return kept


def tell_unfinished(
    console: Console,
    progress: Progress,
    store: StorePlace | None,
    error: BaseException | None = None,
    command: str = "run",
) -> None:
    """Print how to resume an interrupted run, if possible. ``error`` is the reason of the interruption: a refused
    answer is not requested again."""
    from prosa.runtime.errors import OutputRefused

    if progress.unfinished and not isinstance(error, OutputRefused):
        from shlex import quote

        place = f" --store {quote(str(store))}" if store else ""
        console.err(f"to resume it: prosa {command} --resume {progress.unfinished}{place}")
