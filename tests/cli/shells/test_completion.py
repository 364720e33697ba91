"""Completion: what may follow on a line, and the real shells that ask for it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.app.corpus.open import open_corpus
from prosa.cli.commands import COMMANDS
from prosa.cli.complete import candidates
from prosa.cli.main import main
from tests import warm
from tests.cli.desk import desk
from tests.depth import examples
from tests.house.tree import ROOT

PROGRAM = """---
name: triage
description: Sorts a request.
input:
  type: object
  properties:
    team: {type: string, enum: [billing, sales desk], description: who is asked}
    urgent: {type: boolean}
  required: [team]
output: {type: object}
---
{{ .team }}
"""
SCRIPTED = """---
title: Report
---
```ai-script
{"script-id": "summary", "prompt": "Sum up.", "interactive-placement": "after"}
```
"""
NODE = """---
id: pier
type: page
title: Pier
actions:
  - id: bookings.create
    method: POST
    target: /bookings
---
"""
LONGEST = 120.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a program, a document with a script, a node, and a folder."""
    place = tmp_path / "project"
    (place / "notes").mkdir(parents=True)
    (place / "prosa.toml").touch()
    for name, text in {"triage.md": PROGRAM, "report.mda": SCRIPTED, "notes/pier.md": NODE}.items():
        (place / name).write_text(text)
    monkeypatch.chdir(place)
    return place


def after(*words: str) -> list[str]:
    at = desk(environ={"PROSA_CACHE_DIR": str(Path.cwd().parent / "cache")})
    return [word for word, _ in candidates(("prosa", *words), at.console)]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("ex",), ["explain"]),
        (("help", "ch"), ["chat", "check"]),
        (("check", "--sel"), ["--select"]),
        (("check", "--format", "git"), ["github", "gitlab"]),
        (("check", "--format=git"), ["--format=github", "--format=gitlab"]),
        (("check", "--select", "unresolved-w"), ["unresolved-wikilink"]),
        (("explain", "unresolved-w"), ["unresolved-wikilink"]),
        (("explain", "pra"), ["prapti"]),
        (("fmt", "--as", "pra"), ["prapti"]),
        (("convert", "a.md", "--to", "ins"), ["instructions"]),
        (("check", "x"), ["\tfiles"]),
        (("check", "--strict", "--", "-"), ["\tfiles"]),
        (("build", ""), ["\tfolders"]),
        (("run", "triage.md", ""), ["team=", "urgent="]),
        (("run", "triage.md", "--model", "m", "team=billing", ""), ["urgent="]),
        (("run", "triage.md", "team="), ["team=billing", "team=sales desk"]),
        (("run", "triage.md", "urgent=f"), ["urgent=false"]),
        (("run", "report.mda", "--script", ""), ["summary"]),
        (("call", "notes/pier.md", ""), ["bookings.create"]),
        (("completion", "z"), ["zsh"]),
        (("nonsense", ""), []),
        (("run", "gone.md", ""), []),
    ],
)
def test_what_may_follow(words: tuple[str, ...], wanted: list[str]):
    assert after(*words) == wanted


def test_ids_come_from_the_index_as_it_is(folder: Path):
    assert after("links", "pi") == ["\tfiles"]
    with open_corpus(folder, environ={"PROSA_CACHE_DIR": str(folder.parent / "cache")}):
        pass
    assert after("links", "pi") == ["\tfiles", "pier"]


def test_every_command_and_flag_can_be_completed():
    for command in COMMANDS:
        assert command.name in after(command.name)
        assert "--help" in after(command.name, "--h"), command.name


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.text(max_size=6) | st.sampled_from(["run", "--", "--format", "triage.md", "a=", "check"]), max_size=5)
)
def test_no_line_ends_in_an_error_or_in_a_word_that_a_terminal_obeys(words: list[str]):
    assert all(each.startswith("\t") or each.isprintable() for each in after(*words))


def test_a_hidden_command_is_in_no_help():
    at = desk()
    assert main(["help", "all"], at.console) == 0 and "\n  complete " not in at.out and "\n  completion " in at.out


