"""Sites for the tests of this folder: each over a folder of its own, started when it is asked for and ended after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.web.asking import Files, Served, again, cold, serving

Serve = Callable[..., Served]


@dataclass
class Standing:
    """Sites that last as long as a module, for tests that change none of their files. Each test has its own sessions
    and limits: only the index of the files is shared, which takes longest to make."""

    factory: pytest.TempPathFactory
    stack: ExitStack
    known: dict[str, Served] = field(default_factory=dict)

    def over(self, files: Files, *, closed: bool = False) -> Served:
        key = repr((files, closed))
        if key not in self.known:
            folder = self.factory.mktemp("standing")
            self.known[key] = self.stack.enter_context(serving(folder, files, closed=closed))
        return self.known[key]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with ExitStack() as stack:
        yield Standing(tmp_path_factory, stack)


@pytest.fixture
def look(standing: Standing) -> Iterator[Serve]:
    """Serves files as `serve` does, by a site that others have looked at; they must not be changed."""
    with ExitStack() as stack:

        def looked(files: Files, *, closed: bool = False, **options: str) -> Served:
            found = again(standing.over(files, closed=closed), closed=closed, **options)
            stack.callback(found.runner.close)
            return found

        yield looked


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts sites over files; `building=True` leaves one without its index."""
    with ExitStack() as stack:

        def started(files: Files, *, building: bool = False, **options: Any) -> Served:
            return stack.enter_context((cold if building else serving)(tmp_path, files, **options))

        yield started
