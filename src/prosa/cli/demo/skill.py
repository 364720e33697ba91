"""The part of the tour with a skill: run and tested from a recording, then converted. Nothing is asked of anybody."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

from msgspec.structs import replace

from prosa.cli.console import Console

SKILL = """\
5. A skill is a folder with a `SKILL.md`, as agents of any make load it. It runs on any model; its Python scripts run in
   the sandbox, and no command of it runs here. These answers come from a recording.
"""

TESTED = """
Does it help? Its `evals/evals.json`, the file that other tools read too, is tried with the skill and without it. Is it
found? `evals/trigger-eval.json` says for which requests, and counts which of the skills here a model loads:
"""

CONVERTED = """
The same skill as a program, with a report of what was moved and guessed:
"""

NAME = "delay-notice"
REQUEST = "The 09:40 to Skagen is 25 minutes late, fog"
HEAD = 14
"""Lines of the program that are shown."""


def tour_skill(console: Console) -> int:
    """Walks through it. The exit status of the first step that fails, else 0."""
    from prosa.demo.example_places import skills

    told = console.changed(stdout=console.stderr)
    told.err(SKILL)
    home = skills() / NAME
    return _ran(told, home) or _tested(told, home) or _converted(told, home)


def _recorded(home: Path) -> Path:
    return home / "evals" / "recorded"


def _ran(console: Console, home: Path) -> int:
    from prosa.app.options import Options, Replay, Tape
    from prosa.cli.run.command import Job, execute

    console.err(f"$ prosa run {NAME} '{REQUEST}' --replay {NAME}/evals/recorded")
    choices = Options(tape=Tape(None, Replay(_recorded(home))))
    job = Job(home, choices, known_input=({"request": REQUEST},), progress=False, gate=False)
    return execute(console, job)


def _tested(console: Console, home: Path) -> int:
    from prosa.app.options import Options, Replay, Tape
    from prosa.app.test.load import find_tests, load_suites
    from prosa.app.test.run import TestOptions, run_tests
    from prosa.cli.environment import environment_of
    from prosa.cli.test import rendered

    console.err(f"{TESTED}\n$ prosa test {NAME} --replay {NAME}/evals/recorded")
    environment = environment_of(console, home / "SKILL.md")
    options = Options(tape=Tape(None, Replay(_recorded(home))))
    suites = load_suites(find_tests([str(home)]), options, environment)
    suites = tuple(replace(each, path=each.path.relative_to(home.parent)) for each in suites)
    report = asyncio.run(run_tests(suites, TestOptions(cache=False), options, environment, gated=False))
    console.err(rendered(report, "text", color=console.color_err))
    return 0 if report.ok else 1


def _converted(console: Console, home: Path) -> int:
    from prosa.cli.main import main

    console.err(f"{CONVERTED}\n$ prosa convert {NAME}/SKILL.md --to program")
    text, report = StringIO(), StringIO()
    converting = console.changed(stdout=text, stderr=report)
    status = main(["convert", str(home / "SKILL.md"), "--to", "program"], converting)
    console.err(report.getvalue().replace(f"{home.parent}/", ""))
    lines = text.getvalue().splitlines()
    console.err("\n".join((*lines[:HEAD], "…" if len(lines) > HEAD else "", "")))
    return status
