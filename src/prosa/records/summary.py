"""The execution summary (L42–L45, LA27, LA28): a listener that counts, the record it gives at the end, and one record
for several scripts of a document, in which tokens and calls are sums and the duration is the whole wall clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from msgspec import Struct, field

from prosa.data import Value
from prosa.runtime import events
from prosa.runtime.errors import RunError
from prosa.runtime.messages import Message, Meter, Usage
from prosa.runtime.ports import Clock, Prices
from prosa.runtime.program import Program
from prosa.source.values import PartlyCompared, PartlyShown

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # Its schema says what an output is, which a type checker does not read: as with `json.loads`, a caller names it.
    Output = TypeVar("Output", default=Any)
else:
    from typing import TypeVar

    Output = TypeVar("Output")


class AgentCalls(Struct, frozen=True):
    """Calls of imported programs at every depth. Tokens are theirs alone; times of nested calls count twice."""

    by_agent: dict[str, int]
    seconds: float
    usage: Usage

    @property
    def total(self) -> int:
        """Number of calls."""
        return sum(self.by_agent.values())


class Answered(Struct, frozen=True):
    """One answered model call: what the service calls the model, if it says, what was asked for, the tokens, and the
    base URL of the service."""

    reported: str | None
    asked: str
    usage: Usage
    service: str | None = None


class Summary(PartlyShown, PartlyCompared, Struct, frozen=True):
    """What a run did. ``tools_called`` leaves agent calls out; ``errors`` counts invalid answers (L42).

    ``model_name`` is the model that was asked for; ``answered`` are the program's own model calls, ``below`` those of
    the programs that it called, at every depth. ``cut`` says that the output was cut off and allowed to be. ``spent``
    is what the budget counts, where there is one: with the worst case of calls whose end is unknown. ``skills`` are
    those that the model loaded, in the order in which it asked for them; one that the user chose is not among them.
    """

    program: str
    success: bool
    error: str | None
    iterations: int
    usage: Usage
    tools_called: int
    seconds: float
    model_name: str
    agents: AgentCalls
    errors: int
    start_time: datetime
    end_time: datetime
    answered: tuple[Answered, ...] = ()
    below: tuple[Answered, ...] = ()
    cut: bool = False
    prices: Prices | None = None
    spent: Decimal | None = None
    skills: tuple[str, ...] = ()

    unshown: ClassVar = frozenset({"answered", "below", "prices"})
    uncompared: ClassVar = frozenset({"prices"})

    @property
    def answered_by(self) -> str | None:
        """The model that the service says gave the last answer (LA28); None where it did not say."""
        return self.answered[-1].reported if self.answered else None

    @property
    def cost(self) -> Decimal | None:
        """US dollars, or None when the price of a model is not known (LA27).

        Computed on access: reading a list of prices takes longer than many runs.
        """
        return cost_of(self.answered, self.prices)

    @property
    def total_usage(self) -> Usage:
        """Tokens of the whole run, called programs included."""
        return self.usage + self.agents.usage

    @property
    def total_cost(self) -> Decimal | None:
        """US dollars of the whole run, called programs included; None when a price is not known."""
        return cost_of((*self.answered, *self.below), self.prices)

    def as_dict(self) -> dict[str, Value]:
        """Return the keys of the specification's sample in its order, then ``errors``, ``start_time``, ``end_time``.

        ``answered_by`` stands beside ``model``, ``total`` has the whole run; ``cut`` is there when it is true.
        """
        head: dict[str, Value] = {"program": self.program, "success": self.success}
        if self.error is not None:
            head["error"] = self.error
        tokens: dict[str, Value] = {
            "input": self.usage.input_tokens,
            "output": self.usage.output_tokens,
            "total": self.usage.total_tokens,
            "cost": _number(self.cost),
        }
        total: dict[str, Value] = {"tokens": self.total_usage.total_tokens, "cost": _number(self.total_cost)}
        if self.spent is not None:
            total["spent"] = _number(self.spent)
        head |= {"iterations": self.iterations, "tokens": tokens, "tools_called": self.tools_called}
        head |= {"duration": duration(self.seconds), "model": self.model_name, "answered_by": self.answered_by}
        if self.cut:
            head["cut"] = True
        if self.skills:
            head["skills"] = list(self.skills)
        if self.agents.total:
            head["agent_calls"] = _agent_calls(self.agents)
        times = {"start_time": _iso(self.start_time), "end_time": _iso(self.end_time)}
        return {**head, "total": total, "errors": self.errors, **times}


class RunResult(PartlyShown, Struct, Generic[Output], frozen=True):
    """What a run gave: the validated output, and the summary of what it took. ``output`` is plain data, or a value of
    the type that a caller asked for. ``messages`` are what was sent last.
    ``unrecorded`` is why a run that was to be recorded stands in no file (X27). ``run_id`` is its name in the history,
    empty where nothing is kept. ``is_text`` says that the output is text by itself, as that of a skill is."""

    output: Output
    summary: Summary
    messages: tuple[Message, ...] = ()
    unrecorded: RunError | None = None
    run_id: str = ""
    is_text: bool = False

    unshown: ClassVar = frozenset({"messages"})


class Tally(Struct):
    """Counts the events of one run. Also a `Listener`."""

    program: Program
    clock: Clock
    prices: Prices | None
    usage: Usage = field(default_factory=Usage)
    agent_usage: Usage = field(default_factory=Usage)
    answered: list[Answered] = field(default_factory=list)
    below: list[Answered] = field(default_factory=list)
    cut: bool = False
    iterations: int = 0
    tools_called: int = 0
    errors: int = 0
    agents: Counter[str] = field(default_factory=Counter)
    agent_seconds: float = 0.0
    meter: Meter | None = None
    started: datetime = datetime.min
    _since: float = 0.0
    _asked: dict[int, str] = field(default_factory=dict)
    _loading: dict[str, str] = field(default_factory=dict)
    _loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.started = self.clock.now()
        self._since = self.clock.monotonic()

    def __call__(self, event: events.Event, /) -> None:
        """Count one event."""
        if event.scope.depth:
            self._agent(event)
        else:
            self._own(event)

    def _own(self, event: events.Event) -> None:
        match event:
            case events.ModelAnswered():
                self.iterations += 1
                self.usage += event.usage
                self.answered.append(_answered(event, self.program.model_name))
            case events.RunFinished():
                self.cut = event.cut
            case events.ToolCalled(kind=kind) if kind != "program":
                self.tools_called += 1
                if (name := event.skill) is not None:
                    self._loading[event.path] = name
            case events.ToolAnswered(is_error=False, path=path) if path in self._loading:
                self._loaded.add(path)
            case events.AnswerRejected():
                self.errors += 1
            case _:
                pass

    def _agent(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self.agents[event.scope.program] += 1
                self._asked[event.scope.number] = event.model_name
            case events.ModelAnswered():
                self.agent_usage += event.usage
                self.below.append(_answered(event, self._asked.get(event.scope.number, event.model_name)))
            case events.RunFinished(seconds=seconds) | events.RunFailed(seconds=seconds):
                self.agent_seconds += seconds
            case _:
                pass

    def summary(self, error: str | None = None) -> Summary:
        """Return the record so far; ``error`` says why the run failed (L44)."""
        return Summary(
            program=self.program.file or self.program.name,
            success=error is None,
            error=error,
            iterations=self.iterations,
            usage=self.usage,
            tools_called=self.tools_called,
            seconds=self.clock.monotonic() - self._since,
            model_name=self.program.model_name,
            agents=AgentCalls(dict(self.agents), self.agent_seconds, self.agent_usage),
            errors=self.errors,
            start_time=self.started,
            end_time=self.clock.now(),
            answered=tuple(self.answered),
            below=tuple(self.below),
            cut=self.cut,
            prices=self.prices,
            spent=None if self.meter is None else self.meter.cost,
            skills=tuple(dict.fromkeys(name for path, name in self._loading.items() if path in self._loaded)),
        )


def before_start(file: str, model_name: str, error: str, clock: Clock) -> Summary:
    """Return the summary of a run that failed before anything was asked of a model (LW9)."""
    now = clock.now()
    none = AgentCalls({}, 0.0, Usage())
    return Summary(file, False, error, 0, Usage(), 0, 0.0, model_name, none, 0, now, now)


def _answered(event: events.ModelAnswered, asked: str) -> Answered:
    return Answered(event.answered_by, asked, event.usage, event.service)


def cost_of(calls: Iterable[Answered], prices: Prices | None) -> Decimal | None:
    """Return what model calls cost together; None where the price of one is not known."""
    total = Decimal(0)
    for call in calls:
        price = _price(call, prices)
        if price is None:
            return None
        total += price
    return total


def _price(answered: Answered, prices: Prices | None) -> Decimal | None:
    """Return the price of what the service says it ran, else of what was asked for, at the service that was asked."""
    if prices is None:
        return None
    price = prices.cost(answered.reported, answered.usage, answered.service) if answered.reported else None
    if price is None and answered.asked != answered.reported:
        return prices.cost(answered.asked, answered.usage, answered.service)
    return price


def _number(cost: Decimal | None) -> float | None:
    return None if cost is None else float(cost)


def duration(seconds: float) -> str:
    """Return seconds as the specification writes them: ``"1.2s"``, ``"1.04s"``; at most three decimals."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def _agent_calls(agents: AgentCalls) -> dict[str, Value]:
    return {
        "total_calls": agents.total,
        "calls_by_agent": {**agents.by_agent},
        "total_duration": duration(agents.seconds),
        "average_duration": duration(agents.seconds / agents.total),
        "tokens_used": agents.usage.total_tokens,
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Together(Struct, frozen=True):
    """``file`` is the document, ``error`` why the whole did not go well, if it did not."""

    file: str
    error: str | None
    scripts: Sequence[Summary]
    seconds: float
    start_time: datetime
    end_time: datetime

    def as_dict(self) -> dict[str, Value]:
        """Return the keys of a single summary, then ``scripts``. ``model`` and ``answered_by`` are null where several
        are."""
        head: dict[str, Value] = {"program": self.file, "success": self.error is None}
        if self.error is not None:
            head["error"] = self.error
        own: list[Value] = [{"script": script.program, **_without_program(script.as_dict())} for script in self.scripts]
        return {
            **head,
            "iterations": sum(script.iterations for script in self.scripts),
            "tokens": self._tokens(),
            "tools_called": sum(script.tools_called for script in self.scripts),
            "duration": duration(self.seconds),
            "model": _one({script.model_name for script in self.scripts}),
            "answered_by": _one({script.answered_by for script in self.scripts}),
            "total": self._total(),
            "errors": sum(script.errors for script in self.scripts),
            "start_time": _iso(self.start_time),
            "end_time": _iso(self.end_time),
            "scripts": own,
        }

    def _tokens(self) -> dict[str, Value]:
        made = sum(script.usage.output_tokens for script in self.scripts)
        taken = sum(script.usage.input_tokens for script in self.scripts)
        cost = _sum(script.cost for script in self.scripts)
        return {"input": taken, "output": made, "total": taken + made, "cost": cost}

    def _total(self) -> dict[str, Value]:
        """Return the whole of every script, the programs that it called included."""
        tokens = sum(script.total_usage.total_tokens for script in self.scripts)
        total: dict[str, Value] = {"tokens": tokens, "cost": _sum(script.total_cost for script in self.scripts)}
        spent = [script.spent for script in self.scripts if script.spent is not None]
        return {**total, "spent": float(sum(spent))} if spent else total


def _one(names: set[str] | set[str | None]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _sum(costs: Iterable[Decimal | None]) -> float | None:
    """Return the sum; None where one is not known."""
    known = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        known += cost
    return float(known)


def _without_program(summary: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in summary.items() if name != "program"}
