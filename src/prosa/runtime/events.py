"""What happens in a run, as values in the order it happens. Everything that watches a run (progress, the event log,
the summary) is a listener; the loop knows none of them.
"""

from __future__ import annotations

import json
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.messages import Finish, Usage

ToolKind: TypeAlias = Literal["python", "mcp", "program", "action", "skill", "mail", "unknown"]


class Scope(Struct, frozen=True):
    """The program of an event, and its depth below the program that the user started (0).

    ``number`` counts the programs of a run from 1 in the order they start, so that two calls of one program are
    distinct; ``parent`` is the number of the calling program. ``path`` is where in the run the program was called,
    independent of timing: "" for the first, ``1.0/`` for the one that tool call 0 of iteration 1 started.
    """

    program: str
    depth: int = 0
    number: int = 1
    parent: int | None = None
    path: str = ""


class RunStarted(Struct, frozen=True):
    """The first event of a program; `RunFinished` or `RunFailed` is its last, and comes exactly once."""

    scope: Scope
    model_name: str


class ToolsOffered(Struct, frozen=True):
    """The tools of a program are ready, its servers running; repeated when a site moves to another page."""

    scope: Scope
    tools: tuple[str, ...]


class ModelAsked(Struct, frozen=True):
    """A model call starts. On the ``final`` iteration no tools are offered."""

    scope: Scope
    iteration: int
    final: bool


class AttemptFailed(Struct, frozen=True):
    """A transient error; the next attempt comes after ``wait`` seconds."""

    scope: Scope
    attempt: int
    wait: float
    reason: str


class TextArrived(Struct, frozen=True):
    """A piece of a streaming reply. After `AttemptFailed` the text restarts."""

    scope: Scope
    text: str


class ModelAnswered(Struct, frozen=True):
    """A model call is answered; ``model_name`` is the model that the service reports, else the requested one.

    ``answered_by`` is the model that the service reports, None if it reports none; ``service`` is its base URL, None
    for a provider without one; ``finish`` is the finish reason.
    """

    scope: Scope
    iteration: int
    usage: Usage
    model_name: str
    content: str
    tool_calls: int
    answered_by: str | None = None
    service: str | None = None
    finish: Finish = "stop"


LOAD_TOOL = "skill"
"""The tool with which a model loads a skill."""


class ToolCalled(Struct, frozen=True):
    """A tool call starts; ``arguments`` is the JSON text as the model wrote it, ``call`` the model's id of the call,
    ``path`` its place in the run, such as ``1.0``."""

    scope: Scope
    tool: str
    kind: ToolKind
    arguments: str
    call: str
    path: str = ""

    @property
    def skill(self) -> str | None:
        """The skill that the call is to load; None for any other call."""
        if self.kind != "skill" or self.tool != LOAD_TOOL:
            return None
        try:
            arguments = json.loads(self.arguments or "{}")
        except ValueError:
            return None
        name = arguments.get("name") if isinstance(arguments, dict) else None
        return name if isinstance(name, str) else None


class ToolAnswered(Struct, frozen=True):
    """A tool call ended; ``size`` is the number of characters of its result as the model gets it."""

    scope: Scope
    tool: str
    kind: ToolKind
    seconds: float
    is_error: bool
    size: int
    call: str
    path: str = ""


class AnswerRejected(Struct, frozen=True):
    """An answer that does not satisfy the output schema (one validation error of L42)."""

    scope: Scope
    iteration: int
    problems: tuple[str, ...]


class Noticed(Struct, frozen=True):
    """Something a person should know that does not stop the run."""

    scope: Scope
    message: str


class RunFinished(Struct, frozen=True):
    """A program ended with a validated output; ``cut`` is true if its last answer was cut off, as allowed."""

    scope: Scope
    output: Value
    seconds: float
    cut: bool = False


class RunFailed(Struct, frozen=True):
    """A program ended without an output."""

    scope: Scope
    error: str
    seconds: float


Event: TypeAlias = (
    RunStarted
    | ToolsOffered
    | ModelAsked
    | AttemptFailed
    | TextArrived
    | ModelAnswered
    | ToolCalled
    | ToolAnswered
    | AnswerRejected
    | Noticed
    | RunFinished
    | RunFailed
)


def path_of(event: Event) -> str:
    """Return the path of what an event is about: a program, a model call or a tool call (X25)."""
    match event:
        case ToolCalled() | ToolAnswered():
            return event.path
        case ModelAsked() | ModelAnswered() | AnswerRejected():
            return f"{event.scope.path}{event.iteration}"
        case _:
            return event.scope.path


class Listener(Protocol):
    """Receives every event of a run, immediately and in order. It must not raise and must not wait."""

    def __call__(self, event: Event, /) -> None: ...


def ignore(event: Event, /) -> None:
    """Ignore every event."""
    del event


def tell(*listeners: Listener) -> Listener:
    """Return one listener that calls several, in order; those that ignore everything are left out."""
    hearing = [listener for listener in listeners if listener is not ignore]
    if len(hearing) == 1:
        return hearing[0]

    def each(event: Event, /) -> None:
        for listener in hearing:
            listener(event)

    return each
