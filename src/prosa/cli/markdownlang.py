"""`markdownlang`: the command line of the specification, exactly (L34–L37, LA32).

In: flags as Go's `flag` package reads them: `-name value`, `-name=value`, one dash or two, booleans without a value.
Out: the exit status of the requested run. It validates what the specification names (the program exists and is `.md`,
the input is JSON) and leaves running to `prosa run`. It never looks for a local model server (X17), and never shows a
key (X7).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from prosa.cli.console import Console
from prosa.cli.errors import OK, guarded
from prosa.cli.parser import WrongUse, nearest
from prosa.cli.process import run
from prosa.dialects.markdownlang.agreement import COMMAND_OF_THE_SPECIFICATION, HOW_TO_ACCEPT

# The spellings that Go's strconv.ParseBool takes.
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))


class Flag(Struct, frozen=True):
    """One flag: its name without dashes, its purpose, the word for its value (empty for a boolean)."""

    name: str
    help: str
    value: str = ""


class Given(Struct, frozen=True):
    """The parsed arguments: texts, booleans, and the words after the flags. A later flag wins."""

    texts: Mapping[str, str]
    switches: Mapping[str, bool]
    words: tuple[str, ...]


def parse(flags: Sequence[Flag], argv: Sequence[str]) -> Given:
    """Read flags up to the first word that is none, as Go does. Raises `WrongUse`."""
    known = {flag.name: flag for flag in flags}
    texts: dict[str, str] = {}
    switches: dict[str, bool] = {}
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        item = rest.pop(0)
        if item == "--":
            break
        flag, equals, value = _split(item, known)
        if not flag.value:
            switches[flag.name] = _boolean(flag.name, value) if equals else True
        elif equals:
            texts[flag.name] = value
        elif rest:
            texts[flag.name] = rest.pop(0)
        else:
            raise WrongUse(f"flag needs a value: -{flag.name} {flag.value}", hint="see: markdownlang -help")
    return Given(texts, switches, tuple(rest))


def describe(flags: Sequence[Flag]) -> str:
    """Return one line for each flag."""
    heads = [f"-{flag.name} {flag.value}".rstrip() for flag in flags]
    width = max(map(len, heads))
    return "\n".join(f"  {head:<{width}}  {flag.help}" for head, flag in zip(heads, flags, strict=True))


def _split(item: str, known: Mapping[str, Flag]) -> tuple[Flag, str, str]:
    """Return the flag that an argument names, whether ``=`` follows, and what follows it."""
    name, equals, value = item[2 if item.startswith("--") else 1 :].partition("=")
    flag = known.get(name)
    if flag is None:
        near = nearest(name, list(known))
        hint = f"did you mean -{near}?" if near else "see: markdownlang -help"
        raise WrongUse(f"unknown flag: -{name}", hint=hint)
    return flag, equals, value


def _boolean(name: str, value: str) -> bool:
    """Return a boolean as Go writes it."""
    if value in _TRUE or value in _FALSE:
        return value in _TRUE
    raise WrongUse(f"-{name} is true or false, not {value!r}", hint=f"write -{name} or -{name}=false")


DEFAULT_MODEL = "gpt-4o"

FLAGS = (
    Flag("program", "path of the program, a .md file (required)", "PATH"),
    Flag("input", "JSON input for the program (default {})", "JSON"),
    Flag("output", "path to write the output JSON to (default: stdout)", "PATH"),
    Flag("model", f"model for programs that name none (default {DEFAULT_MODEL})", "NAME"),
    Flag("api-key", "API key (default $OPENAI_API_KEY, which other users of this machine cannot see)", "KEY"),
    Flag("base-url", "base URL of the model service (default $OPENAI_BASE_URL)", "URL"),
    Flag("debug", "verbose debug logging"),
    Flag("summary", "write a JSON summary of the execution to stderr"),
    Flag("agree", "accept the agreement (deprecated: run `markdownlang agree`)"),
    Flag("help", "print this text"),
    Flag("h", "print this text"),
)
AGREE_FLAGS = (
    Flag("phrase", "accept by giving one of the phrases; works without a terminal", "TEXT"),
    Flag("help", "print this text"),
    Flag("h", "print this text"),
)

USAGE = f"""\
usage: markdownlang <command> [flags]

commands:
  run    execute a markdownlang program (default)
  agree  accept the trans rights agreement

flags of run:
{describe(FLAGS[:-1])}

