"""The help of every command: in 80 columns, with words for everything."""

from __future__ import annotations

import argparse
import io
import re
import shlex
from contextlib import redirect_stdout, suppress
from importlib import import_module

import pytest

from prosa import __version__
from prosa.cli.commands import ALIASES, COMMANDS, FIRST, Command, overview
from prosa.cli.examples import EXAMPLES
from prosa.cli.main import main
from prosa.cli.parser import HelpShown, Parser
from tests.cli.desk import desk

COLUMNS = 80
NAMES = [command.name for command in COMMANDS]

BOASTS = re.compile(
    r"\b(?:simply|easily|powerful|seamless\w*|blazing\w*|robust|awesome|leverag\w+|effortless\w*|please)\b", re.I
)


@pytest.fixture
def shown(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The help of a command, as a terminal of 80 columns shows it."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        main([request.param, "--help"])
    return printed.getvalue()


def test_the_list_of_commands_fits_into_80_columns():
    for whole in (False, True):
        assert [line for line in overview(__version__, whole=whole).splitlines() if len(line) > COLUMNS] == []


@pytest.mark.parametrize("shown", NAMES, indirect=True)
def test_the_help_of_a_command_fits_into_80_columns(shown: str):
    assert shown.startswith("usage: prosa ")
    assert [line for line in shown.splitlines() if len(line) > COLUMNS] == []


@pytest.mark.parametrize("shown", NAMES, indirect=True)
def test_the_help_of_a_command_uses_plain_words(shown: str):
    assert BOASTS.findall(shown) == []


@pytest.mark.parametrize("shown", NAMES, indirect=True)
def test_the_help_of_a_command_shows_at_most_25_options_and_how_to_see_the_rest(shown: str, capsys):
    name = shown.split()[2]
    first = re.findall(r"^  (?:-\w[^-]*, )?(--[a-z-]+)", shown, re.M)
    assert len(first) <= 25
    main([name, "--help", "all"])
    every = re.findall(r"^  (?:-\w[^-]*, )?(--[a-z-]+)", capsys.readouterr().out, re.M)
    assert set(first) <= set(every)
    left_out = re.search(r"^(\d+) more options: prosa \S+ --help all$", shown, re.M)
    assert len(every) - len(first) == (int(left_out[1]) if left_out else 0)


def test_the_first_screen_names_twelve_commands_and_how_to_see_all():
    first, every = overview(__version__), overview(__version__, whole=True)
    assert re.findall(r"^  ([a-z]+)  ", first, re.M) == list(FIRST)
    assert len(FIRST) == 12 and "`prosa help all`" in first
    assert set(re.findall(r"^  ([a-z]+)  ", every, re.M)) == set(NAMES)


def test_older_spellings_are_hidden_and_work(capsys):
    for alias, (name, *_) in ALIASES.items():
        assert alias not in NAMES and name in NAMES
        assert main([alias, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"usage: prosa {name} ")


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_every_argument_says_what_it_is_for(command: Command):
    parser = argparse.ArgumentParser()
    import_module(command.module).configure(parser)
    words = {str(each.option_strings or each.dest): each.help or "" for each in parser._actions}
    assert {name: text for name, text in words.items() if not text or text.endswith(".") or text[0].isspace()} == {}


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_summary_is_short_and_has_no_full_stop(command: Command):
    assert re.fullmatch(r"[a-z].*[^.!?\s]", command.summary)
    assert len(command.summary) <= COLUMNS - 12


@pytest.mark.parametrize("shown", NAMES, indirect=True)
def test_the_usage_names_what_must_be_given_before_anything_else(shown: str):
    usage = shown.partition("\n\n")[0]
    assert "\n" not in usage and "[OPTIONS]" in usage
    assert [
        word for word in re.findall(r"^  ([A-Z{][^ ]*)", shown.partition("\noptions:")[0], re.M) if word not in usage
    ] == []


@pytest.mark.parametrize("shown", NAMES, indirect=True)
def test_the_help_of_a_command_ends_with_examples(shown: str):
    assert re.search(r"\n\nExamples:\n  # [a-zA-Z]", shown)


@pytest.mark.parametrize(("name", "line"), [(name, each.line) for name, lines in EXAMPLES.items() for each in lines])
def test_every_example_is_a_command_line_that_its_command_takes(name: str, line: str):
    words = shlex.split(re.sub(r"^eval \"\$\((.*)\)\"$", r"\1", line).partition(" > ")[0])
    assert words[:2] == ["prosa", name]
    it = desk()
    module = import_module(next(each.module for each in COMMANDS if each.name == name))
    parser = Parser(console=it.console, prog=f"prosa {name}", description="")
    module.configure(parser)
    parse = getattr(module, "parse", None)
    with suppress(HelpShown):
        assert parse(parser, words[2:], it.console) if parse else parser.parse_anywhere(words[2:])


def test_examples_belong_to_commands_and_say_what_they_are_for():
    assert set(EXAMPLES) == set(NAMES)
    purposes = [each.purpose for lines in EXAMPLES.values() for each in lines]
    assert [each for each in purposes if not re.fullmatch(r"[a-zA-Z].*[^.]", each)] == []
