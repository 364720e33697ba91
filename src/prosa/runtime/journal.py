"""The journal of a run as the loop sees it (X25): called around each model call and each tool call, nowhere else.

A call is identified by its path, which is the same in every run with the same answers, in whatever order calls start:
the model call of iteration ``i`` of a program is ``<path>i``, the tool call ``j`` of its reply, counted from 0, is
``<path>i.j``, and a program that this call starts has the path ``<path>i.j/``. The path of the first program is "".

In: a call, and a function that makes it. Out: its answer, stored or new. A journal decides whether the call is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct

from prosa.data import Value
from prosa.runtime.events import Scope, ToolKind
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText, ToolResult


class Waits(Exception):
    """A journal has no answer yet, and the call is not made now: the run starts again later with the journal's
    answers. It is not a failure of the run."""


Ask: TypeAlias = Callable[[], Awaitable[ModelReply]]
Use: TypeAlias = Callable[[], Awaitable[ToolResult]]


class ModelStep(Struct, frozen=True):
    """One model call of the loop, retries included. ``on_text`` receives the text of a streamed reply; a journal that
    answers itself passes the whole text. None without a listener."""

    path: str
    request: ModelRequest
    scope: Scope
    on_text: OnText | None = None


class ToolStep(Struct, frozen=True):
    """One tool call whose arguments the tool's schema accepts. ``scope`` is the calling program.

    ``repeatable`` is true if the call may be made twice: it changes nothing outside of the run. ``moves`` is true if
    it changes the offered tools, so that its answer alone cannot replace it.
    """

    path: str
    tool: str
    kind: ToolKind
    arguments: Mapping[str, Value]
    scope: Scope
    repeatable: bool = False
    moves: bool = False


class Journal(Protocol):
    """What remembers, records or plays the calls of a run. Calls of different paths come at the same time."""

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return the reply of a model call; ``ask`` makes the call, and is awaited at most once.

        Raises what ``ask`` raises, and `prosa.runtime.errors.RunError` if the journal itself refuses to continue.
        """
        ...

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Return the result of a tool call, before it is cut to the limit; ``use`` makes the call, at most once."""
        ...


class Unrecorded(Struct, frozen=True):
    """A journal that remembers nothing: every call is made."""

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Ask."""
        del step
        return await ask()

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Call the tool."""
        del step
        return await use()


UNRECORDED = Unrecorded()


class Chained(Struct, frozen=True):
    """Two journals as one: a call that ``outer`` does not answer goes to ``inner``."""

    outer: Journal
    inner: Journal = UNRECORDED

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return what ``outer`` knows, else ``inner``, else the model."""
        return await self.outer.reply(step, lambda: self.inner.reply(step, ask))

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Return what ``outer`` knows, else ``inner``, else the tool."""
        return await self.outer.result(step, lambda: self.inner.result(step, use))


def chained(outer: Journal, inner: Journal) -> Journal:
    """Return two journals as one; one that remembers nothing is left out."""
    if outer is UNRECORDED:
        return inner
    return outer if inner is UNRECORDED else Chained(outer, inner)
