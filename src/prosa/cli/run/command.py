"""`prosa run`: a program and its input in, validated JSON on stdout, everything else on stderr.

A document with ai-scripts is handed to `scripts`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.app.options import AgentKeywords, CommandOptions, Options
from prosa.cli.argument_types import add_output
from prosa.cli.console import Console, PipeClosed
from prosa.cli.environment import environment_of
from prosa.cli.errors import words_of
from prosa.cli.libraries import load_run_libraries
from prosa.cli.options import (
    add_input,
    add_journal,
    add_limits,
    add_model,
    add_options,
    add_otel,
    add_output_schema,
    add_recording,
    add_scripts,
    add_sites,
    add_writing,
    options_from,
    require_no_sites,
)
from prosa.cli.run.choosing import runs_scripts
from prosa.cli.run.delivery import as_json, deliver, require_writable
from prosa.cli.run.resuming import completed, tell_unfinished
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.run.jobs import Progress
    from prosa.cli.progress import Watch
    from prosa.diagnostics import Diagnostic
    from prosa.records.summary import RunResult, Summary


class Job(Struct, frozen=True):
    """One call of `prosa run` or `markdownlang run`.

    ``input_text`` is JSON, ``@file`` or ``-``; ``pairs`` are ``KEY=VALUE``; ``known_input`` is that of a resumed run,
    in place of both.
    """

    program: Path
    options: Options
    input_text: str | None = None
    pairs: tuple[str, ...] = ()
    output: Path | None = None
    summary: bool = False
    events: str | None = None
    debug: bool = False
    progress: bool = True
    as_json: bool = False
    known_input: tuple[Value, ...] = ()


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa run`."""
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the program, the skill or .mda document; FILE --help lists its inputs",
    )
    add_input(parser)
    add_output_schema(parser)
    add_model(parser)
    add_limits(parser)
    add_sites(parser, named=True)
    add_recording(parser)
    add_otel(parser)
    add_journal(parser, "run")
    add_options(parser.add_argument_group("agents"), AgentKeywords)
    add_output(parser, "write the result here instead of to stdout")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, as `prosa plan`; do nothing")
    parser.add_argument("--summary", action="store_true", help="print the execution summary as JSON on stderr")
    parser.add_argument("--events", metavar="jsonl[:FILE]", help="write every event as a JSON line to stderr or FILE")
    add_options(parser, CommandOptions, "stream")
    parser.add_argument("--no-progress", action="store_true", help="no status line")
    scripts = add_scripts(parser)
    add_writing(scripts)
    scripts.add_argument(
        "--format",
        dest="form",
        choices=("text", "json", "jsonl"),
        default="text",
        help="json: the result as JSON, also a text; jsonl: one JSON object per script",
    )


parse = completed


def run(args: argparse.Namespace, console: Console) -> int:
    """Run it."""
    if args.agents:
        from prosa.cli.run import agent

        return agent.run(args, console)
    if args.dry_run:
        from prosa.cli import plan

        return plan.run(argparse.Namespace(**vars(args), format="text" if args.form == "text" else "json"), console)
    if runs_scripts(args, console):
        from prosa.cli.run import scripts

        require_no_sites(args)
        return _scripts_as_one(args, console) if args.form == "json" else scripts.run(args, console)
    job = Job(
        program=args.file,
        options=options_from(args, console.environ),
        input_text=args.input,
        pairs=tuple(args.pairs),
        output=args.output,
        summary=args.summary,
        events=args.events,
        debug=args.debug,
        progress=not args.no_progress,
        as_json=args.form == "json",
        known_input=args.known_input,
    )
    return execute(console, job)


def _scripts_as_one(args: argparse.Namespace, console: Console) -> int:
    """Run ai-scripts, and print their results as one document. Raises `WrongUse` with `--output`."""
    import json
    from io import StringIO

    from prosa.cli.parser import WrongUse
    from prosa.cli.run import scripts

    if args.output is not None:
        raise WrongUse("--output takes the results of ai-scripts line by line", hint="--format jsonl")
    args.form, lines = "jsonl", StringIO()
    status = scripts.run(args, console.changed(stdout=lines))
    console.out(as_json({"scripts": [json.loads(line) for line in lines.getvalue().splitlines()]}))
    return status


