"""An argparse parser that writes to a console, never exits the process, and suggests the nearest flag.

In: the arguments of one command. Out: a namespace, or `WrongUse`: the mistake, and the nearest flag or the help
command. `HelpShown` is raised after `--help`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NoReturn

from prosa.cli.commands import HELP_FLAGS
from prosa.cli.console import Finished
from prosa.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prosa.cli.console import Console

MOST_OPTIONS = 25
"""Options that the help of a command shows; where there are more, it leaves out those of `RARE`."""

RARE = frozenset(
    """
    --after --agent-home --agent-timeout --allow-action --allow-actions --allow-cut --allow-private --api
    --api-key-env --config-file --context --debug --env --events --fields --force --gate --grader-model --in-doubt
    --layout --legacy --match --max-calls --max-cost-per-row --max-iterations --max-output-tokens --max-size
    --max-tokens --max-tool-calls --max-tool-result --new --no-cache --no-default-config --no-gitignore --no-model
    --no-progress --otel --otel-content --output-schema --plugin --provider --python-memory --python-timeout --query
    --redact --report --retries --root --scripts --seed --set --site --site-token --skip-hidden --store --strict --then
    --timeout --tool --tools --tpm --trusted-proxy --unordered --waves --workspace-out
    """.split()  # noqa: SIM905 - sixty lines of one word each are harder to read
)
"""Options that a long help leaves out, beginning with the last."""

MOST_CHOICES = 8
"""Values of a flag that a message lists."""

_INVALID = regex(r"argument (\S+): invalid choice: (.*) \(choose from (.*)\)", re.DOTALL)
_ABOUT = regex(r"argument (\S+): (.*)", re.DOTALL)
_PATHS = regex(r"(?:^|\|)(?:DIR|FILE|NEW|OUT|PATH|PROGRAM|SITE|SUBJECT)(?:\||$)")
_MISSING = "the following arguments are required: "
_NO_VALUE = ("expected one argument", "expected at least one argument")


class WrongUse(Exception):
    """The command line makes no sense: exit 2. ``hint`` says what to do, and ``failure`` is its code as data."""

    def __init__(self, message: str, *, hint: str = "", failure: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.failure = failure


class HelpShown(Finished):
    """The parser has printed its help."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Argparse makes one for each flag, and asks for the width of the terminal with `shutil`; only help needs that."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class Parser(argparse.ArgumentParser):
    """Arguments of one command. Long flags must be written out, so that a later flag never changes an old call.

    ``input_names`` gives the inputs of the program that a command line names, where the command takes KEY=VALUE.
    ``shows_all`` has the help list every option, also those that are rarely used.
    ``with_value`` are flags that may have a value behind `=`, which `FLAG-value` takes.
    """

    def __init__(self, *, console: Console, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            add_help=True,
            formatter_class=_Formatter,
        )
        self.console = console
        self.with_value: set[str] = set()
        self.shows_all = False
        self.input_names: Callable[[Sequence[str]], Collection[str]] = lambda _: ()

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - the console decides where
        """Print the help on the console's stdout. Its first line names what must be given, not every flag."""
        options = [action for action in self._actions if action.option_strings and action.help != argparse.SUPPRESS]
        rare = [option for option in options if RARE.intersection(option.option_strings)]
        if (over := len(options) - MOST_OPTIONS) > 0 and not self.shows_all:
            for extra in rare[-over:]:
                extra.help = argparse.SUPPRESS
            self.epilog = f"{over} more options: {self.prog} --help all\n\n{self.epilog or ''}".rstrip()
        self.usage, self.formatter_class = self._short_usage(), argparse.RawDescriptionHelpFormatter
        self.console.out(self.format_help(), end="")

    def _short_usage(self) -> str:
        words = [_in_usage(action) for action in self._actions if not action.option_strings]
        return " ".join((self.prog, "[OPTIONS]", *words))

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - never leaves the process
        """Argparse calls this after help only."""
        raise HelpShown

    def error(self, message: str) -> NoReturn:
        """Turn a complaint of argparse into `WrongUse`, in the words of this command line."""
        if message.startswith(_MISSING):
            missing = message.removeprefix(_MISSING)
            self._refuse(f"{missing} {'are' if ', ' in missing else 'is'} missing")
        if match := _INVALID.fullmatch(message):
            self._refuse_choice(_name(match[1]), match[2].strip("'\""), re.sub("['\"]", "", match[3]).split(", "))
        if match := _ABOUT.fullmatch(message):
            self._refuse(
                f"{_name(match[1])} needs a value" if match[2] in _NO_VALUE else f"{_name(match[1])}: {match[2]}"
            )
        self._refuse(message)

    def parse_anywhere(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse with flags and positional arguments in any order: ``run FILE --model m KEY=VALUE`` works. Behind
        ``--``, which argparse would lose on that way, no word is a flag."""
        argv = [word for arg in argv for word in self._with_value_apart(arg)]
        self._require_known(argv)
        if any(word in HELP_FLAGS for word in (argv[: argv.index("--")] if "--" in argv else argv)):
            self.print_help()  # here, for argparse hides the positional arguments while it parses flags
            self.exit()
        self.usage = ""  # argparse would format it for each complaint, and none shows it
        parse = self.parse_known_args if "--" in argv else self.parse_known_intermixed_args
        args, rest = parse(argv)
        if rest:
            self._refuse(f"unexpected argument {rest[0]!r}")
        if "" in argv or any(word.endswith("=") for word in argv):
            self._refuse_empty_paths(args, argv)
        return args

    def _refuse_empty_paths(self, args: argparse.Namespace, argv: Sequence[str]) -> None:
        """Refuse an empty path: it would be the current folder where a variable of the shell is not set. As a `Path`
        it is `.` by now."""
        empty = {""} if any(word and not word.strip("./") for word in argv) else {"", "."}
        for action in self._actions:
            argument = getattr(args, action.dest, None)
            values = argument if isinstance(argument, list) else [argument]
            if argument != action.default and any(str(value) in empty for value in values) and _is_path(action):
                name = max(action.option_strings, key=len, default=action.metavar)
                self._refuse(f"{name} is empty: expected a path", hint="the current folder is .")

    def _with_value_apart(self, word: str) -> tuple[str, ...]:
        """Return a flag that may have a value, but only behind `=`: the value belongs to a flag of its own."""
        name, equals, value = word.partition("=")
        return (name, f"{name}-value", value) if equals and name in self.with_value else (word,)

    def has_flag(self, flag: str) -> bool:
        """Return whether the command defines this flag itself."""
        return flag in self._option_string_actions

    def _is_short(self, letters: str) -> bool:
        """Return whether letters are short flags without a value, of which the last may have its value behind it."""
        for letter in letters:
            action = self._option_string_actions.get(f"-{letter}")
            if action is None or action.nargs != 0:
                return action is not None
        return True

    def _require_known(self, argv: Sequence[str]) -> None:
        """Refuse the first unknown flag before reporting missing ones. Argparse never takes a word as a value that
        starts with a dash, unless it is a number or has a space."""
        for at, word in enumerate(argv):
            if word == "--":
                return
            name = word.partition("=")[0]
            if len(word) < 2 or word[0] != "-" or " " in name or _is_number(word) or self.has_flag(name):
                continue
            if " " in word and at and argv[at - 1].startswith("-"):
                continue
            # `-mNAME` is a short flag with its value; `-model` is a long one with a dash too few.
            if word[1] != "-" and self._is_short(word[1:]) and not self.has_flag(f"-{name}"):
                continue
            following = argv[at + 1] if at + 1 < len(argv) and not argv[at + 1].startswith("-") else None
            value = word.partition("=")[2] if "=" in word else following
            self._refuse(f"unknown flag {name}", hint=self._instead_of(name, value, argv))

    def _instead_of(self, name: str, value: str | None, argv: Sequence[str]) -> str:
        """Return what may have been meant by an unknown flag: an input of the program, a flag, any input."""
        from shlex import quote

        word = name.lstrip("-")
        if word in {"o", "output"} and any(action.metavar == "OUT" for action in self._actions):
            return f"OUT has no flag: {self._short_usage()}"
        takes_inputs = any(action.dest == "pairs" for action in self._actions)
        as_input = f"inputs are KEY=VALUE: {quote(f'{word}={value or chr(0x2026)}')}"
        if takes_inputs and word in self.input_names(argv):
            return as_input
        near = nearest(word, (flag[2:] for flag in self._option_string_actions if flag.startswith("--")))
        if near:
            return f"did you mean --{near}?"
        if any(action.dest == "words" for action in self._actions):
            return f"words that begin with a dash stand behind --: {self.prog} -- {quote(name)}"
        return as_input if takes_inputs and value is not None else ""

    def _refuse_choice(self, name: str, value: str, known: list[str]) -> NoReturn:
        """Refuse an unknown value."""
        near = nearest(value, known)
        listed = f"{name} {value}: expected {_listed(known)}"
        self._refuse(listed, hint=f"did you mean {near}?" if near else "")

    def _refuse(self, message: str, *, hint: str = "") -> NoReturn:
        raise WrongUse(message, hint=hint or f"see: {self.prog} --help")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like this one, None when no one is close. Loads the comparison only when it is
    needed."""
    from prosa.diagnostics.nearest import nearest as find

    return find(word, known)


def _name(spellings: str) -> str:
    """Return the long spelling of `-m/--model`; a positional argument unchanged."""
    return spellings.rpartition("/")[2] if spellings.startswith("-") and len(spellings) > 1 else spellings


def _in_usage(action: argparse.Action) -> str:
    """Return a positional argument as the usage shows it."""
    name = str(action.metavar or f"{{{','.join(map(str, action.choices or ()))}}}")
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _listed(known: list[str]) -> str:
    shown = ", ".join(known[:MOST_CHOICES])
    return f"{shown} …" if len(known) > MOST_CHOICES else f"one of {shown}" if len(known) > 1 else shown


def _is_path(action: argparse.Action) -> bool:
    return _PATHS.search(str(action.metavar)) is not None


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-\d+|-\d*\.\d+", word) is not None
