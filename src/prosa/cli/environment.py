"""The environment that a command passes to a use case: variables, settings, and functions for notices and prompts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console

if TYPE_CHECKING:
    from prosa.app.options import Environment
    from prosa.runtime.ports import Prices


def environment_of(console: Console, program: Path, notice: Callable[[str], None] | None = None) -> Environment:
    """Return the environment of ``program``. ``notice`` prints a permanent line; by default on stderr."""
    from prosa.app.options import Environment
    from prosa.app.settings import settings_for

    def ask(question: str) -> bool:
        console.err(f"{question} [y/N] ", end="")
        return console.stdin.readline().strip().lower() in ("y", "yes")

    say = notice or console.note
    if console.interactive:
        from prosa.cli.run.interaction import confirming

        confirm = confirming(console, say)
    else:
        confirm = None
    return Environment(
        environ=console.environ,
        settings=settings_for(program, console.environ, say),
        notice=say,
        ask=ask if console.interactive else None,
        confirm=confirm,
    )


def prices_of(console: Console) -> Prices:
    """Return the known prices of models, with those of the user's settings."""
    from prosa.app.run.world import known_prices
    from prosa.app.settings import settings_for

    return known_prices(settings_for(None, console.environ, console.note))
