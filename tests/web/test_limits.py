"""Whose request it is: the socket's peer, unless a proxy that the user trusts says otherwise (X23, HW4)."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.web.limits import NO_PROXIES, client_behind, is_proxy, proxies_in
from tests.web.asking import called, scope_of, serving

PROXIES = (*proxies_in("127.0.0.1"), *proxies_in("10.0.0.0/8"), *proxies_in("2001:db8:1::/48"))
ADDRESSES = st.one_of(
    st.ip_addresses().map(str),
    st.sampled_from(["127.0.0.1", "10.1.2.3", "2001:db8:1::7", "203.0.113.9", "::ffff:10.0.0.1"]),
)
WORDS = st.one_of(ADDRESSES, st.text(max_size=12), st.sampled_from(["unknown", "", "10.0.0.1:80", "[::1]:80", "_x"]))


@given(peer=ADDRESSES, forwarded=st.lists(WORDS, max_size=6).map(", ".join))
def test_x23_without_trust_the_client_is_the_peer_of_the_socket(peer: str, forwarded: str) -> None:
    """X23. Whatever the headers say."""
    assert client_behind(peer, forwarded, NO_PROXIES) == peer


@given(peer=ADDRESSES, forged=st.lists(WORDS, max_size=4), client=ADDRESSES, hops=st.lists(ADDRESSES, max_size=3))
def test_x23_what_a_client_forges_is_never_believed(peer: str, forged: list[str], client: str, hops: list[str]) -> None:
    """X23. Proxies add on the right: what stands left of the first address that is none of them changes nothing."""
    if is_proxy(client, PROXIES):
        return
    honest = client_behind(peer, ", ".join([client, *hops]), PROXIES)
    assert client_behind(peer, ", ".join([*forged, client, *hops]), PROXIES) == honest


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
        ("127.0.0.1", "[2001:db8::5]:4711", "2001:db8::5"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("::ffff:127.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "10.0.0.9, 10.0.0.2", "10.0.0.9"),
        ("127.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("", "203.0.113.9", ""),
    ],
)
def test_x23_the_client_behind_proxies_that_are_trusted(peer: str, forwarded: str, client: str) -> None:
    """X23. The address furthest to the right that is no proxy."""
    assert client_behind(peer, forwarded, PROXIES) == client


@given(network=st.ip_addresses(v=4), bits=st.integers(0, 32))
def test_x23_a_network_of_ipv4_in_ipv6_is_one_of_ipv4(network: object, bits: int) -> None:
    """X23. Addresses are compared as one of IPv4."""
    start = int(ip_address(str(network))) >> (32 - bits) << (32 - bits)
    plain = f"{ip_address(start)}"
    assert proxies_in(f"::ffff:{plain}/{96 + bits}") == proxies_in(f"{plain}/{bits}")


FILES = {"index.md": "# Harbour\n"}


def _guess(served: object, number: int) -> int:
    headers = [("host", "127.0.0.1:8000"), ("authorization", f"Bearer wrong-{number}")]
    headers.append(("x-forwarded-for", f"203.0.113.{number}"))
    import asyncio

    scope = scope_of("/", "GET", headers, "127.0.0.1")
    return asyncio.run(called(served.app, scope)).status  # type: ignore[attr-defined]


def test_x23_wrong_tokens_are_counted_whoever_they_are_said_to_come_from(tmp_path: Path) -> None:
    """X23. Five are looked at; with a trusted proxy, five of each client, and the log names the client."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with serving(tmp_path / "a", FILES, token="the-right-one", closed=True) as served:
        assert [_guess(served, each) for each in range(7)] == [401] * 5 + [429] * 2
    with serving(tmp_path / "b", FILES, token="the-right-one", closed=True) as served:
        served.app.proxies = proxies_in("127.0.0.1")
        assert [_guess(served, each) for each in range(7)] == [401] * 7
        assert served.app.log is not None
        served.app.log.flush()
        logged = "\n".join(served.lines).splitlines()
        assert [json.loads(line)["client"] for line in logged] == [f"203.0.113.{each}" for each in range(7)]


@pytest.mark.parametrize("wrong", ["nonsense", "10.0.0.0/33", "10.0.0.1/8", ""])
def test_x23_a_network_that_is_none_is_wrong_use(
    wrong: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """X23."""
    assert main(["serve", str(tmp_path), "--trusted-proxy", wrong]) == 2
    assert "such as 10.0.0.0/8" in capsys.readouterr().err
