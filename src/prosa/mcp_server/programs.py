"""The published programs and skills of a folder for agents: always as prompts, as tools if the user allows them to run
(X30).

In: a site, and the user's permissions. Out: programs by name; the rendered messages of one; the output of a run. A
program with unpublished imports is not offered (X23).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.options import Environment, Options
from prosa.app.run.jobs import driving
from prosa.app.run.load import load_program, ready_program
from prosa.app.runs import Job
from prosa.app.site.live import LiveSite
from prosa.app.site.published import as_published, unpublished
from prosa.data import Value
from prosa.dialects.markdownlang.fields import tool_name
from prosa.records.plan import first_messages
from prosa.runtime.budget import Budget
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.messages import Message, Meter
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.runtime.program import Program

READY_SECONDS = 2.0
"""How long a list waits for the first scan of the files; later results are sent as a change."""

AT_ONCE = 4
"""Runs at the same time."""

MOST_PROGRAMS = 200
"""Programs that are offered."""


class Rights(Struct, frozen=True):
    """What the user allowed: ``globs`` of programs that may run; none of them, no run."""

    globs: tuple[str, ...] = ()

    def may_run(self, path: str) -> bool:
        """Return whether the program at a path may run."""
        return any(fnmatchcase(path, glob) for glob in self.globs)


class Offered(Struct, frozen=True):
    """A program as an agent sees it: its name there, the path below the root, and the program itself."""

    name: str
    path: str
    program: Program


class Programs:
    """The programs of a site. Safe to use from several threads; runs belong to one event loop."""

    def __init__(
        self, site: LiveSite, options: Options, environment: Environment, rights: Rights, budget: Budget
    ) -> None:
        self.site, self.rights, self.budget = site, rights, budget
        self.options, self.environment = replace(options, root=site.root), environment
        self._known: dict[str, tuple[object, Offered | None]] = {}
        self._lock = Lock()
        self._places = asyncio.Semaphore(AT_ONCE)

    def all(self) -> tuple[Offered, ...]:
        """Return every program that can be rendered, by path; each name once."""
        self.site.index.wait_ready(READY_SECONDS)
        rows = [row for row in self.site.index.catalogue.rows if row.dialect in ("markdownlang", "skill_md")]
        with self._lock:
            offereds = [offered for row in rows[:MOST_PROGRAMS] if (offered := self._offered(row.path)) is not None]
        taken: dict[str, Offered] = {}
        for offered in offereds:
            name = offered.name if offered.name not in taken else tool_name(offered.path)
            taken.setdefault(name, replace(offered, name=name))
        return tuple(taken.values())

    def runnable(self) -> tuple[Offered, ...]:
        """Return those that may run."""
        return (
            tuple(offered for offered in self.all() if self.rights.may_run(offered.path)) if self.rights.globs else ()
        )

    def named(self, name: str, *, to_run: bool) -> Offered | None:
        """Return the program of that name; None where there is none, or none that may run."""
        return next((offered for offered in (self.runnable() if to_run else self.all()) if offered.name == name), None)

    def messages(self, offered: Offered, input_value: Mapping[str, Value]) -> Sequence[Message]:
        """Return the first messages of a run. Calls no model. Raises `RunError` for an invalid input."""
        return first_messages(offered.program, dict(input_value))

    async def run(self, offered: Offered, input_value: Value, meter: Meter, listener: Listener = ignore) -> Value:
        """Run it behind the agreement, within the budget, and return its output. Raises `RunError`, `FileProblem`."""
        program = await asyncio.to_thread(self._ready, offered)
        async with (
            self._places,
            driving(self.options, self.environment, listener=listener, budget=self.budget, meter=meter) as driver,
        ):
            job = Job(program.name, program, input_value)
            await driver.require_prices([job])
            return (await driver.run(job)).output

    def _ready(self, offered: Offered) -> Program:
        program = ready_program(self.site.root / offered.path, self.options, self.environment, within=self.site.root)
        if any(unpublished(self.site, program)):
            raise RunError(f"{offered.name} imports what is not published here")
        return program

    def _offered(self, path: str) -> Offered | None:
        stamp = self.site.stamp(path)
        if stamp is None:
            return None
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = stamp, self._loaded(path)
            if known[1] is None or not known[1].program.skills:  # a skill lists its other files, too
                self._known[path] = known
        return known[1]

    def _loaded(self, path: str) -> Offered | None:
        try:
            program = load_program(
                self.site.root / path,
                self.options,
                self.environment.settings,
                to_run=False,
                environ=self.environment.environ,
                within=self.site.root,
            )
        except (RunError, FileProblem):
            return None
        if any(unpublished(self.site, program)):
            return None
        return Offered(tool_name(program.name), path, as_published(self.site, program))
