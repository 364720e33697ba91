"""A document with its ai-scripts, what the user chose of them, and what became of the choice. Runs nothing.

In: the arguments of `run`, `plan` or `render`. Out: a `Selection`, or why it cannot be.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.options import choices_from
from prosa.cli.parser import WrongUse
from prosa.cli.script_arguments import choice_from, tools_from
from prosa.cli.surroundings import surroundings

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.app.scripts.choose import Selection
    from prosa.app.scripts.load import Preparing


def loaded(args: argparse.Namespace, options: Options, environment: Environment, console: Console) -> Selection:
    """Reads the document and weighs the choice. Raises `WrongUse` and `RunError`."""
    from prosa.app.scripts.choose import selection
    from prosa.app.scripts.load import load_scripts

    file = load_scripts(args.file, options, environment.settings, args.beside)
    choice = choice_from(args, file.scripts, console)
    found = selection(file, choice, options, environment, context=args.context, tools=tools_from(args))
    _require_provider(found.preparing)
    return found


def planning(args: argparse.Namespace, console: Console) -> Selection:
    """The same for `plan` and `render`: without a choice all scripts are shown."""
    found = loaded(args, choices_from(args), surroundings(console, args.file), console)
    return found if found.choice.is_made else found.narrowed(replace(found.choice, every=True))


def _require_provider(preparing: Preparing) -> None:
    """A provider that the command line names and nobody knows is one mistake, not one of every script."""
    from prosa.runtime.errors import RunError

    try:
        preparing.row_of(preparing.choices.provider)
    except RunError as error:
        raise WrongUse(f"--provider: {error.message}", hint=error.hint) from None
