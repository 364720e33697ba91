"""The plan of `prosa test` on stdout, and the question before a test that takes much."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import OK

if TYPE_CHECKING:
    from prosa.app.evals.ablation import Ablation
    from prosa.app.options import Environment, Options
    from prosa.evaluation.report import Report
    from prosa.records.test_plan import TestPlan


def print_plan(plan: TestPlan, args: argparse.Namespace, console: Console) -> int:
    """Print what the test would take."""
    from prosa.render.tests_plan import plan_json, plan_text

    as_json = args.format in ("json", "jsonl")
    console.out(
        json.dumps(plan_json(plan), indent=2 if args.format == "json" else None) if as_json else plan_text(plan)
    )
    return OK


def agree(plan: TestPlan, options: Options, environment: Environment, console: Console) -> None:
    """Ask before a test takes much, unless recordings answer everything. Raises what `ask_first` does."""
    from prosa.cli.run.interaction import ask_first

    if options.recording is None or not options.recording.plays_all:
        ask_first(plan, "test", environment, console)


def tell_power(plan: TestPlan | None, notes: Sequence[str], console: Console) -> None:
    """Say on stderr what a test can find, before it begins."""
    from prosa.render.power import power_lines

    for note in (*notes, *(() if plan is None else (*plan.notes, *power_lines(plan.powers)))):
        console.note(note)


def print_ablation(
    ablation: Ablation, report: Report, plan: TestPlan | None, args: argparse.Namespace, console: Console
) -> None:
    """Print a test with what the absence of each section does."""
    from prosa.app.evals.ablation import ablated
    from prosa.render.ablation import ablation_json, ablation_text
    from prosa.render.power import power_json
    from prosa.render.tests import tests_json, tests_text

    outcome = ablated(ablation, report)
    if args.format == "text":
        console.out(f"{tests_text(report, color=console.color)}\n\n{ablation_text(outcome)}")
        return
    powers = power_json(() if plan is None else plan.powers)
    data = {**tests_json(report), "ablation": ablation_json(outcome), "power": powers}
    console.out(json.dumps(data, ensure_ascii=False, indent=2))
