"""The part of the tour with a real model, where one is here: an extraction, its recording, a suite of forty answers.

In: a console. Out: an exit status. Nothing is fetched: without engine or weights the tour is scripted, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.demo.corpus import FOLDER
from prosa.cli.demo.stage import folded, show_page

if TYPE_CHECKING:
    from prosa.records.test import ShownTest

REAL = """\
First a real model: smollm2, which runs on this machine alone. It is very small:
it extracts and labels, and is too small to grade. A program that reads a letter,
recorded as it runs:
"""

AGAIN = """\
The same from its recording, without a call: a test that needs neither model nor
network:
"""

SUITE = """\
Two prompts, twenty reviews, forty answers. Does it help to put examples into
the prompt? This is the measured result:
"""

RESULT = "That is about this model and these twenty cases.\n"

NO_MODEL = "Every reply is scripted or recorded, as there is no real model here: {why}.\n"

LETTER = Path("letter.md")
TEXT = "letter=I am Ada and I paid 12 euros."
TEST, OTHER = "plain.test.md", "examples.md"


def model_fault(environ: Mapping[str, str]) -> str | None:
    """Return why the tour has no real model, in words; None where it has one."""
    from prosa.app.run.embedded import ready_model
    from prosa.runtime.errors import ProviderError

    try:
        ready_model("embedded", environ)
    except ProviderError as error:
        return error.message
    return None


def tour_model(console: Console, *, progress: bool) -> None:
    """Walk through it."""
    from prosa.demo.example_places import reviews

    screen = folded(console)
    screen.err(REAL)
    with TemporaryDirectory() as tapes, chdir(FOLDER):
        _ran(screen, Path(tapes), progress=progress)
    screen.err(SUITE)
    with chdir(reviews()):
        _tested(screen)
    screen.err(RESULT)


def _ran(console: Console, folder: Path, *, progress: bool) -> None:
    """Run the program, then play it from its recording."""
    from prosa.app.options import Options, Record, RecordingOptions, Replay
    from prosa.cli.run.command import Job, execute

    words = f"$ prosa run {LETTER} '{TEXT}'"
    console.err(f"{words} --model embedded --record tapes")
    asked = Options(model="embedded", root=Path(), recording=RecordingOptions(Record(folder)), shipped=True)
    execute(console, Job(LETTER, asked, pairs=(TEXT,), progress=progress))
    console.err(f"\n{AGAIN}\n{words} --replay tapes")
    played = Options(root=Path(), recording=RecordingOptions(None, Replay(folder, strict=True)), shipped=True)
    execute(console, Job(LETTER, played, pairs=(TEXT,), progress=False))
    console.err("")


def _tested(console: Console) -> None:
    """Try both prompts, and show how they compare."""
    from prosa.app.evals.load import find_tests, load_suites
    from prosa.app.evals.run import run_tests
    from prosa.app.evals.suite import side_of
    from prosa.app.evals.variants import TestOptions
    from prosa.app.options import Options
    from prosa.cli.environment import environment_of
    from prosa.cli.run.interaction import run_stoppable
    from prosa.render.tests import tests_text

    environment = environment_of(console, Path(TEST))
    chosen = TestOptions(models=("embedded",), sides=(side_of(OTHER, Path(TEST)),), cache=False)
    options = Options(model="embedded", root=Path(), shipped=True)
    suites = load_suites(find_tests([TEST], Path()), options, environment)
    console.err(f"$ prosa test {TEST} --against {OTHER} --model embedded")
    shown: list[ShownTest] = []
    report = run_stoppable(run_tests(suites, chosen, options, environment, ended=shown.append))
    *_, comparison, total = tests_text(report).split("\n\n")
    console.err(f"…\n{comparison}\n\n{total}\n")
    show_page(console, shown[0], "reviews.html")
