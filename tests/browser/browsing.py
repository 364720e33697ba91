"""Pages in a real browser, each watched: complaints of the console, errors, dialogs, refusals of the policy, and
requests to any other host are faults."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

from tests.depth import DEEP

PHONE, DESK = (390, 844), (1440, 900)
SIZES = {"phone": PHONE, "desk": DESK}
Scheme: TypeAlias = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LOOKS: tuple[tuple[str, Scheme], ...] = (
    tuple((size, scheme) for size in SIZES for scheme in SCHEMES) if DEEP else (("phone", "dark"), ("desk", "light"))
)
"""The sizes and schemes that a long page is looked at in: each of them once, in a deep run every pair."""

LONGEST = 60_000
"""Milliseconds that anything may take before a test fails."""

WATCH = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} refuses ${event.blockedURI} ${event.sample}`);
});
"""


@dataclass
class Browsing:
    """Opens pages in contexts of their own. ``faults`` is what was wrong with any of them; a complaint that contains
    one of ``expected`` is none. ``requests`` is all that was asked for."""

    browser: Browser
    stack: ExitStack
    faults: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __call__(
        self,
        url: str,
        *,
        size: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        script: bool = True,
        still: bool = False,
    ) -> Page:
        """The page at a URL, loaded to its end."""
        page = self.context(size=size, scheme=scheme, script=script, still=still).new_page()
        page.goto(url)
        return page

    def context(
        self,
        *,
        size: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        script: bool = True,
        still: bool = False,
    ) -> BrowserContext:
        """A reader with a window of ``size``; ``still`` is one who wants no motion."""
        made = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce" if still else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
        )
        made.set_default_timeout(LONGEST)
        self.stack.callback(made.close)
        if script:
            made.add_init_script(WATCH)
        made.on("console", self._heard)
        made.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        made.on("dialog", self._asked)
        made.on("request", self._requested)
        return made

    def _heard(self, message: ConsoleMessage) -> None:
        told = f"{message.type}: {message.text} {message.location['url']}"
        if message.type in ("error", "warning") and not any(each in told for each in self.expected):
            self.faults.append(told)

    def _asked(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        self.requests.append(request)
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob", "file") and where.hostname != "127.0.0.1":
            self.faults.append(f"request: {request.url}")


def looked_at(page: Page, size: tuple[int, int], scheme: Scheme) -> None:
    """The same page in a window of another size, by day or by night."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
