"""The status line: on a terminal only, one line, cleared at the end."""

from __future__ import annotations

import pytest

from prosa.cli.progress import progress
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


@pytest.mark.parametrize(
    ("terminal", "environ", "wanted"), [(False, {}, True), (True, {"CI": "1"}, True), (True, {}, False)]
)
def test_nobody_watching_means_nothing_is_written(terminal: bool, environ: dict[str, str], wanted: bool):
    at = desk(environ=environ, terminal=terminal)
    with progress(at.console, wanted=wanted) as line:
        line.show("one")
        line.clear()
    assert at.err == ""
