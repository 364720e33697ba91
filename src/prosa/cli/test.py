"""`prosa test`: test documents and skills in, a report on stdout; 1 where one of their gates is closed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.options import AgentKeywords, JournalOptions
from prosa.cli.argument_types import count
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import FAILED, OK, say
from prosa.cli.options import add_limits, add_options, add_otel, add_recording, add_reports, options_from, values_of
from prosa.cli.parser import WrongUse
from prosa.cli.progress import progress
from prosa.cli.test_plan import agree, print_ablation, print_plan, tell_power
from prosa.settings.environment import given_here

if TYPE_CHECKING:
    from prosa.app.evals.ablation import Ablation
    from prosa.app.evals.reports import ReportTarget
    from prosa.app.evals.run import TestProgress
    from prosa.app.evals.suite import Suite
    from prosa.app.evals.variants import TestOptions
    from prosa.app.options import Environment, Options
    from prosa.evaluation.report import Report
    from prosa.records.test import ShownTest
    from prosa.records.test_plan import TestPlan

FORMATS = ("text", "json", "jsonl", "junit", "github")


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa test`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="test documents, skills, context files (default: .)")
    parser.add_argument(
        "--case", action="append", dest="cases", metavar="NAME", help="only cases with this in their name"
    )
    parser.add_argument("--failed", action="store_true", help="only the cases that failed last time")
    parser.add_argument(
        "--repeat", type=count, metavar="N", help="how often each case runs (default: as its document says)"
    )
    parser.add_argument(
        "--gate",
        choices=("point", "lower"),
        default="point",
        help="what must reach the required rate: the rate itself, or the lower end of its interval",
    )
    parser.add_argument("--against", metavar="OTHER", help="compare with another program, git revision or model")
    parser.add_argument(
        "--audit", action="store_true", help="try the cases themselves: can they fail, and what do they notice?"
    )
    parser.add_argument(
        "--ablate", choices=("sections",), help="compare with the subject without each of its sections, at most eight"
    )
    parser.add_argument(
        "--cases",
        dest="cases_file",
        metavar="FILE",
        help="cases for a skill or a context file (default: evals/evals.json beside it)",
    )
    parser.add_argument("--no-model", action="store_true", help="audit without asking a model")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    add_reports(parser)
    parser.add_argument(
        "--update", action="store_true", help="rewrite expectations that were not met with the actual results"
    )
    parser.add_argument("--diff", action="store_true", help="show what --update would change, and write nothing")
    parser.add_argument("--dry-run", action="store_true", help="the same: show the diff of --update, write nothing")
    parser.add_argument("-w", "--watch", action="store_true", help="run again whenever a document changes")
    parser.add_argument(
        "--no-cache", action="store_false", dest="cache", help="call the model again, even for stored answers"
    )
    parser.add_argument("--no-progress", action="store_true", help="no status line")
    _add_models(parser)
    _add_agents(parser)
    add_limits(parser, at_once="runs at once (8)")
    add_recording(parser)
    add_otel(parser)
    parser.add_argument("--force", action="store_true", help="record and report classified documents anyway")


def _add_models(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("models")
    group.add_argument(
        "-m",
        "--model",
        action="append",
        dest="models",
        metavar="NAME",
        help="try this model; repeat to compare several",
    )
    group.add_argument(
        "--grader-model", metavar="NAME", help="the model that grades (default: the first model that is tried)"
    )
    group.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server (also: OPENAI_BASE_URL)")
    group.add_argument("--api-key-env", metavar="NAME", help="the environment variable with the key for --base-url")
    group.add_argument("--api", choices=("chat", "responses"), help="Chat Completions (default) or Responses")


def _add_agents(parser: argparse.ArgumentParser) -> None:
    add_options(parser.add_argument_group("agents"), AgentKeywords)
    parser.add_argument(
        "--plan", action="store_true", help="say what the test would take at least and at most; ask nothing"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before a test that is large or costly")


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when every gate is open and no comparison is worse or not measured, 1 otherwise. Raises `WrongUse` when there
    is no test."""
    args.paths = args.paths or ["."]
    if args.update and args.format != "text":
        raise WrongUse("--update shows a diff and needs --format text")
    if not args.watch:
        return _once(args, console)
    from prosa.cli.watch_documents import watch_folders
    from prosa.dialects.table import skill_folder

    folders = {path if path.is_dir() else skill_folder(path) for path in map(Path, args.paths)}
    return watch_folders(folders, console, lambda: _once(args, console))


