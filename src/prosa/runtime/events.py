"""What happens in a run, as values in the order it happens. Everything that watches a run (progress, the event log,
the summary) is a listener; the loop knows none of them.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.messages import Finish
from prosa.runtime.usage import Usage

ToolKind: TypeAlias = Literal["python", "mcp", "program", "action", "skill", "mail", "unknown"]


class Scope(Struct, frozen=True):
    """Whose event it is: the program and how deep below the program that the user started (0).

    ``number`` counts the programs of a run from 1 in the order they start, so that two calls of one program can be
    told apart; ``parent`` is the number of the program that called this one. ``path`` is where in the run the program
    was called, whatever started first: "" for the first, ``1.0/`` for the one that tool call 0 of iteration 1 started.
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
    """The tools of a program are ready, its servers running; told again when it is on another page of a site."""

    scope: Scope
    tools: tuple[str, ...]


class ModelAsked(Struct, frozen=True):
    """A model call begins. On the ``final`` iteration no tools are offered."""

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
    """A piece of a streaming reply. After `AttemptFailed` the text starts anew."""

    scope: Scope
    text: str


class ModelAnswered(Struct, frozen=True):
    """A model call is answered; ``model_name`` is what the service reports, else what was asked for.

    ``answered_by`` is what the service reports, None where it says nothing; ``service`` is its base URL, None for a
    provider without one; ``finish`` is why the answer ended there.
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


class ToolCalled(Struct, frozen=True):
    """A tool call begins; ``arguments`` is the JSON text as the model wrote it, ``call`` the model's id of the call,
    ``path`` its place in the run, such as ``1.0``."""

    scope: Scope
    tool: str
    kind: ToolKind
    arguments: str
    call: str
    path: str = ""


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
    """A program ended with a validated output; ``cut`` says that its last answer was cut off and allowed to be."""

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
    """Hears every event of a run, at once and in order. It must not raise and must not wait."""

    def __call__(self, event: Event, /) -> None: ...


def ignore(event: Event, /) -> None:
    """Ignore every event."""
    del event


def tell(*listeners: Listener) -> Listener:
    """Return one listener that tells several, in order."""

    def each(event: Event, /) -> None:
        for listener in listeners:
            listener(event)

    return each
