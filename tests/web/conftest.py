"""Sites for the tests of this folder: each over a folder of its own, started when it is asked for and ended after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.web.asking import Files, Served, cold, serving

Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts sites over files; `building=True` leaves one without its index."""
    with ExitStack() as stack:

        def started(files: Files, *, building: bool = False, **options: Any) -> Served:
            return stack.enter_context((cold if building else serving)(tmp_path, files, **options))

        yield started
