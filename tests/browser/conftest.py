"""The browser, the sites that it looks at, and what every page is watched for.

All of it lasts as long as the tests of this folder: an event loop that a browser needs would be in the way of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import sites
from tests.browser.presence import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.browsing import Browsing

collect_ignore_glob = [] if chromium() else ["test_*.py"]

ARGUMENTS = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
"""Names of other hosts are not even looked up."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS), headless=True)
        yield made
        made.close()


@pytest.fixture
def browse(browser: Browser) -> Iterator[Browsing]:
    """Opens pages; at the end of a test none of them may have complained, or asked elsewhere."""
    from tests.browser.browsing import Browsing

    with ExitStack() as stack:
        browsing = Browsing(browser, stack)
        yield browsing
    assert browsing.faults == []


@pytest.fixture(scope="package")
def ferries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the example site with its API."""
    with sites.ferries(tmp_path_factory.mktemp("ferries")) as url:
        yield url


@pytest.fixture(scope="package")
def echoing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a site whose API says what it was asked."""
    with sites.echoing(tmp_path_factory.mktemp("echoing")) as url:
        yield url


@pytest.fixture(scope="package")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a site of 300 documents."""
    with sites.linked(tmp_path_factory.mktemp("linked")) as url:
        yield url


@pytest.fixture(scope="package")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a site in which every field and body wants to be a script."""
    with sites.hostile(tmp_path_factory.mktemp("hostile")) as url:
        yield url


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a site whose scripts and programs run; see `sites.TOKEN`."""
    with sites.running(tmp_path_factory.mktemp("running")) as url:
        yield url


@pytest.fixture(scope="package")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the same site, on which nothing runs."""
    with sites.idle(tmp_path_factory.mktemp("idle")) as url:
        yield url


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that `prosa build` makes of the example site."""
    with sites.built(tmp_path_factory.mktemp("built")) as out:
        yield out
