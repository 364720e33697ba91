"""Pages in a real browser, each watched: complaints of the console, errors, dialogs, refusals of the policy, and
requests to any other host are faults."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Dialog, Page, Request, WebError

from tests.browser.windows import Look, Scheme, Windows
from tests.depth import DEEP

PHONE, DESK = (390, 844), (1440, 900)
SIZES = {"phone": PHONE, "desk": DESK}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LOOKS: tuple[tuple[str, Scheme], ...] = (
    tuple((size, scheme) for size in SIZES for scheme in SCHEMES) if DEEP else (("desk", "light"), ("phone", "dark"))
)
"""The sizes and schemes that a long page is looked at in: each of them once, that of a new window first; in a deep run
every pair."""


@dataclass
class Browsing:
    """Opens pages in windows of their own. ``faults`` is what was wrong with any of them; a complaint that contains
    one of ``expected`` is none. ``requests`` is all that was asked for."""

    windows: Windows
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
        page = self.window(size=size, scheme=scheme, script=script, still=still)
        page.goto(url)
        return page

    def window(
        self,
        *,
        size: tuple[int, int] = DESK,
        scheme: Scheme = "light",
        script: bool = True,
        still: bool = False,
        offline: bool = False,
    ) -> Page:
        """An empty window of ``size``, of a reader with nothing in store; ``still`` is one who wants no motion."""
        page = self.stack.enter_context(self.windows.one(Look(size, scheme, script, still), self))
        if offline:
            page.context.set_offline(True)
        return page

    def heard(self, message: ConsoleMessage) -> None:
        """What the console says."""
        told = f"{message.type}: {message.text} {message.location['url']}"
        if message.type in ("error", "warning") and not any(each in told for each in self.expected):
            self.faults.append(told)

    def failed(self, error: WebError) -> None:
        """An error that a script did not catch."""
        self.faults.append(f"error: {error.error}")

    def asked(self, dialog: Dialog) -> None:
        """A dialog, which no page opens."""
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def requested(self, request: Request) -> None:
        """A request, which goes nowhere else."""
        self.requests.append(request)
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob", "file") and where.hostname != "127.0.0.1":
            self.faults.append(f"request: {request.url}")


def looked_at(page: Page, size: tuple[int, int], scheme: Scheme) -> None:
    """The same page in a window of another size, by day or by night."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
