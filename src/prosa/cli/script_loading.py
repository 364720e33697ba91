"""A document with its ai-scripts, what the user chose of them, and what became of the choice. Runs nothing.

In: the arguments of `run`, `plan` or `render`. Out: `Loaded`, or why it cannot be.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.cli.run_arguments import choices_from
from prosa.cli.script_arguments import choice_from, tools_from
from prosa.cli.surroundings import surroundings

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.app.scripts.load import Preparing, ScriptFile
    from prosa.dialects.magi.choosing import Choice, Row


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document with its scripts, what the user chose, and what became of the choice."""

    preparing: Preparing
    choice: Choice
    rows: tuple[Row, ...]
    states: Mapping[str, str]

    @property
    def file(self) -> ScriptFile:
        """The document."""
        return self.preparing.file


def loaded(args: argparse.Namespace, choices: Options, around: Environment, console: Console) -> Loaded:
    """Reads the document and weighs the choice. Raises `WrongUse` and `RunError`."""
    from prosa.app.scripts.choose import modes_of, rows_of, states_of
    from prosa.app.scripts.load import Preparing, load_scripts
    from prosa.dialects.magi.context import visible
    from prosa.dialects.magi.script_hash import DEFAULT_CONTEXT

    file = load_scripts(args.file, choices, around.settings, args.beside)
    choice = choice_from(args, file.scripts, console)
    states = states_of(file)
    modes = modes_of(file) if choice.stale and args.context is None else {}
    mode = args.context or DEFAULT_CONTEXT
    preparing = Preparing(file, choices, around, mode, tools_from(args), visible(file.model), modes=modes)
    _require_provider(preparing)
    return Loaded(preparing, choice, rows_of(file, choice, states), states)


def planning(args: argparse.Namespace, console: Console) -> Loaded:
    """The same for `plan` and `render`: without a choice all scripts are shown."""
    choices = choices_from(args)
    found = loaded(args, choices, surroundings(console, args.file), console)
    if found.choice.is_made:
        return found
    from prosa.app.scripts.choose import rows_of

    every = replace(found.choice, every=True)
    return replace(found, choice=every, rows=rows_of(found.file, every, found.states))


def _require_provider(preparing: Preparing) -> None:
    """A provider that the command line names and nobody knows is one mistake, not one of every script."""
    from prosa.runtime.errors import RunError

    try:
        preparing.row_of(preparing.choices.provider)
    except RunError as error:
        raise WrongUse(f"--provider: {error.message}", hint=error.hint) from None
