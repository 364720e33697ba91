"""A question while a run goes on: shows what is to be sent and waits for a line, without holding up the run (HA19).

In: a text. Out: whether the answer was yes. A run that is stopped does not wait for the answer: nothing reads from the
terminal before there is a line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from prosa.cli.console import Console

MAX_SHOWN = 20_000
"""Characters of a request that are shown; nobody judges more, so a longer one is refused."""


def confirming(console: Console, say: Callable[[str], None]) -> Callable[[str], Awaitable[bool]]:
    """How to ask. ``say`` prints a text that stays."""

    async def confirm(text: str) -> bool:
        if len(text) > MAX_SHOWN:
            say(f"The model wants to send {len(text):,} characters; nobody can judge so much, and nothing is sent.")
            return False
        say(f"The model wants to send:\n{text}")
        console.err("Send it? [y/N] ", end="")
        await _until_typed(console)
        return console.stdin.readline().strip().lower() in ("y", "yes")

    return confirm


async def _until_typed(console: Console) -> None:
    """Waits for a line on a terminal; what is no file, as in a test, has its line already."""
    try:
        number = console.stdin.fileno()
        loop, typed = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(number, typed.set)
    except (OSError, ValueError, NotImplementedError):
        return
    try:
        await typed.wait()
    finally:
        loop.remove_reader(number)
