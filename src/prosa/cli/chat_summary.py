"""The summary of a turn of a chat: of one reply as of a run, of several with their list (L42–L44).

In: how far the turn has come. Out: JSON on stderr, where it was asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.run_arguments import choices_from

if TYPE_CHECKING:
    from datetime import datetime

    from prosa.runtime.summary import Summary


@dataclass(slots=True)
class Course:
    """How far a turn has come: what the summary needs to know."""

    started: datetime
    since: float
    runs: list[Callable[[str | None], Summary]] = field(default_factory=list)
    is_asked: bool = False


def print_summary(args: argparse.Namespace, console: Console, course: Course, failure: str | None) -> None:
    """Prints it; ``failure`` is why the turn did not go well, if it did not."""
    if not args.summary:
        return
    from prosa.app.options import DEFAULT_MODEL
    from prosa.app.run.world import system_clock
    from prosa.cli.run import as_json
    from prosa.runtime.summaries import Together
    from prosa.runtime.summary import before_start

    clock = system_clock()
    runs = [run(failure or "interrupted") for run in course.runs]
    if not runs:
        name = choices_from(args).model_name or DEFAULT_MODEL
        console.err(as_json(before_start(args.file.name, name, failure or "", clock).as_dict()))
    elif len(runs) == 1 and runs[0].success == (failure is None):
        console.err(as_json(runs[0].as_dict()))
    else:
        seconds = clock.monotonic() - course.since
        data = Together(args.file.name, failure, runs, seconds, course.started, clock.now()).as_dict()
        replies = [{"reply": each.pop("script"), **each} for each in data.pop("scripts")]
        console.err(as_json({**data, "replies": replies}))
