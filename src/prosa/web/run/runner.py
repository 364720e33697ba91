"""What the user allowed to run on a site, and what of it runs now, within places, rate, budget and wall clock (X7, X9).

There is no queue: a refused client gets 429 and keeps no connection open. Answers are kept for repeated requests by
path and `Idempotency-Key` (H19): 409 while the first one runs, 422 for another body under the same key. A request
refused before its start is not kept: it may be retried.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.app.options import Environment, Once, Options
from prosa.app.run.jobs import driving
from prosa.app.runs import Job
from prosa.app.runs.record import OpenStore
from prosa.asgi import Scope
from prosa.data import Value
from prosa.dialects.mdh.url import md_url
from prosa.dialects.table import MARKDOWNLANG
from prosa.regex import regex
from prosa.render.plain import safe
from prosa.runtime.budget import Budget
from prosa.runtime.errors import RunError
from prosa.runtime.events import Listener, ignore
from prosa.runtime.messages import Meter
from prosa.web.answer import Answer, header_of
from prosa.web.run.problem import MINUTE, Refused, too_many

if TYPE_CHECKING:
    from prosa.dialects.markdownlang import ProgramModel
    from prosa.dialects.reading import DialectReading


T = TypeVar("T")

WALL_CLOCK = 120.0
"""Default limit of a run in seconds: the reader waits for the answer."""

CLOSING_SECONDS = 10.0
"""How long cancelled runs may take to stop what they started."""


class Runner:
    """What runs on the site below ``root``.

    ``options`` and ``environment`` are the user's, ``prefix`` is the path that the site lives under.
    """

    def __init__(
        self,
        root: Path,
        options: Options,
        environment: Environment,
        budget: Budget,
        gate: Gate | None = None,
        *,
        prefix: str = "",
    ) -> None:
        """Programs import only what lies in the site (X5), and may lower the wall clock but not raise it (X9)."""
        settings = environment.settings
        if settings.wall_clock is None:
            environment = replace(environment, settings=replace(settings, wall_clock=WALL_CLOCK))
        self.root, self.options, self.environment = root, replace(options, root=root), environment
        self.budget, self.gate, self.kept = budget, gate or Gate(), KeptAnswers()
        self.prefix = prefix
        self._tasks: set[asyncio.Task[Any]] = set()
        self._about_keys = Once(environment.notice)
        self._store = OpenStore(options.journal, environment)

    def program_action(self, reading: DialectReading[object], path: str) -> tuple[Mapping[str, Value], ...]:
        """Return the action that the site adds to a program: `SiteOptions.actions`."""
        return program_action(reading, path, self.prefix)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a run. Raises `Refused` if there is no free slot, and `BudgetSpent`; then nothing was started."""
        try:
            self.budget.require()
            self.gate.enter()
        except BaseException:
            work.close()
            raise
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self.gate.leave()
        if not task.cancelled():
            task.exception()  # the client may have stopped waiting

    async def run(self, job: Job, meter: Meter, listener: Listener = ignore) -> Value:
        """Run a job, and return its output; ``meter`` counts its usage. Raises `RunError`."""
        self._store.keep_open()
        async with driving(
            self.options,
            self.environment,
            listener=listener,
            budget=self.budget,
            meter=meter,
            about_services=self._about_keys,
        ) as driver:
            await driver.require_prices([job])
            return (await driver.run(job)).output

    def tell(self, name: str, refused: Refused, error: Exception) -> None:
        """Report a failed run to the user, for reasons that concern them."""
        if refused.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            why = error.message if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
            self.environment.notice(safe(f"warning: {name} failed ({refused.status}): {why}"))

    async def aclose(self) -> None:
        """Break off what still runs, and wait until it has ended."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
        await asyncio.to_thread(self._store.close)


def keep_when_done(runner: Runner, path: str, key: str, task: asyncio.Task[Any]) -> None:
    """Keep the answer of a run for requests that repeat it."""
    task.add_done_callback(partial(runner.kept.finish, path, key))


SOON = 5
"""Seconds after which a slot may be free; the duration of a run is unknown."""


class Gate(Struct):
    """Lets runs in: at most ``at_once`` of them at a time, and ``per_minute`` in any sixty seconds."""

    at_once: int = 2
    per_minute: int = 30
    now: Callable[[], float] = time.monotonic
    inside: int = 0
    _begun: deque[float] = field(default_factory=deque)

    def enter(self) -> None:
        """Take a slot, which `leave` returns. Raises `Refused`."""
        now = self.now()
        while self._begun and now - self._begun[0] >= MINUTE:
            self._begun.popleft()
        if self.inside >= self.at_once:
            raise too_many(f"This site runs {self.at_once} at a time, and they are all busy.", SOON)
        if len(self._begun) >= self.per_minute:
            wait = math.ceil(MINUTE - (now - self._begun[0]))
            raise too_many(f"This site begins {self.per_minute} runs in a minute, and it has.", wait)
        self.inside += 1
        self._begun.append(now)

    def leave(self) -> None:
        """Return a place back."""
        self.inside -= 1


RUN = "/mdh/run"
SCHEMA = "/mdh/schema"

TOKEN_HELP = "The token of this site, as printed where it was started. It goes into the header `Authorization: Bearer`."  # noqa: S105
MAX_TITLE = 200

_ODD = regex(r"[^A-Za-z0-9_-]+")


def program_action(reading: DialectReading[object], path: str, prefix: str = "") -> tuple[Mapping[str, Value], ...]:
    """Return the action of the document at ``path``. ``prefix`` is the path of the site.

    Its id is made of the path, as `tools.greet.run`, so that it does not depend on other documents.
    """
    model = reading.model_of(MARKDOWNLANG)
    if model is None:
        return ()
    url, schema = md_url(path), input_schema(model)
    action: dict[str, Value] = {
        "id": action_id(path),
        "title": " ".join(f"Run {model.name}: {model.description}".split())[:MAX_TITLE],
        "method": "POST",
        "url": f"{prefix}{RUN}{url}",
        "accept": "application/json",
        "content_type": "application/json",
        "auth": {"type": "bearer", "token_help": TOKEN_HELP},
        "body_schema": schema,
        "response_schema": f"{prefix}{SCHEMA}{url}",
    }
    examples = _examples(schema)
    return ({**action, **({"examples": examples} if examples else {})},)


def action_id(path: str) -> str:
    """Return the id of the action of the program at ``path``, unique on a site: if the path has characters that ids
    should not have, a part of its hash is added."""
    written = path.removesuffix(".md").split("/")
    parts = [_ODD.sub("-", piece).strip("-") or "-" for piece in written]
    same = parts == written
    return ".".join((*parts, "run")) + ("" if same else f"-{sha256(path.encode('utf-8', 'replace')).hexdigest()[:6]}")


def input_schema(model: ProgramModel) -> dict[str, Value]:
    """Return what the body of the action must be. A program that declares no input takes any object."""
    value = model.input.value if model.input is not None else None
    return dict(value) if isinstance(value, dict) and value else {"type": "object"}


def output_schema(model: ProgramModel) -> dict[str, Value] | bool:
    """Return the schema of the answer of the action."""
    value = model.output.value if model.output is not None else None
    return value if isinstance(value, dict | bool) else {}


def _examples(schema: Mapping[str, Value]) -> list[Value]:
    """Return the examples that the author gave for the input."""
    examples = schema.get("examples")
    return [{"request": {"body": example}} for example in examples] if isinstance(examples, list) else []


MAX_KEPT = 1_000
MAX_KEPT_BYTES = 64 * 1024 * 1024
LIFETIME = 24 * 3600.0
"""Seconds that an answer is stored: longer than any retry."""

MAX_KEY = 255
REPLAYED = (b"idempotency-replayed", b"true")
"""Tells a client that nothing was run for this request."""

Name: TypeAlias = tuple[str, str]


class _Entry(Struct):
    digest: bytes
    until: float
    answer: Answer | None = None


class KeptAnswers(Struct):
    """At most a thousand answers of the last day, the oldest forgotten first."""

    now: Callable[[], float] = time.monotonic
    _known: OrderedDict[Name, _Entry] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def begin(self, path: str, key: str, body: bytes) -> Answer | None:
        """Return the stored answer; None for a new request, which must be finished. Raises `Refused`."""
        self._forget_old()
        digest, entry = sha256(body).digest(), self._known.get((path, key))
        if entry is None:
            self._known[path, key] = _Entry(digest, self.now() + LIFETIME)
            self._shrink()
            return None
        if entry.digest != digest:
            raise Refused(422, "This Idempotency-Key was used with another body; a new request needs a new key.")
        if entry.answer is None:
            wait = (("retry-after", "1"),)
            raise Refused(409, "The request with this Idempotency-Key still runs. Ask again later.", headers=wait)
        return replace(entry.answer, headers=(*entry.answer.headers, REPLAYED))

    def finish(self, path: str, key: str, task: asyncio.Task[Answer]) -> None:
        """Keep what came of a run; one that was broken off is forgotten."""
        if task.cancelled() or task.exception() is not None:
            self.forget(path, key)
            return
        entry = self._known.get((path, key))
        if entry is not None:
            entry.answer = task.result()
            self._bytes += len(entry.answer.body)
            self._shrink()

    def forget(self, path: str, key: str) -> None:
        """Let a key be used again."""
        entry = self._known.pop((path, key), None)
        if entry is not None and entry.answer is not None:
            self._bytes -= len(entry.answer.body)

    def _forget_old(self) -> None:
        now = self.now()
        while self._known and next(iter(self._known.values())).until <= now:
            self.forget(*next(iter(self._known)))

    def _shrink(self) -> None:
        """Forget the oldest; one that still runs is left, so that it is not run twice."""
        if len(self._known) <= MAX_KEPT and self._bytes <= MAX_KEPT_BYTES:
            return
        for name in [name for name, entry in self._known.items() if entry.answer is not None]:
            if len(self._known) <= MAX_KEPT and self._bytes <= MAX_KEPT_BYTES:
                return
            self.forget(*name)


def idempotency_key(scope: Scope) -> str:
    """Return the key of a request, empty where it has none. Raises `Refused` for one that is none."""
    key = header_of(scope, b"idempotency-key").strip()
    if len(key) > MAX_KEY or not (key.isascii() and (key.isprintable() or not key)):
        raise Refused(400, f"An Idempotency-Key has at most {MAX_KEY} visible ASCII characters.")
    return key
