"""Runs inside the environment of the clients, never in that of Prosa: `clients.py NAME BASE_URL` reads lines of
`CALLS AT_ONCE` from standard input and answers each with the milliseconds of a call: by the wall clock, and of
processors.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

MODEL, SYSTEM, PROMPT = "gpt-4o", "Says how many words a text has.", "Count the words of: two words"

Ask = Callable[[], Awaitable[Any]]


def openai(base_url: str) -> Ask:
    """Ask with the client's defaults, retries among them."""
    client = import_module("openai").AsyncOpenAI(api_key="none", base_url=base_url)
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    return lambda: client.chat.completions.create(model=MODEL, messages=messages)


def pydantic_ai(base_url: str) -> Ask:
    """Ask for an output of one number, which is validated."""
    ai, models = import_module("pydantic_ai"), import_module("pydantic_ai.models.openai")
    providers, pydantic = import_module("pydantic_ai.providers.openai"), import_module("pydantic")
    model = models.OpenAIChatModel(MODEL, provider=providers.OpenAIProvider(base_url=base_url, api_key="none"))
    words = pydantic.create_model("Words", words=(int, ...))
    agent = ai.Agent(model, output_type=ai.NativeOutput(words), instructions=SYSTEM)
    return lambda: agent.run(PROMPT)


def llm(base_url: str) -> Ask:
    """Ask a model that is configured by hand; nothing is logged."""
    chat = import_module("llm.default_plugins.openai_models").AsyncChat
    model = chat("measured", model_name=MODEL, api_base=base_url, key="none", can_stream=False)

    async def ask() -> object:
        response = model.prompt(PROMPT, system=SYSTEM, stream=False, key="none")
        return await response.text()

    return ask


CLIENTS: dict[str, Callable[[str], Ask]] = {"openai": openai, "pydantic-ai": pydantic_ai, "llm": llm}


async def measured(ask: Ask, calls: int, at_once: int) -> tuple[float, float]:
    """Return the milliseconds of a call: by the wall clock, and of processors."""
    numbers = iter(range(calls))

    async def one() -> None:
        for _ in numbers:
            await ask()

    wall, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(at_once)))
    return (time.perf_counter() - wall) / calls * 1000, (time.process_time() - used) / calls * 1000


async def answer(ask: Ask) -> None:
    """Answer every line until the input ends."""
    await ask()
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        calls, at_once = map(int, line.split())
        print(*await measured(ask, calls, at_once), flush=True)


if __name__ == "__main__":
    asyncio.run(answer(CLIENTS[sys.argv[1]](sys.argv[2])))
