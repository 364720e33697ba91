"""A run and its user: Ctrl-C, `kill` and a closed terminal stop it, and it can prompt while it runs (HA19).

In: asynchronous work, or a text. Out: its result, KeyboardInterrupt or `Stopped`; whether the answer was yes. Signals
are only caught during the work: before and after it they end the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from prosa.cli.console import Console
from prosa.cli.errors import Stopped
from prosa.cli.parser import WrongUse
from prosa.cli.process import signals

if TYPE_CHECKING:
    from prosa.app.options import Environment
    from prosa.records.test_plan import TestPlan

T = TypeVar("T")

SIGNALS = tuple(getattr(signals, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signals, name))
"""Sent by `kill`, by service managers, and when a terminal closes. SIGINT is asyncio's own."""


def run_stoppable(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end. A signal cancels it, waits for its shutdown, and ends in `Stopped`.

    A second signal of the same kind changes nothing, as every shutdown is bounded; a second Ctrl-C does not wait.
    """
    try:
        return asyncio.run(_until_stopped(work))
    except asyncio.CancelledError:
        # Only a signal cancels a whole run; with two kinds of them at once asyncio does not say which it was.
        raise KeyboardInterrupt from None


async def _until_stopped(work: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        if task is not None and len(received) == 1:
            task.cancel()

    caught = [number for number in SIGNALS if signals.getsignal(number) is signals.SIG_DFL]
    for number in caught:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, stop, number)
    try:
        return await work
    except BaseException:
        if received:
            raise Stopped(received[0]) from None
        raise
    finally:
        for number in caught:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)


def ask_first(plan: TestPlan, what: str, environment: Environment, console: Console) -> None:
    """Ask before something that takes much, as its plan says. Raises `WrongUse` where there is no one to ask, and
    KeyboardInterrupt for a no."""
    if not plan.asks:
        return
    from prosa.render.tests_plan import plan_text  # only here: few tests are large

    if not console.interactive or environment.ask is None:
        message = f"this {what} is large, and there is no terminal to ask for confirmation:\n{plan_text(plan)}"
        raise WrongUse(message, hint="--yes starts without confirmation; --max-cost USD bounds what it may cost")
    console.err(plan_text(plan))
    if not environment.ask("Begin?"):
        raise KeyboardInterrupt


# Nothing reads from the terminal before there is a line, so a run that is stopped does not wait for an answer.

MAX_SHOWN = 20_000
"""Maximum length of a request that is shown for confirmation; a longer one is refused."""


def confirming(console: Console, say: Callable[[str], None]) -> Callable[[str], Awaitable[bool]]:
    """Return how to ask. ``say`` prints a text that stays."""

    async def confirm(text: str) -> bool:
        if len(text) > MAX_SHOWN:
            say(f"The model wants to send {len(text):,} characters; too much to review, so nothing is sent.")
            return False
        say(f"The model wants to send:\n{text}")
        console.err("Send it? [y/N] ", end="")
        await _until_typed(console)
        return console.stdin.readline().strip().lower() in ("y", "yes")

    return confirm


async def _until_typed(console: Console) -> None:
    """Wait for a line on a terminal; a stream without a file, as in a test, already has its line."""
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


@contextmanager
def stopping(stop: asyncio.Event, say: Callable[[], None]) -> Iterator[None]:
    """Within the block a first SIGINT or SIGTERM sets ``stop`` after ``say``, a second one cancels the task and is
    raised as KeyboardInterrupt."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def hear() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        else:
            say()
            stop.set()

    for number in (signals.SIGINT, signals.SIGTERM):
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, hear)
    try:
        yield
    except asyncio.CancelledError:
        if stop.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        for number in (signals.SIGINT, signals.SIGTERM):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)
