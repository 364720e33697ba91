"""Every way a service can fail: the kind, whether another attempt makes sense, and a sentence without the key."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import traceback
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from prosa.adapters.providers import transport
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.runtime.errors import ProviderError
from tests.adapters.providers.asking import KEY, TOOL, Way, request
from tests.model_server.server import ModelServer


@pytest.mark.parametrize(
    ("fault", "kind", "retryable", "says"),
    [
        ("html200", "malformed", False, "sent a web page instead of a reply"),
        ("not_json", "malformed", True, "not JSON"),
        ("json_list", "malformed", False, "not a reply"),
        ("error200", "server", True, "the fake model server was told to fail"),
        ("empty_choices", "malformed", True, "without"),
        ("missing_message", "malformed", True, "without"),
        ("reset", "network", True, "broke off the connection"),
        ("close", "network", True, "broke off the connection"),
    ],
)
def test_faults(way: Way, fault: str, kind: str, retryable: bool, says: str) -> None:
    way.server.script({"content": {"n": 12345678}, "fault": fault})
    error = way.fail()
    assert (error.kind, error.retryable) == (kind, retryable)
    assert says in error.message
    assert way.base_url in error.message


def test_a_truncated_answer(way: Way) -> None:
    way.server.script({"content": {"n": 12345678}, "fault": "truncated"})
    error = way.fail()
    assert error.retryable
    assert error.kind == ("network" if way.stream else "malformed")


@pytest.mark.parametrize("fault", ["hang", "slow_drip"])
def test_the_whole_attempt_has_a_time_limit(way: Way, fault: str) -> None:
    """X9: bytes that keep dripping do not keep a call alive."""
    way.server.script({"content": {"n": 1}, "fault": fault, "interval": 0.02})
    error = way.fail(timeout=0.15)
    assert (error.kind, error.retryable) == ("timeout", True)


def test_a_silent_stream_is_given_up(model_server: ModelServer) -> None:
    model_server.script({"content": {"n": 1}, "fault": "hang"})
    error = Way(model_server, "chat", True, []).fail(silence=0.1)
    assert (error.kind, error.retryable) == ("timeout", True)
    assert "did not answer in time" in error.message


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "says"),
    [
        (400, "bad-request", False, "refused the request"),
        (401, "auth", False, "refused the key"),
        (403, "auth", False, "does not allow"),
        (404, "bad-request", False, "does not know the model `m-1`"),
        (408, "timeout", True, "refused the request"),
        (409, "server", True, "refused the request"),
        (413, "bad-request", False, "refused the request"),
        (422, "bad-request", False, "refused the request"),
        (429, "rate-limit", True, "too many requests"),
        (500, "server", True, "in trouble"),
        (501, "server", False, "in trouble"),
        (503, "server", True, "in trouble"),
        (529, "server", True, "in trouble"),
    ],
)
def test_statuses(way: Way, status: int, kind: str, retryable: bool, says: str) -> None:
    way.server.script({"status": status, "message": f"no luck\nwith {KEY} \x1b[31mtoday"})
    error = way.fail()
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert says in error.message
    assert "no luck with *** [31mtoday" in error.message
    assert len(way.server.requests) == 1, "X9: one attempt is one request"


def test_hints_name_the_variable_and_the_address(model_server: ModelServer) -> None:
    """X7: what to do about a key names the variable, never the key."""
    way = Way(model_server, "chat", False, [])
    model_server.script({"status": 401}, {"status": 401}, {"status": 404})
    assert "OPENAI_API_KEY" in way.fail().hint
    assert "--api-key-env" in way.fail(api_key=None).hint
    assert "/v1" in way.fail().hint


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "-4"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1e999"}, None),
        ({}, None),
    ],
)
def test_l16_retry_after(model_server: ModelServer, headers: dict[str, str], expected: float | None) -> None:
    """L16, LA7: the seconds the service asked for are handed on."""
    model_server.script({"status": 429, "headers": headers})
    assert Way(model_server, "chat", False, []).fail().retry_after == expected


def test_l16_retry_after_as_a_date(model_server: ModelServer) -> None:
    """L16: a date is measured with the service's own clock."""
    there = datetime(2020, 5, 1, tzinfo=UTC)
    dates = {"Date": format_datetime(there), "Retry-After": format_datetime(there + timedelta(seconds=90))}
    model_server.script({"status": 503, "headers": dates})
    assert Way(model_server, "chat", False, []).fail().retry_after == 90.0


