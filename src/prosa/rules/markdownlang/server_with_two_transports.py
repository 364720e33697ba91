"""`server-with-two-transports`: an MCP server with both `command` and `url` (LA10)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the server's `url`."""
    for server in subject.program.model.mcp_servers:
        if server.command is not None and server.url is not None:
            message = f"the MCP server `{server.name or '?'}` has both `command` and `url`"
            yield Problem(
                "server-with-two-transports", message, server.url_span or server.span, ("remove one of them",)
            )
