"""How the tests of a session are shared out to workers: by file, and whole folders where they share something costly.

A browser, a model, a server or what one module parsed is so made once and not in each worker. What takes longest comes
first, so that the many short files fill up the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

TOGETHER = ("tests/browser", "tests/adapters/embedded", "tests/adapters/store", "tests/adapters/mcp", "tests/house")
"""Folders of one worker each, the longest first."""

LONG = (
    "tests/packaging/test_action.py",
    "tests/web/test_published.py",
    "tests/api/test_doors.py",
    "tests/template/test_properties.py",
    "tests/web/test_slow_readers.py",
    "tests/examples/test_prove.py",
    "tests/adapters/agents/test_boxed_attempt.py",
)
"""Files of more than ten seconds, the longest first: as the last ones they would leave a worker without work."""

WHOLE_SESSION = 300
"""Files from which folders are kept together; a few folders alone are shared out by file."""


class ByFile(LoadScopeScheduling):
    """Share out files, and the folders of `TOGETHER` as a whole."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._places: dict[WorkerController, dict[str, int]] = {}
        self._done = 0
        if terminal := config.pluginmanager.getplugin("terminalreporter"):
            terminal._get_progress_information_message = self._progress

    def _progress(self) -> str:
        """Say how much of what was shared out is done: a file may stand for all of its tests."""
        return f" [{100 * self._done // len(self.collection or (1,)):3d}%]"

    @cached_property
    def _is_whole_session(self) -> bool:
        return len({nodeid.partition("::")[0] for nodeid in self.collection or ()}) > WHOLE_SESSION

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folder = file.rpartition("/")[0]
        return folder if folder in TOGETHER and self._is_whole_session else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Do what the original does, without a search through all tests for each of them."""
        scope, unit = self.workqueue.popitem(last=False)
        self.assigned_work.setdefault(node, {})[scope] = unit
        if node not in self._places:
            self._places[node] = {nodeid: at for at, nodeid in enumerate(self.registered_collections[node])}
        places = self._places[node]
        node.send_runtest_some([places[nodeid] for nodeid, completed in unit.items() if not completed])

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Do what the original does, and forget a file that is done: what is pending is counted after every test."""
        self._done += 1
        super().mark_test_complete(node, item_index, duration)
        scope, assigned = self._split_scope(self.registered_collections[node][item_index]), self.assigned_work[node]
        if all(assigned[scope].values()):
            del assigned[scope]

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a worker, and return what it died of, which no other one is given: it would die of it as well, one
        after the other, and the session would wait for the last one."""
        units = self.assigned_work.pop(node)
        crashed = next((each for unit in units.values() for each, done in unit.items() if not done), None)
        left = {scope: {each: done or each == crashed for each, done in unit.items()} for scope, unit in units.items()}
        self.workqueue.update({scope: unit for scope, unit in left.items() if not all(unit.values())})
        for each in self.assigned_work:
            self._reschedule(each)
        return crashed


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with those of the folders of `TOGETHER` first, then those of the files of `LONG`, each folder
    and file as it was."""
    return sorted(items, key=lambda item: _rank(item.nodeid.partition("::")[0]))


def _rank(file: str) -> int:
    folder = file.rpartition("/")[0]
    if folder in TOGETHER:
        return TOGETHER.index(folder)
    return len(TOGETHER) + (LONG.index(file) if file in LONG else len(LONG))
