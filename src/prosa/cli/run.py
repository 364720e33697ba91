"""`prosa run`: a program and its input in, validated JSON on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.cli.run_arguments import add_input, add_limits, add_model, choices_from

if TYPE_CHECKING:
    from prosa.app import Choices, RunResult, Surroundings
    from prosa.cli.watch import Watch
    from prosa.runtime.program import Program
    from prosa.runtime.summary import Tally


@dataclass(frozen=True, slots=True)
class Job:
    """One call of `prosa run` or `markdownlang run`.

    ``input_text`` is JSON, ``@file`` or ``-``; ``pairs`` are ``KEY=VALUE``. ``gate`` False leaves the agreement to the
    caller, for shipped examples.
    """

    program: Path
    choices: Choices
    input_text: str | None = None
    pairs: tuple[str, ...] = ()
    output: Path | None = None
    summary: bool = False
    events: str | None = None
    debug: bool = False
    progress: bool = True
    gate: bool = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa run`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the program; FILE --help lists its inputs")
    add_input(parser)
    add_model(parser)
    add_limits(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result here instead of to stdout")
    parser.add_argument("--summary", action="store_true", help="print the execution summary as JSON on stderr")
    parser.add_argument("--events", metavar="jsonl[:FILE]", help="write every event as a JSON line to stderr or FILE")
    parser.add_argument("--stream", action="store_true", help="ask for streaming replies and show how they arrive")
    parser.add_argument("--no-progress", action="store_true", help="no status line")


def run(args: argparse.Namespace, console: Console) -> int:
    """Runs it."""
    job = Job(
        program=args.file,
        choices=choices_from(args),
        input_text=args.input,
        pairs=tuple(args.pairs),
        output=args.output,
        summary=args.summary,
        events=args.events,
        debug=args.debug,
        progress=not args.no_progress,
    )
    return execute(console, job)


def help_for(argv: list[str], console: Console) -> int | None:
    """`prosa run FILE --help`: what the program is for and which inputs it takes; None without a file."""
    named = next((Path(item) for item in argv if item.endswith(".md")), None)
    if named is None:
        return None
    from prosa.cli.program_help import program_help

    console.out(program_help(named, surroundings(console, named)))
    return 0


def execute(console: Console, job: Job) -> int:
    """Loads, runs, prints. Gives 0; what goes wrong is raised, after the summary has been printed (L44)."""
    from prosa.cli.watch import watch

    with watch(console, events=job.events, debug=job.debug, progress=job.progress) as watching:
        tally: Tally | None = None
        try:
            around = surroundings(console, job.program, watching)
            program, given = _prepare(console, job, around)
            tally = _tally(program, around)
            result = _run(program, given, job, around, watching, tally)
        except BaseException as error:
            watching.clear()
            if job.summary:
                console.err(as_json(_failed(error, tally, job)))
            raise
    deliver(console, result.output, job.output)
    if job.summary:
        console.err(as_json(result.summary.as_dict()))
    return 0


def _prepare(console: Console, job: Job, around: Surroundings) -> tuple[Program, Any]:
    from prosa import app
    from prosa.adapters.files.agreement_store import check_agreement
    from prosa.cli.run_input import read_input

    if job.output is not None and not job.output.absolute().parent.is_dir():
        raise WrongUse(f"--output {job.output}: the folder {job.output.parent} does not exist")
    program = app.load_program(job.program, job.choices, around.settings)
    if job.gate:
        check_agreement(console.environ)
    return program, read_input(program.input_schema, job.input_text, job.pairs, console)


def _tally(program: Program, around: Surroundings) -> Tally:
    from prosa import app

    return app.new_tally(program, around.settings)


def _run(program: Program, given: Any, job: Job, around: Surroundings, watching: Watch, tally: Tally) -> RunResult:
    from prosa import app

    return asyncio.run(app.run_program(program, given, job.choices, around, listener=watching, tally=tally))


def surroundings(console: Console, program: Path, watching: Watch | None = None) -> Surroundings:
    """Environment, settings, and the ways to say and to ask something."""
    from prosa import app

    def ask(question: str) -> bool:
        console.err(f"{question} [y/N] ", end="")
        return console.stdin.readline().strip().lower() in ("y", "yes")

    return app.Surroundings(
        environ=console.environ,
        settings=app.settings_for(program, console.environ),
        notice=watching.say if watching else console.err,
        ask=ask if console.interactive else None,
    )


def deliver(console: Console, value: Any, output: Path | None) -> None:
    """The result as JSON on stdout, or atomically into a file."""
    if output is None:
        console.out(as_json(value))
        return
    from prosa.adapters.files import write_output

    write_output(output, f"{as_json(value)}\n")


def as_json(value: Any) -> str:
    """JSON as this command prints it: indented, keys in the order given, nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _failed(error: BaseException, tally: Tally | None, job: Job) -> dict[str, Any]:
    """The summary of a failed run, also of one that never began (L44, LW9)."""
    from prosa import app
    from prosa.runtime.errors import RunError
    from prosa.runtime.summary import before_start

    interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    words = "interrupted" if interrupted else error.message if isinstance(error, RunError) else str(error)
    if tally is not None:
        return tally.summary(words).as_dict()
    model_name = job.choices.model_name or job.choices.default_model or app.DEFAULT_MODEL
    return before_start(job.program.name, model_name, words, app.clock()).as_dict()
