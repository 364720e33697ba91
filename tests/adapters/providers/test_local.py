"""X17: a local server counts only once `GET /v1/models` answers as one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from prosa.adapters.providers.local import LocalModel, LocalServer, Silent, find_local, local_servers
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.adapters.providers.table import PROVIDERS, ServerAddress, provider_row
from prosa.app.options import Environment, Options
from prosa.app.run.routes import local_places, with_default_provider, with_provider
from prosa.app.run.service import service_words
from prosa.runtime.errors import ProviderError
from prosa.settings import Settings
from prosa.settings.model import ProviderSettings
from tests.adapters.providers.asking import TOOL, request
from tests.model_server.server import ModelServer


def places(**ports: int) -> tuple[ServerAddress, ...]:
    return tuple(ServerAddress(label, f"http://127.0.0.1:{port}/v1") for label, port in ports.items())


def find(name: str | None = None, **ports: int) -> LocalServer:
    return asyncio.run(find_local(name, places=places(**ports), timeout=60))


def names(server: LocalServer) -> tuple[str, ...]:
    return tuple(each.name for each in server.models)


@contextmanager
def listening(answer: bytes, *, pause: float = 0.0, hold: bool = False) -> Iterator[int]:
    """A port that gives the first connection these bytes, one by one when there is a pause."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            connection, _ = listener.accept()
            listener.close()  # whoever comes after the first finds nobody
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
        yield port
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
    models = (LocalModel("small:latest"), LocalModel("large"))
    assert found == LocalServer(model_server.base_url, models, "small:latest")
    first, *more = [(request.method, request.path, request.text) for request in model_server.requests]
    assert first == ("GET", "/v1/models", "")
    assert set(more) == {("GET", "/api/version", ""), ("GET", "/api/v0/models", "")}


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
    assert f"a compatible server on port {model_server.port}: it has small, large" in error.message


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
        assert names(find(other=port)) == ("x",)


@pytest.mark.parametrize("drip", [{"pause": 0.02}, {"hold": True}])
def test_x17_a_port_that_does_not_finish_is_given_up(drip: dict[str, Any]) -> None:
    answer = b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5000 if "pause" in drip else b""
    with listening(answer, **drip) as port, pytest.raises(ProviderError, match="no answer in time"):
        asyncio.run(find_local(places=places(other=port), timeout=0.2))


KINDS = ["llama.cpp", "Ollama", "LM Studio", "vLLM"]


@pytest.mark.parametrize("kind", KINDS)
def test_x17_a_server_is_known_by_what_it_answers_wherever_it_listens(model_server: ModelServer, kind: str) -> None:
    model_server.local, model_server.models = kind, ["embed-text", "first:latest", "second"]
    (found,) = asyncio.run(local_servers(places(anything=model_server.port), timeout=60))
    assert isinstance(found, LocalServer)
    assert (found.kind, names(found)) == (kind, ("embed-text", "first:latest", "second"))
    assert all(request.method == "GET" and request.text == "" for request in model_server.requests)
    assert {
        "llama.cpp": [8192, 8192, 8192],
        "Ollama": [None, None, 4096],
        "LM Studio": [131072, 131072, 4096],
        "vLLM": [32768, 32768, 32768],
    }[kind] == [each.context for each in found.models]


@pytest.mark.parametrize("kind", ["Ollama", "LM Studio"])
def test_x17_a_model_that_is_loaded_is_taken_before_others_and_one_for_vectors_after_all(
    model_server: ModelServer, kind: str
) -> None:
    model_server.local, model_server.models = kind, ["embed-text", "first", "second"]
    assert find(any=model_server.port).model_name == "second"
    model_server.models = ["first", "embed-text"]
    assert find(any=model_server.port).model_name == "first"
    assert find("embed-text", any=model_server.port).model_name == "embed-text"


@pytest.mark.parametrize("kind", KINDS[1:])
def test_x17_a_server_of_each_kind_may_have_no_models(model_server: ModelServer, kind: str) -> None:
    model_server.local, model_server.models = kind, []
    with pytest.raises(ProviderError, match="it has no models"):
        find(any=model_server.port)


def test_x17_the_model_of_llama_cpp_is_found_by_the_name_of_its_file(model_server: ModelServer) -> None:
    model_server.local, model_server.models = "llama.cpp", ["/models/tiny.gguf"]
    assert find("tiny", any=model_server.port).model_name == "/models/tiny.gguf"
    assert find("tiny.gguf", any=model_server.port).model_name == "/models/tiny.gguf"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", ["schema", "tools"])
