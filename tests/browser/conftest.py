"""The browser, the sites that it looks at, and what every page is watched for.

All of it lasts as long as the tests of this folder: an event loop that a browser needs would be in the way of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import sites
from tests.browser.presence import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.browsing import Browsing
    from tests.browser.windows import Windows

collect_ignore_glob = [] if chromium() else ["test_*.py"]

UNUSED = (
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch"
)
"""What of the browser is switched off: the pages of its own address bar, which it loads for every window in processes
of their own and which cost as much as the rest of a test, a process in store, and what Playwright switches off, whose
list this one replaces."""

ARGUMENTS = (
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    f"--disable-features={UNUSED}",
)
"""Names of other hosts are not even looked up."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS), headless=True)
        yield made
        made.close()


@pytest.fixture(scope="package")
def windows(browser: Browser) -> Windows:
    """The windows of the browser."""
    from tests.browser.windows import Windows

    return Windows(browser)


@pytest.fixture
def browse(windows: Windows) -> Iterator[Browsing]:
    """Opens pages; at the end of a test none of them may have complained, or asked elsewhere."""
    from tests.browser.browsing import Browsing

    with ExitStack() as stack:
        browsing = Browsing(windows, stack)
        yield browsing
    assert browsing.faults == []


def _package_site(name: str) -> Any:
    """A fixture of the package: what ``sites`` gives under that name, the URL of a running site or a built folder."""

    @pytest.fixture(scope="package", name=name)
    def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        with getattr(sites, name)(tmp_path_factory.mktemp(name)) as found:
            yield found

    return site


ferries = _package_site("ferries")
echoing = _package_site("echoing")
linked = _package_site("linked")
vault = _package_site("vault")
hostile = _package_site("hostile")
running = _package_site("running")
idle = _package_site("idle")
built = _package_site("built")
