"""`prosa render`: the prompt a run would send, without sending it. Works without an output schema (LA2)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.options import add_input, add_reading, add_scripts, options_from
from prosa.cli.parser import WrongUse
from prosa.cli.run.choosing import runs_scripts

if TYPE_CHECKING:
    from prosa.runtime.messages import Message


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa render`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the program, the skill or .mda document")
    add_input(parser)
    parser.add_argument("--messages", action="store_true", help="the system message too, each under its role")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: a list of role and content")
    add_reading(parser)
    add_scripts(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Render it."""
    if runs_scripts(args, console):
        return _scripts(args, console)
    from prosa.app.run.load import load_program
    from prosa.cli.run.input import given_input
    from prosa.records.plan import first_messages

    options = options_from(args, console.environ)
    settings = environment_of(console, args.file).settings
    program = load_program(args.file, options, settings, to_run=False, environ=console.environ)
    input_value = given_input(program, args.input, args.pairs, console, options.max_size)
    return _print(args, first_messages(program, input_value), console)


def _scripts(args: argparse.Namespace, console: Console) -> int:
    """Return what one ai-script of a document would be sent (MA11)."""
    from prosa.cli.run.choosing import planning
    from prosa.records.plan import first_messages

    selection = planning(args, console)
    rows = [row for row in selection.rows if row.kind not in ("not-chosen", "error")]
    if len(rows) != 1:
        names = ", ".join(row.script.address for row in rows)
        hint = f"one of {names}" if names else f"run: prosa plan {args.file}"
        raise WrongUse(f"render shows one script, and {len(rows)} are chosen: --script ID", hint=hint)
    script = rows[0].script
    job = selection.preparing.ready(script, selection.choice.text_for(script))
    return _print(args, first_messages(job.program, job.input_value), console)


def _print(args: argparse.Namespace, messages: Sequence[Message], console: Console) -> int:
    if args.format == "json":
        console.out(
            json.dumps([{"role": message.role, "content": message.content} for message in messages], ensure_ascii=False)
        )
    elif args.messages:
        console.out("\n".join(f"--- {message.role} ---\n{message.content.rstrip()}\n" for message in messages), end="")
    else:
        body = messages[-1].content
        console.out(body, end="" if body.endswith("\n") else "\n")
    return 0
