"""An attempt of a coding agent as values: what it did, what its model was asked, what it changed, how it ended (X36).

In: the tap, the stream of the agent and the workspace. Out: what suites, recordings and reports share. Nothing is
started or read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.messages import Usage

WireName: TypeAlias = Literal["messages", "responses", "chat", "gemini"]
"""The wire formats: Messages, Responses, Chat Completions and Google's `generateContent`."""

End: TypeAlias = Literal[
    "done",
    "failed",
    "crashed",
    "calls",
    "timeout",
    "files",
    "processes",
    "loaded",
    "cost",
    "service",
    "interrupted",
    "missing",
    "silent",
    "unreadable",
]
"""How an attempt ended. `done`: the agent said so. `failed`: it reported an error of its own, as a refused
permission, after an answered call. `crashed`: it exited with an error after an answered call. `calls`, `timeout`,
`files`, `processes`: a cap of the attempt. `loaded`: stopped on purpose once a skill was loaded. `cost`: the budget
of the suite. `service`: an error of the model service. `interrupted`: the disk of this machine was full. `missing`:
it did not start. `silent`: it ended before its first model request. `unreadable`: its stream cannot be read."""

UNMEASURED_ENDS: Final[frozenset[End]] = frozenset({"cost", "service", "interrupted"})
"""Ends that say nothing about the subject (X34)."""

BROKEN_ENDS: Final[frozenset[End]] = frozenset({"missing", "silent", "unreadable"})
"""Ends of an agent that did not work at all."""


class AgentStep(Struct, frozen=True):
    """One step of an agent: a text that it said, a tool call, or the result of one. ``text`` is cut at a limit;
    ``size`` is the number of characters of the whole, ``digest`` its SHA-256 where it was cut. ``conversation`` is 0
    for the agent and counts its subagents from 1."""

    kind: Literal["say", "call", "result"]
    text: str = ""
    tool: str = ""
    arguments: Value = None
    call: str = ""
    is_error: bool = False
    size: int = 0
    digest: str = ""
    conversation: int = 0


class AgentCall(Struct, frozen=True):
    """One request of an agent to its model, as the tap saw it. ``usage`` is None where the service counted nothing,
    ``cost`` US dollars, None without a known price. ``status`` is the HTTP status of the answer; ``refused`` says
    which cap refused the request. ``answered`` is whether a whole reply was read."""

    model: str
    wire: WireName
    status: int
    answered: bool = False
    usage: Usage | None = None
    cost: Decimal | None = None
    conversation: int = 0
    refused: Literal["", "calls", "cost", "loaded", "token"] = ""
    problem: str = ""


class FileChange(Struct, frozen=True):
    """One file of the workspace that differs after an attempt. ``path`` is relative and has slashes; ``digest`` is the
    SHA-256 of the new content, empty for a deleted file; ``size`` its bytes. ``diff`` is a unified diff of text, cut
    at a limit; empty for binary files."""

    path: str
    kind: Literal["added", "changed", "deleted"]
    digest: str = ""
    size: int = 0
    is_text: bool = False
    diff: str = ""


class Reported(Struct, frozen=True):
    """The agent's own figures: shown beside those of the tap, never in place of them."""

    usage: Usage | None = None
    cost: float | None = None
    turns: int | None = None
    model: str = ""


class AgentTrace(Struct, frozen=True):
    """What came of one attempt of an agent.

    ``configuration`` is the digest of its settings and flags. ``text`` is its final answer. ``reason`` says why it
    ended, in a sentence, unless it is done. ``listed`` are the watched skills that were offered to the model, None
    where that was not seen; ``loaded`` those that the model read, in order, before and after the first change;
    ``loaded_first`` those before the first changed file. ``denied`` are refused permissions. ``unseen`` says in
    sentences what was not seen or held.
    """

    agent: str
    version: str
    model: str
    end: End
    reason: str = ""
    text: str = ""
    steps: tuple[AgentStep, ...] = ()
    calls: tuple[AgentCall, ...] = ()
    changes: tuple[FileChange, ...] = ()
    listed: tuple[str, ...] | None = None
    loaded: tuple[str, ...] = ()
    loaded_first: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    reported: Reported | None = None
    configuration: str = ""
    exit_status: int | None = None
    seconds: float = 0.0
    unseen: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        """The number of model calls with a whole reply."""
        return sum(call.answered for call in self.calls)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all calls; without a tap those that the agent reports; None where neither knows."""
        known = [call.usage for call in self.calls if call.usage is not None]
        if known:
            return sum(known, Usage())
        return self.reported.usage if self.reported is not None and not self.calls else None

    @property
    def cost(self) -> Decimal | None:
        """US dollars of all calls; None where one of them has no known price, and without a tap."""
        return _together([call.cost for call in self.calls if not call.refused])

    @property
    def tools(self) -> tuple[AgentStep, ...]:
        """The tool calls."""
        return tuple(step for step in self.steps if step.kind == "call")


def _together(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(costs) else None
