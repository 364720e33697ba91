"""How a service is reached: proxies and certificates of the environment, account headers, kept connections."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from prosa.adapters.providers.endpoint import account_headers
from prosa.adapters.providers.transport import endpoint_url
from prosa.runtime.errors import ProviderError
from tests.adapters.providers.asking import KEY, Way, request
from tests.model_server.server import ModelServer

API = "chat"
ANSWER = (
    b'{"choices": [{"message": {"content": "ok"}}],'
    b' "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}'
)
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER


@contextmanager
def listening(*answers: bytes, tls: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives each connection the next answer and closes; its port, and the heads that it was sent."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for answer in answers:
                with suppress(OSError):
                    connection = server.accept()[0]
                    connection.settimeout(5)
                    if tls is not None:
                        connection = tls.wrap_socket(connection, server_side=True)
                    with connection:
                        heads.append(_request(connection))
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], heads
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _request(connection: socket.socket) -> bytes:
    """A request with its body: a close with unread data would be a reset."""
    data = b""
    while piece := connection.recv(65536):
        data += piece
        head, blank, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if blank and len(body) >= int(length[1] if length else 0):
            break
    return data


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True, params=["chat", "anthropic"])
def api(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each library in turn: all of them go over the same connections."""
    monkeypatch.setattr(sys.modules[__name__], "API", request.param)
    return str(request.param)


def ask(base_url: str, *, key: str | None = KEY, times: int = 1, **options: object) -> str:
    way = Way(ModelServer(), API, False, [])
    return way.ask(*[request(output=None)] * times, base_url=base_url, api_key=key, **options).content


def fail(base_url: str) -> ProviderError:
    return Way(ModelServer(), API, False, []).fail(request(output=None), base_url=base_url)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch, variable: str, api: str) -> None:
    with listening(WHOLE) as (port, heads):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{port}")
        assert ask("http://models.invalid/v1") == "ok"
    path = {"chat": b"chat/completions", "anthropic": b"messages"}[api]
    assert heads[0].startswith(b"POST http://models.invalid/v1/" + path + b" HTTP/1.1\r\n")


def test_no_proxy_names_hosts_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "models.invalid")
    assert "does not resolve" in fail("http://models.invalid/v1").message


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n") as (port, _):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        error = fail("https://models.invalid/v1")
    assert "proxy" in error.message and "HTTPS_PROXY" in error.hint


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:{port}", "cannot be reached: connection refused"),
        ("proxy.invalid:8080", "cannot be found: its name does not resolve"),
    ],
)
def test_la7_a_proxy_that_is_not_there_is_not_taken_for_the_service(
    monkeypatch: pytest.MonkeyPatch, address: str, why: str
) -> None:
    """LA7. Whoever left a proxy in the environment reads that it is the proxy; without it, that it is the service."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTPS_PROXY", f"http://{address.format(port=free.getsockname()[1])}")
        error = fail("https://models.invalid/v1")
        assert error.message.endswith(f"is behind a proxy that {why}")
        assert (error.is_absent, error.retryable) == (True, True)
        assert "HTTPS_PROXY" in error.hint
        monkeypatch.setenv("NO_PROXY", "models.invalid")
        assert "proxy" not in fail("https://models.invalid/v1").message


def test_la7_a_handshake_that_nobody_answers_has_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """LA7. A server that speaks plain http may wait for ever where https is begun."""
    monkeypatch.setattr("prosa.adapters.providers.transport.CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = fail(f"https://127.0.0.1:{silent.getsockname()[1]}/v1")
    assert (error.kind, error.retryable, error.is_absent) == ("timeout", True, False)
    assert "did not answer in time" in error.message and "whether it is https" in error.hint


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:9", "127.0.0.1:notaport", "ftp://127.0.0.1"])
def test_a_proxy_that_cannot_be_used_is_a_sentence(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    error = fail("https://models.invalid/v1")
    assert (error.kind, error.retryable) == ("bad-request", False)
    assert "proxy" in error.message and "HTTPS_PROXY" in error.hint


def test_certificates_that_cannot_be_read_are_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    error = fail("https://models.invalid/v1")
    assert "certificates cannot be read" in error.message and "SSL_CERT_FILE" in error.hint


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost with its key, that no machine trusts."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
    path.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, none))
    return path


def test_la7_a_certificate_that_nobody_vouches_for_is_refused_at_once(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LA7: one attempt; and the file of the environment makes it trusted."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with listening(WHOLE, WHOLE, tls=tls) as (port, heads):
        url = f"https://localhost:{port}/v1"
        error = fail(url)
        assert (error.retryable, error.is_absent, heads) == (False, False, [])
        assert "cannot be trusted: TLS failed" in error.message
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(url) == "ok"


def test_la7_a_name_with_two_addresses_that_both_refuse_is_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        error = fail(f"http://localhost:{free.getsockname()[1]}/v1")
    assert (error.is_absent, error.retryable) == (True, True)
    assert "connection refused" in error.message


@pytest.mark.parametrize(
    ("base_url", "wanted"),
    [
        ("http://x/v1", "http://x/v1/chat/completions"),
        ("http://x/v1/?api-version=2#here", "http://x/v1/chat/completions?api-version=2"),
        ("https://x:1", "https://x:1/chat/completions"),
    ],
)
def test_a_path_goes_below_the_base_url(base_url: str, wanted: str) -> None:
    assert endpoint_url(base_url, "/chat/completions") == wanted


def test_a_connection_that_the_service_closed_in_between_costs_nothing() -> None:
    """A server that closes after each answer without saying so; the next call opens another connection."""
    with listening(WHOLE, WHOLE, WHOLE) as (port, heads):
        assert ask(f"http://127.0.0.1:{port}/v1", times=3) == "ok"
    assert len(heads) == 3


@pytest.mark.parametrize("stream", [False, True])
def test_la7_a_kept_connection_that_ends_when_it_is_used_is_no_attempt(model_server: ModelServer, stream: bool) -> None:
    """LA7, X9. The close is on its way while the next request is sent, as after a stream of llama.cpp."""
    model_server.script("one", {"fault": "close"}, "two")
    before = model_server.connections
    way = Way(model_server, API, stream, [])
    assert way.ask(*[request(output=None)] * 2).content == "two"
    assert model_server.connections - before == 2


def test_la7_a_service_that_closes_new_connections_as_well_is_told_after_one(model_server: ModelServer) -> None:
    model_server.script("one", {"fault": "close", "times": 2}, "never asked")
    before = model_server.connections
    with pytest.raises(ProviderError, match="broke off the connection"):
        Way(model_server, API, False, []).ask(*[request(output=None)] * 2)
    assert (model_server.connections - before, len(model_server.requests)) == (2, 3)


def test_a_name_and_a_password_in_the_base_url_are_sent() -> None:
    with listening(WHOLE) as (port, heads):
        assert ask(f"http://me:p%40w@127.0.0.1:{port}/v1", key=None) == "ok"
    assert b"authorization: basic bwu6ceb3" in heads[0].lower()


def test_connections_are_kept_between_calls(model_server: ModelServer) -> None:
    model_server.default = "ok"
    before = model_server.connections
    Way(model_server, API, True, []).ask(*[request(output=None)] * 5)
    assert model_server.connections - before == 1


MINE = {"OPENAI_API_KEY": "sk-mine", "OPENAI_ORG_ID": " org-1\n", "OPENAI_PROJECT_ID": "proj-2"}
SENT = {"OpenAI-Organization": "org-1", "OpenAI-Project": "proj-2"}


@pytest.mark.parametrize(
    ("environ", "base_url", "named", "headers"),
    [
        (MINE, None, None, SENT),
        (MINE, "https://api.openai.com/v1", None, SENT),
        (MINE | {"OPENAI_BASE_URL": "https://gateway.example/v1"}, "https://gateway.example/v1", None, SENT),
        (MINE, "https://gateway.example/v1", None, {}),
        (MINE, "http://127.0.0.1:8080/v1", None, {}),
        (MINE, None, "OTHER_KEY", {}),
        (MINE | {"OPENAI_ORG_ID": ""}, None, None, {"OpenAI-Project": "proj-2"}),
    ],
)
def test_x7_the_account_goes_where_its_key_goes(environ, base_url, named, headers) -> None:
    """X7: organisation and project belong to OPENAI_API_KEY, and go to no other service."""
    assert account_headers(environ, base_url, named=named, key="sk-mine") == headers
    assert account_headers(environ, base_url, named=named, key=None) == {}


def test_x7_an_account_that_no_header_can_carry() -> None:
    with pytest.raises(ProviderError, match="OPENAI_ORG_ID"):
        account_headers(MINE | {"OPENAI_ORG_ID": "a\nb"}, None, named=None, key="sk-mine")


def test_x7_the_account_is_sent(model_server: ModelServer) -> None:
    model_server.script("ok")
    Way(model_server, "chat", False, []).ask(request(output=None), headers=SENT)
    found = model_server.requests[0].headers
    assert (found["openai-organization"], found["openai-project"]) == ("org-1", "proj-2")


def test_calls_of_another_event_loop_use_connections_of_their_own(model_server: ModelServer) -> None:
    model_server.default = "ok"
    provider = Way(model_server, API, False, []).provider()
    assert asyncio.run(provider.complete(request(output=None))).content == "ok"
    assert asyncio.run(provider.complete(request(output=None))).content == "ok"
