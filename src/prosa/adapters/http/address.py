"""Which address a name leads to, and whether a site may be asked there (X8). In: host and port. Out: the one address
that is connected to, so that a second look-up cannot give another.

Private, loopback, link-local and other addresses of no public host need permission: a page must not reach into the
network of its reader.
"""

from __future__ import annotations

import socket
import unicodedata
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from prosa.site.problems import HttpProblem

_NAT64 = IPv6Network("64:ff9b::/96")


def checked_address(host: str, port: int, *, allow_private: bool) -> str:
    """Return the first address of a host that may be asked. Raises `HttpProblem`."""
    addresses = _addresses(host, port)
    for address in addresses:
        if allow_private or is_public(address):
            return str(address)
    message = f"{host} is at {addresses[0]}, a private or loopback address, and requests there are refused"
    raise HttpProblem(message, "if the site is yours, add --allow-private")


def refused_host(host: str) -> HttpProblem:
    """Return why a host is refused in a URL: an address in an ambiguous spelling, or no host. No look-up is made."""
    try:
        address = socket.inet_ntoa(socket.inet_aton(unicodedata.normalize("NFKC", host)))
    except (OSError, ValueError):
        return HttpProblem(f"{host} is neither the name of a host nor an address", "check the URL")
    return HttpProblem(f"{host} is the address {address} in another spelling, and is refused", f"write {address}")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address belongs to a public host. One that represents an IPv4 address is judged by that; both
    ends of a tunnel must be public."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None and not is_public(address.sixtofour):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _addresses(host: str, port: int) -> list[IPv4Address | IPv6Address]:
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HttpProblem(f"{host} cannot be found: its name does not resolve") from None
    # A scope (`%eth0`) stands only behind link-local addresses, which are judged without it.
    return list(dict.fromkeys(ip_address(str(info[4][0]).partition("%")[0]) for info in entries))
