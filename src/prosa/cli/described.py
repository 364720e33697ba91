"""`prosa help --format json`: the commands, or one of them, as data for programs that call it.

In: words behind `help`. Out: JSON made of the parsers, of the table of effects and of the examples. Only the module of
the command that is described is loaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from prosa.cli.commands import COMMANDS, EXIT_STATUSES, Command
from prosa.cli.effects import EFFECTS, UNKNOWN, When

if TYPE_CHECKING:
    from prosa.cli.parser import Parser
    from prosa.data import Value

TYPES: Mapping[str, str] = {
    "Path": "path",
    "chosen_dialect": "text",
    "count": "number",
    "depth": "number",
    "dollars": "dollars",
    "duration": "seconds",
    "folder": "path",
    "int": "number",
    "limit": "number",
    "memory": "size",
    "number": "number",
    "output_file": "path",
    "port": "number",
    "rows": "number",
    "seconds": "seconds",
    "size": "size",
    "store_place": "store",
    "str": "text",
}
"""The names of types by the function that reads a value; others are text."""


def index(version: str) -> dict[str, Value]:
    """Return every command with its summary and its effects, and what describes one of them."""
    commands: list[Value] = [
        {"name": command.name, "summary": command.summary, **_effects(command)} for command in COMMANDS
    ]
    return {"version": version, "commands": commands, "exit": _exit(), "more": "prosa help COMMAND --format json"}


def description(command: Command, parser: Parser) -> dict[str, Value]:
    """Return the arguments, the options, the exit statuses, the effects and the examples of a command."""
    from prosa.cli.examples import EXAMPLES

    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]  # noqa: SLF001
    return {
        "command": command.name,
        "summary": command.summary,
        "arguments": [dict(_argument(action)) for action in actions if not action.option_strings],
        "options": [dict(_option(action)) for action in actions if action.option_strings],
        "exit": _exit(),
        **_effects(command),
        "examples": [example._asdict() for example in EXAMPLES.get(command.name, ())],
    }


def _effects(command: Command) -> dict[str, Value]:
    effects = EFFECTS.get(command.name, UNKNOWN)
    return {name: _when(effect) for name, effect in effects._asdict().items()}


def _when(when: When) -> Value:
    return when if isinstance(when, bool) else list(when)


def _exit() -> dict[str, Value]:
    return {str(number): meaning for number, meaning in EXIT_STATUSES}


def _argument(action: argparse.Action) -> Iterator[tuple[str, Value]]:
    yield "name", action.metavar if isinstance(action.metavar, str) else action.dest
    yield "type", _type(action)
    yield "help", _help(action)
    if action.choices is not None:
        yield "choices", [str(choice) for choice in action.choices]
    yield "required", action.nargs not in ("?", "*")
    if action.nargs in ("*", "+"):
        yield "several", True


def _option(action: argparse.Action) -> Iterator[tuple[str, Value]]:
    yield "flags", list(action.option_strings)
    yield "type", _type(action)
    yield "default", _plain(action)
    yield "help", _help(action)
    if action.choices is not None:
        yield "choices", [str(choice) for choice in action.choices]
    elif action.nargs != 0:
        yield "value", action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.required:
        yield "required", True
    if isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+"):  # noqa: SLF001
        yield "several", True


def _type(action: argparse.Action) -> str:
    """Return the name of the type of an argument: of a closed list, so that a program can rely on it."""
    if action.nargs == 0:
        return "switch"
    if action.choices is not None:
        return "choice"
    reads = getattr(action.type, "func", action.type)  # of a `partial`
    return TYPES.get(str(getattr(reads, "__name__", "str")).lstrip("_"), "text")


def _plain(action: argparse.Action) -> Value:
    """Return a default as JSON has it; null where the command decides."""
    if action.nargs == 0:
        return False if action.default in (None, False, argparse.SUPPRESS, True) else str(action.default)
    default = action.default
    if default is None or default is argparse.SUPPRESS or default in ((), []):
        return None
    return str(default) if isinstance(default, PurePath) else default


def _help(action: argparse.Action) -> str:
    if action.dest == "help":
        return "print the help and end"
    return (action.help or "") % _words(action)


def _words(action: argparse.Action) -> dict[str, Value]:
    return {"default": action.default, "prog": "prosa"}


def named(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words behind `help` without the flags that ask for JSON."""
    return tuple(word for word in words if word not in ("--format", "json", "jsonl", "all") and "--format=" not in word)
