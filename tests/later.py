"""Modules of tests that a worker imports when their turn comes: workers share out files, and each would import all.

Tests that are asked for by name or by words are collected as pytest does it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.certificates import read_once


class Later(pytest.Module):
    """A module whose one item stands for all of its tests, until these are asked for."""

    _its_turn = False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return super().collect() if self._its_turn else [Whole.from_parent(self, name="whole")]

    def tests(self) -> list[pytest.Item]:
        """Import the module and return its tests. What was imported is taken out of the garbage collection, and what
        earlier tests left behind is collected before that."""
        self._its_turn = True
        gc.collect()
        gc.disable()
        try:
            found = list(self.session.genitems(self))
            self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=found)
            read_once()
            _place(found)
        finally:
            gc.freeze()
            gc.enable()
        return found


class Whole(pytest.Item):
    """All tests of a module."""

    def runtest(self) -> None:
        raise AssertionError("its tests run, and not this")

    def run(self, next_item: pytest.Item | None) -> None:
        """Run them one after another, and report each as if it alone had been asked for."""
        session, module = self.session, self.parent
        assert isinstance(module, Later)
        place = session.items.index(self)
        _keep_hooks(session)
        tests = module.tests()
        try:
            for test, following in zip(tests, [*tests[1:], next_item], strict=False):
                if session.shouldfail or session.shouldstop:
                    break
                session.items[place] = test  # the worker compares its report with what was to run
                self.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        finally:
            session.items[place] = self
        if not tests:
            session._setupstate.teardown_exact(next_item)


def _place(tests: list[pytest.Item]) -> None:
    """Look for the line of each function once; pytest does it for each of its parameters."""
    places: dict[object, tuple[str, int | None]] = {}
    for test in tests:
        if isinstance(test, pytest.Function):
            if test.function in places:
                test.location = (*places[test.function], test.getmodpath())
            else:
                places[test.function] = test.location[:2]


def _keep_hooks(session: pytest.Session) -> None:
    """Find the hooks of a folder once: every `conftest.py` is imported by now. pytest does it ten times a test."""
    if not hasattr(session.gethookproxy, "cache_info"):
        session.gethookproxy = cache(session.gethookproxy)  # type: ignore[assignment, method-assign]


def module_of(path: Path, parent: pytest.Collector) -> Later | None:
    """Return the module that is imported later, where a worker is to run all tests of some folders and files."""
    asked = parent.config.option
    if not hasattr(parent.config, "workerinput") or asked.keyword or asked.markexpr or asked.deselect:
        return None
    if any("::" in each for each in parent.config.args):
        return None
    return Later.from_parent(parent, path=path)
