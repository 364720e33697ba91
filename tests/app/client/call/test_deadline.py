"""The time and the size that an answer may take, whatever part of it a site draws out (X8, X9)."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from prosa.adapters.http.exchange import Bounds, Exchange
from prosa.adapters.http.transport import MAX_HEAD
from prosa.site.answer import Answer
from prosa.site.problems import HttpProblem
from prosa.site.request import Request
from tests.app.client.call.calling import call
from tests.app.client.call.site import Site
from tests.app.client.call.slow_site import dripping

OK = b"HTTP/1.1 200 OK\r\n"
GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@contextmanager
def exchange(**more: float) -> Iterator[Exchange]:
    """An exchange that has 0.3 s and one attempt."""
    with Exchange(Bounds(**{"seconds": 0.3, "attempts": 1, "allow_private": True, **more})) as found:  # type: ignore[arg-type]
        yield found


def test_x9_the_time_is_that_of_all_attempts_together():
    """X9: a site that is too slow is not given the time again."""
    asked: list[bytes] = []
    with dripping(b"", b"H", asked=asked) as url, pytest.raises(HttpProblem, match=r"within 0\.3 s"):
        ask(f"{url}/", attempts=3)
    assert len(asked) == 1


def ask(url: str, *, body: object = None, method: str = "GET", **more: float) -> Answer:
    with exchange(**more) as found:
        return found.send(Request(method, url, (), {"Content-Type": "text/plain"} if body else {}, body))


@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param(b"", b"H", id="status line"),
        pytest.param(OK + b"X-A: ", b"a", id="header"),
        pytest.param(b"", GO_ON, id="1xx"),
        pytest.param(CHUNKED, b"1\r\na\r\n", id="chunks"),
        pytest.param(CHUNKED, b"0", id="size of a chunk"),
        pytest.param(CHUNKED + b"0\r\nX-A: ", b"a", id="trailer"),
        pytest.param(OK + b"Content-Length: 9999\r\n\r\n", b"a", id="body"),
    ],
)
def test_x9_the_deadline_covers_every_part_of_an_answer(first: bytes, again: bytes):
    """X8, X9: each byte comes long before the deadline, and the whole never."""
    with dripping(first, again) as url, pytest.raises(HttpProblem) as caught:
        ask(f"{url}/")
    assert (
        caught.value.message == "127.0.0.1 did not answer within 0.3 s"
        and caught.value.hint == "raise it with --timeout"
    )
    assert caught.value.again == "if-repeatable"


def test_x9_the_deadline_counts_from_the_first_request_over_all_redirects():
    """X9: each redirect takes a third of the time that all of them have."""
    there = b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
    with dripping(b"", there, pause=0.1) as url, pytest.raises(HttpProblem, match="did not answer within"):
        ask(f"{url}/")


def test_x9_the_deadline_covers_a_tls_handshake_that_never_ends():
    """X9: the port answers, but with nothing that TLS could go on with."""
    with (
        dripping(b"\x16\x03\x03\x40\x00", b"\x00") as url,
        pytest.raises(HttpProblem, match="did not answer within"),
    ):
        ask(f"{url.replace('http:', 'https:')}/")


def test_x9_the_deadline_covers_a_request_that_is_not_read():
    """X9: a site that takes nothing off the line."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(HttpProblem, match="did not answer within"):
            ask(url, method="POST", body="x" * 20_000_000)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param(OK, b"X-A: " + b"a" * 1000 + b"\r\n", id="headers"),
        pytest.param(OK + b"X-A: ", b"a" * 5000, id="one header"),
        pytest.param(b"", GO_ON * 200, id="1xx"),
        pytest.param(b"", b"H" * 5000, id="no line end"),
    ],
)
def test_x9_the_head_of_an_answer_is_bounded(first: bytes, again: bytes):
    """X9: with all interim answers before it, long before the deadline."""
    with dripping(first, again, pause=0) as url, pytest.raises(HttpProblem) as caught:
        ask(f"{url}/", seconds=30)
    assert f"more than {MAX_HEAD:,} bytes before an answer" in caught.value.message
    assert caught.value.again == "never"


def test_x9_a_few_interim_answers_and_a_long_head_are_taken():
    """X9: what sites do send is no attack."""
    long = b"X-A: " + b"a" * (MAX_HEAD - 2000) + b"\r\n"
    with dripping(GO_ON * 3 + OK + long + b"Content-Length: 100000\r\n\r\n" + b"b" * 100_000, b"") as url:
        answer = ask(f"{url}/", seconds=30)
    assert (answer.status, len(answer.body), len(answer.headers["x-a"])) == (200, 100_000, MAX_HEAD - 2000)


def test_x9_each_thread_has_its_own_deadline(site: Site):
    """X9: one that is late ends none of those beside it, and a connection is used again with a new deadline."""
    found: list[str] = []

    def late(client: Exchange, url: str) -> None:
        try:
            client.send(Request("GET", f"{url}/", (), {}))
        except HttpProblem as problem:
            found.append(problem.message)

    def seconds() -> float:
        """Time flies for the late one, and for nobody else."""
        return float(next(ticks)) if threading.current_thread() is beside else 0.0

    ticks, beside = count(), threading.Thread()
    bounds = Bounds(seconds=60, attempts=1, allow_private=True)
    with dripping(OK + b"X-A: ", b"a") as url, Exchange(bounds, clock=seconds) as client:
        beside = threading.Thread(target=late, args=(client, url))
        beside.start()
        statuses = [client.send(Request("GET", f"{site.url}/here", (), {})).status for _ in range(20)]
        beside.join()
    assert statuses == [200] * 20 and found == ["127.0.0.1 did not answer within 60 s"]


def test_x8_tls_is_checked_behind_the_deadline():
    """X8: what answers an https URL in the clear is refused, and told so."""
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED
    with (
        dripping(b"HTTP/1.1 400 Bad Request\r\n\r\n", b"") as url,
        pytest.raises(HttpProblem, match="does not speak TLS"),
    ):
        ask(f"{url.replace('http:', 'https:')}/")


def test_x9_a_call_is_ended_too(monkeypatch: pytest.MonkeyPatch):
    """X9: `prosa call`, with the words and the status of any other late site."""
    monkeypatch.setattr("prosa.adapters.http.exchange._pause", lambda *_: 0.0)
    with dripping(b"", GO_ON) as url:
        status, at = call(f"{url}/ferry", "go", "--allow-private", "--timeout", "0.2")
    assert status == 1 and "did not answer within 0.2 s" in at.err and "--timeout" in at.err
