"""A tap in front of the fake model server, and requests of agents on four wires."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from typing import Any

import httpx2

from prosa.adapters.agents.table import AGENTS
from prosa.adapters.agents.tap import Tap, Upstream, open_tap
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.prices import KnownPrices
from prosa.records.agent import WireName
from prosa.runtime.budget import Budget, Ledger
from tests.model_server.server import ModelServer

KEY = "sk-real-key-0123456789abcdef"
WIRES: tuple[WireName, ...] = ("messages", "responses", "chat", "gemini")
CLAUDE = AGENTS["claude"]
PRICES = {"m": (Decimal(1), Decimal(2), Decimal("0.1"))}


def upstream(server: ModelServer, wire: WireName) -> Upstream:
    """The fake server, as a service with a key."""
    below = "/v1" if wire in ("responses", "chat") else ""
    return Upstream(Endpoint(f"http://127.0.0.1:{server.port}{below}", KEY))


def budget(cap: str = "1", *, explicit: bool = True) -> Budget:
    """A budget in which the model `m` has a price."""
    return Budget(KnownPrices(PRICES), Ledger(Decimal(cap)), explicit=explicit)


def body(wire: WireName, text: str = "hi", *, stream: bool = False, bound: int | None = 100) -> dict[str, Any]:
    """A small request."""
    if wire == "messages":
        made: dict[str, Any] = {"model": "m", "max_tokens": bound or 100}
        made["messages"] = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    elif wire == "responses":
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        made = {"model": "m", "input": [said], **({"max_output_tokens": bound} if bound else {})}
    elif wire == "chat":
        made = {"model": "m", "messages": [{"role": "user", "content": text}]}
        made |= {"max_completion_tokens": bound} if bound else {}
        made |= {"stream_options": {"include_usage": True}} if stream else {}
    else:
        made = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
        return made | ({"generationConfig": {"maxOutputTokens": bound}} if bound else {})
    return made | ({"stream": True} if stream else {})


def path(wire: WireName, *, stream: bool = False) -> str:
    """Where an agent asks."""
    if wire == "gemini":
        return f"/v1beta/models/m:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"
    return {"messages": "/v1/messages?beta=true", "responses": "/v1/responses", "chat": "/v1/chat/completions"}[wire]


def key_header(wire: WireName, token: str) -> dict[str, str]:
    """The header in which an agent sends its key."""
    if wire == "messages":
        return {"x-api-key": token}
    return {"x-goog-api-key": token} if wire == "gemini" else {"authorization": f"Bearer {token}"}


class Agent:
    """The client side of one attempt."""

    def __init__(self, tap: Tap, wire: WireName) -> None:
        self.tap = tap
        self.wire = wire
        self.client = httpx2.AsyncClient(base_url=tap.url, timeout=60, trust_env=False)

    async def ask(self, given: dict[str, Any] | None = None, *, stream: bool = False, **more: str) -> httpx2.Response:
        """Sends a request, and returns the whole answer."""
        headers = {**key_header(self.wire, self.tap.token), **more}
        json = given or body(self.wire, stream=stream)
        return await self.client.post(path(self.wire, stream=stream), json=json, headers=headers)


def opened(server: ModelServer, wire: WireName, **named: Any) -> AbstractAsyncContextManager[Tap]:
    """A tap for an agent that lists and loads skills as Claude Code does."""
    given = named.pop("upstream", None) or upstream(server, wire)
    return open_tap(CLAUDE, given, wire, prices=KnownPrices(PRICES), **named)


def tapped(
    server: ModelServer, wire: WireName, work: Callable[[Agent], Coroutine[Any, Any, None]], **named: Any
) -> Tap:
    """Runs an agent at a tap, and returns the tap once it is closed."""

    async def run() -> Tap:
        async with asyncio.timeout(90), opened(server, wire, **named) as tap:
            agent = Agent(tap, wire)
            try:
                await work(agent)
            finally:
                await agent.client.aclose()
        return tap

    return asyncio.run(run())
