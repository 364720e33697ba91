"""A site on which something runs, and a caller that speaks ASGI to it without a socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from prosa.app.options import Environment, JournalOptions, Options
from prosa.app.run.service import Chosen
from prosa.app.run.world import server_budget
from prosa.app.site.keeper import SiteOptions
from prosa.app.site.live import LiveSite
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText
from prosa.settings import Settings
from prosa.web.app import SiteApp
from prosa.web.context import Sessions, Web
from prosa.web.limits import Guard, Rate
from prosa.web.log import AccessLog
from prosa.web.run.runner import Gate, Runner
from tests.cli.programs import script as replies_file
from tests.cli.programs import user

TOKEN = "a-token-for-the-tests"
HOST = "site.test"
BEARER = {"authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

GREET = """\
---
name: greet
description: Greets a person.
input:
  type: object
  properties:
    name: {type: string}
    times: {type: integer, minimum: 1}
  required: [name]
  additionalProperties: false
  examples: [{name: Ada}]
output:
  type: object
  properties:
    greeting: {type: string}
  required: [greeting]
---
Greet {{ .name }}.
"""
GREETING = {"content": {"greeting": "Hello"}, "usage": {"input_tokens": 10, "output_tokens": 5}}


@dataclass(frozen=True)
class Reply:
    """What an endpoint sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The server-sent events, read as a browser reads them."""
        found = []
        for block in self.text.split("\n\n"):
            fields = [line.partition(": ") for line in block.split("\n") if line and not line.startswith(":")]
            if fields:
                values = {name: value for name, _, value in fields}
                found.append((values["event"], json.loads(values["data"])))
        return found


@dataclass
class Site:
    """A site, and what was logged and said of it."""

    root: Path
    web: Web
    app: SiteApp
    said: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)

    @property
    def runner(self) -> Runner:
        assert self.web.runner is not None
        return self.web.runner

    async def call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: Any = b"",
        *,
        leaves: asyncio.Event | None = None,
    ) -> Reply:
        """One request. A client that ``leaves`` goes away when the event is set."""
        sent: list[dict[str, Any]] = []
        url, _, query = path.partition("?")
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        waiting = [{"type": "http.request", "body": content, "more_body": False}]
        away = leaves or asyncio.Event()

        async def receive() -> dict[str, Any]:
            if waiting:
                return waiting.pop()
            await away.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        pairs = {"host": HOST, **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": url,
            "raw_path": url.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs.items()],
            "client": ("203.0.113.9", 1),
        }
        await self.app(scope, receive, send)
        if not sent:
            return Reply(499, {}, b"")
        head = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], head, b"".join(each.get("body", b"") for each in sent[1:]))

    async def run(self, given: Any = None, path: str = "/mdh/run/greet", **headers: str) -> Reply:
        """Calls a program as the holder of the token; underscores in names of headers are hyphens."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.call("POST", path, {**BEARER, **JSON, **more}, {"name": "Ada"} if given is None else given)

    async def press(self, address: str, text: str = "", path: str = "/mdh/scripts/page.mda", **headers: str) -> Reply:
        """Runs a script as the holder of the token, whole."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        form = urlencode({"script": address, "text": text}).encode()
        return await self.call("POST", path, {**BEARER, **FORM, **more}, form)

    async def signed_in(self) -> tuple[dict[str, str], str]:
        """The header of a session that was begun with the form, and the value that its forms carry."""
        form = urlencode({"token": TOKEN, "back": "/page"}).encode()
        found = await self.call("POST", "/mdh/sign-in", FORM, form)
        cookie = {"cookie": found.headers["set-cookie"].partition(";")[0]}
        scope = {"headers": [(b"cookie", cookie["cookie"].encode())]}
        return cookie, self.web.sessions.reader(scope).csrf


@contextmanager
def site(
    root: Path,
    *replies: Mapping[str, Any],
    prefix: str = "",
    allow: bool = True,
    reaching: bool = False,
    at_once: int = 2,
    per_minute: int = 30,
    budget: str | None = None,
    wall_clock: float | None = None,
    agreed: bool = True,
    model: str | None = None,
    journal: JournalOptions | None = None,
) -> Iterator[Site]:
    """The site of a folder; everything that runs gets ``replies`` from the first one on."""
    root = root.resolve()
    beside = root.parent / f"{root.name}-beside"
    beside.mkdir(exist_ok=True)
    own = {"PROSA_CACHE_DIR": str(beside / "cache"), "PROSA_CONFIG_DIR": str(beside / "config")}
    environ = user(beside, **own, **({} if agreed else {"MARKDOWNLANG_AGREE": ""}))
    said: list[str] = []
    logged: list[str] = []
    settings = Settings()
    model = model or replies_file(beside, *(replies or (GREETING,)))
    choices = Options(model=model, wall_clock=wall_clock, retries=0, journal=journal, allow_servers=reaching)
    around = Environment(environ, settings, said.append)
    made = server_budget(None if budget is None else Decimal(budget), around)
    runner = Runner(root, choices, around, made, Gate(at_once, per_minute), prefix=prefix)
    options = SiteOptions("Tests", actions=runner.program_action if allow else None)
    live = LiveSite(root, options, environ, settings, 10_000_000)
    web = Web(live, Sessions(TOKEN), prefix, runner=runner if allow else None)
    guard = Guard({HOST}, changes=Rate(1e6, 1e6), questions=Rate(1e6, 1e6))
    live.start()
    try:
        yield Site(root, web, SiteApp(web, guard, AccessLog(logged.append), None, said.append), said, logged)
    finally:
        live.close()


@dataclass
class Slow:
    """A provider that says something and then thinks until it is broken off."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    broken_off: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        if on_text is not None:
            on_text("One moment")
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.broken_off += 1
            self.over.set()
        raise AssertionError

    async def aclose(self) -> None:
        pass

    async def asked_by(self, calling: asyncio.Task[Reply]) -> None:
        """Waits until the request has come so far."""
        begun = asyncio.create_task(self.begun.wait())
        await asyncio.wait({begun, calling}, return_when=asyncio.FIRST_COMPLETED)
        assert self.begun.is_set(), calling.result()


def answered_by(monkeypatch: Any, provider: Any) -> None:
    """Everything that runs is answered by this provider."""

    async def chosen(*_: Any) -> Chosen:
        return Chosen(provider)

    monkeypatch.setattr("prosa.app.run.service.choose_provider", chosen)


def greeting(folder: Path, name: str = "greet.md", more: str = "") -> Path:
    """A folder with a program; ``more`` is further front matter."""
    place = folder / "site" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(GREET.replace("output:\n", f"{more}output:\n", 1), encoding="utf-8")
    return folder / "site"
