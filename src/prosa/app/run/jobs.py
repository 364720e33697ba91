"""Runs the scripts of a document: several at once, each a run of its own, none of which ends the others (MA13).

In: jobs in the order in which they start. Out: an outcome for each, handed over as soon as it is there. Providers are
opened once for all and closed at the end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from prosa.app.options import Environment, Once, Options
from prosa.app.run.service import Chosen, choose_provider
from prosa.app.run.world import new_tally, run_program, system_clock
from prosa.app.scripts.load import ScriptJob
from prosa.runtime.errors import RunError, first_error
from prosa.runtime.events import Listener, RunFailed, Scope, ignore, tell

if TYPE_CHECKING:
    from prosa.runtime.events import Event
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import OnText, Provider
    from prosa.runtime.summary import Summary, Tally

MAX_JOBS = 64
"""Scripts at the same time; services refuse far fewer."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script gave: ``output``, or why there is none."""

    job: ScriptJob
    output: Any
    error: RunError | None
    summary: Summary


@dataclass(frozen=True, slots=True)
class Refused:
    """A script that was chosen and cannot be made ready: its address, the model it would have asked, and why."""

    name: str
    model_name: str
    error: RunError


@dataclass(slots=True)
class Course:
    """How far the scripts have come: the tally of each that has begun, and the summary of each that has ended.

    ``order`` are the addresses of all that were chosen.
    """

    order: Sequence[str] = ()
    tallies: dict[str, Tally] = field(default_factory=dict)
    ended: dict[str, Summary] = field(default_factory=dict)

    def summaries(self, otherwise: str) -> list[Summary]:
        """A summary of each that has begun or was refused; ``otherwise`` says why one that has not ended is over."""
        begun = {name: self.ended.get(name) or tally.summary(otherwise) for name, tally in self.tallies.items()}
        told = self.ended | begun
        return [told[name] for name in dict.fromkeys((*self.order, *told)) if name in told]


async def run_scripts(
    jobs: Sequence[ScriptJob],
    choices: Options,
    around: Environment,
    *,
    done: Callable[[Outcome], None],
    listener: Listener = ignore,
    at_once: int = 1,
    course: Course | None = None,
    refused: Sequence[Refused] = (),
    provider: Provider | None = None,
    meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Runs all jobs, at most ``at_once`` of them at a time, started in their order. ``done`` hears of each as it ends.

    A script that fails is an outcome. ``refused`` are those that cannot run: they end at once, in events and summaries.
    ``provider`` answers in place of those that are named, and is closed at the end. ``meanwhile`` goes on as long.
    Only what ends everything is raised: an interrupt, or what ``done`` raises.
    """
    waiting = deque(jobs)
    async with AsyncExitStack() as stack:
        services = _Services(choices, replace(around, notice=Once(around.notice)), stack)
        if provider is not None:
            stack.push_async_callback(provider.aclose)
            services.everywhere = Chosen(provider)
        running = _Running(choices, around, listener, done, course or Course(), services)

        for each in refused:
            running.refuse(each)

        async def worker() -> None:
            while waiting:
                await running.one(waiting.popleft())

        try:
            async with asyncio.TaskGroup() as group:
                beside = [group.create_task(meanwhile())] if meanwhile else []
                count = max(1, min(at_once, MAX_JOBS, len(jobs)))
                await asyncio.wait([group.create_task(worker()) for _ in range(count)])
                for task in beside:
                    task.cancel()
        except BaseExceptionGroup as errors:
            raise first_error(errors) from errors


@dataclass(frozen=True, slots=True)
class _Running:
    """One run of several scripts."""

    choices: Options
    around: Environment
    listener: Listener
    done: Callable[[Outcome], None]
    course: Course
    services: _Services
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def one(self, job: ScriptJob) -> None:
        """Runs a script and hands over what came of it."""
        name, program = job.program.name, job.program
        tally = self.course.tallies[name] = new_tally(program, self.around.settings)
        heard = _Heard()
        output, error = None, None
        try:
            output = await self._output(job, tally, heard)
        except RunError as problem:
            error = problem
            if not heard.anything:
                self._never_began(name, problem)
        summary = self.course.ended[name] = tally.summary(error.message if error else None)
        self.done(Outcome(job, output, error, summary))

    def refuse(self, refused: Refused) -> None:
        """Ends a script that cannot begin."""
        from prosa.runtime.summary import before_start

        name, error = refused.name, refused.error
        self.course.ended[name] = before_start(name, refused.model_name, error.message, system_clock())
        self._never_began(name, error)

    def _never_began(self, name: str, error: RunError) -> None:
        self.listener(RunFailed(Scope(name, 0, next(self.numbers)), error.message, 0.0))

    async def _output(self, job: ScriptJob, tally: Tally, heard: Listener) -> Any:
        from prosa.runtime.program import with_model

        chosen = await self.services.of(job)
        program = with_model(job.program, chosen.model_name) if chosen.model_name else job.program
        tally.program = program
        ran = await run_program(
            program,
            job.given,
            replace(self.choices, stream=job.stream),
            self.around,
            listener=tell(heard, self.listener),
            provider=_Kept(chosen.provider),
            tally=tally,
            numbers=self.numbers,
        )
        return ran.output


@dataclass(slots=True)
class _Heard:
    """Whether a run told anything of itself."""

    anything: bool = False

    def __call__(self, event: Event, /) -> None:
        del event
        self.anything = True


@dataclass(slots=True)
class _Services:
    """The providers of a run, each opened at its first use, once."""

    choices: Options
    around: Environment
    stack: AsyncExitStack
    everywhere: Chosen | None = None
    known: dict[str, Chosen | RunError] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, job: ScriptJob) -> Chosen:
        """Who answers a script. Raises `ProviderError`."""
        if self.everywhere is not None:
            return self.everywhere
        one_for_all = self.choices.script is not None or self.choices.is_local
        name = "" if one_for_all or job.row is None else job.row.name
        async with self.lock:
            found = self.known.get(name)
            if found is None:
                found = self.known[name] = await self._opened(job)
        if isinstance(found, RunError):
            raise found
        return found

    async def _opened(self, job: ScriptJob) -> Chosen | RunError:
        """The provider, or why there is none: nobody looks for it again for the next script."""
        try:
            chosen = await choose_provider(self.choices, self.around, job.row)
        except RunError as error:
            return error
        self.stack.push_async_callback(chosen.provider.aclose)
        return chosen


@dataclass(frozen=True, slots=True)
class _Kept:
    """A provider that several runs share: none of them closes it."""

    provider: Provider

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Asks."""
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        """Nothing: whoever opened it closes it."""
