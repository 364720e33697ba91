"""One gate for each service and model, through which all calls of a process go (X29).

In: the user's limits, and the answers of the service. Out: each call passes when it is allowed. A status 429 closes
the gate for all runs at once, and halves the number of concurrent calls; each series of good answers adds one again.
Waiting here is not an attempt, and does not count for the wall clock of a program.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from prosa.runtime.deadlines import paused
from prosa.runtime.errors import ProviderError

if TYPE_CHECKING:
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import Clock, OnText, Provider

WINDOW = 61.0
"""Seconds over which calls and tokens are counted: a minute plus a margin for delays in transit, so that the service
never counts more in one of its minutes."""

FIRST_PAUSE = 1.0
"""Seconds that the gate stays closed after a 429 without a delay."""

LONGEST_PAUSE = 120.0
GOOD_ROW = 20
"""Good answers after which one call more goes through at the same time."""

CHARACTERS_OF_TOKEN = 4


class GateLimits(Struct, frozen=True):
    """Calls at the same time, calls a minute, tokens a minute; None bounds nothing."""

    at_once: int
    rpm: int | None = None
    tpm: int | None = None


class Permits(Protocol):
    """What several processes may send together in a minute; each call needs a permit."""

    async def permit(self, service: str, tokens: int) -> str:
        """Return a permit for a call of about so many tokens, as soon as there is one: its id."""
        ...

    def used(self, permit: str, tokens: int) -> None:
        """Record what the call took."""
        ...


class Gate(Struct, eq=False):
    """The gate of one service and model, in one event loop. ``permits`` are requested if other processes send too."""

    limits: GateLimits
    clock: Clock
    name: str = ""
    permits: Permits | None = None
    allowed: float = 0.0
    in_flight: int = 0
    good: int = 0
    closed_until: float = 0.0
    pauses: int = 0
    _sent: deque[list[float]] = field(default_factory=deque)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.allowed = float(self.limits.at_once)

    @contextmanager
    def _inside(self, tokens: int) -> Iterator[list[float]]:
        sent = [self.clock.monotonic(), float(tokens)]
        if self.limits.rpm is not None or self.limits.tpm is not None:
            self._sent.append(sent)
        self.in_flight += 1
        try:
            yield sent
        finally:
            self.in_flight -= 1
            self._changed.set()

    async def through(self, provider: Provider, request: ModelRequest, on_text: OnText | None) -> ModelReply:
        """Call the provider when that is allowed, and return the reply. Raises what the provider raises."""
        tokens = _tokens(request)
        if self._turn.locked() or self._wait(tokens) is not None:
            with paused():
                await self._until_open(tokens)
        permit = ""
        if self.permits is not None:
            with paused():
                permit = await self.permits.permit(self.name, tokens)
        with self._inside(tokens) as sent:
            try:
                reply = await provider.complete(request, on_text)
            except ProviderError as error:
                if error.kind == "rate-limit":
                    self._close(error.retry_after)
                raise
        sent[1] = float(reply.usage.total_tokens or tokens)
        if self.permits is not None:
            self.permits.used(permit, int(sent[1]))
        self._answered()
        return reply

    async def _until_open(self, tokens: int) -> None:
        """Wait until the gate is open. Calls pass in the order of arrival."""
        async with self._turn:
            while (wait := self._wait(tokens)) is not None:
                self._changed.clear()
                if wait == 0.0:
                    await self._changed.wait()
                else:
                    await self.clock.sleep(wait)

    def _wait(self, tokens: int) -> float | None:
        """Return the seconds until the next check; 0 for as soon as a call has ended, None if the gate is open."""
        now = self.clock.monotonic()
        if now < self.closed_until:
            return self.closed_until - now
        if self.in_flight >= max(1, int(self.allowed)):
            return 0.0
        while self._sent and self._sent[0][0] <= now - WINDOW:
            self._sent.popleft()
        waits = [self._calls(now), self._tokens_left(now, tokens)]
        return max((each for each in waits if each is not None), default=None)

    def _calls(self, now: float) -> float | None:
        rpm = self.limits.rpm
        if rpm is None or len(self._sent) < rpm:
            return None
        return max(self._sent[len(self._sent) - rpm][0] + WINDOW - now, 0.001)

    def _tokens_left(self, now: float, tokens: int) -> float | None:
        tpm = self.limits.tpm
        if tpm is None or not self._sent or sum(each[1] for each in self._sent) + tokens <= tpm:
            return None
        return max(self._sent[0][0] + WINDOW - now, 0.001)

    def _close(self, retry_after: float | None) -> None:
        now = self.clock.monotonic()
        if now >= self.closed_until:  # those that were under way together are one answer
            self.allowed = max(1.0, min(self.allowed, float(self.in_flight or 1)) / 2)
            self.pauses += 1
        self.good = 0
        pause = min(FIRST_PAUSE if retry_after is None else retry_after, LONGEST_PAUSE)
        self.closed_until = max(self.closed_until, now + pause)
        self._changed.set()

    def _answered(self) -> None:
        self.good += 1
        if self.good >= GOOD_ROW and self.allowed < self.limits.at_once:
            self.good = 0
            self.allowed = min(self.allowed + 1.0, float(self.limits.at_once))
            self._changed.set()


class Gates(Struct, eq=False):
    """The gates of a process, made as services and models are met."""

    limits: GateLimits
    clock: Clock
    permits: Permits | None = None
    _known: dict[tuple[str, str], Gate] = field(default_factory=dict)

    def of(self, service: str | None, model_name: str) -> Gate:
        """Return the gate of a model at a service."""
        key = (service or "", model_name)
        if key not in self._known:
            self._known[key] = Gate(self.limits, self.clock, " ".join(key), self.permits)
        return self._known[key]


class Gated(Struct, frozen=True):
    """A provider behind the gates of its models. ``service`` is its base URL."""

    provider: Provider
    gates: Gates
    service: str | None = None

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt, as soon as it may be made."""
        return await self.gates.of(self.service, request.model_name).through(self.provider, request, on_text)

    async def aclose(self) -> None:
        """Close the other one."""
        await self.provider.aclose()


def _tokens(request: ModelRequest) -> int:
    """Return tokens of a request, about: what came is counted when it has come."""
    return sum(len(each.content) for each in request.messages) // CHARACTERS_OF_TOKEN + 1
