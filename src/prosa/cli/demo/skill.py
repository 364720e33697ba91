"""The part of the tour with a skill: run and tested from a recording, then converted. No request is sent."""

from __future__ import annotations

from contextlib import chdir
from io import StringIO

from prosa.cli.console import Console
from prosa.cli.demo.stage import folded, show

SKILL = """\
5. A skill is a folder with a `SKILL.md`, as many agents load it. It runs on any
   model; its Python scripts run in the sandbox, and none of its commands runs
   here. These answers come from a recording.
"""

TESTED = """\
Does it help? Its `evals/evals.json`, the file that other tools read too, is
tried with the skill and without it. Is it found? `evals/trigger-eval.json` has
requests, and the report counts which of the skills a model loads for them:
"""

CONVERTED = "The same skill as a program, with a report of what was moved and guessed:\n"

NAME = "delay-notice"
REQUEST = "The 09:40 to Skagen is 25 minutes late, fog"
HEAD = 14
"""Lines of the program that are shown."""


def tour_skill(console: Console) -> int:
    """Walk through it. The exit status of the first step that fails, else 0."""
    from prosa.demo.example_places import skills

    told = folded(console)
    replay = ("--replay", f"{NAME}/evals/recorded")
    told.err(SKILL)
    with chdir(skills()):
        if status := show(told, "run", NAME, REQUEST, *replay):
            return status
        told.err(TESTED)
        if status := show(told, "test", NAME, *replay, "--no-cache"):
            return status
        told.err(CONVERTED)
        text = StringIO()
        status = show(told.changed(stdout=text), "convert", f"{NAME}/SKILL.md", "--to", "program")
    lines = text.getvalue().splitlines()
    told.err("\n".join((*lines[:HEAD], "…" if len(lines) > HEAD else "", "")))
    return status
