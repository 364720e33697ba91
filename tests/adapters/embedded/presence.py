"""Whether there is an engine with weights to test with, and whether the tests that need them have run.

Out: what is missing, or nothing; then these tests are not collected. With `PROSA_EMBEDDED=required` in the environment
what is missing ends the session, and so does a file of these tests of which nothing has passed. `make test-deep` runs
the long ones (`test_deep.py`) too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from prosa.adapters.embedded.weights import TABLE, fault_of
from prosa.adapters.files.places import data_place
from tests import depth

HERE = Path(__file__).parent
PLACE = "PROSA_TEST_WEIGHTS"
"""The variable that tells the processes of a session where the user's weights are."""


def remember(environ: Mapping[str, str] = os.environ) -> None:
    """Notes where the user's weights are, before the tests take another home."""
    if PLACE not in environ:
        os.environ[PLACE] = str(data_place(environ) / "models" / TABLE[0].file)


def weights(environ: Mapping[str, str] = os.environ) -> Path:
    """The file of the model that is tested with."""
    return Path(environ.get(PLACE, "no-weights"))


def missing() -> str:
    """What these tests lack; empty for nothing."""
    if find_spec("xllamacpp") is None:
        return "there is no engine: install requirements/dev.lock"
    return "" if fault_of(TABLE[0], weights()) is None else "there are no weights: prosa models pull smollm2"


def is_required(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a session without these tests has failed."""
    return environ.get("PROSA_EMBEDDED") == "required"


def told() -> str:
    """The line at the head of a session."""
    lacking = missing()
    return f"embedded tests: left out, {lacking}" if lacking else f"embedded tests: run with {weights().name}"


def files() -> set[str]:
    """The files of these tests, as ids of tests begin."""
    names = {path.name for path in HERE.glob("test_*.py")} - (set() if depth.DEEP else {"test_deep.py"})
    return {f"tests/adapters/embedded/{name}" for name in names}


def not_run(passed: Iterable[str]) -> list[str]:
    """The files of these tests of which none of the ``passed`` ids is a part."""
    return sorted(files() - {each.partition("::")[0] for each in passed})
