"""What the provider tests share: a request, one way to ask, and the error of a failed ask."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import pytest

from prosa.adapters.providers.exchange import ServiceProvider
from prosa.adapters.providers.native import AnthropicProvider, GoogleProvider
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.runtime.errors import ProviderError
from prosa.runtime.messages import Message, ModelReply, ModelRequest, OutputFormat, ToolSpec
from tests.model_server.server import ModelServer

KEY = "sk-do-not-show-this-1234567890"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
OUTPUT = OutputFormat("output", SCHEMA, strict=True)
TOOL = ToolSpec("add", "Adds two numbers.", {"type": "object", "properties": {"a": {"type": "number"}}})
WAYS = [(api, stream) for api in ("chat", "responses", "anthropic", "google") for stream in (False, True)]
WAY_NAMES = [f"{api}-{'stream' if stream else 'whole'}" for api, stream in WAYS]


def only(*apis: str) -> pytest.MarkDecorator:
    """Runs a test over these wires alone: it is about their own words."""
    ways = [way for way in WAYS if way[0] in apis]
    return pytest.mark.parametrize(
        "way", ways, indirect=True, ids=[f"{a}-{'stream' if s else 'whole'}" for a, s in ways]
    )


def request(**changes: Any) -> ModelRequest:
    given: dict[str, Any] = {
        "model_name": "m-1",
        "messages": (Message("system", "Count."), Message("user", "one two")),
        "output": OUTPUT,
        "program": "count",
        **changes,
    }
    return ModelRequest(**given)


def camel(value: Any) -> Any:
    """Return a body of Google with the one of two spellings of each field that is documented; both are taken."""
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda each: each[1].upper(), name): camel(each) for name, each in value.items()}
    return [camel(each) for each in value] if isinstance(value, list) else value


@dataclass
class Way:
    """One of the ways to ask, against a server."""

    server: ModelServer
    api: Any
    stream: bool
    pieces: list[str]

    def provider(self, **options: Any) -> ServiceProvider:
        given: dict[str, Any] = {"api_key": KEY, "base_url": self.base_url, "timeout": 30, **options}
        if self.api == "google":
            return GoogleProvider(**given)
        return AnthropicProvider(**given) if self.api == "anthropic" else OpenAIProvider(**{"api": self.api, **given})

    def ask(self, *requests: ModelRequest, **options: Any) -> ModelReply:
        """Asks one provider object, once per request, and gives the last reply."""

        async def asking() -> ModelReply:
            provider = self.provider(**options)
            try:
                replies = [await provider.complete(each, self.on_text) for each in requests or (request(),)]
            finally:
                await provider.aclose()
            return replies[-1]

        return asyncio.run(asking())

    @property
    def base_url(self) -> str:
        """Where it is asked."""
        return self.server.google_url if self.api == "google" else self.server.base_url

    @property
    def on_text(self) -> Any:
        return self.pieces.append if self.stream else None

    def fail(self, *requests: ModelRequest, **options: Any) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self.ask(*requests, **options)
        assert KEY not in f"{caught.value} {caught.value.hint}"
        return caught.value
