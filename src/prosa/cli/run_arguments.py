"""Arguments that `run`, `plan` and `render` share, and the `Options` they make."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.parser import Parser
from prosa.cli.program_help import input_names

if TYPE_CHECKING:
    from prosa.app.options import Options


def add_input(parser: argparse.ArgumentParser) -> None:
    """How an input is given."""
    if isinstance(parser, Parser):
        parser.input_names = partial(input_names, parser.console)
    # The default keeps it out of what argparse calls required when FILE is missing.
    typed = "one input, typed by the program's input schema"
    parser.add_argument("pairs", nargs="*", default=(), metavar="KEY=VALUE", help=typed)
    parser.add_argument("--input", metavar="JSON", help="the whole input as JSON, @FILE, or - for standard input")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Which model answers, and where."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "-m", "--model", metavar="NAME", help="model for the program and its imports; local[:NAME]; scripted:FILE"
    )
    group.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server (also: OPENAI_BASE_URL)")
    group.add_argument("--api-key-env", metavar="NAME", help="the variable whose key may go to --base-url")
    group.add_argument("--api", choices=("chat", "responses"), help="Chat Completions (default) or Responses")


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Limits; a flag may go beyond what a document may ask for (X9)."""
    group = parser.add_argument_group("limits")
    group.add_argument("--max-iterations", type=count, metavar="N", dest="iterations", help="model calls (10)")
    group.add_argument("--timeout", type=_seconds, metavar="SECONDS", dest="wall_clock", help="wall clock (600)")
    group.add_argument("--retries", type=_count0, metavar="N", help="further attempts after transient errors (10)")
    group.add_argument(
        "--max-tool-result", type=_bytes, metavar="SIZE", dest="tool_result", help="cut results (256KiB)"
    )
    group.add_argument("--concurrency", type=count, metavar="N", help="tool calls at once (8)")
    group.add_argument("--python-timeout", type=_seconds, metavar="SECONDS", help="one call of the sandbox (30)")
    group.add_argument("--python-memory", type=_size, metavar="SIZE", help="memory of the sandbox (128MB)")
    group.add_argument(
        "--allow-cut", action="store_true", help="take a text that ends at the model's length limit, marked as cut"
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """What may be read."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--root", type=_folder, metavar="DIR", help="open imports only inside this folder (default: the project)"
    )
    group.add_argument("--max-size", type=_bytes, metavar="SIZE", help="largest document, and input (10MB)")


def choices_from(args: argparse.Namespace) -> Options:
    """The user's choices. Raises `WrongUse` for scripted replies without a file."""
    from dataclasses import fields

    from prosa.app.options import NO_SCRIPT, NO_SCRIPT_HINT, Options
    from prosa.cli.parser import WrongUse
    from prosa.cli.site_arguments import rights_from

    known = {field.name for field in fields(Options)}
    chosen = {name: value for name, value in vars(args).items() if name in known}
    choices = Options(**chosen, site_rights=rights_from(args))
    if choices.lacks_script:
        raise WrongUse(f"--model {choices.model}: {NO_SCRIPT}", hint=NO_SCRIPT_HINT)
    return choices


def count(text: str) -> int:
    """A whole number from 1, as the type of an argument."""
    return _whole(text, at_least=1)


def _count0(text: str) -> int:
    return _whole(text, at_least=0)


def _whole(text: str, *, at_least: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < at_least:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least {at_least}, found {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    from prosa.dialects.quantity import seconds

    found = seconds(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"expected a time such as 30, 30s or 5m, found {text!r}")
    return float(found)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no such folder: {text}")
    return Path(text)


def _bytes(text: str) -> int:
    """A size of text, where a plain number means bytes, as in the settings."""
    return _whole(text, at_least=1) if text.strip().isdigit() else _size(text)


def _size(text: str) -> int:
    """A size of memory, where a plain number means megabytes, as in front matter."""
    from prosa.dialects.quantity import size

    found = size(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 128MB or 256KiB, found {text!r}")
    return int(found)
