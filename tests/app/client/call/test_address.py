"""Addresses that a page may lead to, and those that need permission (X8)."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import pytest

from prosa.adapters.http.address import checked_address, is_public
from prosa.site.problems import HttpProblem

PRIVATE = (
    *("127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:0:1::1"),
)


@pytest.mark.parametrize("address", PRIVATE)
def test_x8_addresses_of_no_public_host(address: str):
    assert not is_public(ip_address(address))
    with pytest.raises(HttpProblem, match="private or loopback"):
        checked_address(address, 80, allow_private=False)
    assert checked_address(address, 80, allow_private=True) == str(ip_address(address))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
)
def test_x8_public_addresses(address: str):
    assert is_public(ip_address(address))


def answering(*addresses: str):
    return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in addresses]


def test_x8_the_checked_address_is_the_one_that_is_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(socket, "getaddrinfo", answering("10.0.0.1", "93.184.216.34"))
    assert checked_address("x.example", 80, allow_private=False) == "93.184.216.34"
    monkeypatch.setattr(socket, "getaddrinfo", answering("10.0.0.1", "fe80::1%eth0"))
    with pytest.raises(HttpProblem) as caught:
        checked_address("x.example", 80, allow_private=False)
    assert "--allow-private" in caught.value.hint


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1"])
def test_x8_odd_spellings_of_loopback_are_still_loopback(host: str):
    with pytest.raises(HttpProblem):
        checked_address(host, 80, allow_private=False)
