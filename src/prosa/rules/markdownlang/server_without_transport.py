"""`server-without-transport`: an MCP server with neither `command` nor `url` (L7, L18)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the server's name. `python-interpreter` needs neither: it is the built-in tool (LA17)."""
    for server in subject.program.model.mcp_servers:
        if server.command is None and server.url is None and not server.built_in:
            message = f"the MCP server `{server.name or '?'}` has neither `command` nor `url`"
            note = "write `command:` to start a program, or `url:` to connect to a running server"
            yield Problem("server-without-transport", message, server.name_span, (note,))
