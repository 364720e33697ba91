"""The one driver of runs: programs, ai-scripts and turns of chats are jobs, and run here (L15, MA13, P2).

In: jobs, what the user chose, who listens. Out: what each gave, or why it gave nothing; how far all have come.
Providers are opened once for all jobs of a call and closed at its end; the numbers of events are shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.options import Environment, Once, Options
from prosa.app.permission import require_servers
from prosa.app.run import service
from prosa.app.run.recorded import RecordedRun, open_recorded
from prosa.app.run.world import budget_of, budget_within, new_tally, open_world, system_clock, telemetry_of
from prosa.app.runs import J, Job, Outcome, Refused
from prosa.app.runs.record import JobJournal, Journals
from prosa.data import Value
from prosa.records.summary import RunResult, Summary, Tally, Together, before_start
from prosa.runtime.accept import accept_input
from prosa.runtime.errors import CassetteProblem, ProviderError, RunError
from prosa.runtime.events import Listener, RunFailed, Scope, ignore, tell
from prosa.runtime.execute import ExitStack, execute
from prosa.runtime.journal import UNRECORDED, chained
from prosa.runtime.messages import Meter
from prosa.runtime.program import reachable, with_model

if TYPE_CHECKING:
    from prosa.adapters.providers.table import ProviderRow
    from prosa.adapters.telemetry.spans import Telemetry
    from prosa.runtime.budget import Budget
    from prosa.runtime.events import Event
    from prosa.runtime.journal import Ask, ModelStep, ToolStep, Use
    from prosa.runtime.mail import Mail
    from prosa.runtime.messages import Message, ModelReply, ModelRequest
    from prosa.runtime.ports import Clock, OnText, Provider, ToolResult, ToolServers
    from prosa.runtime.program import Program
    from prosa.settings import Settings

Gate: TypeAlias = "Callable[[Provider, str | None], Provider]"


class Progress(Struct):
    """How far the jobs of one call have come: the tally of each started job, the summary of each ended one.

    ``order`` are the names of all, if known before they start. ``unfinished`` is the id of an interrupted call that can
    be resumed (X25). Of many jobs, each is dropped when it ends, unless ``whole`` is set.
    """

    clock: Clock = field(default_factory=system_clock)
    order: Sequence[str] = ()
    tallies: dict[str, Tally] = field(default_factory=dict)
    ended: dict[str, Summary] = field(default_factory=dict)
    unfinished: str = ""
    whole: bool = True
    started: datetime = datetime.min
    _since: float = 0.0

    def __post_init__(self) -> None:
        self.started, self._since = self.clock.now(), self.clock.monotonic()

    def forget(self, name: str) -> None:
        """Forget a job that has ended, where not all are wanted."""
        if not self.whole:
            self.tallies.pop(name, None)
            self.ended.pop(name, None)

    def summaries(self, otherwise: str) -> list[Summary]:
        """Return a summary of each job that was started or refused; ``otherwise`` is the reason for one that has no
        end."""
        begun = {name: self.ended.get(name) or tally.summary(otherwise) for name, tally in self.tallies.items()}
        by_job = self.ended | begun
        return [by_job[name] for name in dict.fromkeys((*self.order, *by_job)) if name in by_job]

    def alone(self, file: str, model_name: str, failure: str | None) -> Summary:
        """Return the summary of a call of one job: as far as it came, or of a run that never began (LW9)."""
        tally = next(iter(self.tallies.values()), None)
        return tally.summary(failure) if tally else before_start(file, model_name, failure or "", self.clock)

    def together(self, file: str, failure: str | None) -> Together:
        """Return one summary of all jobs (L42–L45); ``failure`` says why the whole did not go well, if it did not."""
        seconds = self.clock.monotonic() - self._since
        summaries = self.summaries(failure or "interrupted")
        return Together(file, failure, summaries, seconds, self.started, self.clock.now())


class Services(Struct):
    """The providers of one call, each opened at its first use, once, and closed with ``stack``. ``own`` answers in
    place of them all, whatever flags and documents name."""

    options: Options
    environment: Environment
    stack: AsyncExitStack
    own: Provider | None = None
    known: dict[tuple[str, bool], service.Chosen | RunError] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(
        self, row: ProviderRow | None, *, model_name: str | None = None, completion: bool = False
    ) -> service.Chosen:
        """Return the provider that a document names, or the user's choice, which may depend on the model. Raises
        `RunError`. A failed look-up is cached and raises again."""
        if self.own is not None:
            return service.Chosen(self.own)
        scripted = self.options.script is not None
        if not scripted and not self.options.is_here:
            row = service.row_of_model(model_name, self.options, self.environment.settings, row)
        name = "" if scripted or self.options.is_here or row is None else row.key
        key = (name, completion and not scripted)
        async with self.lock:
            chosen = self.known.get(key)
            if chosen is None:
                chosen = self.known[key] = await self._opened(row, model_name, completion=completion)
        if isinstance(chosen, RunError):
            raise chosen
        return chosen

    async def _opened(
        self, row: ProviderRow | None, model_name: str | None, *, completion: bool
    ) -> service.Chosen | RunError:
        options = replace(self.options, completion=completion)
        try:
            chosen = await service.choose_provider(options, self.environment, row, model_name)
        except RunError as error:
            return error
        self.stack.push_async_callback(chosen.provider.aclose)
        return chosen


class Driver(Struct, frozen=True):
    """What runs the jobs of one call. ``budget`` bounds what they cost together; ``meter`` counts it for a caller, else
    each job has its own. ``journals`` keep what is answered; ``servers`` are those that all jobs share, else each job
    starts its own."""

    options: Options
    environment: Environment
    services: Services
    listener: Listener
    progress: Progress
    journals: Journals
    budget: Budget | None = None
    meter: Meter | None = None
    telemetry: Telemetry | None = None
    gate: Gate | None = None
    servers: ToolServers | None = None
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def run(self, job: Job, listener: Listener = ignore, kept: JobJournal | None = None) -> RunResult[Value]:
        """Run a job; ``listener`` hears its events before the one of the call, ``kept`` takes what the store has of it.
        Raises `RunError`; ``progress`` knows then what happened (L44). No server starts without permission (X7)."""
        kept = kept or JobJournal()
        tally = self.progress.tallies[job.name] = new_tally(job.program, self.environment.settings)
        if self.budget is not None:
            tally.meter = self.meter or Meter()
        try:
            require_servers(job.program, self.options, self.environment)
            result = await self._result(job, tally, listener, kept)
        except RunError as error:
            self.progress.ended[job.name] = tally.summary(error.message)
            error.run_id = self.journals.unfinished
            raise
        finally:
            self.progress.unfinished = self.journals.unfinished
        self.progress.ended[job.name] = result.summary
        return result

    async def _result(self, job: Job, tally: Tally, listener: Listener, kept: JobJournal) -> RunResult[Value]:
        try:
            recorded = open_recorded(job.program, job.input_value, self.options, self.environment, job.take)
            chosen = await self._chosen(job, recorded)
        except (ProviderError, CassetteProblem):
            accept_input(job.program, job.input_value)  # a wrong input is the nearer mistake, told before a missing key
            raise
        program = with_model(job.program, chosen.model_name) if chosen.model_name else job.program
        plays_all = recorded.nobody is not None
        others = {} if plays_all else await self._others(program, chosen, job)
        tally.program = program
        options, sent = replace(self.options, stream=job.stream), _Sent()
        hears = tell(tally, recorded.listener, listener, self.listener, self.telemetry or ignore)
        # Nothing is kept of a run that is played: it has been before.
        async with nullcontext() if plays_all else self.journals.of(job, program, kept):
            if kept.is_done:
                return RunResult(kept.output, tally.summary(), run_id=kept.run, is_text=program.form == "text")
            journal = chained(job.journal, kept.journal)
            opening = partial(
                open_world,
                program,
                options,
                self.environment,
                hears,
                _Shared(self._provider(chosen, others, job, tally), self.environment.settings, job.sample),
                journal=chained(self.telemetry or UNRECORDED, chained(sent, chained(recorded.journal, journal))),
                played=recorded.stands_in,
                shared=self.servers,
            )
            # A script is named after its block; its recording points at the document.
            written = program if job.document is None else replace(program, file=job.document.name)
            async with self._mail(program, kept, recorded) as mail, opening(mail=mail) as world:
                with recorded.around(written, world, tally, self.environment, kept.run):
                    output = await execute(program, job.input_value, world, numbers=self.numbers)
            kept.output = output
        return RunResult(output, tally.summary(), sent.messages, recorded.unwritten, kept.run, program.form == "text")

    def _mail(
        self, program: Program, kept: JobJournal, recorded: RecordedRun
    ) -> AbstractAsyncContextManager[Mail | None]:
        """Return the mailboxes of a run, where a program of it has one."""
        if not any(reached.mailbox for reached in reachable(program)):
            return nullcontext()
        from prosa.app.mail.post import open_mail

        played, private = recorded.stands_in is not None, self.options.private_mail
        return open_mail(program, kept, self.journals, played=played, private=private)

    async def _chosen(self, job: Job, recorded: RecordedRun) -> service.Chosen:
        """Return the provider and the model; if everything is played from a recording, the provider raises when asked.
        Without another choice, the model is that of the recording."""
        played = None if self.options.model_name else recorded.chosen_model
        if recorded.nobody is not None:
            return service.Chosen(recorded.nobody, played)
        try:
            chosen = await self._answering(job)
        except ProviderError as error:
            if recorded.is_empty:
                raise
            return service.Chosen(recorded.absent(error), played)  # it may all be recorded
        recorded.answers(chosen.model_name)
        return chosen if chosen.model_name else replace(chosen, model_name=played)

    async def _answering(self, job: Job) -> service.Chosen:
        """Return who answers the program of a job itself."""
        return await self.services.of(job.row, model_name=job.program.model_name, completion=job.completion)

    async def _others(self, program: Program, chosen: service.Chosen, job: Job) -> dict[str, service.Chosen]:
        """Return who answers imported programs, by model, where the user has another service for it. Raises
        `RunError`."""
        names = {reached.model_name for reached in reachable(program)} - {program.model_name}
        services = {name: await self.services.of(job.row, model_name=name) for name in sorted(names)}
        return {name: choice for name, choice in services.items() if choice.provider is not chosen.provider}

    def _provider(
        self, chosen: service.Chosen, others: Mapping[str, service.Chosen], job: Job, tally: Tally
    ) -> Provider:
        """Return who answers the whole run, each within the budgets."""
        alone = self._alone(job)  # one ledger, whichever service answers
        first = self._paid(chosen, tally.meter, alone)
        if not others:
            return first
        return service.Routed(first, {name: self._paid(choice, tally.meter, alone) for name, choice in others.items()})

    def _paid(self, chosen: service.Chosen, meter: Meter | None, alone: Budget | None) -> Provider:
        """Return the provider within the budgets and behind the gates, where there are any."""
        provider = chosen.provider
        for budget in (self.budget, alone):
            if budget is not None and chosen.is_free:
                budget.free.add(chosen.service)
        if self.budget is not None and meter is not None:
            provider = self.budget.around(provider, chosen.service, meter)
        if alone is not None:
            provider = alone.around(provider, chosen.service)
        return provider if self.gate is None else self.gate(provider, chosen.service)

    def _alone(self, job: Job) -> Budget | None:
        """Return the budget of a job alone."""
        return None if job.max_cost is None else budget_within(job.max_cost, self.environment)

    async def require_prices(self, jobs: Sequence[Job]) -> None:
        """Raise `PriceUnknown` where a budget cannot hold for one of the jobs, before any of them begins: that of
        all, or that of the job alone."""
        if self.options.recording and self.options.recording.plays_all:
            return
        for job in jobs:
            budgets = [budget for budget in (self.budget, self._alone(job)) if budget is not None and budget.explicit]
            if budgets:
                await self._require_prices(job, budgets)

    async def _require_prices(self, job: Job, budgets: Sequence[Budget]) -> None:
        try:
            chosen = await self._answering(job)
        except RunError:
            return  # no service answers this one: its run says so
        program = with_model(job.program, chosen.model_name) if chosen.model_name else job.program
        others = await self._others(program, chosen, job)
        for budget in budgets:
            budget.free |= {choice.service for choice in (chosen, *others.values()) if choice.is_free}
        for reached in reachable(program):
            base_url = others.get(reached.model_name, chosen).service
            for budget in budgets:
                budget.require_price(reached.model_name, base_url, reached.parameters)

    async def outcome(self, job: J, listener: Listener = ignore) -> Outcome[J]:
        """Run a job that ends no other one: a failure is an outcome, and an event even where it never began.
        ``listener`` hears its events before the one of the call."""
        monitor, kept = _Heard(), JobJournal()
        try:
            result = await self.run(job, tell(monitor, listener), kept)
        except RunError as error:
            if not monitor.anything:
                self._never_began(job.name, error, listener)
            return Outcome(job, None, error, self.progress.ended[job.name], kept.cost)
        finally:
            self.progress.forget(job.name)
        if result.unrecorded is not None:
            self.environment.notice(f"error: {result.unrecorded.message}")
        return Outcome(job, result.output, None, result.summary, kept.cost)

    def refuse(self, refused: Refused) -> None:
        """End what cannot begin, in events and summaries."""
        name, error = refused.name, refused.error
        self.progress.ended[name] = before_start(name, refused.model_name, error.message, self.progress.clock)
        self._never_began(name, error)

    def _never_began(self, name: str, error: RunError, listener: Listener = ignore) -> None:
        tell(listener, self.listener)(RunFailed(Scope(name, 0, next(self.numbers)), error.message, 0.0))


@asynccontextmanager
async def driving(
    options: Options,
    environment: Environment,
    *,
    listener: Listener = ignore,
    progress: Progress | None = None,
    provider: Provider | None = None,
    closes: bool = True,
    budget: Budget | None = None,
    meter: Meter | None = None,
    gate: Gate | None = None,
    journals: Journals | None = None,
    servers: ToolServers | None = None,
    about_services: Callable[[str], None] | None = None,
) -> AsyncIterator[Driver]:
    """Return a driver for the jobs of one call; what it opened is closed at the end. ``provider`` answers in place of
    those that are named, and is closed too, unless ``closes`` is False. ``budget`` is one that several calls share, in
    place of that of the options; ``meter`` counts what this call took of it. ``journals`` take the place of those of
    the options; ``servers`` are shared by all jobs. ``about_services`` receives notices about services and keys in
    place of the environment. Each notice is shown once, even if several jobs raise it."""
    async with ExitStack() as stack:
        if provider is not None and closes:
            stack.push_async_callback(provider.aclose)
        environment = replace(environment, notice=Once(environment.notice))
        known = environment if about_services is None else replace(environment, notice=about_services)
        services = Services(options, known, stack, provider)
        progress = progress or Progress()
        budget = budget or budget_of(options, environment)
        journals = journals or Journals(options.journal, environment, system_clock())
        stack.push_async_callback(journals.aclose)
        telemetry = telemetry_of(options, environment)
        if telemetry is not None:
            stack.callback(telemetry.close)
        try:
            about = listener, progress, journals, budget, meter, telemetry, gate, servers
            yield Driver(options, environment, services, *about)
        except GeneratorExit:
            journals.release()
            raise


async def run_program(
    program: Program,
    input_value: Value,
    options: Options,
    environment: Environment,
    *,
    listener: Listener = ignore,
    provider: Provider | None = None,
    progress: Progress | None = None,
) -> RunResult[Value]:
    """Run a loaded program, the one job of a call. Raises `RunError`; ``progress`` then still knows what happened."""
    async with driving(options, environment, listener=listener, provider=provider, progress=progress) as driver:
        job = Job(program.name, program, input_value, stream=options.stream)
        await driver.require_prices([job])
        return await driver.run(job)


class _Heard(Struct):
    """Whether a run told anything of itself."""

    anything: bool = False

    def __call__(self, event: Event, /) -> None:
        del event
        self.anything = True


class _Sent(Struct):
    """A journal that keeps the last messages sent by the program that was started."""

    messages: tuple[Message, ...] = ()

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Ask."""
        if not step.scope.depth:
            self.messages = step.request.messages
        return await ask()

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Call the tool."""
        del step
        return await use()


class _Shared(Struct):
    """A provider that several runs share: none of them closes it. ``settings`` say how answers of a model are sampled
    where its document does not; ``sample`` is the number of a repeat. Neither is recorded."""

    provider: Provider
    settings: Settings
    sample: int | None = None

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Ask."""
        known = self.settings.models.get(request.model_name)
        if known is not None and (sampling := known.sampling):
            request = replace(request, parameters={**sampling, **request.parameters})
        if self.sample is not None:
            request = replace(request, sample=self.sample)
        return await self.provider.complete(request, on_text)

    async def aclose(self) -> None:
        """Do nothing: the caller that opened the provider closes it."""
