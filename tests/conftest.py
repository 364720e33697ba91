"""For all tests: signals as at a terminal, a home that is nobody's, and whether there is a browser and a model.

A shell that starts the tests in the background lets them ignore SIGINT, and so would every process that they start;
Ctrl-C could not be tried then. Temporary files are in memory where there is room for them. A session says whether the
tests with a browser, with an embedded model and in a box run, and fails where they should have and did not.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

import prosa
from tests import depth
from tests.adapters.agents import presence as boxes
from tests.adapters.embedded import presence as embedded
from tests.browser import presence
from tests.certificates import read_once
from tests.compiled import lend_compiled
from tests.distribution import ByFile, in_order
from tests.later import Later, Whole, module_of
from tests.memory import in_memory
from tests.reports import Passed, received, report_less, take_many

settings.register_profile(
    "untimed", max_examples=depth.examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")  # a busy machine is no finding

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What was compiled is kept, also where the surroundings forbid it: else each worker and each process that tests start
# compiles the whole package, and pytest rewrites every module again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

in_memory()
embedded.remember()  # before the home of these tests takes the place of the user's
_HOME = tempfile.mkdtemp(prefix="prosa-home-")
os.environ["HOME"] = _HOME  # runs are kept in the user's data folder, and tests leave nothing there
os.environ.pop("XDG_DATA_HOME", None)
os.environ.setdefault("LANGUAGE", "C")  # each parser of a command looks for translations three times
lend_compiled(Path(_HOME, ".cache", "prosa"), if_there=True)

# Processes that tests start take both packages from where the tests themselves do: from this tree, or, with
# `tools/packaging/installed.py`, from what is installed.
INSTALLED = os.environ.get("PROSA_TESTS_OF") == "installed"
_ROOT = Path(__file__).parents[1]
_TREE = [] if INSTALLED else [str(_ROOT / folder) for folder in ("src", "sandbox/src")]
os.environ["PYTHONPATH"] = os.pathsep.join([*_TREE, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)

_passed: set[str] = set()
_numbers = count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own. The fixture of pytest looks through the folders of all tests before it for a name:
    seven milliseconds for each test behind thousands."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / "each" / f"{name}{next(_numbers)}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Ends the session where a browser, an embedded model or a box is required and there is none, and where the tests
    of what is installed would test this tree."""
    if Path(prosa.__file__).is_relative_to(_ROOT / "src") == INSTALLED:
        raise pytest.UsageError(f"these are tests of what is {'installed' if INSTALLED else 'here'}: {prosa.__file__}")
    if presence.is_required() and presence.chromium() is None:
        raise pytest.UsageError(presence.MISSING)
    if embedded.is_required() and (lacking := embedded.missing()):
        raise pytest.UsageError(f"PROSA_EMBEDDED=required, and {lacking}")
    if boxes.is_required() and (lacking := boxes.missing()):
        raise pytest.UsageError(f"PROSA_BUBBLEWRAP=required, and {lacking}")
    report_less(config)


def pytest_report_header() -> list[str]:
    """Says whether the tests with a browser, those with an embedded model, and those in a box run."""
    return [presence.told(), embedded.told(), boxes.told()]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Share tests out as `tests.distribution` says."""
    config.option.loadscopereorder = False
    take_many(config)
    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(data: dict[str, object]) -> Passed | None:
    """Take many tests that passed, as `tests.reports` sends them."""
    return received(data)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Later | None:
    """Import a module of tests when its turn comes, as `tests.later` says."""
    return module_of(module_path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run all tests of such a module."""
    if not isinstance(item, Whole):
        return None
    item.run(nextitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage meanwhile: there is little, and it would be looked for in the growing heap again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes long first."""
    items[:] = in_order(items)


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of the garbage collection: tests that ask for one, or fork, need not
    look at the heap of a whole session, and no garbage is looked for in it now, which takes a second. What tests leave
    behind is looked through after more of it than else, which takes a tenth off the time of those in this process."""
    read_once()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps which tests have passed; where there are several workers, their reports arrive here too."""
    if report.when == "call" and report.passed:
        _passed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A session whose tests with a browser, a model or a box did not run, though they were required, has failed."""
    shutil.rmtree(_HOME, ignore_errors=True)
    gc.freeze()  # at the end pytest collects garbage ten times, over the heap of all tests
    if hasattr(session.config, "workerinput") or session.config.option.collectonly:
        return
    for each, name in ((presence, "PROSA_BROWSER"), (embedded, "PROSA_EMBEDDED"), (boxes, "PROSA_BUBBLEWRAP")):
        if each.is_required() and (missing := each.not_run(_passed)):
            print(f"\n{name}=required, and nothing has passed of: {', '.join(missing)}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
