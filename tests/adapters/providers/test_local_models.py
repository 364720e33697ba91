"""A model server on this machine as it is: what its model can do is asked, and its folders stay where they are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.providers.exchange import without_folder
from prosa.adapters.providers.local import LocalModel, LocalServer
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.app.options import Environment, Options
from prosa.app.run import service
from prosa.runtime.messages import ModelReply
from prosa.settings import Settings
from tests.adapters.providers.asking import TOOL, request
from tests.model_server.server import ModelServer

PATH = "/home/ada/models/Tiny.Q4_0.gguf"


def asked(
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    said: list[str],
    name: str = PATH,
    tools: bool | None = None,
) -> tuple[service.Chosen, ModelReply]:
    """What a llama.cpp answers whose one model has that name, and takes tools or does not."""
    found = LocalServer(server.base_url, (LocalModel(PATH),), PATH, "llama.cpp", tools)

    async def find(*_: Any, **__: Any) -> LocalServer:
        return found

    async def ask() -> tuple[service.Chosen, ModelReply]:
        chosen = await service.choose_provider(Options(model="local"), Environment({}, Settings(), said.append))
        reply = await chosen.provider.complete(request(model_name=chosen.model_name, tools=(TOOL,)))
        await chosen.provider.complete(request(model_name=chosen.model_name))
        await chosen.provider.aclose()
        return chosen, reply

    monkeypatch.setattr("prosa.adapters.providers.local.find_local", find)
    server.default = {"content": {"n": 1}, "model": PATH}
    return asyncio.run(ask())


def test_x35_the_path_of_a_model_reaches_its_server_and_no_document(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    chosen, reply = asked(model_server, monkeypatch, said=[])
    assert (chosen.model_name, reply.model_name) == ("Tiny.Q4_0.gguf", "Tiny.Q4_0.gguf")
    assert [body["model"] for body in model_server.bodies] == [PATH, PATH]


def test_a_model_that_takes_no_tools_is_offered_none_and_that_is_said(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
):
    said: list[str] = []
    asked(model_server, monkeypatch, said=said, tools=False)
    assert all("tools" not in body and "response_format" in body for body in model_server.bodies)
    assert said == ["note: Tiny.Q4_0.gguf takes no tools, so it is not offered add"]


@pytest.mark.parametrize("tools", [True, None])
def test_llama_cpp_is_not_given_a_schema_beside_tools(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, tools: bool | None
):
    """The schema would win, and no tool would ever be called."""
    asked(model_server, monkeypatch, said=[], tools=tools)
    first, second = model_server.bodies
    assert "tools" in first and "response_format" not in first
    assert "tools" not in second and "response_format" in second


@pytest.mark.parametrize(
    ("own", "sent"),
    [({}, (0.8, 2)), ({"temperature": 0, "seed": 1}, (0.8, 3)), ({"temperature": 1.5, "seed": 4}, (1.5, 6))],
)
def test_a_model_here_that_repeats_itself_is_sampled_otherwise(
    model_server: ModelServer, own: dict[str, Any], sent: tuple[float, int]
):
    """One that another machine runs is not, and does not say that it drops repeats."""
    model_server.default = {"content": {"n": 1}}
    again = request(repeats=2, parameters=own)
    for bound, wanted in ((100, sent), (None, (own.get("temperature"), own.get("seed")))):
        provider = OpenAIProvider(api_key="k", base_url=model_server.base_url, bound=bound)
        reply = asyncio.run(provider.complete(again))
        body = model_server.bodies[-1]
        assert reply.drops_repeats is (bound is not None)
        assert (body.get("temperature"), body.get("seed")) == wanted


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (PATH, "Tiny.Q4_0.gguf"),
        ("C:\\models\\Tiny.gguf", "Tiny.gguf"),
        ("./models/tiny", "tiny"),
        ("~/models/tiny.gguf", "tiny.gguf"),
        ("models/tiny.gguf", "tiny.gguf"),
        ("org/model-7b", "org/model-7b"),
        ("accounts/fireworks/models/x", "accounts/fireworks/models/x"),
        ("gpt-4o", "gpt-4o"),
        ("/", "/"),
        (None, None),
    ],
)
def test_x35_a_name_that_is_a_path_is_shown_without_its_folders(name: str | None, shown: str | None):
    assert without_folder(name) == shown


@given(st.text(max_size=40))
def test_x35_no_name_of_a_model_is_lost(name: str):
    found = without_folder(name)
    assert found is not None
    assert name.replace("\\", "/").rstrip("/").endswith(found.replace("\\", "/").rstrip("/"))
    assert bool(found) == bool(name)
