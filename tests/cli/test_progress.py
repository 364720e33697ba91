"""The status line: on a terminal only, one line, cleared at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from prosa.cli import progress as module
from prosa.cli.progress import Progress, progress
from tests.cli.desk import desk

ERASE = "\r\x1b[K"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")


def test_a_status_is_replaced_cut_and_cleared():
    at = desk(terminal=True)
    with progress(at.console) as line:
        line.show("one")
        line.show("x" * 50)
        line.show("first\nsecond \x1b[2J")
        line.show("\x1b[2J")
    assert at.err == f"{ERASE}one{ERASE}{'x' * 18}…{ERASE}first{ERASE} [2J{ERASE}"
    assert at.out == ""


def test_it_is_cleared_when_the_work_fails():
    at = desk(terminal=True)
    with pytest.raises(KeyboardInterrupt), progress(at.console) as line:
        line.show("one")
        raise KeyboardInterrupt
    assert at.err == f"{ERASE}one{ERASE}"


async def awaited(line: Progress, end: Callable[[], bool]) -> None:
    """Shows a status and waits for something."""
    line.show("asking the model")
    async with asyncio.timeout(30):
        while not end():
            await asyncio.sleep(0.001)


def test_a_status_counts_the_seconds_for_which_something_is_awaited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "TICK", 0.001)
    at = desk(terminal=True)
    with progress(at.console) as line:
        asyncio.run(awaited(line, lambda: at.err.count(ERASE) > 3))
        line.show("done")
    assert at.err.startswith(f"{ERASE}asking the model{ERASE}asking the m… · 1 s{ERASE}asking the m… · 2 s{ERASE}")
    assert at.err.endswith(f"{ERASE}done{ERASE}")


def test_a_status_that_was_cleared_ticks_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "TICK", 0.001)
    at, turns = desk(terminal=True), iter(range(20))

    def end() -> bool:
        line.clear()
        return next(turns) > 9

    with progress(at.console) as line:
        asyncio.run(awaited(line, end))
    assert "s" not in at.err.replace("asking", "")


@pytest.mark.parametrize(
    ("terminal", "environ", "wanted"), [(False, {}, True), (True, {"CI": "1"}, True), (True, {}, False)]
)
def test_nobody_watching_means_nothing_is_written(
    terminal: bool, environ: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
):
    at, turns = desk(environ=environ, terminal=terminal), iter(range(10))
    monkeypatch.setattr(module, "TICK", 0.001)
    with progress(at.console, wanted=wanted) as line:
        asyncio.run(awaited(line, lambda: next(turns) > 5))
        line.clear()
    assert at.err == ""
