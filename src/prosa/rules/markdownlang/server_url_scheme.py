"""`server-url-scheme`: the `url` of an MCP server that is not http or https (L18)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.rules.subject import ProgramSubject

_HTTP = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the URL."""
    for server in subject.program.model.mcp_servers:
        if server.url is not None and not _HTTP.match(server.url):
            message = (
                f"the URL of an MCP server starts with `http://` or `https://` and a host, not `{shown(server.url)}`"
            )
            yield Problem("server-url-scheme", message, server.url_span or server.span)
