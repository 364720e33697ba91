"""The site on a real socket: several requests on one connection, slow clients, and an end that breaks nothing off."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.own_server import running

API = """
async def api(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    print("asked", flush=True)
    await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    await send({"type": "http.response.body", "body": b"done"})
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("---\nid: a\ntype: t\ntitle: A\n---\nx\n")
    with running(root, API, quiet=False) as server:
        yield server


def request(port: int, path: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode()


def read_all(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def test_h1_one_connection_takes_several_requests(server: tuple[subprocess.Popen[str], int]) -> None:
    """H1. One after the other, two at once, and one that comes byte by byte."""
    _, port = server
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(request(port, "/a") + request(port, "/nothing"))
        for byte in request(port, "/a.json", "Connection: close\r\n"):
            connection.sendall(bytes([byte]))
        said = read_all(connection)
    assert re.findall(rb"HTTP/1\.1 (\d+)", said) == [b"200", b"404", b"200"]
    assert b"server:" not in said.lower()


def test_hw4_targets_that_no_client_library_sends(server: tuple[subprocess.Popen[str], int]) -> None:
    """HW4."""
    _, port = server
    for target in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/a\\..\\x", "/.git/config"):
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            connection.sendall(request(port, target, "Connection: close\r\n"))
            assert read_all(connection).split()[1] in (b"404", b"400")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_h6_a_signal_ends_the_server_after_the_answers_under_way(
    server: tuple[subprocess.Popen[str], int], number: int
) -> None:
    """H6. With exit status 0."""
    process, port = server
    said: list[bytes] = []

    def ask() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            connection.sendall(request(port, "/api/slow"))
            said.append(read_all(connection))

    asking = threading.Thread(target=ask)
    asking.start()
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(number)
    asking.join(timeout=30)
    assert process.wait(timeout=120) == 0
    assert said[0].endswith(b"done")