def test_a_service_may_forbid_another_attempt(model_server: ModelServer) -> None:
    model_server.script(
        {"status": 503, "headers": {"x-should-retry": "false"}},
        {"status": 429, "code": "insufficient_quota"},
    )
    way = Way(model_server, "chat", False, [])
    assert not way.fail().retryable
    assert not way.fail().retryable


def test_an_input_that_is_too_long(way: Way) -> None:
    message = "This model's maximum context length is 8192 tokens; the schema counts too."
    way.server.script({"status": 400, "message": message, "code": "context_length_exceeded"})
    error = way.fail()
    assert (error.kind, error.retryable) == ("bad-request", False)
    assert "too long" in error.message
    assert "shorten" in error.hint
    assert len(way.server.requests) == 1


def test_a_service_without_tools_says_so(way: Way) -> None:
    way.server.refuses = {"tools"}
    error = way.fail(request(tools=(TOOL,)))
    assert "refused the tools" in error.message
    assert "call tools" in error.hint
    assert len(way.server.requests) == 1


def test_connection_refused(way: Way) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = way.fail(base_url=base_url)
    assert (error.kind, error.retryable, error.is_absent) == ("network", True, True)
    assert "connection refused" in error.message
    assert base_url in error.message


def test_a_name_that_does_not_resolve(model_server: ModelServer) -> None:
    error = Way(model_server, "chat", False, []).fail(base_url="http://no-such-host.invalid/v1")
    assert (error.kind, error.retryable, error.is_absent) == ("network", True, True)
    assert "http://no-such-host.invalid/v1" in error.message
    assert "base URL" in error.hint


def test_tls_towards_a_plain_server(model_server: ModelServer) -> None:
    base_url = model_server.base_url.replace("http", "https")
    error = Way(model_server, "chat", False, []).fail(base_url=base_url)
    assert (error.kind, error.retryable) == ("network", False)
    assert "TLS" in error.message


@pytest.mark.parametrize(
    "base_url", ["ftp://x/v1", "localhost:11434", "http://", "http://[::1/v1", "http://x:99999/v1"]
)
def test_a_base_url_that_is_none(model_server: ModelServer, base_url: str) -> None:
    error = Way(model_server, "chat", False, []).fail(base_url=base_url)
    assert (error.kind, error.retryable) == ("bad-request", False)
    assert "not an http address" in error.message


def test_x7_redirects_are_not_followed(way: Way) -> None:
    """X7: text and key go to the address that the user named, and nowhere else."""
    way.server.script({"status": 307, "headers": {"Location": way.server.base_url + "/elsewhere"}})
    error = way.fail()
    assert "elsewhere, which is not followed" in error.message
    assert len(way.server.requests) == 1


