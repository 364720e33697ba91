"""What the loop adds to one model call: the same zero-latency server asked by a raw HTTP client, by the openai client,
by plain clients of 48 connections each, and by a whole run of a program. The server is a fake on loopback in a process
of its own. A peer that is not installed is named and left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.corpus import ANSWER, write_program
from bench.measure import Row

SEQUENTIAL = 200
TOGETHER = 200
MANY = 1_000
SHARD = 48
ROUNDS = 3
BODY = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Says how many words a text has."},
        {"role": "user", "content": "Count the words of: two words"},
    ],
}

Ask = Callable[[], Awaitable[Any]]


def rows() -> Iterator[Row]:
    """Yield the table."""
    with model_server() as base_url:
        yield from asyncio.run(_measure(base_url))


@contextlib.contextmanager
def model_server(delay: float = 0.0) -> Iterator[str]:
    """Return the base URL of a fake that answers alike after so many seconds."""
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "script.jsonl"
        script.write_text(json.dumps({"content": ANSWER, "times": 10**9, "delay": delay}) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "tests.model_server.server", "--port", "0", "--script", str(script)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield server.stdout.readline().strip()  # type: ignore[union-attr]
        finally:
            server.terminate()
            server.wait()


async def _measure(base_url: str) -> list[Row]:
    many = f"{MANY:,} at once, processor time"
    found: dict[str, dict[str, list[float]]] = {"one after another": {}, f"{TOGETHER} at once": {}, many: {}}
    async with contextlib.AsyncExitStack() as stack:
        asks: dict[str, Ask] = {RUN: await stack.enter_async_context(_loop(base_url))}
        if find_spec("openai") is None:
            print("openai is not installed: its client is left out", file=sys.stderr)
        else:
            asks["openai client"] = await stack.enter_async_context(_openai(base_url))
        asks["raw HTTP client"] = await stack.enter_async_context(_raw(base_url))
        asks["plain sharded clients"] = await stack.enter_async_context(sharded(base_url))
        for ask in asks.values():
            await ask()
        for _ in range(ROUNDS):
            for name, ask in asks.items():
                found["one after another"].setdefault(name, []).append(await _sequential(ask))
                found[f"{TOGETHER} at once"].setdefault(name, []).append(await _together(ask, TOGETHER))
                found[many].setdefault(name, []).append(await _together(ask, MANY, clock=time.process_time))
    return [row for how, times in found.items() for row in _compared(how, times)]


RUN = "a run of prosa"
_AIMS = {("one after another", "openai client"): "≤ 1.5 ms more"}


def _compared(how: str, times: dict[str, list[float]]) -> list[Row]:
    middle = {name: statistics.median(each) for name, each in times.items()}
    run = middle.pop(RUN)
    return [
        Row(f"model call of a run, {how}", run, "ms", peer, each, _AIMS.get((how, peer), ""))
        for peer, each in middle.items()
    ]


async def _sequential(ask: Ask) -> float:
    started = time.perf_counter()
    for _ in range(SEQUENTIAL):
        await ask()
    return (time.perf_counter() - started) / SEQUENTIAL * 1000


async def _together(ask: Ask, count: int, clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    await asyncio.gather(*(ask() for _ in range(count)))
    return (clock() - started) / count * 1000


@contextlib.asynccontextmanager
async def _raw(base_url: str) -> AsyncIterator[Ask]:
    """HTTP/1.1 by hand over kept connections: the floor."""
    host, port = base_url.removeprefix("http://").partition("/")[0].split(":")
    body = json.dumps(BODY).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask() -> object:
        reader, writer = idle.pop() if idle else await asyncio.open_connection(host, int(port))
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        answer = json.loads(await reader.readexactly(int(length.split(b":")[1])))
        idle.append((reader, writer))
        return answer

    yield ask
    for _, writer in idle:
        writer.close()


@contextlib.asynccontextmanager
async def sharded(base_url: str) -> AsyncIterator[Ask]:
    """Clients of the library that Prosa asks with, each for so many calls at once, and nothing else."""
    import httpx2

    clients: list[tuple[httpx2.AsyncClient, list[int]]] = []

    async def ask() -> object:
        found = next((each for each in clients if each[1][0] < SHARD), None)
        if found is None:
            limits = httpx2.Limits(max_connections=SHARD, max_keepalive_connections=SHARD)
            found = httpx2.AsyncClient(limits=limits, timeout=120, trust_env=False), [0]
            clients.append(found)
        client, busy = found
        busy[0] += 1
        try:
            return (await client.post(f"{base_url}/chat/completions", json=BODY)).json()
        finally:
            busy[0] -= 1

    yield ask
    for client, _ in clients:
        await client.aclose()


@contextlib.asynccontextmanager
async def _openai(base_url: str) -> AsyncIterator[Ask]:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0)

    async def ask() -> object:
        return await client.chat.completions.create(**BODY)  # type: ignore[call-overload]

    yield ask
    await client.close()


@contextlib.asynccontextmanager
async def _loop(base_url: str) -> AsyncIterator[Ask]:
    """Return a whole run: input, rendering, prompt, request, validation, events."""
    from prosa.adapters.providers import OpenAIProvider
    from prosa.app.options import Environment, Options
    from prosa.app.run.load import load_program
    from prosa.app.run.world import servers, system_clock
    from prosa.runtime.execute import execute
    from prosa.runtime.world import World
    from prosa.settings import Settings

    with tempfile.TemporaryDirectory() as name:
        program = load_program(write_program(Path(name)), Options(), Settings())
    provider = OpenAIProvider(api_key=None, base_url=base_url)
    world = World(provider=provider, clock=system_clock(), servers=servers(program, Environment({}, Settings())))

    async def ask() -> object:
        return await execute(program, {"text": "two words"}, world)

    yield ask
    await provider.aclose()
