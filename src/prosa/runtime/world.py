"""The outside of a run: every port it needs, in one value, handed in by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Clock, Provider, Sandbox, ToolServers


@dataclass(frozen=True, slots=True)
class World:
    """Ports of a run. ``sandbox`` is None where the machine has none: the tool is then withheld (LA18).

    ``jitter`` gives a number in [0, 1) for each wait. ``stream`` asks providers for streaming replies.
    """

    provider: Provider
    clock: Clock
    servers: ToolServers
    sandbox: Sandbox | None = None
    listener: Listener = field(default=ignore)
    jitter: Callable[[], float] = field(default=lambda: 0.5)
    stream: bool = False
