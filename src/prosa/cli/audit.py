"""`prosa test --audit`: cases in, what is vacuous in them on stdout; 1 where something is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from prosa.app.evals.audit import audit_tests, plan_audit
from prosa.app.evals.reports import ReportTarget, write_audit_report
from prosa.app.evals.run import TestProgress
from prosa.app.evals.suite import Suite
from prosa.app.evals.variants import TestOptions
from prosa.app.options import Environment, Options
from prosa.app.run.service import complete_options
from prosa.cli.console import Console
from prosa.cli.errors import FAILED, OK
from prosa.cli.parser import WrongUse
from prosa.cli.progress import progress
from prosa.cli.run.interaction import run_stoppable
from prosa.cli.test_plan import agree, print_plan
from prosa.render.audit import audit_json, audit_text

FORMATS = ("text", "json", "jsonl")


def run_audit(
    args: argparse.Namespace,
    suites: Sequence[Suite],
    chosen: tuple[TestOptions, Options],
    targets: Sequence[ReportTarget],
    environment: Environment,
    console: Console,
) -> int:
    """0 where nothing vacuous was found, 1 otherwise. Raises `WrongUse` for options that an audit does not have."""
    wanted, options = chosen
    _require_plain(args, wanted)
    in_agent, asks = bool(wanted.agents.agents), not args.no_model
    if args.plan or (asks and not args.yes):
        plan = plan_audit(suites, wanted, options, environment)
        if args.plan:
            return print_plan(plan, args, console)
        agree(plan, options, environment, console)
    options = complete_options(options, environment) if asks and not in_agent else options
    with progress(console, wanted=not args.no_progress) as status:

        def on_progress(at: TestProgress) -> None:
            status.show(f"tried {at.done:,} of {at.total:,}")

        audit = run_stoppable(audit_tests(suites, wanted, options, environment, on_progress=on_progress, asks=asks))
    if args.format == "text":
        console.out(audit_text(audit))
    else:
        data = audit_json(audit)
        console.out(json.dumps(data, ensure_ascii=False, indent=2 if args.format == "json" else None))
    for target in targets:
        console.note(f"wrote {write_audit_report(audit, target)}")
    return OK if audit.ok else FAILED


def _require_plain(args: argparse.Namespace, chosen: TestOptions) -> None:
    if args.update or args.diff or args.dry_run:
        raise WrongUse("--audit changes no expectations, so --update, --diff and --dry-run are not for it")
    if args.format not in FORMATS:
        raise WrongUse(f"--audit has no --format {args.format}", hint=f"one of {', '.join(FORMATS)}")
    if chosen.sides or len(chosen.models) > 1 or len(chosen.agents.agents) > 1:
        raise WrongUse("--audit tries one subject with one model, or in one agent", hint="leave --against out")
