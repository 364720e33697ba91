"""Whether there is a box to test with, and whether the tests that need one have run.

Out: why there is none, or nothing; then these tests (`test_boxed*.py`) are not collected. With
`PROSA_BUBBLEWRAP=required` in the environment a missing box ends the session, and so does a file of these tests of
which nothing has passed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from prosa.adapters.agents.box import isolation

HERE = Path(__file__).parent
PATTERN = "test_boxed*.py"


def missing() -> str:
    """What these tests lack; empty for nothing."""
    return isolation().reason


def is_required(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a session without these tests has failed."""
    return environ.get("PROSA_BUBBLEWRAP") == "required"


def told() -> str:
    """The line at the head of a session."""
    lacking = missing()
    return f"tests in a box: left out, {lacking}" if lacking else "tests in a box: run with bubblewrap"


def files() -> set[str]:
    """The files of these tests, as ids of tests begin."""
    return {f"tests/adapters/agents/{path.name}" for path in HERE.glob(PATTERN)}


def not_run(passed: Iterable[str]) -> list[str]:
    """The files of these tests of which none of the ``passed`` ids is a part."""
    return sorted(files() - {each.partition("::")[0] for each in passed})
