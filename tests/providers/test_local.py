"""X17: a local server counts only once `GET /v1/models` answers as one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from prosa.adapters.providers.local import PORTS, LocalServer, find_local
from prosa.runtime.errors import ProviderError
from tests.model_server.server import ModelServer


def find(name: str | None = None, **ports: int) -> LocalServer:
    return asyncio.run(find_local(name, ports=ports, timeout=60))


@contextmanager
def listening(answer: bytes, *, pause: float = 0.0, hold: bool = False) -> Iterator[int]:
    """A port that gives every connection these bytes, one by one when there is a pause."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                for piece in [answer[i : i + 1] for i in range(len(answer))] if pause else [answer]:
                    if done.wait(pause):
                        return
                    try:
                        connection.sendall(piece)
                    except OSError:
                        return
                if hold:
                    done.wait(120)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        done.set()


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as taken:  # bound, not listening: nobody else gets it
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_x17_finds_a_server(model_server: ModelServer, closed_port: int) -> None:
    """X17: the first port that answers as a model server, and its first model."""
    model_server.models = ["small:latest", "large"]
    found = find(Ollama=closed_port, vLLM=model_server.port)
    assert found == LocalServer(model_server.base_url, ("small:latest", "large"), "small:latest")
    assert [(request.method, request.path) for request in model_server.requests] == [("GET", "/v1/models")]


@pytest.mark.parametrize(("name", "model"), [("large", "large"), ("small", "small:latest"), ("small:latest",) * 2])
def test_x17_finds_a_model_by_name(model_server: ModelServer, name: str, model: str) -> None:
    model_server.models = ["other", "small:latest", "large"]
    assert find(name, vLLM=model_server.port).model_name == model


def test_x17_says_what_was_tried(model_server: ModelServer, closed_port: int) -> None:
    """X17: every port with the reason why it did not count."""
    model_server.models = ["small", "large"]
    with pytest.raises(ProviderError) as caught:
        find("huge", Ollama=closed_port, vLLM=model_server.port)
    error = caught.value
    assert (error.kind, error.retryable) == ("missing", False)
    assert "no local model server offers `huge`" in error.message
    assert f"Ollama on port {closed_port}: nothing listens" in error.message
    assert f"vLLM on port {model_server.port}: it has small, large" in error.message


def test_x17_a_server_without_models(model_server: ModelServer) -> None:
    model_server.models = []
    with pytest.raises(ProviderError, match="it has no models"):
        find(vLLM=model_server.port)


def _answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


@pytest.mark.parametrize(
    "answer",
    [
        _answer(b"<html>a web page</html>"),
        _answer(b'{"data": "x"}'),
        _answer(b'{"data": [{"name": "x"}]}'),
        _answer(b'{"data": ["x"]}'),
        _answer(b"[]"),
        _answer(b'{"data": [{"id": "x"}]}', "401 Unauthorized"),
        _answer(b"", "302 Found", "Location: http://127.0.0.1/v1/models"),
        _answer(b'{"data": [{"id": "x"}]}', "200 OK", "Transfer-Encoding: chunked"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{}",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"",
        b"[" * 100_000,
        _answer(b"[" * 100_000),
    ],
)
def test_x17_something_else_does_not_count(answer: bytes) -> None:
    with listening(answer) as port, pytest.raises(ProviderError, match="something else listens"):
        find(other=port)


def test_x17_a_chunked_list_counts() -> None:
    body = b'{"data": [{"id": "x"}]}'
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with listening(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)) as port:
        assert find(other=port).models == ("x",)


@pytest.mark.parametrize("drip", [{"pause": 0.02}, {"hold": True}])
def test_x17_a_port_that_does_not_finish_is_given_up(drip: dict[str, Any]) -> None:
    answer = b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5000 if "pause" in drip else b""
    with listening(answer, **drip) as port, pytest.raises(ProviderError, match="no answer in time"):
        asyncio.run(find_local(ports={"other": port}, timeout=0.2))


def test_x17_the_usual_ports() -> None:
    assert dict(PORTS) == {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
