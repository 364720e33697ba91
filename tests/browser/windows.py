"""Windows of the browser that tests use one after the other: a new one costs as much as two pages.

A test that ends gives its windows back. They are emptied: no page, cookie, storage, route or pointer is left. In
`make test-deep` none is used twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, Request, WebError

from tests.depth import DEEP

Scheme: TypeAlias = Literal["light", "dark"]

LONGEST = 60_000
"""Milliseconds that anything may take before a test fails."""
SOON = 10_000
"""Milliseconds that a page may take to be left."""

WATCH = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} refuses ${event.blockedURI} ${event.sample}`);
});
"""
LEAVE = """() => {
  for (const each of ["localStorage", "sessionStorage"]) try { window[each].clear(); } catch {}
  location.replace("about:blank");
}"""
"""A page that is left by itself keeps its process, which a browser that is told to leave it would end."""


class Watcher(Protocol):
    """Whoever is told what happens in a window."""

    def heard(self, message: ConsoleMessage) -> None: ...
    def failed(self, error: WebError) -> None: ...
    def asked(self, dialog: Dialog) -> None: ...
    def requested(self, request: Request) -> None: ...


@dataclass
class Look:
    """How a reader looks at pages: ``still`` is one who wants no motion."""

    size: tuple[int, int]
    scheme: Scheme = "light"
    script: bool = True
    still: bool = False

    @property
    def motion(self) -> Literal["reduce", "no-preference"]:
        """The name of ``still``."""
        return "reduce" if self.still else "no-preference"


def made(browser: Browser, look: Look) -> BrowserContext:
    """A context of its own for windows of that look."""
    context = browser.new_context(
        viewport={"width": look.size[0], "height": look.size[1]},
        color_scheme=look.scheme,
        java_script_enabled=look.script,
        reduced_motion=look.motion,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(LONGEST)
    if look.script:
        context.add_init_script(WATCH)
    return context


def watch(context: BrowserContext, watcher: Watcher) -> None:
    """Tell a watcher from now on."""
    context.on("console", watcher.heard)
    context.on("weberror", watcher.failed)
    context.on("dialog", watcher.asked)
    context.on("request", watcher.requested)


def unwatch(context: BrowserContext, watcher: Watcher) -> None:
    """Tell a watcher no longer."""
    context.remove_listener("console", watcher.heard)
    context.remove_listener("weberror", watcher.failed)
    context.remove_listener("dialog", watcher.asked)
    context.remove_listener("request", watcher.requested)


def look_at(page: Page, look: Look) -> None:
    """Show a page in that size and those colours."""
    page.set_viewport_size({"width": look.size[0], "height": look.size[1]})
    page.emulate_media(media="null", color_scheme=look.scheme, reduced_motion=look.motion)


@dataclass
class Windows:
    """The windows that no test uses at the moment, those with scripts and those without."""

    browser: Browser
    free: dict[bool, list[Page]] = field(default_factory=lambda: {True: [], False: []})

    @contextmanager
    def one(self, look: Look, watcher: Watcher) -> Iterator[Page]:
        """A window for one test."""
        page = self._ready(look)
        try:
            watch(page.context, watcher)
            yield page
        finally:
            if not DEEP and _is_emptied(page):
                unwatch(page.context, watcher)
                self.free[look.script].append(page)
            else:
                page.context.close()

    def _ready(self, look: Look) -> Page:
        if not self.free[look.script]:
            return made(self.browser, look).new_page()
        page = self.free[look.script].pop()
        look_at(page, look)
        return page


def _is_emptied(page: Page) -> bool:
    """Whether a window is as it was when it was new."""
    with suppress(Error):
        page.unroute_all()
        page.context.set_offline(False)
        page.context.clear_cookies()
        page.mouse.move(-1, -1)
        with suppress(Error):  # it may be gone before it answers
            page.evaluate(LEAVE)
        page.wait_for_url("about:blank", timeout=SOON)
        return len(page.context.pages) == 1
    return False
