"""What a connection may do before a request is whole: bounds and deadlines, on raw sockets and real servers."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.web import serving
from prosa.web.limits import MAX_HEAD, ConnectionLimiter, ConnectionLimits
from tests.depth import examples
from tests.web.own_server import running

API = """
async def api(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    if scope["path"] == "/api/slow":
        await asyncio.sleep(0.4)
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return
        size, more = size + len(message["body"]), message["more_body"]
    said = b"%d\\n" % size
    if scope["path"] == "/api/headers":
        said = b"\\n".join(name + b": " + value for name, value in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]})
    await send({"type": "http.response.body", "body": said})
"""
PATIENCE = 30.0
"""Seconds after which a test gives up waiting for what has to come."""

FAR = 1_000.0


@contextmanager
def server(folder: Path, **bounds: float) -> Iterator[int]:
    """A server with these bounds in a process of its own, as its port."""
    root = folder / "root"
    root.mkdir()
    with running(root, API, **bounds) as (_, port):
        yield port


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server without deadlines that a test could meet."""
    with server(tmp_path_factory.mktemp("patient"), head_seconds=FAR, body_seconds=FAR) as port:
        yield port


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server that waits for nobody."""
    with server(tmp_path_factory.mktemp("hasty"), head_seconds=0.3, body_seconds=0.3) as port:
        yield port


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def head(port: int, method: str = "GET", path: str = "/healthz", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode()


def read_all(connection: socket.socket) -> bytes:
    """Everything until the end; one that came with data unread is an end too."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def is_alive(port: int) -> bool:
    with connected(port) as connection:
        connection.sendall(head(port, more="Connection: close\r\n"))
        return read_all(connection).startswith(b"HTTP/1.1 200")


LINE = b"X: " + b"x" * 60 + b"\r\n"
ENDLESS = {
    "a target": (b"GET /", b"a"),
    "a name of a header": (b"GET / HTTP/1.1\r\n", b"a"),
    "a value of a header": (b"GET / HTTP/1.1\r\nX: ", b"a"),
    "many headers": (b"GET / HTTP/1.1\r\n", LINE),
    "empty lines": (b"", b"\r\n"),
}


