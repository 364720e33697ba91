"""Clients that take what they are sent slowly, or not at all: on real servers, with the memory that these need."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.web import nodes
from prosa.web.answer import BUFFERED, PIECE, BrokenOff, UnderWay
from prosa.web.nodes import Key, Nodes
from tests.depth import DEEP, examples
from tests.web.asking import Served, called, put, scope_of, serving
from tests.web.own_server import running

API = """
PAGE = b"x" * 9_000_000

def is_socket(number):
    try:
        return os.readlink("/proc/self/fd/" + number).startswith("socket:")
    except OSError:
        return False

async def api(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    if scope["path"] == "/api/memory":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        body = b"%d %d" % (pages * os.sysconf("SC_PAGE_SIZE"), sum(map(is_socket, os.listdir("/proc/self/fd"))))
    elif scope["path"] == "/api/client":
        body = scope["client"][0].encode()
    else:
        body = PAGE[:-1] + b"y"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})
"""
PATIENCE = 60.0
READING = 3.0
"""Seconds that the server waits for one who does not read."""

SOME = 24
"""Clients that do not read."""

PICTURE = 20_000_000
ROOM = 60_000_000
"""Bytes by which the memory of a server may grow: what is under way in all, and what an allocator keeps."""


@contextmanager
def server(folder: Path, **bounds: float) -> Iterator[int]:
    """A server in a process of its own that waits only a moment for those who read."""
    root = folder / "root"
    put(root, "index.md", "# Harbour\n")
    put(root, "chart.png", os.urandom(1_000) * (PICTURE // 1_000))
    with running(root, API, under_way=40_000_000, **bounds) as (_, port):
        yield port


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with server(tmp_path_factory.mktemp("hasty"), head_seconds=0.3, body_seconds=0.3, read_seconds=READING) as port:
        yield port


def asked(port: int, path: str, *, narrow: bool = True, more: str = "") -> socket.socket:
    """A connection on which a path was asked for; a narrow one takes little at a time."""
    connection = socket.socket()
    if narrow:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    connection.settimeout(PATIENCE)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode())
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Everything until the end; one that was broken off ends too."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def said(port: int, path: str, more: str = "") -> bytes:
    with asked(port, path, narrow=False, more=f"Connection: close\r\n{more}") as connection:
        return read_all(connection).partition(b"\r\n\r\n")[2]


def state(port: int) -> tuple[int, int]:
    """The memory of a server in bytes, and how many connections it has open."""
    memory, open_ = said(port, "/api/memory").split()
    return int(memory), int(open_)


@pytest.mark.parametrize("path", ["/chart.png", "/api/page"])
def test_x9_those_who_do_not_read_take_no_memory_and_go(hasty: int, path: str) -> None:
    """X9, X23. The memory of a server is bounded whatever they ask for, and each is gone after the deadline."""
    said(hasty, path)
    before, others = state(hasty)
    with ExitStack() as stack:
        idle = [stack.enter_context(asked(hasty, path)) for _ in range(SOME)]
        for each in idle:
            assert each.recv(100).startswith(b"HTTP/1.1 200")
        grown = state(hasty)[0] - before
        until = time.monotonic() + PATIENCE
        while state(hasty)[1] > others:
            assert time.monotonic() < until
            time.sleep(0.2)
        assert all(len(read_all(each)) < PICTURE for each in idle)
    assert grown < ROOM
    assert state(hasty)[0] - before < ROOM


@pytest.mark.parametrize("path", ["/chart.png", "/api/page"])
def test_x9_who_reads_slowly_but_steadily_gets_everything(hasty: int, path: str) -> None:
    """X9. For many times the deadline, where that is what it takes."""
    whole = said(hasty, path)
    with asked(hasty, path, more="Connection: close\r\n") as connection:
        got = bytearray()
        while part := connection.recv(400_000 if len(got) > 1_000_000 else 32_768):
            got += part
            if len(got) < 1_000_000:
                said(hasty, "/healthz")  # others are answered meanwhile
                time.sleep(READING / 20)
    assert bytes(got).partition(b"\r\n\r\n")[2] == whole


def test_x23_a_server_believes_no_header_about_its_client(hasty: int) -> None:
    """X23. Though the peer is this machine."""
    assert said(hasty, "/api/client", "X-Forwarded-For: 203.0.113.9\r\n") == b"127.0.0.1"


def test_x9_many_who_read_at_once_each_get_the_whole(hasty: int) -> None:
    """X9. A picture that is sent in pieces is the file."""
    with ThreadPoolExecutor(6) as pool:
        bodies = set(pool.map(lambda _: said(hasty, "/chart.png"), range(6)))
    assert len(bodies) == 1 and len(bodies.pop()) == PICTURE


def test_x23_a_link_that_cannot_be_followed_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X23, X5. A file and a link that change places may make the system say anything; it is asked again."""
    readlink = os.readlink
    broken: list[str] = []

    def breaking(path: Any, **more: Any) -> Any:
        if not broken and str(path).endswith("b.md"):
            broken.append(str(path))
            raise OSError(22, "Invalid argument")
        return readlink(path, **more)

    with serving(tmp_path, {"a.md": "# A\n"}) as served:
        (served.root / "b.md").symlink_to("a.md")
        served.settle()
        monkeypatch.setattr(os, "readlink", breaking)
        assert served.get("/b").status in (200, 404)
        assert broken
        assert served.get("/b").status == 200


