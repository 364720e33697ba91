"""`prosa improve`: a skill or a program in, a proposal with its proof out; 1 where nothing is accepted."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.options import AgentKeywords, JournalOptions
from prosa.cli.argument_types import count, number, output_on_disk
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, OK
from prosa.cli.options import add_limits, add_model, add_options, add_recording, add_reports, options_from, values_of
from prosa.cli.parser import WrongUse
from prosa.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prosa.app.evals.reports import ReportTarget
    from prosa.app.evals.run import TestProgress
    from prosa.app.improve.improve import Improvements
    from prosa.app.improve.subject import ImproveOptions
    from prosa.app.options import Environment, Options

FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `improve`."""
    parser.add_argument(
        "subject", metavar="SUBJECT", help="a skill, a context file, or a program with its test beside it"
    )
    parser.add_argument("--cases", metavar="FILE", help="the cases, where they are not beside the subject")
    parser.add_argument(
        "--part", choices=("description", "body"), help="what is improved (default: the description, then the body)"
    )
    parser.add_argument("--rounds", type=count, metavar="N", help="proposals for each part (10)")
    parser.add_argument("--seed", type=number, metavar="N", help="the seed of the search (default: a new one)")
    parser.add_argument(
        "--repeat", type=count, metavar="N", help="how often each case runs (default: as its file says)"
    )
    parser.add_argument("-o", "--output", type=output_on_disk, metavar="FILE", help="write the proposal to this file")
    parser.add_argument("--diff", action="store_true", help="show what the proposal changes")
    parser.add_argument("--write", action="store_true", help="write what is accepted into the subject")
    parser.add_argument("--dry-run", action="store_true", help="with --write: say what would be written, write nothing")
    parser.add_argument("--plan", action="store_true", help="say what it would take at least and at most; ask nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask before a search that is large or costly")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    add_reports(parser)
    parser.add_argument("--no-progress", action="store_true", help="no status line")
    add_model(parser)
    group = parser.add_argument_group("other models")
    group.add_argument(
        "--proposal-model", metavar="NAME", help="the model that proposes (default: the one that is tried)"
    )
    group.add_argument("--grader-model", metavar="NAME", help="the model that grades (default: the one that is tried)")
    add_options(parser.add_argument_group("agents"), AgentKeywords)
    add_limits(parser, at_once="runs at once (8)")
    add_recording(parser)
    parser.add_argument(
        "--force", action="store_true", help="record classified documents, replace what is not a report"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """0 where something is accepted, 1 otherwise. Raises `WrongUse`."""
    subject = Path(args.subject)
    environment = environment_of(console, subject)
    chosen, options = _chosen(args, console)
    if args.plan:
        return _planned(subject, chosen, options, environment, args, console)
    if not args.yes:
        _agree(subject, chosen, options, environment, console)
    targets = _targets(args)
    improvements = _improved(subject, chosen, options, environment, args, console)
    _print(improvements, args, console)
    if args.output is not None:
        _write_output(improvements, Path(args.output), console)
    if args.write and improvements.accepted:
        _write(improvements, args, console)
    _report(improvements, targets, console)
    return OK if improvements.accepted else FAILED


def _chosen(args: argparse.Namespace, console: Console) -> tuple[ImproveOptions, Options]:
    from prosa.app.agents.task import agent_options
    from prosa.app.evals.variants import TestOptions
    from prosa.app.improve.subject import ROUNDS, ImproveOptions

    options = replace(options_from(args, console.environ), journal=None)  # attempts are stored, not their runs
    models = () if args.model is None else (args.model,)
    test = TestOptions(
        models=models,
        repeat=args.repeat,
        at_once=args.at_once or 8,
        grader_model=args.grader_model,
        agents=agent_options(values_of(AgentKeywords, args), models),
        journal=JournalOptions("improve"),
    )
    cases = None if args.cases is None else Path(args.cases)
    return ImproveOptions(args.part, cases, args.rounds or ROUNDS, args.seed, args.proposal_model, test), options


def _improved(
    subject: Path,
    chosen: ImproveOptions,
    options: Options,
    environment: Environment,
    args: argparse.Namespace,
    console: Console,
) -> Improvements:
    from prosa.app.improve.improve import improve
    from prosa.app.run.service import complete_options
    from prosa.cli.run.interaction import run_stoppable

    options = options if chosen.test.agents.agents else complete_options(options, environment)
    tried = 0

    with progress(console, wanted=not args.no_progress) as status:

        def on_progress(at: TestProgress) -> None:
            nonlocal tried
            tried += 1
            failed = f", {at.failed:,} of the last {at.done:,} failed" if at.failed else ""
            status.show(f"{tried:,} attempts{failed}")

        return run_stoppable(improve(subject, chosen, options, environment, on_progress=on_progress))


def _planned(
    subject: Path,
    chosen: ImproveOptions,
    options: Options,
    environment: Environment,
    args: argparse.Namespace,
    console: Console,
) -> int:
    """Print what the search would take."""
    import asyncio

    from prosa.app.improve.plan import plan_improvement
    from prosa.render.tests_plan import plan_json, plan_text

    plan = asyncio.run(plan_improvement(subject, chosen, options, environment))
    console.out(json.dumps(plan_json(plan), indent=2) if args.format == "json" else plan_text(plan))
    return OK


def _agree(subject: Path, chosen: ImproveOptions, options: Options, environment: Environment, console: Console) -> None:
    """Ask before a search takes much. Raises `WrongUse` where there is no one to ask, KeyboardInterrupt for a no."""
    import asyncio

    from prosa.app.improve.plan import plan_improvement
    from prosa.cli.run.interaction import ask_first

    if options.recording is None or not options.recording.plays_all:
        plan = asyncio.run(plan_improvement(subject, chosen, options, replace(environment, notice=lambda _: None)))
        ask_first(plan, "search", environment, console)


def _print(improvements: Improvements, args: argparse.Namespace, console: Console) -> None:
    from prosa.render.diff import render_diff
    from prosa.render.improve import improvement_lines, improvements_json

    records = [part.record for part in improvements.parts]
    path = improvements.source.path
    if args.format == "json":
        data = improvements_json(records, subject=path, proposal=improvements.proposal, cost=improvements.cost)
        console.out(json.dumps(data, ensure_ascii=False, indent=2))
        return
    for part in improvements.parts:
        console.out("\n".join(improvement_lines(part.record, part.comparison)))
    if args.diff:
        console.out(render_diff(path, improvements.source.text, improvements.proposal), end="")


def _targets(args: argparse.Namespace) -> list[ReportTarget]:
    """Return where reports go. Raises `ReportRefused`, and `WrongUse` for an output over the subject, before any
    call."""
    from prosa.app.evals.reports import target_of

    subject, output = Path(args.subject), None if args.output is None else Path(args.output)
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise WrongUse(f"--output {output}: " + ("is a folder" if output.is_dir() else f"no folder {output.parent}"))
    for path in (subject, subject / "SKILL.md"):
        if output is not None and output.is_file() and path.is_file() and output.samefile(path):
            raise WrongUse(f"--output {output} is the subject itself", hint="--write writes what is accepted into it")
    return [target_of(report, force=args.force) for report in args.reports or ()]


def _report(improvements: Improvements, targets: Sequence[ReportTarget], console: Console) -> None:
    from prosa.app.evals.reports import write_test_report

    for target in targets:
        if len(improvements.parts) > 1 and target.form != "folder":
            raise WrongUse("two parts were improved, and their reports need a folder", hint="--report DIR/")
        for shown in (part.shown for part in improvements.parts if part.shown is not None):
            console.note(f"wrote {write_test_report(shown, target, console.note)}")


def _write_output(improvements: Improvements, path: Path, console: Console) -> None:
    """Write the proposal to a file that the user named."""
    from prosa.app.text_files import write_output

    write_output(path, improvements.proposal)
    console.note(f"wrote {path}")


def _write(improvements: Improvements, args: argparse.Namespace, console: Console) -> None:
    """Write what was accepted into the subject, unless it changed since it was read. Raises `FileChanged`."""
    from prosa.app.improve.improve import write_accepted

    if args.dry_run:
        console.note(f"would write {improvements.source.path}")
        return
    write_accepted(improvements)
    console.note(f"wrote {improvements.source.path}")
