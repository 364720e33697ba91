"""When models are called: further attempts after transient errors (L16, LA7), one gate for each service and model,
through which all calls of a process go (X29), and the wall clocks of the running programs, which stop while a run waits
for its turn (X9).

In: a call, a clock, bounds. Out: its reply. Nothing here sends anything.

A status 429 closes the gate for all runs at once, and halves the number of concurrent calls; each series of good
answers adds one again. Waiting here is not an attempt, and does not count for the wall clock of a program; the clocks
of its callers stop too.

A further attempt is not an iteration: the loop sees one call. The service's own ``Retry-After`` is respected; otherwise
the wait doubles, with jitter, so that many runs do not return at once. If the service is unreachable, there is only one
immediate retry. A service with unreadable replies gets two retries.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct, field

from prosa.runtime.errors import ProviderError
from prosa.runtime.events import AttemptFailed, Listener, Scope
from prosa.runtime.ports import Clock

if TYPE_CHECKING:
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import OnText, Provider


class _Clock(Struct, eq=False):
    """One timeout; ``waiting`` counts the waiting calls below it, ``left`` is the time left when the first
    started to wait."""

    timeout: asyncio.Timeout
    waiting: int = 0
    left: float | None = None

    def stop(self, now: float) -> None:
        self.waiting += 1
        if self.waiting == 1 and not self.timeout.expired():
            when = self.timeout.when()
            self.left = None if when is None else when - now
            self.timeout.reschedule(None)

    def go_on(self, now: float) -> None:
        self.waiting -= 1
        if not self.waiting and self.left is not None and not self.timeout.expired():
            self.timeout.reschedule(now + max(self.left, 0.0))


_RUNNING: ContextVar[tuple[_Clock, ...]] = ContextVar("prosa_deadlines", default=())


@contextmanager
def counting(timeout: asyncio.Timeout) -> Iterator[None]:
    """Run a program under this timeout until the block ends."""
    token = _RUNNING.set((*_RUNNING.get(), _Clock(timeout)))
    try:
        yield
    finally:
        with suppress(ValueError):  # a dropped coroutine ends in another context
            _RUNNING.reset(token)


@contextmanager
def paused() -> Iterator[None]:
    """Stop the wall clocks of the programs around this call."""
    clocks, loop = _RUNNING.get(), asyncio.get_running_loop()
    for clock in clocks:
        clock.stop(loop.time())
    try:
        yield
    except GeneratorExit:
        raise  # nothing continues, and the loop may be closed
    except BaseException:
        _go_on(clocks, loop.time())
        raise
    _go_on(clocks, loop.time())


def _go_on(clocks: Iterable[_Clock], now: float) -> None:
    for clock in clocks:
        clock.go_on(now)


Reply = TypeVar("Reply")

FIRST_WAIT = 0.5
ABSENT_ATTEMPTS = 2
"""Attempts, one after the other, at a service that is not there: it may just be starting (LA7)."""

MALFORMED_ATTEMPTS = 3
"""Maximum number of attempts at a service with unreadable replies: each may be billed (X26)."""

LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 120.0
"""A service that requests a longer delay will not recover within a run."""


async def with_retries(
    attempt: Callable[[], Awaitable[Reply]],
    *,
    retries: int,
    clock: Clock,
    jitter: Callable[[], float],
    listener: Listener,
    scope: Scope,
) -> Reply:
    """Return the first reply that comes. Raises the last `ProviderError` when attempts are used up or make no sense."""
    tried = absent = malformed = 0
    while True:
        try:
            return await attempt()
        except ProviderError as error:
            tried += 1
            absent = absent + 1 if error.is_absent else 0
            malformed = malformed + 1 if error.kind == "malformed" else 0
            wait = _wait(error, absent or tried, jitter())
            is_last = absent >= ABSENT_ATTEMPTS or malformed >= MALFORMED_ATTEMPTS
            if not error.retryable or tried > retries or wait is None or is_last:
                raise _with_count(error, tried) from error
            listener(AttemptFailed(scope, tried, wait, error.message))
            await clock.sleep(wait)


def _wait(error: ProviderError, tried: int, jitter: float) -> float | None:
    if error.retry_after is None:
        ceiling: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tried - 1))
        return ceiling * (0.5 + jitter / 2)
    if error.retry_after > LONGEST_RETRY_AFTER:
        return None
    return error.retry_after + jitter * min(1.0, error.retry_after / 10)


def _with_count(error: ProviderError, tried: int) -> ProviderError:
    if tried == 1:
        return error
    return ProviderError(
        f"{error.message} (after {tried} attempts)",
        kind=error.kind,
        retryable=False,
        status=error.status,
        retry_after=error.retry_after,
        hint=error.hint,
        is_absent=error.is_absent,
        billable=error.billable,
    )


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
        return max((wait for wait in waits if wait is not None), default=None)

    def _calls(self, now: float) -> float | None:
        rpm = self.limits.rpm
        if rpm is None or len(self._sent) < rpm:
            return None
        return max(self._sent[len(self._sent) - rpm][0] + WINDOW - now, 0.001)

    def _tokens_left(self, now: float, tokens: int) -> float | None:
        tpm = self.limits.tpm
        if tpm is None or not self._sent or sum(request[1] for request in self._sent) + tokens <= tpm:
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
    return sum(len(message.content) for message in request.messages) // CHARACTERS_OF_TOKEN + 1