@pytest.mark.parametrize("size", [70_000, 1_000])
@pytest.mark.parametrize("kind", ENDLESS)
def test_x9_an_endless_head_ends_at_a_bound(patient: int, kind: str, size: int) -> None:
    """X9, X23. 431 as soon as the bound is passed, whatever the head is made of, and however it is cut."""
    start, repeated = ENDLESS[kind]
    whole = start + repeated * ((MAX_HEAD + 1) // len(repeated) + 1)
    with connected(patient) as connection:
        for at in range(0, len(whole), size):
            connection.sendall(whole[at : at + size])
        said = read_all(connection)
    assert said.startswith(b"HTTP/1.1 431 ")
    assert b"connection: close\r\n" in said
    assert is_alive(patient)


def test_x9_what_goes_on_after_the_bound_is_not_read(patient: int) -> None:
    """X9. No more of it is taken than the buffers of two sockets hold."""
    with connected(patient) as connection, pytest.raises(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(1_000):
            connection.sendall(b"x" * 65_536)


def test_x9_an_endless_trailer_ends_at_a_bound(patient: int) -> None:
    """X9. What follows a chunked body is a head once more."""
    with connected(patient) as connection:
        connection.sendall(head(patient, "POST", "/api/x", "Transfer-Encoding: chunked\r\n") + b"3\r\nabc\r\n0\r\nX: ")
        with pytest.raises(ConnectionError):
            for _ in range(1_000):
                connection.sendall(b"x" * 65_536)
    assert is_alive(patient)


TRAILERS = st.lists(
    st.tuples(
        st.sampled_from(
            ("Host", "Origin", "Authorization", "Cookie", "X-Forwarded-For", "Content-Length", "Expect", "X-Any")
        ),
        st.sampled_from(("evil.example", "100-continue", "Bearer stolen", "7", "10.0.0.1")),
    ),
    max_size=6,
)


@settings(max_examples=examples(60), deadline=None)
@given(trailers=TRAILERS, cut=st.booleans())
def test_x23_trailers_are_no_headers(patient: int, trailers: list[tuple[str, str]], *, cut: bool) -> None:
    """X23. The application sees the fields of the head alone, whether the trailers come with it or later."""
    tail = "".join(f"{name}: {value}\r\n" for name, value in trailers)
    with connected(patient) as connection:
        more = "Transfer-Encoding: chunked\r\nConnection: close\r\n"
        first = head(patient, "POST", "/api/headers", more) + b"3\r\nabc\r\n"
        last = b"0\r\n" + tail.encode() + b"\r\n"
        for piece in (first, last) if cut else (first + last,):
            connection.sendall(piece)
        said = read_all(connection)
    if said.startswith(b"HTTP/1.1 400 "):  # the parser reads some of them, and what contradicts the head is refused
        assert "Content-Length" in dict(trailers)
        return
    assert said.startswith(b"HTTP/1.1 200 ")
    names = [line.partition(b":")[0] for line in said.partition(b"\r\n\r\n")[2].splitlines()]
    assert names == [b"host", b"transfer-encoding", b"connection"]


def test_x9_heads_within_the_bound_are_answered(patient: int) -> None:
    """X9. Several in a row are counted each for itself, and a body is no head."""
    long = f"X: {'x' * (MAX_HEAD - 500)}\r\n"
    body = b"x" * 300_000
    with connected(patient) as connection:
        connection.sendall(head(patient, more=long) * 3)
        connection.sendall(head(patient, "POST", "/api/x", f"Content-Length: {len(body)}\r\n{long}") + body)
        connection.sendall(head(patient, more=f"{long}Connection: close\r\n"))
        said = read_all(connection)
    assert said.count(b"HTTP/1.1 200 ") == 5
    assert b"\r\n\r\n300000\n" in said


def test_x9_a_body_of_small_chunks_is_taken(patient: int) -> None:
    """X9. Its framing is many times its content."""
    more = "Transfer-Encoding: chunked\r\nConnection: close\r\n"
    with connected(patient) as connection:
        connection.sendall(head(patient, "POST", "/api/x", more) + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")
        assert read_all(connection).endswith(b"\r\n\r\n20000\n")


def test_x9_requests_that_do_not_wait_for_answers_are_bounded(patient: int) -> None:
    """X9. Each takes a hundred times its length in memory."""
    with connected(patient) as connection:
        connection.sendall(head(patient, path="/api/slow") + head(patient) * 2_000)
        assert read_all(connection).count(b"HTTP/1.1") < 2_000
    assert is_alive(patient)


BEGUN = {
    "nothing": b"",
    "part of a line": b"GET /heal",
    "part of a head": b"GET /healthz HTTP/1.1\r\nX: y\r\n",
}


@pytest.mark.parametrize("kind", BEGUN)
def test_x23_who_sends_no_head_is_not_waited_for(hasty: int, kind: str) -> None:
    """X23, X9. Neither on a new connection nor after an answer."""
    with connected(hasty) as connection:
        connection.sendall(BEGUN[kind])
        assert read_all(connection) == b""
    if BEGUN[kind]:
        with connected(hasty) as connection:
            connection.sendall(head(hasty) + BEGUN[kind])
            assert read_all(connection).count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("first", "dripping"),
    [("", b"\r\n"), ("GET", b"x"), ("HEAD", b"\r\n"), ("POST", b"x")],
)
def test_x23_drop_by_drop_does_not_help(hasty: int, first: str, dripping: bytes) -> None:
    """X23, X9. A head comes whole in time, and a body gets on."""
    with connected(hasty) as connection:
        if first == "GET":
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        elif first == "HEAD":
            connection.sendall(head(hasty, "HEAD"))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        elif first == "POST":
            connection.sendall(head(hasty, "POST", "/api/x", "Content-Length: 100000\r\n"))
        connection.settimeout(0.02)
        drops = 0
        while not _has_ended(connection, dripping):
            drops += 1
            assert drops < 1_500


def _has_ended(connection: socket.socket, dripping: bytes) -> bool:
    try:
        connection.sendall(dripping)
        said = connection.recv(65_536)
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    assert said == b""
    return True


@pytest.mark.parametrize("body", [b"", b"x" * 300_000])
def test_x23_who_waits_for_us_is_not_late(hasty: int, body: bytes) -> None:
    """X23. An answer may take longer than any head or body, also where it begins before the body is read."""
    more = f"Content-Length: {len(body)}\r\nConnection: close\r\n"
    with connected(hasty) as connection:
        connection.sendall(head(hasty, "POST", "/api/slow", more) + body)
        assert read_all(connection).endswith(b"\r\n\r\n%d\n" % len(body))


def test_x23_who_is_told_late_to_go_on_is_not_late(hasty: int) -> None:
    """X23. A client that asks first sends its body when it hears that it may."""
    more = "Content-Length: 3\r\nConnection: close\r\nExpect: 100-continue\r\n"
    with connected(hasty) as connection:
        connection.sendall(head(hasty, "POST", "/api/slow", more))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"abc")
        assert read_all(connection).endswith(b"\r\n\r\n3\n")


@pytest.mark.parametrize("begun", ["", "GET / HT", "body", "idle"])
def test_x23_who_only_waits_makes_room(tmp_path: Path, begun: str) -> None:
    """X23, X9. The one that has kept us waiting longest goes first; nobody is locked out."""
    with server(tmp_path, connections=5, head_seconds=FAR, body_seconds=FAR) as port, ExitStack() as stack:
        waiting = [stack.enter_context(connected(port)) for _ in range(5)]
        for each in waiting:
            if begun == "body":
                each.sendall(head(port, "POST", "/api/x", "Content-Length: 5\r\nExpect: 100-continue\r\n"))
                assert each.recv(65_536).startswith(b"HTTP/1.1 100 ")
            elif begun == "idle":
                each.sendall(head(port, "HEAD"))
                assert each.recv(65_536).startswith(b"HTTP/1.1 200 ")
            else:
                each.sendall(begun.encode())
        assert all(is_alive(port) for _ in range(5))
        assert read_all(waiting[0]) == b""


class Far(asyncio.Transport):
    """A connection from another machine."""

    def __init__(self) -> None:
        super().__init__({"peername": ("203.0.113.9", 1), "sockname": ("198.51.100.1", 80)})
        self.ended = False

    def is_closing(self) -> bool:
        return self.ended

    def close(self) -> None:
        self.ended = True

    abort = close


def test_x23_one_machine_has_its_part_of_the_connections() -> None:
    """X23, X9. One more is not taken, and another may come when one has gone."""

    async def work() -> None:
        import uvicorn
        from uvicorn.server import ServerState

        from prosa.web.protocol import guarded

        config, state = uvicorn.Config(_nothing, log_config=None), ServerState()
        make = guarded(ConnectionLimits(per_peer=2))
        made: list[tuple[Any, Far]] = []
        for _ in range(3):
            made.append((make(config=config, server_state=state, app_state={}), Far()))
            made[-1][0].connection_made(made[-1][1])
        assert [transport.ended for _, transport in made] == [False, False, True]
        made[2][0].connection_lost(None)
        made[0][0].connection_lost(None)
        made.append((make(config=config, server_state=state, app_state={}), Far()))
        made[-1][0].connection_made(made[-1][1])
        assert not made[-1][1].ended
        assert state.connections == {made[1][0], made[3][0]}
        for protocol, _ in made[1:2] + made[3:]:
            protocol.connection_lost(None)

    asyncio.run(work())


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """An application that is never asked."""


@pytest.mark.parametrize(
    ("peers", "taken"),
    [
        (["203.0.113.9"] * 3, [True, True, False]),
        (["203.0.113.9", "203.0.113.8", "203.0.113.9"], [True, True, True]),
        (["2001:db8::1", "2001:db8::2", "2001:db8::3"], [True, True, False]),
        (["::ffff:203.0.113.9"] * 3, [True, True, False]),
        (["::ffff:203.0.113.9", "::ffff:203.0.113.8", "::ffff:203.0.113.7"], [True, True, True]),
        (["127.0.0.1"] * 3, [True, True, True]),
        (["::1"] * 3, [True, True, True]),
        (["::ffff:127.0.0.1"] * 3, [True, True, True]),
        ([""] * 3, [True, True, True]),
    ],
)
def test_x23_who_counts_as_one_machine(peers: list[str], taken: list[bool]) -> None:
    """X23. A network of IPv6 is one; this machine, where a proxy may be, is not counted."""
    limiter = ConnectionLimiter(ConnectionLimits(per_peer=2))
    assert [limiter.admits(peer) for peer in peers] == taken


def test_x23_those_who_have_gone_are_not_counted() -> None:
    """X23. Nor is anything kept of them."""
    limiter = ConnectionLimiter(ConnectionLimits(per_peer=1))
    for _ in range(3):
        assert limiter.admits("203.0.113.9")
        assert not limiter.admits("203.0.113.9")
        limiter.gone("203.0.113.9")
    assert limiter.peers == {}


def test_x9_without_the_fast_parser_the_other_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """X9."""
    assert callable(serving.protocol(ConnectionLimits()))
    monkeypatch.setitem(sys.modules, "httptools", None)
    assert serving.protocol(ConnectionLimits()) == "h11"
