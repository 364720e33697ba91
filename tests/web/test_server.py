"""The site on a real socket: several requests on one connection, slow clients, and an end that breaks nothing off."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = """
import sys
from pathlib import Path
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.settings import Settings
from prosa.web import serving
from prosa.web.app import SiteApp
from prosa.web.context import Web
from prosa.web.guard import Guard
from prosa.web.session import Sessions
import asyncio, os

async def api(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    print("asked", flush=True)
    await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    await send({"type": "http.response.body", "body": b"done"})

site = LiveSite(Path(sys.argv[1]).resolve(), SiteOptions("Harbour"), dict(os.environ), Settings(), 10**7)
made = serving.bound("127.0.0.1", 0)
port = made.getsockname()[1]
app = SiteApp(Web(site, Sessions("")), Guard(serving.hosts_of("127.0.0.1", port, ())), api=api)
site.start()
serving.serve(app, made, lambda: print(port, flush=True))
site.close()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("---\nid: a\ntype: t\ntitle: A\n---\nx\n")
    environ = {**os.environ, "PROSA_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(root)], env=environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


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
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
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
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
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
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(request(port, "/api/slow"))
            said.append(read_all(connection))

    asking = threading.Thread(target=ask)
    asking.start()
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(number)
    asking.join(timeout=30)
    assert process.wait(timeout=30) == 0
    assert said[0].endswith(b"done")
