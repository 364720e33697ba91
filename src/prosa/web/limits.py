"""Limits of connections, and the checks of every request before its handler: `Host`, `Origin`, size and rate (X9, X23).

Connections from this machine are not counted: a proxy in front of the site connects from here, for many clients. Nor
are other trusted proxies: the addresses in a request are trusted as far as they wrote them, and no further. A name
rebound to a loopback address is not a name of the site, and a form of another origin changes nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct, field

from prosa.asgi import Scope
from prosa.web.answer import header_of

Proxies: TypeAlias = tuple[IPv4Network | IPv6Network, ...]
"""The networks of proxies that the user trusts."""

NO_PROXIES: Proxies = ()

MAX_HOPS = 100
"""Addresses of `X-Forwarded-For` that are read, from the right."""

IPV6_PREFIX = 64
"""Bits that all addresses of an IPv6 host share."""

HEAD_SECONDS = 10.0
"""Seconds in which the head of a request comes, from its first byte on; the first one from the connection on."""

BODY_SECONDS = 30.0
"""Seconds in which a body gets on by `BODY_STEP`, or ends."""

BODY_STEP = 4 * 1024
"""Bytes of a body that are progress."""

READ_SECONDS = 30.0
"""Seconds in which a client must accept `READ_STEP` of the answer, or the rest of it."""

READ_STEP = 4 * 1024
"""Bytes that are progress of a client that reads."""

MAX_CONNECTIONS = 1_000
"""Maximum number of connections. Beyond it, connections with a pending request are closed."""

SPARE = 50
"""Additional connections while others are being closed; beyond that, the answer is 503."""

MAX_PER_PEER = 200
"""Connections at once from one other machine."""

MAX_PIPELINE = 100
"""Requests of one connection that wait for the answer to an earlier one."""

MAX_HEAD = 32 * 1024
"""Bytes of the path and the headers of a request."""


class ConnectionLimits(Struct, frozen=True):
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
    """One of the limiter."""

    def leave(self) -> None:
        """End the connection."""


class ConnectionLimiter(Struct):
    """``waiting`` are the connections that owe us a request or the rest of one, longest first."""

    bounds: ConnectionLimits
    peers: dict[str, int] = field(default_factory=dict)
    waiting: dict[Connection, None] = field(default_factory=dict)

    def admits(self, peer: str) -> bool:
        """Return whether one more connection of a machine is taken; counts it until it has `gone`."""
        name = self._counted(peer)
        if not name:
            return True
        count = self.peers.get(name, 0)
        if count >= self.bounds.per_peer:
            return False
        self.peers[name] = count + 1
        return True

    def gone(self, peer: str) -> None:
        """Forget a connection that was admitted."""
        name = self._counted(peer)
        if name:
            left = self.peers.pop(name) - 1
            if left:
                self.peers[name] = left

    def make_room(self, present: int, newest: Connection) -> None:
        """Close the connection that has kept the server waiting longest, if ``present`` ones are too many."""
        if present > self.bounds.connections:
            longest = next(iter(self.waiting), newest)
            if longest is not newest:
                longest.leave()

    def _counted(self, peer: str) -> str:
        """Return the name under which a machine is counted; empty for one that is not."""
        address = peer_address(peer)
        if address is None or address.is_loopback or is_proxy(peer, self.bounds.proxies):
            return ""
        return network_of(peer)


def peer_address(client: str) -> IPv4Address | IPv6Address | None:
    """Return the address in a text; one of IPv4 that came through a socket of IPv6 is one of IPv4. None for other
    texts."""
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def network_of(client: str) -> str:
    """Return the network that counts as one client: an IPv6 host has a whole network of addresses."""
    address = peer_address(client)
    if address is None:
        return client
    return str(ip_network((address, IPV6_PREFIX), strict=False)) if address.version == 6 else str(address)


def proxies_in(networks: str) -> Proxies:
    """Return the network that a text names: `10.0.0.0/8`, or a single address. Raises `ValueError`."""
    network = ip_network(networks.strip())
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= 96:
        return (ip_network((mapped, network.prefixlen - 96)),)
    return (network,)


def is_proxy(client: str, proxies: Proxies) -> bool:
    """Return whether an address belongs to a proxy that is trusted."""
    address = peer_address(client) if proxies else None
    return address is not None and any(address in network for network in proxies)


def client_behind(peer: str, forwarded: str, proxies: Proxies) -> str:
    """Return the address of the client: the peer of the socket, or, where that is a trusted proxy, the rightmost in
    `X-Forwarded-For` that is not trusted. A text that is no address ends the search, since its author is unknown."""
    client = peer
    for hop in reversed(forwarded.split(",")[-MAX_HOPS:]) if forwarded else ():
        address = peer_address(_bare(hop.strip()))
        if not is_proxy(client, proxies) or address is None:
            break
        client = str(address)
    return client


def _bare(hop: str) -> str:
    """Return an address without the port that some proxies add."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