def test_x7_nothing_from_the_environment_is_sent(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """X7: keys and headers that the environment holds for other services stay here; without a key none is sent."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/from-the-environment")
    custom = "Authorization: from-the-environment\nX-Gateway-Key: from-the-environment"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    way.server.script("ok")
    way.ask(request(output=None), api_key=None)
    headers = way.server.requests[0].headers
    assert "from-the-environment" not in str(headers)
    assert "authorization" not in headers


def test_lw13_no_facts_about_the_machine_are_sent(way: Way) -> None:
    """LW13, X6: no telemetry, neither to us nor to the service."""
    way.server.script("ok")
    way.ask(request(output=None))
    headers = way.server.requests[0].headers
    key = {"x-goog-api-key"} if way.api == "google" else set()
    assert {name for name in headers if name.startswith(("x-", "openai-"))} == key
    assert headers["user-agent"].startswith("prosa/")


def test_x17_without_key_and_base_url_nothing_is_sent(model_server: ModelServer) -> None:
    """X17: the three ways on."""
    error = Way(model_server, "chat", False, []).fail(api_key=None, base_url=None)
    assert error.kind == "auth"
    assert all(way in error.hint for way in ("OPENAI_API_KEY", "--base-url", "--model local"))


@pytest.mark.parametrize("key", ["sk-a\nb: c", "sk-ä", "sk-\x7f"])
def test_x7_a_key_that_no_header_can_carry(model_server: ModelServer, key: str) -> None:
    error = Way(model_server, "chat", False, []).fail(api_key=key)
    assert error.kind == "auth"
    assert key not in str(error)
    assert not model_server.requests


def test_x7_the_key_is_in_no_error_and_no_repr(way: Way) -> None:
    """X7: services repeat keys in their errors; neither message, hint, traceback nor repr shows one."""
    way.server.key = "another-key"
    with pytest.raises(ProviderError) as caught:
        way.ask()
    said = "API key not valid" if way.api == "google" else "Incorrect API key provided: ***"
    assert said in caught.value.message
    assert KEY not in "".join(traceback.format_exception(caught.value))
    provider = way.provider()
    assert KEY not in f"{provider!r} {provider._endpoint!r}"


def test_x7_a_password_in_the_base_url_is_not_shown(model_server: ModelServer) -> None:
    base_url = model_server.base_url.replace("http://", "http://user:pa55word@")
    model_server.script({"status": 500, "message": "as pa55word said"})
    error = Way(model_server, "chat", False, []).fail(base_url=base_url)
    assert "pa55word" not in error.message


@pytest.mark.parametrize("entry", [{"raw": "x" * 3000}, {"status": 500, "raw": "x" * 3000}])
def test_x9_an_answer_has_a_limit(way: Way, entry: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """X9: a service cannot fill the memory, neither with a reply nor with an error."""
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 2000)
    way.server.script(entry)
    error = way.fail()
    assert (error.kind, error.retryable) == ("malformed", False)
    assert "more than" in error.message


@contextmanager
def answering(answer: bytes):
    """A server that gives one connection these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.settimeout(2)
                connection.recv(65536)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):  # a close with unread data would be a reset
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(5)


def _http(body: bytes, *headers: str) -> bytes:
    head = "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Content-Type: application/json", *headers])
    return head.encode() + b"\r\n\r\n" + body


GOOD = json.dumps({"choices": [{"message": {"content": "ok"}}]}).encode()
BOMB = gzip.compress(b"x" * 90_000_000, 1)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (_http(gzip.compress(GOOD), "Content-Encoding: gzip"), None),
        (_http(BOMB, "Content-Encoding: gzip"), "more than"),
        (_http(b"x", "Content-Encoding: br"), "was not requested"),
        (_http(b"not gzip", "Content-Encoding: gzip"), "decompressed"),
        (b"not http at all\r\n\r\n", "broke off the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "broke off the connection"),
        (_http(b"[" * 200_000), "not JSON"),
        (_http(b'{"choices":' + b"9" * 5000 + b"}"), "not JSON"),
        (_http(b"\xff\xfe{}"), "not JSON"),
        (_http(b""), "not JSON"),
        (_http(b"null"), "not a reply"),
        (_http(b'{"choices":[5]}'), "without a message"),
        (_http(b'{"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}'), "without a function"),
        (_http(b'{"choices":[{"message":{"tool_calls":[{"function":{"name":5}}]}}]}'), "without a name"),
        (_http(b'{"error":"gone"}'), "gone"),
        (_http(b'{"error":{"code":429,"message":"slow"}}'), "slow"),
        (_http(b'{"error":{"code":"9999999999999999999999","message":"odd"}}'), "odd"),
    ],
)
def test_hostile_answers(answer: bytes, says: str | None) -> None:
    """Whatever comes back, it is a reply or a `ProviderError`."""
    with answering(answer) as base_url:
        way = Way(ModelServer(), "chat", False, [])
        if says is None:
            assert way.ask(request(output=None), base_url=base_url).content == "ok"
        else:
            assert says in way.fail(base_url=base_url).message


@pytest.mark.parametrize("parameters", [{"x": float("nan")}, {"x": {1, 2}}, {"x": object()}])
def test_a_request_that_json_cannot_carry(model_server: ModelServer, parameters: dict[str, object]) -> None:
    error = Way(model_server, "chat", False, []).fail(request(parameters=parameters))
    assert (error.kind, error.retryable) == ("bad-request", False)
    assert not model_server.requests


def test_surrounding_space_of_a_key_is_not_part_of_it(model_server: ModelServer) -> None:
    model_server.script("ok")
    Way(model_server, "chat", False, []).ask(request(output=None), api_key=f" {KEY}\n")
    assert model_server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert OpenAIProvider(api_key="  ", base_url="http://x")._endpoint.api_key is None
