"""`prosa`: finds the command in the table, loads its module alone, parses its arguments, runs it.

In: the arguments of the process. Out: an exit status. `--help` and `--version` load nothing but the table. With
`--format json` help is data.
"""

from __future__ import annotations

import sys

from prosa import __version__
from prosa.cli.commands import ALIASES, COMMANDS, ELSEWHERE, HELP_FLAGS, SETTABLE, Command, find, overview
from prosa.cli.console import Console
from prosa.cli.process import end_at_interrupts, raise_interrupts, run

TYPE_CHECKING = False  # that of `typing` would take as long as all else that help loads
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from prosa.cli.parser import Parser

SET_VARIABLE = "PROSA_SET"  # that of `settings.model`, which would take as long to load as all else that help loads

EVERYWHERE = ("-q", "--quiet", "--debug")
"""Flags that every command takes, in front of its name too."""


def entry() -> NoReturn:
    """Run the console script. Ends the process with the exit status."""
    end_at_interrupts()
    run(main)


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run one command and give its exit status: 0 well, 1 findings or a failed run, 2 wrong use."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    console = console or Console.from_process()
    from prosa.cli.errors import guarded, wants_data

    if wants_data(arguments):
        console = console.changed(quiet=True, failures=[])
    return guarded(console, arguments, lambda: _dispatch(arguments, console))


def _dispatch(argv: list[str], console: Console) -> int:
    """Answer the flags of `prosa` itself, or hand the rest to a command."""
    words = [item for item in argv if item not in EVERYWHERE]
    first = words[0] if words else "--help"
    if console.failures is not None and (first == "help" or first in HELP_FLAGS):
        return _describe(words[1:], console)
    if first in HELP_FLAGS or words in (["help"], ["help", "all"]):
        console.out(overview(__version__, whole=words[-1:] == ["all"]))
        return 0
    if first in ("-V", "--version"):
        console.out(f"prosa {__version__}" if console.failures is None else f'{{"version": "{__version__}"}}')
        return 0
    if first == "help":
        name, *more = words[1:]
        return _call(_command(ALIASES.get(name, (name,))[0]), ["--help", *more], console)
    place = argv.index(first)
    name, *flags = ALIASES.get(first, (first,))
    return _call(_command(name), [*argv[:place], *flags, *argv[place + 1 :]], console)


def _describe(words: Sequence[str], console: Console) -> int:
    """Print the commands, or the one that is named, as data."""
    from prosa.cli.described import index, named
    from prosa.cli.parser import WrongUse
    from prosa.render.json import dump

    name, *rest = named(words) or ("",)
    if rest:
        raise WrongUse(f"unexpected argument {rest[0]!r}", hint="see: prosa help --format json")
    if name:
        return _call(_command(ALIASES.get(name, (name,))[0]), ["--help"], console)
    console.out(dump(index(__version__)))
    return 0


def _command(name: str) -> Command:
    """Return the command, or a complaint with the nearest name."""
    command = find(name)
    if command is not None:
        return command
    from prosa.cli.parser import WrongUse, nearest

    if name.startswith("-"):
        raise WrongUse(f"unknown flag {name}", hint="see: prosa --help")
    near = ELSEWHERE.get(name) or nearest(name, [known.name for known in COMMANDS])
    if near:
        hint = f"did you mean {near}?"
    elif name.endswith(".md"):
        hint = f"to run a program: prosa run {name}"
    else:
        hint = "see: prosa --help"
    raise WrongUse(f"unknown command {name!r}", hint=hint)


def _call(command: Command, argv: list[str], console: Console) -> int:
    """Load the module of a command and run it."""
    from importlib import import_module

    from prosa.cli.libraries import load_libraries

    load_libraries()
    raise_interrupts()
    module = import_module(command.module)
    flags = argv[: argv.index("--")] if "--" in argv else argv
    helping = any(flag in flags for flag in HELP_FLAGS)
    if helping and console.failures is not None:
        from prosa.cli.described import description
        from prosa.render.json import dump

        console.out(dump(description(command, parser_of(command, console))))
        return 0
    shows_all = helping and flags[-2:-1] in ([flag] for flag in HELP_FLAGS) and flags[-1] == "all"
    if shows_all:
        argv = argv[: len(flags) - 1]
    elif helping and hasattr(module, "help_for"):
        status: int | None = module.help_for(argv, console)
        if status is not None:
            return status
    parser = parser_of(command, console)
    parser.shows_all = shows_all
    if helping:
        from prosa.cli.examples import section

        parser.epilog = section(command.name)
    parse = getattr(module, "parse", None)
    args = parse(parser, argv, console) if parse else parser.parse_anywhere(argv)
    console = console.changed(quiet=True) if args.quiet else console
    if command.name in SETTABLE and (args.set or console.environ.get(SET_VARIABLE)):
        console = _with_settings(command, args.set or (), console)
    if command.lists is not None:
        from prosa.cli.parts import part_of, put_part

        part = part_of(args, parser)
        if part is not None:
            return put_part(module.run, args, console, part, command.lists)
    result: int = module.run(args, console)
    return result


def _with_settings(command: Command, texts: Sequence[str], console: Console) -> Console:
    """Return the console of a command with settings for this call. Raises `WrongUse`, for those of the environment
    too."""
    from prosa.app.settings import require_setting, with_given
    from prosa.cli.parser import WrongUse
    from prosa.settings.given import BadSetting

    lines = [line.strip() for line in console.environ.get(SET_VARIABLE, "").splitlines() if line.strip()]
    for where, text in [*((SET_VARIABLE, line) for line in lines), *(("--set", text) for text in texts)]:
        try:
            require_setting(text, user=SETTABLE[command.name] or where == SET_VARIABLE)
        except BadSetting as problem:
            raise WrongUse(f"{where} {text}: {problem.message}", hint=problem.hint) from None
    return console.changed(environ=with_given(console.environ, texts))


def parser_of(command: Command, console: Console) -> Parser:
    """Return what reads the arguments of a command: its own, and those that every command takes."""
    from importlib import import_module

    from prosa.cli.parser import Parser

    description = f"{command.summary[0].upper()}{command.summary[1:]}."
    parser = Parser(console=console, prog=f"prosa {command.name}", description=description)
    import_module(command.module).configure(parser)
    if command.lists is not None:
        from prosa.cli.parts import add_parts

        add_parts(parser)
    if command.name in SETTABLE:
        files = "prosa.toml or settings.toml" if SETTABLE[command.name] else "prosa.toml"
        words = f"a setting for this call, named as in {files}; repeatable"
        parser.add_argument("--set", action="append", metavar="KEY=VALUE", help=words)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no notices on stderr")
    if not parser.has_flag("--debug"):
        parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    return parser