Flags may have one dash or two, and their value behind a space or `=`."""


NO_SERVICE = (
    "Three ways on:\n"
    "- a key: set OPENAI_API_KEY\n"
    "- another server: -base-url URL\n"
    "- neither: prosa run FILE --model local, a model server on this machine, or --model scripted:FILE, fixed replies"
)
"""X17: what to do without key and base URL, in the flags of this command."""


def entry() -> NoReturn:
    """Run the console script. Ends the process with the exit status."""
    run(main)


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the command and give its exit status: 0 well, 1 a failed run or no agreement, 2 wrong use."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    console = console or Console.from_process()
    return guarded(console, arguments, lambda: _in_its_words(arguments, console))


def _in_its_words(argv: list[str], console: Console) -> int:
    """Run the command; its gate names this command, as the specification requires (L41), and hints its own flags."""
    from prosa.runtime.errors import AgreementRequired, ProviderError

    try:
        return _dispatch(argv, console)
    except ProviderError as error:
        from prosa.app.run.service import THREE_WAYS

        if error.hint == THREE_WAYS:
            error.hint = NO_SERVICE
        raise
    except AgreementRequired as required:
        hint = HOW_TO_ACCEPT.format(command=COMMAND_OF_THE_SPECIFICATION)
        raise AgreementRequired(required.message, hint=hint) from None


def _dispatch(argv: list[str], console: Console) -> int:
    """`run` is implied; no arguments at all print the usage."""
    if not argv or argv == ["help"]:
        console.out(USAGE)
        return OK
    name, rest = (argv[0], argv[1:]) if not argv[0].startswith("-") else ("run", argv)
    if name == "run":
        return _run(rest, console)
    if name == "agree":
        return _agree(rest, console)
    near = nearest(name, ["run", "agree"])
    hint = f"did you mean {near}?" if near else "the commands are run and agree; see: markdownlang -help"
    raise WrongUse(f"unknown command {name!r}", hint=hint)


def _agree(argv: list[str], console: Console) -> int:
    """Return `markdownlang agree`."""
    arguments = _flags(AGREE_FLAGS, argv)
    if _wants_help(arguments):
        console.out(USAGE)
        return OK
    from prosa.cli.agree import agree

    return agree(console, phrase=arguments.texts.get("phrase"), command=COMMAND_OF_THE_SPECIFICATION)


def _run(argv: list[str], console: Console) -> int:
    """Return `markdownlang run`: checks in the order of the specification, then runs (L37)."""
    arguments = _flags(FLAGS, argv)
    if _wants_help(arguments):
        console.out(USAGE)
        return OK
    if arguments.switches.get("agree") and (status := _deprecated_agree(arguments, console)) is not None:
        return status
    program = _program(arguments.texts.get("program", ""))
    input_text = arguments.texts.get("input", "{}")
    _require_json(input_text)
    if arguments.texts.get("api-key"):
        console.err("warning: -api-key can be seen by other users of this machine; set OPENAI_API_KEY instead")
    from prosa.app.options import Options
    from prosa.app.run.service import own_key_variable
    from prosa.cli.run.command import Job, execute

    output, base_url = arguments.texts.get("output"), arguments.texts.get("base-url") or None
    job = Job(
        program=program,
        options=Options(
            default_model=arguments.texts.get("model") or DEFAULT_MODEL,  # X16: the program's own model wins over it
            base_url=base_url,
            api_key=arguments.texts.get("api-key") or None,
            api_key_env=own_key_variable(console.environ, base_url),
        ),
        input_text=input_text,
        output=Path(output) if output else None,
        summary=arguments.switches.get("summary", False),
        debug=arguments.switches.get("debug", False),
    )
    # Without a prompt whether to use a local model server (X17).
    return execute(console.changed(interactive=False), job)


def _flags(flags: Sequence[Flag], argv: list[str]) -> Given:
    """Return the flags, with nothing behind them."""
    arguments = parse(flags, argv)
    if arguments.words:
        raise WrongUse(
            f"unexpected argument {arguments.words[0]!r}",
            hint="the program is named by -program, its input by -input; see: markdownlang -help",
        )
    return arguments


def _wants_help(arguments: Given) -> bool:
    return arguments.switches.get("help", False) or arguments.switches.get("h", False)


def _deprecated_agree(arguments: Given, console: Console) -> int | None:
    """Handle `-agree`, which acts like the command, before the run. Return None if the run may continue."""
    from prosa.cli.agree import agree

    console.err("warning: -agree is deprecated; run: markdownlang agree")
    if "program" not in arguments.texts:
        return agree(console)
    # The result of the program is alone on stdout, so the agreement speaks on stderr here.
    return agree(console.changed(stdout=console.stderr)) or None


def _program(name: str) -> Path:
    """Return the program, which must be there and be a `.md` file."""
    if not name:
        raise WrongUse("-program is missing: which .md file should run?", hint="see: markdownlang -help")
    path = Path(name)
    if path.suffix.lower() != ".md":
        raise WrongUse(f"{name}: -program is a .md file", hint="Programs are Markdown files that end in .md.")
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    if not there:
        from prosa.app.text_files import nearest_file

        near = nearest_file(path)
        guess = f"did you mean {near}?\n" if near else ""
        raise WrongUse(f"{name}: no such file", hint=f"{guess}-program is relative to the folder you are in.")
    if path.is_dir():
        raise WrongUse(f"{name}: is a folder, not a program")
    return path


def _require_json(text: str) -> None:
    """Refuse an input that is not JSON before anything else happens; the run reads it again, with its places."""
    from prosa.data import JsonError, parse_json

    try:
        parse_json(text)
    except JsonError as error:
        where = f"line {error.line}, column {error.column}"
        raise WrongUse(f"-input is not valid JSON: {where}: {error.message}", hint=_quoting(text)) from None


def _quoting(text: str) -> str:
    """Return a word on shells, where the input looks as if one had eaten its quotes."""
    example = "In a shell, write it in single quotes: -input '{\"start\": 1}'"
    return example if '"' not in text else "Put names and texts in double quotes, and no comma after the last one."
