"""What the user allowed to run on a site, and what of it runs now. In: programs and their inputs. Out: their outputs,
within places, rate, budget and wall clock (X7, X9).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from prosa.app.options import Environment, Once, Options
from prosa.app.run.jobs import driving
from prosa.app.runs import Job
from prosa.app.runs.record import OpenStore
from prosa.data import Value
from prosa.render.plain import safe
from prosa.runtime.budget import Budget
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.usage import Meter
from prosa.web.run.actions import program_action
from prosa.web.run.gate import Gate
from prosa.web.run.kept_answers import KeptAnswers
from prosa.web.run.problem import Refused

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading

T = TypeVar("T")

WALL_CLOCK = 120.0
"""Default limit of a run in seconds: the reader waits for the answer."""

CLOSING_SECONDS = 10.0
"""How long cancelled runs may take to stop what they started."""


class Runner:
    """What runs on the site below ``root``.

    ``choices`` and ``around`` are the user's, ``prefix`` is the path that the site lives under.
    """

    def __init__(
        self,
        root: Path,
        choices: Options,
        around: Environment,
        budget: Budget,
        gate: Gate | None = None,
        *,
        prefix: str = "",
    ) -> None:
        """Programs import only what lies in the site (X5), and may lower the wall clock but not raise it (X9)."""
        settings = around.settings
        if settings.wall_clock is None:
            around = replace(around, settings=replace(settings, wall_clock=WALL_CLOCK))
        self.root, self.choices, self.around = root, replace(choices, root=root), around
        self.budget, self.gate, self.kept = budget, gate or Gate(), KeptAnswers()
        self.prefix = prefix
        self._tasks: set[asyncio.Task[Any]] = set()
        self._about_keys = Once(around.notice)
        self._store = OpenStore(choices.journal, around)

    def program_action(self, reading: DialectReading[object], path: str) -> tuple[Mapping[str, Value], ...]:
        """Return the action that the site adds to a program: `SiteOptions.actions`."""
        return program_action(reading, path, self.prefix)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a run. Raises `Refused` if there is no free slot, and `BudgetSpent`; then nothing was started."""
        try:
            self.budget.require()
            self.gate.enter()
        except BaseException:
            work.close()
            raise
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self.gate.leave()
        if not task.cancelled():
            task.exception()  # the client may have stopped waiting

    async def run(self, job: Job, meter: Meter, listener: Listener = ignore) -> Value:
        """Run a job, and return its output; ``meter`` counts its usage. Raises `RunError`."""
        self._store.keep_open()
        async with driving(
            self.choices,
            self.around,
            listener=listener,
            budget=self.budget,
            meter=meter,
            about_services=self._about_keys,
        ) as driver:
            await driver.require_prices([job])
            return (await driver.run(job)).output

    def tell(self, name: str, found: Refused, error: Exception) -> None:
        """Report a failed run to the user, for reasons that concern them."""
        if found.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            why = error.message if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
            self.around.notice(safe(f"warning: {name} failed ({found.status}): {why}"))

    async def aclose(self) -> None:
        """Break off what still runs, and wait until it has ended."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
        await asyncio.to_thread(self._store.close)


def keep_when_done(runner: Runner, path: str, key: str, task: asyncio.Task[Any]) -> None:
    """Keep the answer of a run for requests that repeat it."""
    task.add_done_callback(partial(runner.kept.finish, path, key))
