"""The shapes of an estimate and of a plan of scripts as `prosa plan --format json` prints them. Nothing is read or made
here."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from prosa.data import Value


class AmountData(TypedDict):
    """What calls take; the dollars are null where a price is not known."""

    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None


class LikelyData(TypedDict):
    """What runs of this version took."""

    runs: int
    median: AmountData
    p95: AmountData


class FirstCall(TypedDict):
    """The first request."""

    tokens_in: int
    exact: bool
    rendered: bool
    dollars_at_most: float | None


class ImportData(TypedDict):
    """What an imported program adds at most."""

    program: str
    times: int
    dollars: float | None


class LowerData(TypedDict):
    """The limit that lowers the bound most."""

    limit: str
    value: int
    dollars: float


EstimateData = TypedDict(
    "EstimateData",
    {
        "at_least": AmountData,
        "likely": LikelyData | None,
        "at_most": AmountData | None,
        "unbounded": str | None,
        "first_call": FirstCall,
        "context": int | None,
        "output": int | None,
        "own": AmountData | None,
        "import": ImportData | None,
        "lower": LowerData | None,
        "unknown_prices": list[str],
        "retries": int,
        "max_cost": float | None,
    },
)
"""The key `estimate`: ``own`` is known where ``at_most`` is."""


class SentMessage(TypedDict):
    """A message as sent."""

    role: str
    content: str


class SentParameters(TypedDict):
    """The parameters as sent, and the name as sent of each that the author wrote otherwise."""

    sent: dict[str, Value]
    renamed: dict[str, str]


class SentLimits(TypedDict):
    """The limits that are shown of a script."""

    wall_clock: float


class PlannedScript(TypedDict):
    """A script of a plan: ``model`` and what follows where it can run, the messages where it runs in a whole plan."""

    script: str
    line: int
    order: int
    runs: bool
    why: str
    priority: str | None
    auto_run: bool
    runtime_env: str | None
    result: Literal["absent", "fresh", "stale", "edited"]
    hint: NotRequired[str | None]
    model: NotRequired[str]
    service: NotRequired[str]
    form: NotRequired[str]
    retry_times: NotRequired[int]
    parameters: NotRequired[SentParameters]
    tools: NotRequired[list[str]]
    messages: NotRequired[list[SentMessage]]
    limits: NotRequired[SentLimits]
    estimate: NotRequired[EstimateData]


class PlannedScripts(TypedDict):
    """The plan of the scripts of a document."""

    file: str
    scripts_from: NotRequired[str]
    trusted: bool
    scripts: list[PlannedScript]
