"""All connections of one server: how many of them one machine has, and which of them keep us waiting (X9, X23).

In: the addresses and the states of connections. Out: whether one more is taken, and which one makes room for it. This
machine is not counted: a proxy in front of the site comes from here, and speaks for many. Nor are proxies elsewhere
that the user trusts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from prosa.web.guard import MAX_HEAD
from prosa.web.peer import NO_PROXIES, Proxies, is_proxy, network_of, peer_address

HEAD_SECONDS = 10.0
"""Seconds in which the head of a request comes, from its first byte on; the first one from the connection on."""

BODY_SECONDS = 30.0
"""Seconds in which a body gets on by `BODY_STEP`, or ends."""

BODY_STEP = 4 * 1024
"""Bytes of a body that are progress."""

READ_SECONDS = 30.0
"""Seconds in which a client takes `READ_STEP` of what it is sent, or all of it."""

READ_STEP = 4 * 1024
"""Bytes that are progress of a client that reads."""

MAX_CONNECTIONS = 1_000
"""Connections at once. Beyond it those make room on whose request we wait."""

SPARE = 50
"""Connections beyond it, where nobody makes room or those who did are still leaving; then 503 is answered."""

MAX_PER_PEER = 200
"""Connections at once from one other machine."""

MAX_PIPELINE = 100
"""Requests of one connection that wait for the answer to an earlier one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a connection may take. Sizes are bytes. ``proxies`` are trusted, and speak for many."""

    head_bytes: int = MAX_HEAD
    head_seconds: float = HEAD_SECONDS
    body_seconds: float = BODY_SECONDS
    read_seconds: float = READ_SECONDS
    read_bytes: int = READ_STEP
    connections: int = MAX_CONNECTIONS
    per_peer: int = MAX_PER_PEER
    pipeline: int = MAX_PIPELINE
    proxies: Proxies = NO_PROXIES


class Connection(Protocol):
    """One of the crowd."""

    def leave(self) -> None:
        """Ends the connection."""


@dataclass(slots=True)
class Crowd:
    """``waiting`` are the connections that owe us a request or the rest of one, longest first."""

    bounds: Bounds
    peers: dict[str, int] = field(default_factory=dict)
    waiting: dict[Connection, None] = field(default_factory=dict)

    def admits(self, peer: str) -> bool:
        """Whether one more connection of a machine is taken; counts it until it has `gone`."""
        name = self._counted(peer)
        if not name:
            return True
        count = self.peers.get(name, 0)
        if count >= self.bounds.per_peer:
            return False
        self.peers[name] = count + 1
        return True

    def gone(self, peer: str) -> None:
        """Forgets a connection that was admitted."""
        name = self._counted(peer)
        if name:
            left = self.peers.pop(name) - 1
            if left:
                self.peers[name] = left

    def make_room(self, present: int, newest: Connection) -> None:
        """Ends the connection that has kept us waiting longest, where ``present`` ones are too many."""
        if present > self.bounds.connections:
            longest = next(iter(self.waiting), newest)
            if longest is not newest:
                longest.leave()

    def _counted(self, peer: str) -> str:
        """The name under which a machine is counted; empty for one that is not."""
        address = peer_address(peer)
        if address is None or address.is_loopback or is_proxy(peer, self.bounds.proxies):
            return ""
        return network_of(peer)
