"""An argparse parser that writes to a console, never exits the process, and suggests the nearest flag.

In: the arguments of one command. Out: a namespace, or `WrongUse`. `HelpShown` says that `--help` was answered.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prosa.cli.console import Console


class WrongUse(Exception):
    """The command line makes no sense: exit 2. ``hint`` says what to do; ``usage`` is printed first when given."""

    def __init__(self, message: str, *, hint: str = "", usage: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.usage = usage


class HelpShown(Exception):
    """The parser has printed its help; the command is done with exit 0."""


class Parser(argparse.ArgumentParser):
    """Arguments of one command. Long flags must be written out, so that a later flag never changes an old call."""

    def __init__(self, *, console: Console, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            add_help=True,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.console = console

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002 - the console decides where
        """Prints the help on the console's stdout."""
        self.console.out(self.format_help(), end="")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - never leaves the process
        """Argparse calls this after help only."""
        raise HelpShown

    def error(self, message: str) -> NoReturn:
        """Wrong arguments."""
        raise WrongUse(message, hint=self._suggestion(message) or f"see: {self.prog} --help", usage=self.format_usage())

    def parse_anywhere(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parses with flags and positional arguments in any order: ``run FILE --model m KEY=VALUE`` works. Behind
        ``--``, which argparse would lose on that way, no word is a flag."""
        return self.parse_args(argv) if "--" in argv else self.parse_intermixed_args(argv)

    def has_flag(self, flag: str) -> bool:
        """Whether the command defines this flag itself."""
        return flag in self._option_string_actions

    def _suggestion(self, message: str) -> str:
        """The nearest flag to the first unknown one, as a hint."""
        found = message.partition("unrecognized arguments: ")[2].split()
        if not found or not found[0].startswith("-"):
            return ""
        near = nearest(found[0].partition("=")[0], self._option_string_actions)
        return f"did you mean {near}?" if near else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like this one, None when no one is close. Loads the comparison only when it is needed."""
    from prosa.diagnostics.nearest import nearest as find

    return find(word, known)
