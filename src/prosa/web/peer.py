"""Who counts as one client: a machine, or the network of addresses that one machine has. In: an address as a socket
tells it. Out: an address, or the name of what is counted.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
