"""The plan of `prosa test` on stdout, and the question before a test that takes much."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import OK

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.records.test_plan import TestPlan


def print_plan(plan: TestPlan, args: argparse.Namespace, console: Console) -> int:
    """Print what the test would take."""
    from prosa.render.tests import plan_json, plan_text

    as_json = args.format in ("json", "jsonl")
    console.out(
        json.dumps(plan_json(plan), indent=2 if args.format == "json" else None) if as_json else plan_text(plan)
    )
    return OK


def agree(plan: TestPlan, options: Options, environment: Environment, console: Console) -> None:
    """Ask before a test takes much, unless recordings answer everything. Raises what `ask_first` does."""
    from prosa.cli.run.interaction import ask_first

    if options.tape is None or not options.tape.plays_all:
        ask_first(plan, "test", environment, console)
