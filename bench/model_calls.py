"""What the loop adds to one model call: the same zero-latency server asked by a raw HTTP client, by plain clients of 48
connections each, by a whole run of a program, and by other libraries in processes of their own environment, in turn.
The server is a fake on loopback in a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpus import ANSWER, write_program
from bench.measure import Row
from bench.peers import find as peers
from bench.peers.clients import measured

SEQUENTIAL = 200
TOGETHER = 200
MANY = 1_000
SHARD = 48
ROUNDS = 3
PATIENCE = 120.0
"""Seconds that another library may take for all calls of a round."""

CLIENTS = str(peers.HERE / "clients.py")
_PACKAGES = {"openai": "openai", "pydantic-ai": "pydantic-ai-slim", "llm": "llm"}
"""Other libraries with the packages that have them."""
SLOW = "llm"
"""Asked a tenth as often, and one after another only: it makes a client for every call."""

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


WAYS = {
    "one after another": (SEQUENTIAL, 1, 0),
    f"{TOGETHER} at once": (TOGETHER, TOGETHER, 0),
    f"{MANY:,} at once, processor time": (MANY, MANY, 1),
}
"""Calls, how many of them at once, and which clock: 0 is the one on the wall, 1 that of processors, which needs one
round."""
RUN = "a run of prosa"
_AIMS = {("one after another", "openai"): "≤ 1.5 ms more"}

Measure = Callable[[int, int], Awaitable[tuple[float, float]]]
"""Milliseconds of a call by both clocks, for so many calls, so many at once."""


async def _measure(base_url: str) -> list[Row]:
    clients = [peers.library(name, "clients", [CLIENTS], package) for name, package in _PACKAGES.items()]
    found: dict[str, dict[str, list[float]]] = {how: {} for how in WAYS}
    async with contextlib.AsyncExitStack() as stack:
        own = {RUN: _loop, "raw HTTP client": _raw, "plain sharded clients": sharded}
        measures = {
            name: partial(measured, await stack.enter_async_context(each(base_url))) for name, each in own.items()
        }
        for peer in clients:
            if peer.start:
                measures[peer.name] = await stack.enter_async_context(_there(peer, base_url))
        for measure in measures.values():
            await measure(1, 1)
        for turn in range(ROUNDS):
            for how, way in WAYS.items():
                for name in list(measures) if turn == 0 or not way[2] else ():
                    figure = await _figure(name, measures, way)
                    found[how].setdefault(name, []).extend(figure)
    return [row for how, times in found.items() for row in _compared(how, times, clients)]


async def _figure(name: str, measures: dict[str, Measure], way: tuple[int, int, int]) -> list[float]:
    """Return the figure of a client; none where it is too slow for this way, or has failed, which ends its part."""
    calls, at_once, clock = way
    if name == SLOW:
        if at_once > 1:
            return []
        calls = calls // 10
    try:
        return [(await measures[name](calls, at_once))[clock]]
    except (OSError, ValueError, TimeoutError) as problem:
        if name not in _PACKAGES:
            raise
        peers.leave_out(name, f"failed at {at_once:,} calls at once ({type(problem).__name__})")
        del measures[name]
        return []


def _compared(how: str, times: dict[str, list[float]], clients: Sequence[peers.Peer]) -> Iterator[Row]:
    middle = {name: statistics.median(each) for name, each in times.items() if each}
    run = middle.pop(RUN)
    titles = {peer.name: peer.title if peer.name == SLOW else f"{peer.title} client" for peer in clients}
    for name in (*titles, "raw HTTP client", "plain sharded clients"):
        if name != SLOW or how == "one after another":
            aim = _AIMS.get((how, name), "")
            yield Row(f"model call of a run, {how}", run, "ms", titles.get(name, name), middle.get(name), aim)


@contextlib.asynccontextmanager
async def _there(peer: peers.Peer, base_url: str) -> AsyncIterator[Measure]:
    """Measure a client in a process of its own environment, which waits while others are measured."""
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            *(*peer.start, peer.name, base_url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environ | {"HOME": home, "LLM_USER_PATH": home, "NO_PROXY": "127.0.0.1"},
        )
        assert process.stdin is not None and process.stdout is not None
        send, heard, ready = process.stdin, process.stdout, False

        async def measure(calls: int, at_once: int) -> tuple[float, float]:
            nonlocal ready
            async with asyncio.timeout(PATIENCE):
                if not ready and (said := await heard.readline()) != b"ready\n":
                    raise ValueError(f"expected ready, found {said[:80]!r}")
                ready = True
                send.write(f"{calls} {at_once}\n".encode())
                wall, used = map(float, (await heard.readline()).split())
                return wall, used

        try:
            yield measure
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


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
