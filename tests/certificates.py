"""The certificates of the system, read once for all clients of a test worker.

A client of httpx2 reads them even where it only ever talks to the loopback interface, and hundreds of tests make one or
several: 15 ms each. A deep run leaves each client its own.
"""

from __future__ import annotations

import os
import ssl
import sys
from functools import cache

from tests.depth import DEEP


def read_once() -> None:
    """Let clients that trust the same certificates share what was read of them, where there may be clients."""
    if "httpx2" in sys.modules and not DEEP:
        _share()


@cache
def _share() -> None:
    import httpcore2

    original = httpcore2.default_ssl_context

    @cache
    def read(trusts: bool, *_named: str | None) -> ssl.SSLContext:
        return original(_trust_env=trusts)

    def shared(*, _trust_env: bool = True) -> ssl.SSLContext:
        named = [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")] if _trust_env else []
        return read(_trust_env, *named)

    httpcore2.default_ssl_context = shared
