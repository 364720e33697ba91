"""The execution summary (L42–L45, LA27, LA28): a listener that counts, and the record it gives at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from prosa.runtime import events
from prosa.runtime.ports import Clock, Prices
from prosa.runtime.program import Program
from prosa.runtime.usage import Usage


@dataclass(frozen=True, slots=True)
class AgentCalls:
    """Calls of imported programs at every depth. Tokens are theirs alone; times of nested calls count twice."""

    by_agent: dict[str, int]
    seconds: float
    usage: Usage

    @property
    def total(self) -> int:
        """Number of calls."""
        return sum(self.by_agent.values())


@dataclass(frozen=True, slots=True)
class Answered:
    """One answered model call: what the service calls the model, what was asked for, the tokens."""

    reported: str
    asked: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did. ``tools_called`` leaves agent calls out; ``errors`` counts invalid answers (L42)."""

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
    answered: tuple[Answered, ...] = field(default=(), repr=False)
    prices: Prices | None = field(default=None, repr=False, compare=False)

    @property
    def cost(self) -> Decimal | None:
        """US dollars, or None when the price of a model is not known (LA27).

        Computed when somebody asks: reading a list of prices takes longer than many a run.
        """
        total = Decimal(0)
        for each in self.answered:
            price = _price(each, self.prices)
            if price is None:
                return None
            total += price
        return total

    def as_dict(self) -> dict[str, Any]:
        """The keys of the specification's sample in its order, then ``errors``, ``start_time``, ``end_time``."""
        head: dict[str, Any] = {"program": self.program, "success": self.success}
        if self.error is not None:
            head["error"] = self.error
        cost = self.cost
        tokens = {
            "input": self.usage.input_tokens,
            "output": self.usage.output_tokens,
            "total": self.usage.total_tokens,
            "cost": None if cost is None else float(cost),
        }
        head |= {"iterations": self.iterations, "tokens": tokens, "tools_called": self.tools_called}
        head |= {"duration": duration(self.seconds), "model": self.model_name}
        if self.agents.total:
            head["agent_calls"] = _agent_calls(self.agents)
        times = {"start_time": _iso(self.start_time), "end_time": _iso(self.end_time)}
        return {**head, "errors": self.errors, **times}


@dataclass(slots=True)
class Tally:
    """Counts the events of one run. Also a `Listener`."""

    program: Program
    clock: Clock
    prices: Prices | None
    usage: Usage = field(default_factory=Usage)
    agent_usage: Usage = field(default_factory=Usage)
    answered: list[Answered] = field(default_factory=list)
    iterations: int = 0
    tools_called: int = 0
    errors: int = 0
    agents: Counter[str] = field(default_factory=Counter)
    agent_seconds: float = 0.0
    started: datetime = field(init=False)
    _since: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock.now()
        self._since = self.clock.monotonic()

    def __call__(self, event: events.Event, /) -> None:
        """Counts one event."""
        if event.scope.depth:
            self._agent(event)
        else:
            self._own(event)

    def _own(self, event: events.Event) -> None:
        match event:
            case events.ModelAnswered():
                self.iterations += 1
                self.usage += event.usage
                self.answered.append(Answered(event.model_name, self.program.model_name, event.usage))
            case events.ToolCalled(kind=kind) if kind != "program":
                self.tools_called += 1
            case events.AnswerRejected():
                self.errors += 1
            case _:
                pass

    def _agent(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self.agents[event.scope.program] += 1
            case events.ModelAnswered():
                self.agent_usage += event.usage
            case events.RunFinished(seconds=seconds) | events.RunFailed(seconds=seconds):
                self.agent_seconds += seconds
            case _:
                pass

    def summary(self, error: str | None = None) -> Summary:
        """The record so far; ``error`` says why the run failed (L44)."""
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
            prices=self.prices,
        )


def before_start(file: str, model_name: str, error: str, clock: Clock) -> Summary:
    """The summary of a run that failed before anything was asked of a model (LW9)."""
    now = clock.now()
    none = AgentCalls({}, 0.0, Usage())
    return Summary(file, False, error, 0, Usage(), 0, 0.0, model_name, none, 0, now, now)


def _price(each: Answered, prices: Prices | None) -> Decimal | None:
    """The price of what the service says it ran, else of what was asked for."""
    if prices is None:
        return None
    price = prices.cost(each.reported, each.usage)
    return prices.cost(each.asked, each.usage) if price is None and each.asked != each.reported else price


def duration(seconds: float) -> str:
    """Seconds as the specification writes them: ``"1.2s"``, ``"1.04s"``; at most three decimals."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def _agent_calls(agents: AgentCalls) -> dict[str, Any]:
    return {
        "total_calls": agents.total,
        "calls_by_agent": agents.by_agent,
        "total_duration": duration(agents.seconds),
        "average_duration": duration(agents.seconds / agents.total),
        "tokens_used": agents.usage.total_tokens,
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
