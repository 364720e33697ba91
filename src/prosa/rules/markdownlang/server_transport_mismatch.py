"""`server-transport-mismatch`: a `transport` that does not go with `command` or with `url` (LA9)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the transport."""
    for server in subject.program.model.mcp_servers:
        if server.transport == "auto" or (server.command is None) == (server.url is None):
            continue
        needs = "command" if server.transport == "stdio" else "url"
        has = "command" if server.command is not None else "url"
        if needs != has:
            message = f"the transport `{server.transport}` needs `{needs}`, and the server `{server.name}` has `{has}`"
            span = server.transport_span or server.span
            yield Problem("server-transport-mismatch", message, span, ("leave `transport` out to let it be found",))
