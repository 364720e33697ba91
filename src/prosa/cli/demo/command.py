"""`prosa demo`: the tour. Shipped documents, real index, real imports, real sandbox; a real model where one is here.

The story goes to stderr, the result of the program at the end to stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import io
from contextlib import chdir
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from prosa.cli.console import Console
from prosa.cli.demo.batch import tour_batch, tour_letters
from prosa.cli.demo.corpus import FOLDER, tour_corpus
from prosa.cli.demo.model import NO_MODEL, model_fault, tour_model
from prosa.cli.demo.site import tour_site
from prosa.cli.demo.stage import folded, near, show

PROGRAM = Path("release-notes.md")
REPLIES = Path("replies.jsonl")
TEST = Path("classify-change.test.md")
TEST_REPLIES = Path("test-replies.jsonl")
INPUT = Path("input.json")

WELCOME = """\
A tour of Prosa
===============

Seven stops: documents are checked and searched, instructions in them are
carried out, a program and a skill run and are tested, a batch survives being
killed, and a site is served and visited. No network is used, and everything
that is written goes to temporary folders. The very first tour also compiles the
sandbox for this machine.
"""

ASKED = """\
The fourth stop runs a program, and programs require an agreement, once.
You are asked now; after that the tour continues by itself.
"""

NOT_ASKED = """\
Running markdownlang programs requires an agreement (`prosa agree`). Without a
terminal, only the shipped programs of this tour run, which do not need it.
"""

PROGRAMS = """\
4. A program is a Markdown file: JSON Schemas for input and output in front,
   instructions behind. This one turns commit lines into release notes. It
   imports another program and uses Python in a sandbox:

   {program}
"""

SCRIPTED = """\
The replies of the model are SCRIPTED: they come from a file, so that this works
without a key and without a network. Everything else is real: the imported
program, the sandboxed Python, the validation. The first final answer in the
script is wrong on purpose; watch how it comes back to the model.
"""

SATISFIED = """
That was JSON that satisfies the schema of the program, and the summary of the
run.
"""

PLAYED = """\
The run was recorded (`--record tapes`), each call under its path in a record
that people can read:

$ prosa run {program} --input @{input} --replay tapes
{calls}
the same JSON, without any call: a test that needs neither key nor network
"""

TESTED = """\
The imported program has a test: cases with an input and an expected answer. Its
model calls are recorded once, here from scripted replies; from then on the test
needs neither model nor key, as in CI:
"""

AFTER = """
The same with a live model (set OPENAI_API_KEY, or add
--base-url URL or --model local):

  prosa run {program} --input @{input} --summary