def help_for(argv: list[str], console: Console) -> int | None:
    """Return `prosa run FILE --help`: the purpose and the inputs of the program; None without a file."""
    from prosa.cli.run.input import named_program, program_help

    named = named_program(argv)
    if named is None or named.suffix == ".mda":
        return None
    console.out(program_help(named, environment_of(console, named)))
    return 0


def execute(console: Console, job: Job) -> int:
    """Load, runs, deliver. Return 0; what goes wrong is raised, after the summary has been printed (L44)."""
    load_run_libraries()
    from prosa.app.run.jobs import Progress
    from prosa.cli.progress import watch

    progress = Progress()
    try:
        name = job.program.stem if job.program.name.lower() != "skill.md" else job.program.absolute().parent.name
        with watch(
            console, name, events=job.events, debug=job.debug, wanted=job.progress, quiet=job.summary
        ) as watching:
            result = _result(console, job, watching, progress)
        deliver(console, result.output, job.output, as_text=result.is_text and not job.as_json)
        if result.unrecorded is not None:
            raise result.unrecorded
    except PipeClosed:
        _report(console, job, progress, None)
        raise
    except BaseException as error:
        _report(console, job, progress, words_of(error))
        if job.options.journal is not None and job.options.journal.again is not None:
            tell_unfinished(console, progress, job.options.journal.store, error)
        raise
    _report(console, job, progress, None)
    return 0


def _result(console: Console, job: Job, watching: Watch, progress: Progress) -> RunResult[Value]:
    """Return the result of the program. All refusals happen before any model call."""
    from prosa.app.run.jobs import run_program
    from prosa.app.run.load import ready_program
    from prosa.app.run.service import complete_options
    from prosa.cli.run.input import given_input
    from prosa.cli.run.interaction import run_stoppable

    require_writable(job.output)
    environment = environment_of(console, job.program, watching.notice)
    warned = _warning(console, watching)
    program = ready_program(job.program, job.options, environment, warned=warned)
    if job.known_input:
        input_value = job.known_input[0]
    else:
        input_value = given_input(program, job.input_text, job.pairs, console, job.options.max_size)
    options = complete_options(job.options, environment)
    return run_stoppable(run_program(program, input_value, options, environment, listener=watching, progress=progress))


def _warning(console: Console, watching: Watch) -> Callable[[Diagnostic], None] | None:
    """Return a warning about the program for a person who watches. Other users run `prosa check`."""
    if not _is_watched(console, watching.debug):
        return None

    def tell(diagnostic: Diagnostic) -> None:
        from prosa.render.text import render_headline

        watching.say(render_headline(diagnostic, color=console.color_err))

    return tell


def _report(console: Console, job: Job, progress: Progress, failure: str | None) -> None:
    """Print the summary on stderr, if requested: of a run that succeeded, failed, or never started (L43, L44, LW9)."""
    if not job.summary:
        return
    from prosa.app.options import DEFAULT_MODEL

    model_name = job.options.model_name or job.options.default_model or DEFAULT_MODEL
    summary = progress.alone(job.program.name, model_name, failure)
    if summary.cost is None and _is_watched(console, job.debug):
        unknown = f"no price of {_priced(summary)} is known, so the cost is null"
        console.note(f"note: {unknown}; `prices` in your settings sets it")
    console.err(as_json(summary.as_dict()))


def _priced(summary: Summary) -> str:
    """Return the model whose price would be needed, and where it answered."""
    service = next((answered.service for answered in summary.answered if answered.service), None)
    return f"{summary.model_name}{f' at {service}' if service else ''}"


def _is_watched(console: Console, debug: bool) -> bool:
    """Return whether a person watches. For a program stderr only has the summary and requested output, without
    remarks."""
    return debug or console.shows_progress
