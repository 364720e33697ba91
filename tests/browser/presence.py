"""Whether there is a Chromium to test with, and whether the tests that need one have run.

Out: the path of the browser, or None, and then these tests are not collected. With `PROSA_BROWSER=required` in the
environment a missing browser ends the session, and so does a file of browser tests of which nothing has passed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs that can be the browser, the quickest first: the same engine without a window of its own around each page
takes two thirds of the time of a processor."""

HERE = Path(__file__).parent
MISSING = (
    "PROSA_BROWSER=required, and there is no Chromium: install Debian's package chromium, or name one in PROSA_CHROMIUM"
)


def chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """The path of the browser. `PROSA_CHROMIUM` names one, and then no other is looked for."""
    if named := environ.get("PROSA_CHROMIUM"):
        return shutil.which(named)
    return next((found for name in NAMES if (found := shutil.which(name, path=environ.get("PATH")))), None)


def is_required(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a session without browser tests has failed."""
    return environ.get("PROSA_BROWSER") == "required"


def told() -> str:
    """The line at the head of a session."""
    found = chromium()
    return f"browser tests: run with {found}" if found else "browser tests: left out, there is no Chromium"


def files() -> set[str]:
    """The files of browser tests, as ids of tests begin."""
    return {f"tests/browser/{path.name}" for path in HERE.glob("test_*.py")}


def not_run(passed: Iterable[str]) -> list[str]:
    """The files of browser tests of which none of the ``passed`` ids is a part."""
    return sorted(files() - {each.partition("::")[0] for each in passed})