def test_x9_a_large_page_is_one_for_all_who_read_it_at_once(tmp_path: Path) -> None:
    """X9. It is not kept when they have it."""
    text = "---\nid: a\ntype: page\ntitle: A\n---\n" + "words " * 1_200_000
    with serving(tmp_path, {"a.md": text}) as served:
        sizes: list[int] = []

        async def one(wait: asyncio.Event) -> None:
            async def send(message: dict[str, Any]) -> None:
                if message.get("body"):
                    sizes.append(served.app.under_way.size)
                    await wait.wait()

            async def receive() -> dict[str, Any]:
                return {"type": "http.disconnect"}

            await served.app(scope_of("/a.md", "GET", [("host", "127.0.0.1:8000")], "127.0.0.1"), receive, send)

        async def work() -> None:
            wait = asyncio.Event()
            first = asyncio.create_task(one(wait))
            while not sizes:
                await asyncio.sleep(0)
            second = asyncio.create_task(one(wait))
            while len(sizes) < 2:
                await asyncio.sleep(0)
            wait.set()
            await asyncio.gather(first, second)

        asyncio.run(work())
        assert set(sizes) == {len(text) + BUFFERED, len(text) + 2 * BUFFERED}
        assert served.app.under_way.size == 0
        gc.collect()
        assert not served.app._nodes._large


async def _asked_at_once(served: Served, targets: Sequence[str], accepts: Sequence[str] = ("*/*",)) -> set[bytes]:
    """The bodies that all get who ask at the same time."""
    scopes = [
        scope_of(target, "GET", [("host", "127.0.0.1:8000"), ("accept", accept)], "127.0.0.1")
        for target in targets
        for accept in accepts
    ]
    return {said.body for said in await asyncio.gather(*(called(served.app, each) for each in scopes))}


def test_x9_a_page_is_made_once_for_all_who_ask_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X9. However its URL is spelled, and however large it is."""
    texts = {"a.md": "# A\n\n" + "words\n\n" * (100_000 if DEEP else 40_000), "b.md": "# B\n"}
    with serving(tmp_path, texts) as served:
        assert len(texts["a.md"]) > nodes.LARGE_DOCUMENT
        made: list[str] = []
        making = Nodes._made

        def counting(nodes: Nodes, key: Key, *given: Any) -> Any:
            found = making(nodes, key, *given)
            made.append(key.path)
            return found

        monkeypatch.setattr(Nodes, "_made", counting)
        for name in ("a", "b"):
            targets = [f"/{name}", f"/%{ord(name):02x}", f"/%{ord(name):02X}"] * 10
            assert len(asyncio.run(_asked_at_once(served, targets))) == 1
        assert made == ["/a", "/b"]


def test_x9_one_large_document_is_made_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X9. Small ones beside it do not wait; one that quotes much counts as large."""
    monkeypatch.setattr(nodes, "LARGE_DOCUMENT", 16 * 1024)
    large = "# L\n\n" + "words\n\n" * 3_000
    names = [f"l{number}.md" for number in range(6)]
    quoting = {f"q{number}.md": f"# Q\n\n![[l{number}]]\n" for number in range(6)}
    texts = {**dict.fromkeys(names, large), **quoting, "small.md": "# Small\n"}
    with serving(tmp_path, texts) as served:
        under_way: list[str] = []
        alone: list[str] = []
        making = Nodes._made

        def counting(nodes: Nodes, key: Key, reader: Any, most: int | None) -> Any:
            if most is not None:
                return making(nodes, key, reader, most)
            under_way.append(key.path)
            assert len(under_way) == 1
            try:
                return making(nodes, key, reader, most)
            finally:
                alone.append(under_way.pop())

        monkeypatch.setattr(Nodes, "_made", counting)
        targets = [f"/{each.removesuffix('.md')}" for each in (*names, *quoting)]
        asyncio.run(_asked_at_once(served, [*targets, "/small"], ("text/html",)))
        assert sorted(alone) == sorted(targets)


