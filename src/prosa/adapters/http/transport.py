"""The layer of httpx2 that connects: to the address that was checked, under the name that was asked for (X8).

Loads httpx2, so only `exchange` imports it.
"""

from __future__ import annotations

import httpx2

from prosa.adapters.http.address import checked_address

_PORTS = {"http": 80, "https": 443}


class CheckedTransport(httpx2.BaseTransport):
    """Sends a request to the checked address of its host. The `Host` header and the name in TLS stay those of the URL,
    so certificates are checked against the name."""

    def __init__(self, *, allow_private: bool, named: tuple[str, int] | None = None) -> None:
        self._allow_private = allow_private
        self._named = named
        self._inner: dict[str, httpx2.HTTPTransport] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange. Raises `HttpProblem` for an address that is not asked."""
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
            self._inner[host] = httpx2.HTTPTransport(trust_env=False, retries=0)
        return self._inner[host].handle_request(sent)

    def close(self) -> None:
        """Closes its connections."""
        for inner in self._inner.values():
            inner.close()
