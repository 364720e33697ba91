"""The outside of a run: every port it needs, in one value, handed in by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.runtime.events import Listener, ignore
from prosa.runtime.journal import UNRECORDED, Journal
from prosa.runtime.ports import Clock, Provider, Sandbox, Sites, SkillFiles, ToolServers

if TYPE_CHECKING:
    from prosa.runtime.mail import Mail


class World(Struct, frozen=True):
    """Ports of a run. ``sandbox`` is None if the machine has none: the tool is then withheld (LA18). ``sites``,
    ``skills`` and ``mail`` are None if no program of the run has any.

    ``jitter`` returns a number in [0, 1) for each wait. ``stream`` requests streaming replies. ``allow_cut`` accepts a
    text that was cut off at the length limit of the model. ``journal`` is called around every call (X25).
    """

    provider: Provider
    clock: Clock
    servers: ToolServers
    sandbox: Sandbox | None = None
    sites: Sites | None = None
    skills: SkillFiles | None = None
    mail: Mail | None = None
    listener: Listener = ignore
    jitter: Callable[[], float] = lambda: 0.5
    stream: bool = False
    allow_cut: bool = False
    journal: Journal = UNRECORDED