def _once(args: argparse.Namespace, console: Console) -> int:
    from prosa.app.evals.load import find_tests, load_suites
    from prosa.app.evals.plan import plan_tests
    from prosa.app.run.service import complete_options

    groups = find_tests(args.paths, args.root, args.max_size, given_here(console.environ))
    if not groups:
        hint = "a test document is named NAME.test.md, and the cases of a skill are in its evals/evals.json"
        raise WrongUse(
            f"no test documents in {', '.join(args.paths)}, and no skill with cases",
            hint=f"{hint}; `prosa new test NAME` and `prosa new skill NAME` write them",
        )
    environment = environment_of(console, groups[0].paths[0])
    chosen, options = _chosen(args, console)
    in_agent = bool(chosen.agents.agents)
    named = None if args.cases_file is None else Path(args.cases_file)
    suites = load_suites(groups, options, environment, in_agent=in_agent, cases=named)
    targets = _targets(args, suites)
    ablation = _ablation(args, suites, chosen, environment)
    if ablation is not None:
        suites, chosen = (ablation.suite,), replace(chosen, sides=ablation.sides)
    if args.audit:
        from prosa.cli.audit import run_audit

        return run_audit(args, suites, (chosen, options), targets, environment, console)
    if args.plan:
        return print_plan(plan_tests(suites, chosen, options, environment), args, console)
    plan = _begun(suites, (chosen, options), ablation, args, environment, console)
    options = options if in_agent else complete_options(options, environment)
    shown: list[ShownTest] = []
    report = _tried(suites, (chosen, options), args, environment, console, shown.append if targets else None)
    if ablation is not None:
        print_ablation(ablation, report, plan, args, console)
    else:
        console.out(rendered(report, args.format, color=console.color))
    for target in targets:
        _report(shown[0], target, console)
    if args.update or args.diff or args.dry_run:
        return _updated(args, suites, report, console)
    return OK if report.ok else FAILED


def _begun(
    suites: Sequence[Suite],
    chosen: tuple[TestOptions, Options],
    ablation: Ablation | None,
    args: argparse.Namespace,
    environment: Environment,
    console: Console,
) -> TestPlan | None:
    """Ask before a test that takes much, and say what one of sections or of a context file can find. Return its plan,
    where one was made."""
    from prosa.app.evals.plan import plan_tests

    compares = ablation is not None or any(suite.place is not None for suite in suites)
    if not (compares or chosen[0].agents.agents):
        return None
    plan = plan_tests(suites, *chosen, environment)
    if not args.yes:
        agree(plan, chosen[1], environment, console)
    if compares:
        tell_power(plan, ablation.notes if ablation is not None else (), console)
    return plan


def _tried(
    suites: Sequence[Suite],
    chosen: tuple[TestOptions, Options],
    args: argparse.Namespace,
    environment: Environment,
    console: Console,
    ended: Callable[[ShownTest], None] | None,
) -> Report:
    """Run the test with its progress on the terminal, and print what is there if it is stopped."""
    from prosa.app.evals.run import run_tests
    from prosa.cli.run.interaction import run_stoppable

    with progress(console, wanted=not args.no_progress) as status:

        def on_progress(at: TestProgress) -> None:
            failed = f", {at.failed:,} failed" if at.failed else ""
            unmeasured = f", {at.unmeasured:,} not measured" if at.unmeasured else ""
            status.show(f"ran {at.done:,} of {at.total:,}{failed}{unmeasured}")

        def interrupted(report: Report) -> None:
            status.clear()
            console.out(rendered(report, args.format, color=console.color))

        return run_stoppable(
            run_tests(suites, *chosen, environment, on_progress=on_progress, interrupted=interrupted, ended=ended)
        )


