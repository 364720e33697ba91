"""The limits of runs: at the same time, and per minute; and of wrong tokens per client.

In: moments. Out: a slot, or `Refused` with 429 and a delay. There is no queue: a refused client keeps no connection
open.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from msgspec import Struct, field

from prosa.web.limits import network_of
from prosa.web.run.problem import Refused

MINUTE = 60.0
SOON = 5
"""Seconds after which a slot may be free; the duration of a run is unknown."""

MAX_CLIENTS = 10_000
"""Maximum number of clients whose wrong tokens are counted."""


class Gate(Struct):
    """Lets runs in: at most ``at_once`` of them at a time, and ``per_minute`` in any sixty seconds."""

    at_once: int = 2
    per_minute: int = 30
    now: Callable[[], float] = time.monotonic
    inside: int = 0
    _begun: deque[float] = field(default_factory=deque)

    def enter(self) -> None:
        """Take a slot, which `leave` returns. Raises `Refused`."""
        now = self.now()
        while self._begun and now - self._begun[0] >= MINUTE:
            self._begun.popleft()
        if self.inside >= self.at_once:
            raise too_many(f"This site runs {self.at_once} at a time, and they are all busy.", SOON)
        if len(self._begun) >= self.per_minute:
            wait = math.ceil(MINUTE - (now - self._begun[0]))
            raise too_many(f"This site begins {self.per_minute} runs in a minute, and it has.", wait)
        self.inside += 1
        self._begun.append(now)

    def leave(self) -> None:
        """Return a place back."""
        self.inside -= 1


class Attempts(Struct):
    """Wrong tokens by client: after ``most`` of them in a minute no further one is checked."""

    most: int = 5
    now: Callable[[], float] = time.monotonic
    _failed: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)

    def require(self, client: str) -> None:
        """Raise `Refused` for a client that has guessed too often."""
        now, failed = self.now(), self._failed.get(network_of(client))
        while failed and now - failed[0] >= MINUTE:
            failed.popleft()
        if failed and len(failed) >= self.most:
            wait = math.ceil(MINUTE - (now - failed[0]))
            raise too_many("That was the wrong token too often.", wait)

    def failed(self, client: str) -> None:
        """Note a wrong token."""
        name = network_of(client)
        self._failed.setdefault(name, deque()).append(self.now())
        self._failed.move_to_end(name)
        while len(self._failed) > MAX_CLIENTS:
            self._failed.popitem(last=False)


def too_many(detail: str, wait: int) -> Refused:
    """429 with the seconds after which to come again."""
    return Refused(429, f"{detail} Come again in {wait} seconds.", headers=(("retry-after", str(wait)),))