def environ(folder: Path) -> dict[str, str]:
    path = f"{warm.scripts(folder.parent / 'bin')}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(folder.parent), "PROSA_CACHE_DIR": str(folder.parent / "cache"), "TERM": "dumb"}
    return {"PATH": path, "PYTHONPATH": str(ROOT / "src"), **home}


THERE = {name: found for name in ("bash", "zsh", "fish") if (found := shutil.which(name))}
"""The shells of this machine. Those that are not there are left out, unless `PROSA_SHELLS=required`, as in CI."""


def test_the_shells_that_are_required_are_there():
    missing = {"bash", "zsh", "fish"} - set(THERE)
    assert not missing or os.environ.get("PROSA_SHELLS") != "required", f"install Debian's packages {missing}"


def typed(folder: Path, command: list[str], start: str, line: str, echo: str) -> str:
    """What an interactive shell makes of a line with a Tab at its end: it is printed by the shell itself."""
    own = environ(folder)
    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(command[0], command, own)
    try:
        return _dialogue(descriptor, start, line, echo)
    finally:
        os.close(descriptor)
        os.waitpid(child, 0)


def _dialogue(descriptor: int, start: str, line: str, echo: str) -> str:
    end, seen = time.monotonic() + LONGEST, b""

    def wait(mark: bytes) -> None:
        nonlocal seen
        while mark not in seen:
            assert time.monotonic() < end, seen.decode(errors="replace")
            if select.select([descriptor], [], [], 0.2)[0]:
                seen += os.read(descriptor, 65536)

    os.write(descriptor, f"{start}; echo rea''dy\n".encode())
    wait(b"\nready")
    # Ctrl-A goes to the beginning of the line, where the echo is put in front of it
    os.write(descriptor, f"{line}\t\x01{echo} 'li''ne' \x05 'e''nd'\n".encode())
    wait(b" end\r\n")
    return seen.decode(errors="replace").rpartition("\nline ")[2].partition(" end\r\n")[0].strip()


LINES = [
    ("prosa exp", "prosa explain"),
    ("prosa run tri", "prosa run triage.md"),
    ("prosa run triage.md te", "prosa run triage.md team="),
    ("prosa run triage.md team=b", "prosa run triage.md team=billing"),
    ("prosa check --format=che", "prosa check --format=checkstyle"),
    ("prosa build no", "prosa build notes/"),
]


def lines_for(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("line", "wanted"), LINES if name in THERE else LINES[:0])


@lines_for("bash")
def test_bash_completes(folder: Path, line: str, wanted: str):
    command = [THERE["bash"], "--norc", "--noprofile", "-i"]
    found = typed(folder, command, "PS1='> '; source <(prosa completion bash)", line, "echo")
    assert found == wanted


@lines_for("zsh")
def test_zsh_completes(folder: Path, line: str, wanted: str, tmp_path_factory: pytest.TempPathFactory):
    command = [THERE["zsh"], "-f", "-i"]
    found = tmp_path_factory.getbasetemp() / "zcompdump"  # what is there to complete, which zsh looks for once
    start = f"PS1='> '; bindkey -e; autoload -U compinit; compinit -u -d {found}; source <(prosa completion zsh)"
    found = typed(folder, command, start, line, "echo")
    assert found == wanted.rstrip("/")  # zsh takes the slash away when the line goes on elsewhere


@lines_for("fish")
def test_fish_completes(folder: Path, line: str, wanted: str):
    script = f"prosa completion fish | source; complete -C '{line}'"
    ran = subprocess.run(
        [THERE["fish"], "--no-config", "-c", script], cwd=folder, env=environ(folder), capture_output=True, text=True
    )
    assert wanted.rpartition(" ")[2] in [each.partition("\t")[0] for each in ran.stdout.splitlines()], ran.stderr


@pytest.mark.parametrize("name", THERE)
def test_the_scripts_are_clean(folder: Path, name: str):
    at = desk()
    assert main(["completion", name], at.console) == 0
    if name == "bash":
        linter = Path(sys.executable).with_name("shellcheck")
        ran = subprocess.run([linter, "-s", "bash", "-"], input=at.out, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout
    file = folder / "script"
    file.write_text(at.out)
    subprocess.run([THERE[name], "-n", file], check=True, capture_output=True)
