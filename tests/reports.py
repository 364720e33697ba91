"""What workers report of tests: only what a session shows, and tests that passed many at once.

Each report takes a millisecond of two processors, and each message of a worker wakes the process that shows them. Who
asks for durations, for a file of results or for an end at the first failure gets all, one after the other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from _pytest.runner import runtestprotocol

from tests.later import Whole

KIND = "TestsThatPassed"
"""Tells a message of many tests from the reports of pytest."""

MANY = 100
"""After so many tests they are reported."""

SECONDS = 0.5
"""After so long they are reported at the end of the next test."""

Test: TypeAlias = tuple[str, tuple[str, int | None, str], float]
"""Name, place and seconds of a test that passed."""


class Passed:
    """Many tests that passed, as they arrive in the process that shows them."""

    def __init__(self, tests: list[Test]) -> None:
        self._tests = tests

    def reports(self) -> list[pytest.TestReport]:
        """Return what a worker would have reported of each."""
        return [
            pytest.TestReport(name, place, {}, "passed", None, "call", duration=seconds)
            for name, place, seconds in self._tests
        ]


class Reports:
    """Runs the tests of a worker, and keeps what passed until it is worth a message, or something else is sent."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send
        self._passed: list[Test] = []
        self._sent = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test and report what a session shows of it."""
        if isinstance(item, Whole):
            return None
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if not _is_as_expected(report):
                item.ihook.pytest_runtest_logreport(report=report)
            elif report.when == "call":
                self._passed.append((report.nodeid, report.location, report.duration))
        if len(self._passed) >= MANY or time.monotonic() - self._sent > SECONDS:
            self._report()
        return True

    def send(self, name: str, **said: Any) -> None:
        """Send something else, after what was kept."""
        self._report()
        self._send(name, **said)

    def _report(self) -> None:
        self._sent = time.monotonic()
        if self._passed:
            self._send("testreport", data={"$report_type": KIND, "tests": json.dumps(self._passed)})
            self._passed.clear()


def _is_as_expected(report: pytest.TestReport) -> bool:
    """Whether there is nothing to say but that it passed."""
    return report.outcome == "passed" and not report.sections and not hasattr(report, "wasxfail")


def report_less(config: pytest.Config) -> None:
    """Let a worker report many tests at once."""
    asked = config.option
    if asked.durations or asked.xmlpath or asked.maxfail or asked.verbose > 0:
        return
    for each in config.pluginmanager.get_plugins():
        if type(each).__name__ == "WorkerInteractor":  # a worker has a class of its own, which nothing can import
            reports = Reports(each.sendevent)
            each.sendevent = reports.send
            config.pluginmanager.register(reports)


def received(data: dict[str, Any]) -> Passed | None:
    """Return the tests of such a message, or nothing of another."""
    return Passed(json.loads(data["tests"])) if data["$report_type"] == KIND else None


def take_many(config: pytest.Config) -> None:
    """Let the process that shows the results take such a message for the reports of its tests."""
    session: Any = config.pluginmanager.getplugin("dsession")
    take = session.worker_testreport

    def taken(node: object, rep: pytest.TestReport | Passed) -> None:
        for each in rep.reports() if isinstance(rep, Passed) else (rep,):
            take(node, each)

    session.worker_testreport = taken