def _ablation(
    args: argparse.Namespace, suites: Sequence[Suite], chosen: TestOptions, environment: Environment
) -> Ablation | None:
    """Return what `--ablate` compares. Raises `WrongUse` for options that are not for it."""
    if args.ablate is None:
        return None
    from prosa.app.evals.ablation import ablation_of

    if args.audit or chosen.sides or len(chosen.models) > 1 or len(chosen.agents.agents) > 1:
        raise WrongUse("--ablate tries one subject with one model, or in one agent, and nothing beside")
    if args.format not in ("text", "json"):
        raise WrongUse(f"--ablate has no --format {args.format}", hint="one of text, json")
    return ablation_of(suites, chosen, environment)


def _targets(args: argparse.Namespace, suites: Sequence[Suite]) -> list[ReportTarget]:
    """Return where reports go. Raises `ReportRefused` before anything runs."""
    if not args.reports:
        return []
    from prosa.app.evals.reports import require_reportable, target_of

    require_reportable(suites, force=args.force)
    return [target_of(report, force=args.force) for report in args.reports]


def _report(shown: ShownTest, target: ReportTarget, console: Console) -> None:
    from prosa.app.evals.reports import write_test_report

    console.note(f"wrote {write_test_report(shown, target, console.note)}")


def _chosen(args: argparse.Namespace, console: Console) -> tuple[TestOptions, Options]:
    """Return the user's choices for tests, and for each of their runs."""
    from prosa.app.agents.task import agent_options
    from prosa.app.evals.suite import side_of
    from prosa.app.evals.variants import TestOptions

    models = tuple(dict.fromkeys(name for text in args.models or () for name in _names(text)))
    args.model = models[0] if len(models) == 1 else None
    options = replace(options_from(args, console.environ), journal=None)  # attempts are stored, not their runs
    sides = () if args.against is None else (side_of(args.against, Path(args.paths[0])),)
    chosen = TestOptions(
        models=models,
        repeat=args.repeat,
        cases=tuple(args.cases or ()),
        failed=args.failed,
        lower=args.gate == "lower",
        cache=args.cache,
        at_once=args.at_once or 8,
        grader_model=args.grader_model,
        sides=sides,
        agents=agent_options(values_of(AgentKeywords, args), models),
        journal=JournalOptions("test"),
    )
    return chosen, options


def _names(text: str) -> Sequence[str]:
    """Return the models that one `--model` names: several with commas between them, but for a file of replies."""
    return [text] if text.startswith("scripted:") else [part.strip() for part in text.split(",") if part.strip()]


def rendered(report: Report, form: str, *, color: bool = False) -> str:
    """Return the report as text in one of `FORMATS`."""
    from prosa.render import tests, tests_ci

    if form == "json":
        return json.dumps(tests.tests_json(report), ensure_ascii=False, indent=2)
    if form == "text":
        return tests.tests_text(report, color=color)
    return {"jsonl": tests.tests_jsonl, "junit": tests_ci.tests_junit, "github": tests_ci.tests_github}[form](report)


def _updated(args: argparse.Namespace, suites: Sequence[Suite], report: Report, console: Console) -> int:
    """Show the changes of `--update`, then write them. Return 1 if a failed expectation stays unchanged."""
    from prosa.app.evals.update import updates, write_updates
    from prosa.render.diff import render_diff

    updated = updates(suites, report)
    for change in updated.changes:
        console.out(f"\n{render_diff(str(change.path), change.before.text, change.after)}", end="")
    for note in updated.left:
        console.note(f"note: {note}")
    if args.update and not (args.diff or args.dry_run):
        refused = write_updates(updated.changes)
        for words in refused:
            say(console, words, cause="not-written")
        if updated.changes:
            console.note(f"updated {len(updated.changes) - len(refused)} of {len(suites)} documents")
        return OK if (report.ok or not updated.remains) and not refused else FAILED
    return OK if report.ok else FAILED
