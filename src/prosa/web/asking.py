"""Who asks, as far as a client may still guess (X23). In: the headers of a request, and the wrong tokens of its client.
Out: a `Reader`, or `Refused` with 429 where too many of them came; then no token is compared at all.

A token in `Authorization` is counted as one in the form for signing in is. What a site without a token is sent is not
looked at.
"""

from __future__ import annotations

from prosa.web.answer import Scope, header_of
from prosa.web.context import Web
from prosa.web.guard import client_of
from prosa.web.session import ANYBODY, Reader, is_bearer


def reader_of(web: Web, scope: Scope) -> Reader:
    """Who sends a request. Raises `Refused` for a client that has guessed too often."""
    if not is_bearer(header_of(scope, b"authorization")):
        return web.sessions.reader(scope)
    if not web.sessions.token:
        return ANYBODY
    client = client_of(scope)
    web.attempts.require(client)
    reader = web.sessions.reader(scope)
    if not reader.signed_in:
        web.attempts.failed(client)
    return reader