MAX_BODY = 1024 * 1024
"""Bytes of the body of a request to the site itself."""

MAX_CLIENTS = 10_000
"""Maximum number of clients whose requests are counted."""

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
METHODS = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}


class Refusal(NamedTuple):
    """Why a request is refused."""

    status: int
    title: str
    text: str
    headers: tuple[tuple[str, str], ...] = ()


class Rate(Struct):
    """At most ``burst`` requests of a client at once, and ``per_second`` of them on average."""

    per_second: float
    burst: float
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, client: str) -> bool:
        """Return whether a client may continue; counts the request."""
        now = time.monotonic()
        left, since = self._left.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_second)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        while len(self._left) > MAX_CLIENTS:
            self._left.popitem(last=False)
        return allowed


class Guard(Struct):
    """``hosts`` are the values of `Host` that are ours; ``origins`` those of `Origin`, beside the host's own."""

    hosts: Collection[str]
    origins: Collection[str] = ()
    changes: Rate = field(default_factory=lambda: Rate(2.0, 20.0))
    questions: Rate = field(default_factory=lambda: Rate(20.0, 60.0))

    def refusal(self, scope: Scope, *, changes: bool = True) -> Refusal | None:
        """Return why the head of a request alone refuses it. ``changes`` is False for a request that only reads,
        whatever its method."""
        host = header_of(scope, b"host").lower()
        if host not in self.hosts:
            return Refusal(421, "Wrong host", "This site is not called so. Start it with --allow-host to add a name.")
        if scope["method"] not in METHODS:
            return Refusal(501, "Unknown method", "This site does not know the method.")
        if _head_size(scope) > MAX_HEAD:
            return Refusal(431, "Too large", f"The head of a request has at most {MAX_HEAD:,} bytes.")
        return None if scope["method"] in SAFE_METHODS else self._of_change(scope, host, counted=changes)

    def too_many(self, scope: Scope) -> Refusal | None:
        """Return why a costly query is refused: the client sends too many."""
        if self.questions.allows(client_of(scope)):
            return None
        return Refusal(429, "Too many requests", "Ask again in a second.", (("retry-after", "1"),))

    def _of_change(self, scope: Scope, host: str, *, counted: bool) -> Refusal | None:
        origin = header_of(scope, b"origin")
        site = header_of(scope, b"sec-fetch-site")
        if origin and origin.lower() not in self._own(host):
            return Refusal(403, "Wrong origin", "Another site may not change anything here.")
        if not origin and site not in ("", "same-origin", "none"):
            return Refusal(403, "Wrong origin", "Another site may not change anything here.")
        length = header_of(scope, b"content-length")
        if length and not (length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= MAX_BODY):
            return Refusal(413, "Too large", f"The body of a request has at most {MAX_BODY:,} bytes.")
        if counted and not self.changes.allows(client_of(scope)):
            return Refusal(429, "Too many requests", "Ask again in a few seconds.", (("retry-after", "5"),))
        return None

    def _own(self, host: str) -> Collection[str]:
        return {f"http://{host}", f"https://{host}", *self.origins}


def client_of(scope: Scope) -> str:
    """Return the address of the client."""
    client = scope.get("client")
    return client[0] if client else ""


def _head_size(scope: Scope) -> int:
    headers = sum([len(name) + len(value) for name, value in scope["headers"]])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers
