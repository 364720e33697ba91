"""The layer of httpx2 that connects: to the checked address, under the requested name (X8).

Loads httpx2, so only `exchange` imports it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from ssl import PROTOCOL_TLS_CLIENT, SSLContext

import httpcore2
import httpx2

from prosa.adapters.http.address import checked_address
from prosa.site.problems import HttpProblem

DEADLINE = "prosa.deadline"
"""The extension of a request that says when its exchange ends, in the seconds of the clock."""

KEPT_SECONDS = 5.0
"""How long an idle connection is kept."""

_PORTS = {"http": 80, "https": 443}


class _WatchedTransport(httpx2.HTTPTransport):
    """The transport of httpx2 over connections that are watched."""

    def __init__(self, watch: ExchangeWatch, scheme: str) -> None:
        context = _trusting() if scheme == "https" else SSLContext(PROTOCOL_TLS_CLIENT)
        super().__init__(verify=context, trust_env=False)
        # httpx2 takes no backend. What this attribute was is an empty pool, so nothing has to be closed.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=WatchedBackend(watch),
        )


@cache
def _trusting() -> SSLContext:
    """Return what TLS is checked with. Loading the certificates takes 15 ms, and they are the same for every host."""
    return httpx2.create_ssl_context(trust_env=False)


class CheckedTransport(httpx2.BaseTransport):
    """Sends a request to the checked address of its host. The `Host` header and the name in TLS stay those of the URL,
    so certificates are checked against the name. No request outlasts its `DEADLINE`, which it must have."""

    def __init__(
        self, *, allow_private: bool, clock: Callable[[], float], named: tuple[str, int] | None = None
    ) -> None:
        self._allow_private = allow_private
        self._named = named
        self._inner: dict[tuple[str, str], httpx2.HTTPTransport] = {}
        self._watch = ExchangeWatch(clock)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return one exchange. Raises `HttpProblem` for an address that is not asked, and for an answer without end."""
        host, port = request.url.raw_host.decode("ascii"), request.url.port or _PORTS[request.url.scheme]
        allowed = self._allow_private or (host, port) == self._named
        address = checked_address(host, port, allow_private=allowed)
        extensions = {**request.extensions, "sni_hostname": host}
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        # One pool for each name: two names at one address must not share a connection that TLS vouched for under one.
        pool = (request.url.scheme, host)
        if pool not in self._inner:
            self._inner[pool] = _WatchedTransport(self._watch, request.url.scheme)
        with self._watch.awaiting_head(host, extensions[DEADLINE]):
            return self._inner[pool].handle_request(sent)

    def close(self) -> None:
        """Close its connections."""
        for inner in self._inner.values():
            inner.close()


# The deadline of an exchange, down to each read and write of its connection, and the size of the head of its answer.
# In: a deadline for the exchange of each thread. Out: a backend for the pool of httpcore2. The timeouts of httpx2
# restart with every byte, and it reads interim answers (RFC 9110, 15.2) without end; neither outlasts the deadline
# (X9). Loads httpcore2, so only `transport` imports it.

MAX_HEAD = 64 * 1024
"""Bytes of the head of an answer, with all interim answers before it. Servers and proxies refuse heads of a quarter of
that; h11 would stop at 100 KiB, but counts each interim answer separately."""

_HEAD_READ = 16 * 1024
"""Bytes of one read before the head is whole: so few that `MAX_HEAD` is met before the bound of h11."""

_PIECE = 16 * 1024
"""Bytes of one write: the system accepts a piece of that size at once or not at all, so that the clock is
checked for each."""


class ExchangeWatch(threading.local):
    """The limits of the exchange in this thread; each exchange runs in one thread from start to end."""

    host = ""
    deadline = 0.0
    head: int | None = None
    """Bytes that were read of the head; None outside of it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    @contextmanager
    def awaiting_head(self, host: str, deadline: float) -> Iterator[None]:
        """Begin an exchange; the head of its answer ends with the block, the deadline (of the clock) counts on for the
        body."""
        self.host, self.deadline, self.head = host, deadline, 0
        try:
            yield
        finally:
            self.head = None

    def left(self, timeout: float | None, late: type[Exception]) -> float:
        """Return seconds that an operation may take. Raises ``late`` where there are none."""
        left = self.deadline - self._clock()
        if left <= 0:
            raise late("the deadline is over")
        return left if timeout is None else min(timeout, left)

    def room(self, wanted: int) -> int:
        """Return bytes that may be read at once. Raises `HttpProblem` where the head is not whole and has no room
        left."""
        if self.head is None:
            return wanted
        if self.head >= MAX_HEAD:
            raise HttpProblem(f"{self.host} sent more than {MAX_HEAD:,} bytes before an answer")
        return min(wanted, _HEAD_READ)

    def count(self, size: int) -> None:
        """Count bytes that were read."""
        if self.head is not None:
            self.head += size


class WatchedBackend(httpcore2.NetworkBackend):
    """Connects as httpcore2 does, within the deadline of the watch."""

    def __init__(self, watch: ExchangeWatch) -> None:
        self._watch = watch
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Return a connection. Raises `httpcore2.ConnectTimeout` and `httpcore2.ConnectError`."""
        left = self._watch.left(timeout, httpcore2.ConnectTimeout)
        return _WatchedStream(self._inner.connect_tcp(host, port, left, local_address, socket_options), self._watch)


class _WatchedStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, watch: ExchangeWatch) -> None:
        self._inner = inner
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        room = self._watch.room(max_bytes)
        data = self._inner.read(room, self._watch.left(timeout, httpcore2.ReadTimeout))
        self._watch.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        for start in range(0, len(view), _PIECE):
            left = self._watch.left(timeout, httpcore2.WriteTimeout)
            self._inner.write(bytes(view[start : start + _PIECE]), left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._watch.left(timeout, httpcore2.ConnectTimeout)
        return _WatchedStream(self._inner.start_tls(ssl_context, server_hostname, left), self._watch)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)