def test_x9_what_is_kept_is_part_of_the_one_budget(tmp_path: Path) -> None:
    """X9. Pages that are kept for the next reader count with those that are being sent."""
    with serving(tmp_path, {f"{name}.md": f"# {name}\n" for name in "abc"}) as served:
        for _ in range(2):
            sizes = [len(served.get(f"/{name}").body) for name in "abc"]
            assert served.app.under_way.size == sum(sizes)
            served.write("a.md", "# Longer\n")
            served.get("/a")


def test_h18_a_large_file_has_a_tag_and_a_head(tmp_path: Path) -> None:
    """H18, HA7. 304 where the client has it; an edit shows at once."""
    large = bytes(range(256)) * 8_192
    with serving(tmp_path, {"index.md": "# A\n", "film.mp4": large}) as served:
        whole = served.get("/film.mp4")
        assert whole.body == large and whole["content-length"] == str(len(large))
        head = served.head("/film.mp4")
        assert (head.body, head["content-length"], head["etag"]) == (b"", str(len(large)), whole["etag"])
        assert served.get("/film.mp4", headers=[("if-none-match", whole["etag"])]).status == 304
        served.write("film.mp4", large[::-1])
        again = served.get("/film.mp4", headers=[("if-none-match", whole["etag"])])
        assert (again.status, again.body) == (200, large[::-1])


def test_x23_a_file_that_changes_while_it_is_sent_is_broken_off(tmp_path: Path) -> None:
    """X23, X9. Nobody gets the beginning of one and the end of another."""
    large = b"a" * 3_000_000
    with serving(tmp_path, {"index.md": "# A\n", "film.mp4": large}) as served:
        got: list[bytes] = []

        async def send(message: dict[str, Any]) -> None:
            got.append(message.get("body", b""))
            if len(got) == 4:
                served.write("film.mp4", b"b" * 3_000_000)

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        scope = scope_of("/film.mp4", "GET", [("host", "127.0.0.1:8000")], "127.0.0.1")
        asyncio.run(served.app(scope, receive, send))
        assert set(b"".join(got)) == {ord("a")}
        assert len(b"".join(got)) < len(large)


@settings(max_examples=examples(60), deadline=None)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    shared=st.lists(st.booleans(), min_size=12, max_size=12),
    readers=st.lists(st.integers(0, 12), min_size=12, max_size=12),
)
def test_x9_bodies_under_way_stay_within_their_bound(sizes: list[int], shared: list[bool], readers: list[int]) -> None:
    """X9. Whatever is asked for and however it is read, all but the newest fit, those who are broken off are told, and
    nothing is left at the end; who reads gets the whole."""
    most = 8 * PIECE
    common = b"c" * (3 * PIECE)

    async def work() -> None:
        under_way = UnderWay(most)
        stop = asyncio.Event()
        results: list[Any] = []
        for at, size in enumerate(sizes):
            body = common if shared[at] else os.urandom(8) * (size * PIECE // 4)
            results.append(
                (body, got := bytearray(), asyncio.create_task(_one(under_way, body, got, readers[at], stop)))
            )
            for _ in range(5):
                await asyncio.sleep(0)
            assert under_way.size <= max(most, len(body) + BUFFERED)
        stop.set()
        for body, got, task in results:
            try:
                await task
                assert bytes(got) == body
            except BrokenOff:
                assert body.startswith(bytes(got)) and len(got) < len(body)
        assert under_way.size == 0

    asyncio.run(work())


async def _one(under_way: UnderWay, body: bytes, got: bytearray, takes: int, stop: asyncio.Event) -> None:
    """A client that takes some pieces, and the rest when everything is over."""

    async def send(message: dict[str, Any]) -> None:
        assert len(message["body"]) <= PIECE
        if len(got) >= takes * PIECE:
            await stop.wait()
        got.extend(message["body"])

    await under_way.paced(send)({"type": "http.response.body", "body": body})
