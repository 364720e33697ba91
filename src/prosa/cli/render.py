"""`prosa render`: the prompt a run would send, without sending it. Works without an output schema (LA2)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.run_arguments import add_input, add_reading, choices_from
from prosa.cli.surroundings import surroundings


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa render`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the program")
    add_input(parser)
    parser.add_argument("--messages", action="store_true", help="the system message too, each under its role")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: a list of role and content")
    add_reading(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Renders it."""
    from prosa import app
    from prosa.cli.run_input import read_input
    from prosa.runtime.plan import first_messages

    choices = choices_from(args)
    program = app.load_program(args.file, choices, surroundings(console, args.file).settings, to_run=False)
    given = read_input(program.input_schema, args.input, args.pairs, console, choices.max_size)
    messages = first_messages(program, given)
    if args.format == "json":
        console.out(json.dumps([{"role": each.role, "content": each.content} for each in messages], ensure_ascii=False))
    elif args.messages:
        console.out("\n".join(f"--- {each.role} ---\n{each.content.rstrip()}\n" for each in messages), end="")
    else:
        body = messages[-1].content
        console.out(body, end="" if body.endswith("\n") else "\n")
    return 0