"""

NEXT = """\
That was the tour. `prosa new program NAME` writes a first program of yours,
docs/tutorial.md takes you through one, and `prosa --help` lists the commands.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `prosa demo`."""
    parser.add_argument("--no-progress", action="store_true", help="no status line")


def run(args: argparse.Namespace, console: Console) -> int:
    """Walk through it."""
    screen = folded(console)
    screen.err(WELCOME)
    without = model_fault(console.environ)
    if without is not None:
        screen.err(NO_MODEL.format(why=without))
    if status := _agreement(screen):
        return status
    if without is None:
        tour_model(screen, progress=not args.no_progress)
    tour_corpus(screen)
    program, input_path = (near(FOLDER / path, console) for path in (PROGRAM, INPUT))
    screen.err(PROGRAMS.format(program=program))
    with TemporaryDirectory() as name, chdir(FOLDER):
        show(screen, "check", PROGRAM.name)
        screen.err(SCRIPTED)
        _ran(screen.changed(stdout=console.stdout), Path(name), progress=not args.no_progress)
        screen.err(SATISFIED)
        _played(screen, Path(name))
        screen.err(TESTED)
        _tested(screen)
    screen.err(AFTER.format(program=program, input=input_path))
    batch = tour_batch if without is not None else tour_letters
    status = tour_skill(screen) or batch(screen) or tour_site(screen)
    if not status:
        screen.err(NEXT)
    return status


def _agreement(console: Console) -> int:
    """On a terminal the agreement is asked for, at the beginning; elsewhere the shipped programs run without it."""
    from prosa.app.trust import check_agreement
    from prosa.cli.agree import agree
    from prosa.runtime.errors import AgreementRequired

    try:
        check_agreement(console.environ)
        return 0
    except AgreementRequired:
        console.err(ASKED if console.interactive else NOT_ASKED)
    return agree(console) if console.interactive else 0


def _ran(console: Console, folder: Path, *, progress: bool) -> None:
    from prosa.app.options import Options, Record, RecordingOptions
    from prosa.cli.run.command import Job, execute

    options = Options(
        model=f"scripted:{REPLIES}", root=Path(), recording=RecordingOptions(Record(folder)), shipped=True
    )
    console.err(f"$ prosa run {PROGRAM} --input @{INPUT} --model scripted:{REPLIES} --summary --debug")
    execute(
        console,
        Job(PROGRAM, options, input_text=f"@{INPUT}", summary=True, debug=True, progress=progress),
    )


def _played(console: Console, folder: Path) -> None:
    """Play the run from its recording, and show the calls in it."""
    from prosa.app.options import Options, RecordingOptions, Replay
    from prosa.app.run.recordings import load_recording
    from prosa.cli.run.command import Job, execute
    from prosa.dialects.ymj.trace import path_key

    (recording,) = folder.glob("*.ymj")
    replies = load_recording(recording).replies
    calls = [f"   {path}  {replies[path].request['program']}" for path in sorted(replies, key=path_key)]
    options = Options(root=Path(), recording=RecordingOptions(replay=Replay(folder, strict=True)))
    quiet = console.changed(stdout=io.StringIO())
    execute(quiet, Job(PROGRAM, options, input_text=f"@{INPUT}", progress=False))
    console.err(PLAYED.format(program=PROGRAM, input=INPUT, calls="\n".join(calls)))


def _tested(console: Console) -> None:
    """Test the imported program: record unseen, then play."""
    from prosa.app.evals.load import find_tests, load_suites
    from prosa.app.evals.run import run_tests
    from prosa.app.evals.variants import TestOptions
    from prosa.app.options import Options, Record, RecordingOptions, Replay
    from prosa.cli.environment import environment_of
    from prosa.cli.test import rendered

    environment, chosen = environment_of(console, TEST), TestOptions(cache=False, at_once=1)
    with TemporaryDirectory() as name:
        for once in (RecordingOptions(Record(name)), RecordingOptions(None, Replay(name))):
            model = f"scripted:{TEST_REPLIES}" if once.record is not None else None
            options = Options(model=model, root=Path(), recording=once, shipped=True)
            suites = load_suites(find_tests([str(TEST)], Path()), options, environment)
            report = asyncio.run(run_tests(suites, chosen, options, environment))
    console.err(f"$ prosa test {TEST} --replay tapes")
    console.err(rendered(report, "text", color=console.color_err))


SKILL = """\
5. A skill is a folder with a `SKILL.md`, as many agents load it. It runs on any
   model; its Python scripts run in the sandbox, and none of its commands runs
   here. These answers come from a recording.
"""

TESTED_SKILL = """\
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

    screen = folded(console)
    replay = ("--replay", f"{NAME}/evals/recorded")
    screen.err(SKILL)
    with chdir(skills()):
        if status := show(screen, "run", NAME, REQUEST, *replay):
            return status
        screen.err(TESTED_SKILL)
        if status := show(screen, "test", NAME, *replay, "--no-cache"):
            return status
        screen.err(CONVERTED)
        text = StringIO()
        status = show(screen.changed(stdout=text), "convert", f"{NAME}/SKILL.md", "--to", "program")
    lines = text.getvalue().splitlines()
    screen.err("\n".join((*lines[:HEAD], "…" if len(lines) > HEAD else "", "")))
    return status
