"""Who counts as one client: a machine, or the network of addresses that one machine has. In: an address as a socket
tells it, and what a proxy says. Out: an address, or the name of what is counted.

What a request says of its own way is believed as far as it was written by proxies that the user trusts, and no further.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Proxies: TypeAlias = tuple[IPv4Network | IPv6Network, ...]
"""The networks of proxies that the user trusts."""

NO_PROXIES: Proxies = ()

MAX_HOPS = 100
"""Addresses of `X-Forwarded-For` that are looked at, from the right."""

IPV6_PREFIX = 64
"""Bits that all addresses of an IPv6 host share."""


def peer_address(client: str) -> IPv4Address | IPv6Address | None:
    """The address in a text; one of IPv4 that came through a socket of IPv6 is one of IPv4. None for other texts."""
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def network_of(client: str) -> str:
    """What is counted as one client: an IPv6 host has a whole network of addresses."""
    address = peer_address(client)
    if address is None:
        return client
    return str(ip_network((address, IPV6_PREFIX), strict=False)) if address.version == 6 else str(address)


def proxies_in(networks: str) -> Proxies:
    """The network that a text names: `10.0.0.0/8`, or a single address. Raises `ValueError`."""
    found = ip_network(networks.strip())
    mapped = found.network_address.ipv4_mapped if isinstance(found, IPv6Network) else None
    if mapped is not None and found.prefixlen >= 96:
        return (ip_network((mapped, found.prefixlen - 96)),)
    return (found,)


def is_proxy(client: str, proxies: Proxies) -> bool:
    """Whether an address belongs to a proxy that is trusted."""
    address = peer_address(client) if proxies else None
    return address is not None and any(address in network for network in proxies)


def client_behind(peer: str, forwarded: str, proxies: Proxies) -> str:
    """The address of the client: the peer of the socket, or, where that is a trusted proxy, the one furthest to the
    right in `X-Forwarded-For` that is none. A text that is no address ends the way: it cannot be told who wrote it."""
    client = peer
    for said in reversed(forwarded.split(",")[-MAX_HOPS:]) if forwarded else ():
        address = peer_address(_bare(said.strip()))
        if not is_proxy(client, proxies) or address is None:
            break
        client = str(address)
    return client


def _bare(said: str) -> str:
    """An address without the port that some proxies add."""
    if said.startswith("["):
        return said[1:].partition("]")[0]
    return said.partition(":")[0] if said.count(":") == 1 else said
