"""`prosa`: commands, help, wrong use, exit statuses (X4, interface.md)."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from types import ModuleType

import pytest

from prosa import __version__
from prosa.cli import commands
from prosa.cli.commands import COMMANDS, FIRST, Command
from prosa.cli.console import Console
from prosa.cli.main import main
from prosa.cli.parser import WrongUse
from tests.cli.desk import desk


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A command `stub` of its own: FILE, pairs, --model; `boom` as FILE raises what `module.error` holds."""
    module = ModuleType("tests.cli.stub_command")

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("pairs", nargs="*", default=[])
        parser.add_argument("--model")
        parser.add_argument("--api", choices=("chat", "responses"))

    def run(args: argparse.Namespace, console: Console) -> int:
        if args.file == "boom":
            raise module.error
        console.out(f"{args.file} {args.pairs} {args.model} {args.debug}")
        return 1 if args.file == "bad" else 0

    module.configure, module.run = configure, run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(commands, "COMMANDS", (Command("stub", module.__name__, "does nothing"),))
    monkeypatch.setattr("prosa.cli.main.COMMANDS", commands.COMMANDS)
    return module


def is_command(line: str) -> bool:
    return line.startswith("  ")


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"], ["--debug", "--help"]])
def test_help_shows_twelve_commands_and_how_to_list_all(argv: list[str]):
    at = desk()
    assert main(argv, at.console) == 0
    lines = at.out.split("[ARGUMENTS…]\n\n")[1].split("\n\noptions:")[0].splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(FIRST)
    assert lines[-1] == f"`prosa help all` lists all {len(COMMANDS)} commands."
    assert at.err == ""


def test_help_all_lists_every_command_of_the_table():
    at = desk()
    assert main(["help", "all"], at.console) == 0
    lines = at.out.split("[ARGUMENTS…]\n\n")[1].split("\n\noptions:")[0].splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [each.name for each in COMMANDS]
    assert [line for line in lines if line and not line.startswith("  ")] == [
        *("run:", "check:", "know:", "serve:", "set up:")
    ]
    assert len({line.index(each.summary) for line, each in zip(filter(is_command, lines), COMMANDS, strict=True)}) == 1
    assert at.err == ""


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str):
    at = desk()
    assert main([flag], at.console) == 0
    assert at.out == f"prosa {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_every_listed_command_can_be_loaded_and_describes_itself(command: Command):
    module = import_module(command.module)
    assert callable(module.configure) and callable(module.run)
    at = desk()
    assert main([command.name, "--help"], at.console) == 0
    assert at.out.startswith(f"usage: prosa {command.name} ")
    assert at.err == ""


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["chekc"], "unknown command 'chekc'", "did you mean check?"),
        (["frobnicate"], "unknown command 'frobnicate'", "see: prosa --help"),
        (["a.md"], "unknown command 'a.md'", "to run a program: prosa run a.md"),
        (["x" * 100_000], f"unknown command '{'x' * 100_000}'", "see: prosa --help"),
        (["\x1b[2J"], r"unknown command '\x1b[2J'", "see: prosa --help"),
        (["--colour"], "unknown flag --colour", "see: prosa --help"),
        (["help", "chek"], "unknown command 'chek'", "did you mean check?"),
        (["move", "a.md", "b.md"], "unknown command 'move'", "did you mean rename?"),
        (["fix"], "unknown command 'fix'", "did you mean check --fix?"),
    ],
    ids=range(9),
)
def test_what_is_unknown_gets_the_nearest_name_and_exit_2(argv: list[str], message: str, hint: str):
    at = desk()
    assert main(argv, at.console) == 2
    assert (at.out, at.err) == ("", f"error: {message}\n  {hint}\n")


@pytest.mark.parametrize(
    ("argv", "status", "out"),
    [
        (["stub", "f", "a=1", "b=2"], 0, "f ['a=1', 'b=2'] None False\n"),
        (["stub", "f", "--model", "m", "a=1"], 0, "f ['a=1'] m False\n"),
        (["stub", "--model=m", "f", "a=1", "--debug", "b=2"], 0, "f ['a=1', 'b=2'] m True\n"),
        (["--debug", "stub", "f"], 0, "f [] None True\n"),
        (["stub", "f", "--", "--model"], 0, "f ['--model'] None False\n"),
        (["stub", "bad"], 1, "bad [] None False\n"),
    ],
)
def test_flags_and_arguments_mix_in_any_order(stub: ModuleType, argv: list[str], status: int, out: str):
    at = desk()
    assert main(argv, at.console) == status
    assert (at.out, at.err) == (out, "")


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["stub", "f", "--modle", "m"], "unknown flag --modle", "did you mean --model?"),
        (["stub", "f", "--mod", "m"], "unknown flag --mod", "did you mean --model?"),
        (["stub", "f", "--zzz"], "unknown flag --zzz", "see: prosa stub --help"),
        (["stub", "f", "--model"], "--model needs a value", "see: prosa stub --help"),
        (["stub"], "file is missing", "see: prosa stub --help"),
        (["stub", "--zzz"], "unknown flag --zzz", "see: prosa stub --help"),
        (["stub", "f", "-model=m"], "unknown flag -model", "did you mean --model?"),
        (["stub", "f", "--colour", "red"], "unknown flag --colour", "inputs are KEY=VALUE: colour=red"),
        (["stub", "f", "--colour=dark red"], "unknown flag --colour", "inputs are KEY=VALUE: 'colour=dark red'"),
        (["stub", "f", "--api", "chta"], "--api chta: expected one of chat, responses", "did you mean chat?"),
        (["stub", "f", "--api", "x"], "--api x: expected one of chat, responses", "see: prosa stub --help"),
    ],
)
def test_wrong_arguments_are_two_lines_and_exit_2(stub: ModuleType, argv: list[str], message: str, hint: str):
    at = desk()
    assert main(argv, at.console) == 2
    assert (at.out, at.err) == ("", f"error: {message}\n  {hint}\n")


def test_a_command_may_answer_help_itself(stub: ModuleType):
    seen: list[list[str]] = []

    def help_for(argv: list[str], console: Console) -> int | None:
        seen.append(argv)
        console.out("my own help")
        return 0 if argv[0] == "file.md" else None

    stub.help_for = help_for  # type: ignore[attr-defined]
    at = desk()
    assert main(["stub", "file.md", "--help"], at.console) == 0
    assert (at.out, seen) == ("my own help\n", [["file.md", "--help"]])
    at = desk()
    assert main(["stub", "--help"], at.console) == 0
    assert at.out.startswith("my own help\nusage: prosa stub ")
    at = desk()
    assert main(["stub", "f", "--", "--help"], at.console) == 0
    assert at.out == "f ['--help'] None False\n"


def test_help_with_a_command_is_the_help_of_the_command(stub: ModuleType):
    at = desk()
    assert main(["help", "stub"], at.console) == 0
    assert at.out.startswith("usage: prosa stub ") and "Does nothing." in at.out


def test_a_fault_of_ours_is_one_line_and_a_traceback_only_on_request(stub: ModuleType):
    stub.error = KeyError("gone")  # type: ignore[attr-defined]
    at = desk()
    assert main(["stub", "boom"], at.console) == 1
    assert at.err.startswith("error: internal error: KeyError: 'gone' (in ")
    assert "Traceback" not in at.err and "Please report it with what --debug prints." in at.err
    for argv, environ in ((["--debug", "stub", "boom"], {}), (["stub", "boom"], {"PROSA_DEBUG": "1"})):
        at = desk(environ=environ)
        assert main(argv, at.console) == 1
        assert at.err.startswith("Traceback (most recent call last)")


@pytest.mark.parametrize("flags", [[], ["--debug"]])
def test_wrong_use_raised_by_a_command_is_exit_2(stub: ModuleType, flags: list[str]):
    stub.error = WrongUse("no", hint="do this\nthen that")  # type: ignore[attr-defined]
    at = desk()
    assert main(["stub", "boom", *flags], at.console) == 2
    assert at.err == "error: no\n  do this\n  then that\n"
