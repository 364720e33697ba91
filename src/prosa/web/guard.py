"""The checks of every request before its handler: `Host`, `Origin`, size and rate (X23). In: the head of a request.
Out: nothing, or why it is refused.

A page elsewhere must not use a reader's browser against a site on the reader's own machine: a name rebound to a
loopback address is not a name of the site, and a form of another origin changes nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct, field

from prosa.web.answer import Scope, header_of

MAX_HEAD = 32 * 1024
"""Bytes of the path and the headers of a request."""

MAX_BODY = 1024 * 1024
"""Bytes of the body of a request to the site itself."""

MAX_CLIENTS = 10_000
"""Maximum number of clients whose requests are counted."""

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
METHODS = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}


class Refusal(NamedTuple):
    """Why a request is refused."""

    status: int
    title: str
    text: str
    headers: tuple[tuple[str, str], ...] = ()


class Rate(Struct):
    """At most ``burst`` requests of a client at once, and ``per_second`` of them on average."""

    per_second: float
    burst: float
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, client: str) -> bool:
        """Return whether a client may continue; counts the request."""
        now = time.monotonic()
        left, since = self._left.pop(client, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_second)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        while len(self._left) > MAX_CLIENTS:
            self._left.popitem(last=False)
        return allowed


class Guard(Struct):
    """``hosts`` are the values of `Host` that are ours; ``origins`` those of `Origin`, beside the host's own."""

    hosts: Collection[str]
    origins: Collection[str] = ()
    changes: Rate = field(default_factory=lambda: Rate(2.0, 20.0))
    questions: Rate = field(default_factory=lambda: Rate(20.0, 60.0))

    def refusal(self, scope: Scope, *, changes: bool = True) -> Refusal | None:
        """Return why the head of a request alone refuses it. ``changes`` is False for a request that only reads,
        whatever its method."""
        host = header_of(scope, b"host").lower()
        if host not in self.hosts:
            return Refusal(421, "Wrong host", "This site is not called so. Start it with --allow-host to add a name.")
        if scope["method"] not in METHODS:
            return Refusal(501, "Unknown method", "This site does not know the method.")
        if _head_size(scope) > MAX_HEAD:
            return Refusal(431, "Too large", f"The head of a request has at most {MAX_HEAD:,} bytes.")
        return None if scope["method"] in SAFE_METHODS else self._of_change(scope, host, counted=changes)

    def too_many(self, scope: Scope) -> Refusal | None:
        """Return why a costly query is refused: the client sends too many."""
        if self.questions.allows(client_of(scope)):
            return None
        return Refusal(429, "Too many requests", "Ask again in a second.", (("retry-after", "1"),))

    def _of_change(self, scope: Scope, host: str, *, counted: bool) -> Refusal | None:
        origin = header_of(scope, b"origin")
        site = header_of(scope, b"sec-fetch-site")
        if origin and origin.lower() not in self._own(host):
            return Refusal(403, "Wrong origin", "Another site may not change anything here.")
        if not origin and site not in ("", "same-origin", "none"):
            return Refusal(403, "Wrong origin", "Another site may not change anything here.")
        length = header_of(scope, b"content-length")
        if length and not (length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= MAX_BODY):
            return Refusal(413, "Too large", f"The body of a request has at most {MAX_BODY:,} bytes.")
        if counted and not self.changes.allows(client_of(scope)):
            return Refusal(429, "Too many requests", "Ask again in a few seconds.", (("retry-after", "5"),))
        return None

    def _own(self, host: str) -> Collection[str]:
        return {f"http://{host}", f"https://{host}", *self.origins}


def client_of(scope: Scope) -> str:
    """Return the address of the client."""
    client = scope.get("client")
    return client[0] if client else ""


def _head_size(scope: Scope) -> int:
    headers = sum([len(name) + len(value) for name, value in scope["headers"]])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers
