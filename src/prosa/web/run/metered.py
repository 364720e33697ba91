"""A provider that is counted: it asks another one while there is budget left, and charges what that took.

A call that was cut off may have been billed too. It is charged by its text: never more tokens than bytes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText, Provider
from prosa.runtime.usage import Usage
from prosa.web.run.budget import Budget, Meter

_BILLED = frozenset(("timeout", "malformed"))
"""Failures of calls that a service has worked on."""


@dataclass(frozen=True, slots=True)
class Metered:
    """Asks ``provider``. Raises `BudgetSpent` where nothing is left."""

    provider: Provider
    budget: Budget
    meter: Meter

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """One attempt, charged whether it went well or was cut off."""
        self.budget.require()
        heard = _Heard(on_text)
        try:
            reply = await self.provider.complete(request, heard if on_text is not None else None)
        except ProviderError as error:
            if error.kind in _BILLED or heard.size:
                self._charge(request, "", Usage(), heard.size)
            raise
        except asyncio.CancelledError:
            self._charge(request, "", Usage(), heard.size)
            raise
        self._charge(request, reply.model_name or "", reply.usage, _size(reply.content, reply.tool_calls))
        return reply

    async def aclose(self) -> None:
        """Closes the other one."""
        await self.provider.aclose()

    def _charge(self, request: ModelRequest, reported: str, usage: Usage, answered: int) -> None:
        otherwise = Usage(_size(request.messages, request.tools, request.output), answered)
        self.budget.charge(self.meter, request.model_name, reported, usage, otherwise)


@dataclass(slots=True)
class _Heard:
    """Hands pieces of a reply on, and counts their bytes."""

    on_text: OnText | None
    size: int = 0

    def __call__(self, text: str) -> None:
        self.size += len(text.encode("utf-8", "replace"))
        if self.on_text is not None:
            self.on_text(text)


def _size(*values: object) -> int:
    """Bytes of what was said, written out: at least as many as tokens."""
    return sum(len(repr(value).encode("utf-8", "replace")) for value in values if value)
