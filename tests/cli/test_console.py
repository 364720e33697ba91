"""The console: UTF-8 always, closed pipes, colours, who can be asked."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from prosa.cli.console import Console, PipeClosed, in_ci, wants_color
from tests.cli.desk import Terminal, desk


@pytest.mark.parametrize(
    ("environ", "terminal", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours(environ: Mapping[str, str], terminal: bool, color: bool):
    assert wants_color(environ, terminal) is color


@pytest.mark.parametrize(
    ("environ", "terminal", "shown"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"CI": "true"}, True, False),
        ({"CI": "0"}, True, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_progress_is_for_terminals_outside_ci(environ: Mapping[str, str], terminal: bool, shown: bool):
    assert desk(environ=environ, terminal=terminal).console.shows_progress is shown
    assert in_ci({"CI": "false"}) is False


def python(code: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environ, **options)  # type: ignore[call-overload, no-any-return]


HEAD = "from prosa.cli.console import Console\nconsole = Console.from_process()\n"


def test_output_is_utf_8_whatever_the_locale_says():
    done = python(HEAD + r"console.out('h\xe4\xdf \u65e5\u672c \ud800'); console.err('\xe4')")
    assert (done.stdout, done.stderr) == ("häß 日本 \\ud800\n".encode(), "ä\n".encode())


def test_a_process_without_streams_still_runs():
    code = "import sys\nsys.stdout = sys.stdin = None\n" + HEAD + "console.out('x'); assert console.stdin.read() == ''"
    assert python(code).returncode == 0


def test_a_process_without_a_terminal_is_not_interactive():
    done = python(HEAD + "console.out(str((console.interactive, console.color, console.shows_progress)))")
    assert done.stdout == b"(False, False, False)\n"


def test_a_reader_that_went_away_ends_the_command_quietly():
    command = (
        f'"{sys.executable}" -c "from prosa.cli.main import entry; entry()" --help | true; echo ${{PIPESTATUS[0]}}'
    )
    loop = "import sys; from prosa.cli.console import *; from prosa.cli.errors import guarded\n"
    loop += "c = Console.from_process()\ndef work():\n  while True: c.out('x' * 1000)\nsys.exit(guarded(c, [], work))"
    for line in (
        command,
        f"\"{sys.executable}\" -c '{loop.replace(chr(39), chr(34))}' | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}",
    ):
        done = subprocess.run(["bash", "-c", line], capture_output=True, check=True, timeout=120)
        assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_a_closed_stdout_is_told_by_exception_and_a_closed_stderr_is_not():
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    console = Console(io.StringIO(), Broken(), Broken(), {})
    console.err("nobody hears this")
    with pytest.raises(PipeClosed):
        console.out("x")


def test_a_full_disk_is_one_line_and_exit_1():
    command = f"'{sys.executable}' -c 'from prosa.cli.main import entry; entry()' --help > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (1, b"error: standard output: No space left on device\n")
    command = command.replace("--help > /dev/full", "--nonsense 2> /dev/full")
    assert subprocess.run(["bash", "-c", command], check=False, timeout=120).returncode == 2


def test_a_line_is_asked_for_and_the_end_of_input_is_none():
    at = desk("yes\r\n\nlast")
    assert [at.console.ask("? ") for _ in range(4)] == ["yes", "", "last", None]
    assert at.out == "? " * 4


def test_standard_input_is_bytes_with_a_limit():
    assert desk("hällo").console.read_bytes() == "hällo".encode()
    assert len(desk("x" * 20).console.read_bytes(10)) == 11
    done = python(HEAD + "console.out(repr(console.read_bytes(3)))", input=b"\xff\r\nxyz")
    assert done.stdout == b"b'\\xff\\r\\nx'\n"


def test_a_terminal_is_a_terminal():
    assert Terminal().isatty()
