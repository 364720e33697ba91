"""A site over a folder, asked without a server: a request as ASGI puts it, and what came back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, get_ident
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit
from uuid import uuid4

from prosa.app.site import agents, live
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.settings import Settings
from prosa.web import indexes, locate
from prosa.web.app import SiteApp
from prosa.web.context import Sessions, Web
from prosa.web.limits import Guard
from prosa.web.log import AccessLog

HOST = "127.0.0.1:8000"
READY = 60.0
TOUCHES = 1_500
"""Looks at a condition before a test gives up."""

Files = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: its status, its header lines in order, and its body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __getitem__(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.headers)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The media type alone."""
        return self["content-type"].partition(";")[0]


@dataclass(slots=True)
class Served:
    """A site that can be asked."""

    root: Path
    site: LiveSite
    app: SiteApp
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    """One event loop for all requests of the thread that made this: a loop of its own takes longer than an answer."""
    thread: int = field(default_factory=get_ident)

    def ask(
        self,
        target: str,
        accept: str | None = None,
        *,
        method: str = "GET",
        host: str | None = HOST,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        client: str = "127.0.0.1",
    ) -> Said:
        """What is said to a request. ``target`` is a path as it is sent, perhaps with a query; no fault is let pass."""
        lines = [*((("host", host),) if host is not None else ()), *headers]
        if accept is not None:
            lines.append(("accept", accept))
        answered = called(self.app, scope_of(target, method, lines, client), body)
        # `Runner.run` takes the place of the handler of Ctrl-C each time, which takes a fifth of a request.
        here = get_ident() == self.thread
        said = self.runner.get_loop().run_until_complete(answered) if here else asyncio.run(answered)
        assert not self.faults, self.faults
        return said

    def get(self, target: str, accept: str | None = None, **more: Any) -> Said:
        """The answer to GET."""
        return self.ask(target, accept, **more)

    def head(self, target: str, accept: str | None = None, **more: Any) -> Said:
        """The answer to HEAD."""
        return self.ask(target, accept, method="HEAD", **more)

    def write(self, path: str, content: str | bytes) -> Path:
        """Writes a file below the root."""
        return put(self.root, path, content)

    def until(self, condition: Callable[[], bool]) -> None:
        """Lets the site look at its files until something is so; fails after a bounded number of looks."""
        for _ in range(TOUCHES):
            if condition():
                return
            self.site.index._pace.wake.set()
            self.site.index._pace.stop.wait(0.02)
        raise AssertionError("it did not come to be so")

    def settle(self) -> None:
        """Lets the site see everything that lies in its folder now."""
        name = f"settled-{uuid4().hex}.md"
        self.write(name, "Here.\n")
        self.until(lambda: name in self.site.index.catalogue.by_path)


def scope_of(target: str, method: str, headers: Sequence[tuple[str, str]], client: str) -> dict[str, Any]:
    """The scope of a request."""
    raw, _, query = target.partition("?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": urlsplit(raw).path,
        "raw_path": raw.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": (client, 40_000),
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
    }


async def called(app: Any, scope: dict[str, Any], body: bytes = b"") -> Said:
    """The answer of an application to one request; its messages are checked on the way."""
    sent: list[dict[str, Any]] = []
    left = [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return left.pop(0) if len(left) > 1 else left[0]

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    assert start["type"] == "http.response.start"
    assert rest
    assert all(each["type"] == "http.response.body" for each in rest)
    assert not rest[-1].get("more_body", False)
    lines = tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in start["headers"])
    assert all("\r" not in each and "\n" not in each and "\0" not in each for line in lines for each in line)
    return Said(start["status"], lines, b"".join(each.get("body", b"") for each in rest))


def put(root: Path, path: str, content: str | bytes) -> Path:
    """Writes a file below a folder."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return place


@contextmanager
def cold(folder: Path, files: Files, **options: Any) -> Iterator[Served]:
    """The same while its index is being built, and never done."""
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.errors import IndexProblem

    ended = Event()

    def building(_corpus: OpenCorpus, **_more: Any) -> None:
        ended.wait(READY)
        raise IndexProblem("ended")

    with ExitStack() as stack:
        stack.enter_context(patch.object(OpenCorpus, "refresh", building))
        stack.enter_context(patch.object(indexes, "READY_SECONDS", 0.0))
        stack.enter_context(patch.object(locate, "READY_SECONDS", 0.0))
        stack.enter_context(patch.object(live, "READY_SECONDS", 0.0))
        stack.enter_context(patch.object(agents, "READY_SECONDS", 0.0))
        served = stack.enter_context(serving(folder, files, start=False, **options))
        stack.callback(ended.set)
        served.site.start()
        yield served


def again(served: Served, *, token: str = "", closed: bool = False, prefix: str = "", origin: str = "") -> Served:
    """The same site for others to ask: with sessions, limits and notes of their own."""
    return _asked_about(served.root, served.site, Web(served.site, Sessions(token), prefix, origin, closed), None)


def _asked_about(root: Path, site: LiveSite, web: Web, guard: Guard | None) -> Served:
    served = Served(root, site, SiteApp(web, guard or Guard((HOST,))))
    served.app.log = AccessLog(served.lines.append)
    served.app.fault = served.faults.append
    return served


@contextmanager
def serving(
    folder: Path,
    files: Files,
    *,
    token: str = "",
    closed: bool = False,
    prefix: str = "",
    origin: str = "",
    start: bool = True,
    environ: Mapping[str, str] | None = None,
    guard: Guard | None = None,
    **options: Any,
) -> Iterator[Served]:
    """A site over ``files`` in a folder of its own below ``folder``, with a cache of its own; ready unless ``start`` is
    False. ``options`` are those of `SiteOptions`."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    for path, content in files.items():
        put(root, path, content)
    own = {"PROSA_CACHE_DIR": str(folder / "cache"), "HOME": str(folder), **(environ or {})}
    chosen = SiteOptions(**{"name": "Harbour", "private": closed, **options})
    site = LiveSite(root.resolve(), chosen, own, Settings(), 10 * 2**20)
    served = _asked_about(root, site, Web(site, Sessions(token), prefix, origin, closed), guard)
    try:
        if start:
            site.start()
            assert site.index.wait_ready(READY) or site.index.complaint
        yield served
    finally:
        served.runner.close()
        site.close()
