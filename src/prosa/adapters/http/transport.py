"""The layer of httpx2 that connects: to the address that was checked, under the name that was asked for (X8).

Loads httpx2, so only `exchange` imports it.
"""

from __future__ import annotations

from collections.abc import Callable

import httpcore2
import httpx2

from prosa.adapters.http.address import checked_address
from prosa.adapters.http.deadline import Watch, WatchedBackend

DEADLINE = "prosa.deadline"
"""The extension of a request that says when its exchange ends, in the seconds of the clock."""

KEPT_SECONDS = 5.0
"""How long a connection that nobody uses is kept."""

_PORTS = {"http": 80, "https": 443}


class _WatchedTransport(httpx2.HTTPTransport):
    """The transport of httpx2 over connections that are watched."""

    def __init__(self, watch: Watch) -> None:
        context = httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=context, trust_env=False)
        # httpx2 takes no backend. What this attribute was is an empty pool, so nothing has to be closed.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=WatchedBackend(watch),
        )


class CheckedTransport(httpx2.BaseTransport):
    """Sends a request to the checked address of its host. The `Host` header and the name in TLS stay those of the URL,
    so certificates are checked against the name. No request outlasts its `DEADLINE`, which it must have."""

    def __init__(
        self, *, allow_private: bool, clock: Callable[[], float], named: tuple[str, int] | None = None
    ) -> None:
        self._allow_private = allow_private
        self._named = named
        self._inner: dict[str, httpx2.HTTPTransport] = {}
        self._watch = Watch(clock)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange. Raises `HttpProblem` for an address that is not asked, and for an answer without end."""
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
        if host not in self._inner:
            self._inner[host] = _WatchedTransport(self._watch)
        with self._watch.awaiting_head(host, extensions[DEADLINE]):
            return self._inner[host].handle_request(sent)

    def close(self) -> None:
        """Closes its connections."""
        for inner in self._inner.values():
            inner.close()