def test_la4_each_server_is_asked_for_json_by_its_schema(model_server: ModelServer, kind: str, asked: str) -> None:
    model_server.local, model_server.models = kind, ["m-1"]
    model_server.script("{}", "{}")
    tools = (TOOL,) if asked == "tools" else ()

    async def ask() -> None:
        provider = OpenAIProvider(api_key=None, base_url=model_server.base_url)
        await provider.complete(request(tools=tools))
        await provider.aclose()

    asyncio.run(ask())
    assert [body["response_format"]["type"] for body in model_server.bodies] == ["json_schema"]


def test_la4_lm_studio_knows_no_object_without_a_schema(model_server: ModelServer) -> None:
    model_server.local, model_server.models, model_server.refuses = "LM Studio", ["m-1"], {"json_schema"}
    model_server.script("{}")

    async def ask() -> None:
        provider = OpenAIProvider(api_key=None, base_url=model_server.base_url)
        await provider.complete(request())
        await provider.aclose()

    asyncio.run(ask())
    formats = [body.get("response_format", {}).get("type") for body in model_server.bodies]
    assert formats == ["json_schema", "json_object", None]


# --- where it is looked for


def test_x17_the_usual_places() -> None:
    assert [(place.expected, place.base_url) for place in local_places(Settings(), {})] == [
        ("Ollama", "http://127.0.0.1:11434/v1"),
        ("llama.cpp", "http://127.0.0.1:8080/v1"),
        ("LM Studio", "http://127.0.0.1:1234/v1"),
        ("vLLM", "http://127.0.0.1:8000/v1"),
    ]
    assert [row.title for row in PROVIDERS if row.port is not None] == [
        place.expected for place in local_places(Settings(), {})
    ]


@pytest.mark.parametrize(
    ("said", "port"),
    [
        *(("11500", 11500), (":11500", 11500), ("0.0.0.0:11500", 11500), ("http://localhost:11500", 11500)),
        *(("[::]:11500", 11500), ("127.0.0.1", 11434), ("gpu.example:11500", 11434), ("http://x:y:z", 11434)),
        *(("", 11434), ("0.0.0.0:99999", 11434), ("http://10.0.0.5:11500", 11434)),
    ],
)
def test_x17_the_variable_of_a_server_says_its_port_and_never_another_machine(said: str, port: int) -> None:
    (place,) = local_places(Settings(), {"OLLAMA_HOST": said}, "ollama")
    assert place.base_url == f"http://127.0.0.1:{port}/v1"


def test_x17_the_settings_of_the_user_say_where_servers_are() -> None:
    one = Settings(providers={"ollama": ProviderSettings(base_url="http://10.0.0.5:11434/v1")})
    assert [place.base_url for place in local_places(one, {})][:2] == [
        "http://10.0.0.5:11434/v1",
        "http://127.0.0.1:8080/v1",
    ]
    all_of_it = Settings(providers={"local": ProviderSettings(base_url="http://127.0.0.1:9/v1")})
    assert [place.base_url for place in local_places(all_of_it, {})] == ["http://127.0.0.1:9/v1"]


@pytest.mark.parametrize(("prefix", "kind"), [("local", None), ("ollama", "ollama"), ("llama.cpp", "llama-cpp")])
def test_x17_the_prefix_of_a_server_looks_for_that_one_alone(prefix: str, kind: str | None) -> None:
    chosen = with_provider(Options(model=f"{prefix}/tiny"), Settings(), {})
    assert (chosen.model, chosen.provider) == ("local:tiny", kind)
    assert len(local_places(Settings(), {}, chosen.provider)) == (4 if kind is None else 1)


def test_x7_a_server_that_the_users_settings_name_for_a_model_is_asked_where_it_is() -> None:
    settings = with_default_provider(Settings(default_model="ollama/qwen3"), {})
    said = service_words(Options(), Environment({"OLLAMA_HOST": ":11500"}, settings), model_name="qwen3")
    assert said == "ollama at http://127.0.0.1:11500/v1, without a key"
    other = service_words(Options(), Environment({"OPENAI_API_KEY": "sk"}, settings), model_name="m")
    assert other == "openai at https://api.openai.com/v1, key from OPENAI_API_KEY"
    document = service_words(Options(), Environment({}, settings), provider_row("ollama", {}), model_name="m")
    assert document == "a model server on this machine is used only if you say so: a run would fail"


def test_x17_an_address_that_is_none_is_said_to_be_none() -> None:
    (found,) = asyncio.run(local_servers((ServerAddress("it", "http://127.0.0.1:x/v1"),)))
    assert found == Silent(ServerAddress("it", "http://127.0.0.1:x/v1"), "that is not an address")
