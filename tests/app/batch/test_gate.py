"""X29. One gate for each service and model: limits hold in every minute, a 429 closes it for all, waiting costs no
attempt and no wall clock. The clock and the service are fakes."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest, Usage
from prosa.runtime.pacing import GOOD_ROW, Gated, GateLimits, Gates, counting, paused


class Clock:
    """Time that passes when everybody waits."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waiting: list[tuple[float, int, asyncio.Event]] = []

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        event = asyncio.Event()
        heapq.heappush(self.waiting, (self.time + seconds, id(event), event))
        await event.wait()

    async def run(self, work: Any) -> Any:
        task = asyncio.ensure_future(work)
        idle = 0
        while not task.done():
            await asyncio.sleep(0)
            idle += 1
            if idle > 50 and self.waiting:
                self.time, _, event = heapq.heappop(self.waiting)
                event.set()
                idle = 0
            assert idle < 10_000, "nothing goes on"
        return task.result()


class Service:
    """Answers after some seconds; refuses what comes before ``open_at``, or so many calls of its own choice."""

    def __init__(self, clock: Clock, seconds: float = 0.3, tokens: int = 50, open_at: float = 0.0) -> None:
        self.clock, self.seconds, self.tokens, self.open_at = clock, seconds, tokens, open_at
        self.calls: list[float] = []
        self.now = self.most = 0

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        self.calls.append(self.clock.time)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.clock.sleep(self.seconds)
        finally:
            self.now -= 1
        if self.calls[-1] < self.open_at and self.clock.time < self.open_at + self.seconds:
            raise ProviderError("too many", kind="rate-limit", retryable=True, status=429, retry_after=2.0)
        return ModelReply("x", (), Usage(self.tokens, 0))

    async def aclose(self) -> None:
        pass


def asked(count: int, limits: GateLimits, service: Service, clock: Clock) -> list[Any]:
    """So many calls at once through one gate."""
    provider = Gated(service, Gates(limits, clock), "https://x.example")
    request = ModelRequest("m", (Message("user", "x" * 40),))

    async def one() -> Any:
        while True:
            try:
                return await provider.complete(request)
            except ProviderError as error:
                await clock.sleep(error.retry_after or 1.0)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(one() for _ in range(count)))

    return asyncio.run(clock.run(all_of_them()))


@given(count=st.integers(1, 60), rpm=st.integers(1, 20), seconds=st.floats(0.01, 5))
def test_x29_no_minute_has_more_calls_than_its_limit(count: int, rpm: int, seconds: float):
    """X29: in every sliding minute."""
    clock = Clock()
    service = Service(clock, seconds)
    assert len(asked(count, GateLimits(32, rpm=rpm), service, clock)) == count
    assert all(sum(1 for each in service.calls if at <= each < at + 60) <= rpm for at in service.calls)


def test_x29_no_minute_has_many_more_tokens_than_its_limit():
    """X29: what an answer took is known when it has come; a call that is larger than all is made alone."""
    clock = Clock()
    service = Service(clock, tokens=400)
    asked(12, GateLimits(1, tpm=1_000), service, clock)
    assert all(400 * sum(1 for each in service.calls if at <= each < at + 60) <= 1_200 for at in service.calls)


@pytest.mark.parametrize("at_once", [1, 7])
def test_x29_so_many_calls_go_together(at_once: int):
    """X29."""
    clock = Clock()
    service = Service(clock)
    asked(30, GateLimits(at_once), service, clock)
    assert service.most == at_once


def test_x29_an_answer_of_429_closes_the_gate_for_all_and_halves_what_goes_together():
    """X29: nobody asks while the service said to wait, and it is soon as quick as before."""
    clock = Clock()
    service = Service(clock, seconds=0.1, open_at=0.05)
    asked(400, GateLimits(16), service, clock)
    assert service.calls[:16] == [0.0] * 16
    later = service.calls[16:]
    assert min(later) >= 2.0
    first = [each for each in later if each < min(later) + 0.1]
    assert len(first) == 8
    assert service.most == 16  # one more after every so many good answers
    assert len(later) == 400 and GOOD_ROW == 20


def test_x9_waiting_at_the_gate_is_no_part_of_the_wall_clock():
    """X9: nor of that of the programs above; what is left of it counts again afterwards."""

    async def work() -> str:
        said = ""
        try:
            async with asyncio.timeout(0.2) as outer:
                with counting(outer):
                    async with asyncio.timeout(0.2) as inner:
                        with counting(inner):
                            with paused(), paused():
                                await asyncio.sleep(0.5)
                            said = "it waited at the gate"
                            await asyncio.Event().wait()
        except TimeoutError:
            return said
        return "no clock ended it"

    assert asyncio.run(work()) == "it waited at the gate"
