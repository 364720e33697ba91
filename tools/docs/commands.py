"""The commands with every argument and flag, out of their parsers, and the exit statuses."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator

from prosa.cli.commands import COMMANDS, EXIT_STATUSES, Command
from prosa.cli.console import Console
from prosa.cli.examples import EXAMPLES
from prosa.cli.main import parser_of
from prosa.cli.markdownlang import AGREE_FLAGS, FLAGS, USAGE
from tools.docs.writing import Made, code, page, prose, sentence, table

_USAGE_INDENT = "\n" + " " * len("usage: ")
_WORDS = {"options": "Flags", "positional arguments": "Arguments"}


def command_pages() -> Iterator[Made]:
    """Yield a page for each command, `markdownlang` among them, and the list of all."""
    rows = [(f"[`prosa {each.name}`](prosa-{each.name}.md)", prose(each.summary)) for each in COMMANDS]
    rows.append(("[`markdownlang`](markdownlang.md)", "the command line of the specification"))
    for command in COMMANDS:
        yield Made(f"commands/prosa-{command.name}.md", _command(command))
    yield Made("commands/markdownlang.md", _markdownlang())
    about = "Every command prints its help with `--help`. [Command line](../../commands.md) describes what they share."
    yield Made("commands/README.md", page("Commands", about, table(("command", "what it does"), rows)))


def status_page() -> Made:
    """Return what commands end with."""
    rows = [(code(str(number)), prose(meaning)) for number, meaning in EXIT_STATUSES]
    text = "Scripts can rely on these exit statuses."
    return Made("exit-statuses.md", page("Exit statuses", text, table(("status", "meaning"), rows)))


def _command(command: Command) -> str:
    parser = parser_of(command, Console(io.StringIO(), io.StringIO(), io.StringIO(), {}))
    parser.usage, parser.formatter_class = None, _Wide
    groups = [_group(group) for group in parser._action_groups]
    usage = f"```text\n{parser.format_usage().strip().replace(_USAGE_INDENT, chr(10)).removeprefix('usage: ')}\n```"
    return page(f"prosa {command.name}", sentence(command.summary), usage, *groups, _examples(command))


class _Wide(argparse.RawDescriptionHelpFormatter):
    """The usage in lines of 88 columns, whatever the terminal is."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=90)


def _examples(command: Command) -> str:
    """Return what its help ends with."""
    lines = "\n\n".join(f"# {each.purpose}\n{each.line}" for each in EXAMPLES.get(command.name, ()))
    return f"## Examples\n\n```sh\n{lines}\n```" if lines else ""


def _group(group: argparse._ArgumentGroup) -> str:
    actions = [each for each in group._group_actions if each.help != argparse.SUPPRESS]
    about = f"```text\n{group.description.strip()}\n```" if group.description else ""
    if not actions and not about:
        return ""
    title = _WORDS.get(group.title or "", (group.title or "").capitalize())
    return "\n\n".join(filter(None, (f"## {title}", about, *map(_argument, actions))))


def _argument(action: argparse.Action) -> str:
    """Return an argument below a heading of its own, so that others can point at it."""
    if not action.option_strings:
        name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        return f"### {name}\n\n{sentence(_help(action))}"
    long = next((each for each in action.option_strings if each.startswith("--")), action.option_strings[0])
    value = _value(action)
    spelled = ", ".join(code(f"{each}{value}") for each in action.option_strings)
    return f"### {long}\n\n{spelled}: {prose(_help(action))}."


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%")
    return "print the help and end" if isinstance(action, argparse._HelpAction) else text


def _value(action: argparse.Action) -> str:
    """Return what stands behind a flag: its word, or what it may be; empty for a switch."""
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):
        return "".join(f" {each}" for each in action.metavar)
    if action.metavar is None and action.choices is not None:
        word = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        word = action.metavar or action.dest.upper()
    return {"?": f" [{word}]", "*": f" [{word} …]", "+": f" {word} …"}.get(str(action.nargs), f" {word}")


def _markdownlang() -> str:
    flags = [
        "\n\n".join(
            (
                f"## Flags of `{name}`",
                *(
                    f"### -{each.name}\n\n{code(f'-{each.name} {each.value}'.rstrip())}\n\n{sentence(each.help)}"
                    for each in table_
                ),
            )
        )
        for name, table_ in (("run", FLAGS), ("agree", AGREE_FLAGS))
    ]
    about = "The command line of the specification, exactly. `prosa run` does the same and more."
    return page("markdownlang", about, f"```text\n{USAGE}\n```", *flags)
