"""Stored answers for repeated requests (H19): in memory, by path and `Idempotency-Key`.

In: a path, a key and a body. Out: the answer of the first such request; 409 while it runs; 422 for another body under
the same key. A request refused before its start is not stored: it may be retried.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.web.answer import Answer, Scope, header_of
from prosa.web.run.problem import Refused

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
