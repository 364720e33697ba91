"""`prosa plan`: everything a run would do, without doing it. Starts no server, asks no model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.options import add_input, add_limits, add_model, add_output_schema, add_scripts, options_from
from prosa.cli.run.choosing import runs_scripts


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa plan`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the program, the skill or .mda document")
    add_input(parser)
    add_model(parser)
    add_limits(parser)
    add_output_schema(parser)
    add_scripts(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace, console: Console) -> int:
    """Plan it."""
    if runs_scripts(args, console):
        return _scripts(args, console)
    from prosa.app.permission import refusal
    from prosa.app.run.facts import facts_of
    from prosa.app.run.load import load_program
    from prosa.app.run.server_credentials import credential_words
    from prosa.app.run.service import service_words
    from prosa.cli.run.input import given_input
    from prosa.records.plan import plan
    from prosa.render.plan import plan_text

    options, environment = options_from(args, console.environ), environment_of(console, args.file)
    program = load_program(args.file, options, environment.settings, environ=console.environ)
    has_input = args.input is not None or bool(args.pairs)
    input_value = given_input(program, args.input, args.pairs, console, options.max_size) if has_input else {}
    service = service_words(options, environment, model_name=program.model_name)
    facts = facts_of(program, options, environment)
    sent = credential_words(program, environment.settings, console.environ)
    refused = refusal(program, options, environment)
    why = "" if refused is None else str(refused)
    if refused is not None:
        console.note(refused.hint)
    planned = plan(
        program, input_value, has_input=has_input, service=service, facts=facts, credentials=sent, refused=why
    )
    text = json.dumps(planned.as_dict(), ensure_ascii=False, indent=2) if args.format == "json" else plan_text(planned)
    console.out(text)
    return 0


def _scripts(args: argparse.Namespace, console: Console) -> int:
    """Return the plan of the ai-scripts of a document: those chosen, or all; with what each would be sent (MA10,
    MA12)."""
    from prosa.app.permission import is_trusted
    from prosa.app.scripts.plan import planned
    from prosa.cli.run.choosing import planning
    from prosa.render.plan import scripts_plan_text

    selection = planning(args, console)
    plan = planned(selection, whole=True, trusted=is_trusted(selection.file.trusted_source, console.environ))
    console.out(json.dumps(plan, ensure_ascii=False, indent=2) if args.format == "json" else scripts_plan_text(plan))
    return 0
