"""Mailboxes: how many messages a second a store takes, how soon one is there, and what handling one costs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.corpus import write_program
from bench.measure import Row
from prosa.adapters.providers.scripted import ScriptedProvider
from prosa.adapters.store import mail
from prosa.adapters.store.writer import Work, writer_of
from prosa.app.mail.post import send_message
from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.load import load_program
from prosa.runtime.mail import Letter, MessageRecord, Worked
from prosa.settings import Settings

SENDS, HANDLED, DELIVERED = 5_000, 300, 20
NOW = "2026-03-01T12:00:00.000Z"


def rows() -> Iterator[Row]:
    """Yield the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        together, alone = _sends(folder / "sends.sqlite")
        yield Row("messages sent a second, together", together, "1/s", "one after the other", alone, "≥ 1,000")
        yield _handled(folder)
        yield Row("from a send to the end of its run, a worker waits", _delivered(folder), "ms", aim="≤ 1,000 ms")


def _sends(store: Path) -> tuple[float, float]:
    """Return messages a second: sent at once, and each after the one before is there."""
    writer = writer_of(store)
    try:
        writer.do(_send("first", 0)).result()
        started = time.perf_counter()
        for each in [writer.do(_send("together", n)) for n in range(SENDS)]:
            each.result()
        between = time.perf_counter()
        for n in range(SENDS // 10):
            writer.do(_send("alone", n)).result()
        ended = time.perf_counter()
    finally:
        writer.release()
    return SENDS / (between - started), SENDS / 10 / (ended - between)


def _send(run: str, number: int) -> Work[MessageRecord]:
    return mail.send(Letter("bench", "", f'{{"n":{number}}}', f"1.{number}", run=run, to="box", allowed=("box",)), NOW)


def _handled(folder: Path) -> Row:
    """Processor time of a message that a worker handles, above that of sending it."""
    store = folder / "handled.sqlite"
    for _ in range(HANDLED):
        send_message(store, "words", {"text": "two words"})
    started = time.process_time()
    asyncio.run(_work(folder, store, HANDLED))
    return Row("a message handled, processor time", (time.process_time() - started) / HANDLED * 1000, "ms")


async def _work(
    folder: Path,
    store: Path,
    many: int,
    *,
    stop: asyncio.Event | None = None,
    hear: Callable[[Worked], None] = lambda _: None,
) -> None:
    """Run a worker whose model answers at once, until the mailbox is empty or the worker is stopped."""
    path = write_program(folder)
    path.write_text(path.read_text(encoding="utf-8").replace("input:", "mailbox: true\ninput:", 1), encoding="utf-8")
    options = Options(journal=JournalOptions("mail", store))
    program = load_program(path, options, Settings())
    await work_mail(
        program,
        WorkerOptions(until_empty=stop is None),
        options,
        Environment({"HOME": str(folder)}, Settings()),
        provider=ScriptedProvider([{"content": {"words": 2}}] * many),
        on_message=hear,
        stop=stop,
    )


def _delivered(folder: Path) -> float:
    """Milliseconds from a send to the end of the run that it starts, with a worker that waits."""
    store, took = folder / "delivered.sqlite", list[float]()

    async def watch() -> None:
        stop, handled = asyncio.Event(), asyncio.Event()

        working = asyncio.create_task(_work(folder, store, DELIVERED, stop=stop, hear=lambda _: handled.set()))
        for _ in range(DELIVERED):
            await asyncio.sleep(0.2)
            started = time.perf_counter()
            await asyncio.to_thread(send_message, store, "words", {"text": "two words"})
            await handled.wait()
            took.append((time.perf_counter() - started) * 1000)
            handled.clear()
        stop.set()
        await working

    asyncio.run(watch())
    return median(took)
