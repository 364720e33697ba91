"""The MCP servers of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Annotation, Severity
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.model import ServerModel
from prosa.dialects.markdownlang.names import server_prefix
from prosa.regex import regex
from prosa.rules.markdownlang import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import ProgramSubject


@RULES.program("ML040", "server-without-transport", Severity.ERROR)
def server_without_transport(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an MCP server with neither `command` nor `url` (L7, L18). The finding points at the server's name.
    `python-interpreter` needs neither: it is the built-in tool (LA17)."""
    for server in subject.program.model.mcp_servers:
        if server.command is None and server.url is None and not server.built_in:
            message = f"the MCP server `{server.name or '?'}` has neither `command` nor `url`"
            note = "write `command:` to start a program, or `url:` to connect to a running server"
            yield Finding(message, server.name_span, (note,))


@RULES.program("ML041", "server-with-two-transports", Severity.ERROR)
def server_with_two_transports(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an MCP server with both `command` and `url` (LA10). The finding points at the server's `url`."""
    for server in subject.program.model.mcp_servers:
        if server.command is not None and server.url is not None:
            message = f"the MCP server `{server.name or '?'}` has both `command` and `url`"
            yield Finding(message, server.url_span or server.span, ("remove one of them",))


@RULES.program("ML042", "server-transport-mismatch", Severity.ERROR)
def server_transport_mismatch(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a `transport` that does not go with `command` or with `url` (LA9). The finding points at the transport."""
    for server in subject.program.model.mcp_servers:
        if server.transport == "auto" or (server.command is None) == (server.url is None):
            continue
        needs = "command" if server.transport == "stdio" else "url"
        has = "command" if server.command is not None else "url"
        if needs != has:
            message = f"the transport `{server.transport}` needs `{needs}`, and the server `{server.name}` has `{has}`"
            span = server.transport_span or server.span
            yield Finding(message, span, ("leave `transport` out to let it be found",))


_HTTP = regex(r"https?://[^\s/?#]+", re.IGNORECASE)


@RULES.program("ML043", "server-url-scheme", Severity.ERROR)
def server_url_scheme(subject: ProgramSubject) -> Iterator[Finding]:
    """Find the `url` of an MCP server that is not http or https (L18). The finding points at the URL."""
    for server in subject.program.model.mcp_servers:
        if server.url is not None and not _HTTP.match(server.url):
            message = (
                f"the URL of an MCP server starts with `http://` or `https://` and a host, not `{shown(server.url)}`"
            )
            yield Finding(message, server.url_span or server.span)


@RULES.program("ML044", "duplicate-server", Severity.ERROR)
def duplicate_server(subject: ProgramSubject) -> Iterator[Finding]:
    """Find two MCP servers of one name, or of names that give their tools the same names (L20, LA12). The finding
    points at the name of the later one. Disabled servers have no tools and do not count."""
    first: dict[str, ServerModel] = {}
    for server in subject.program.model.mcp_servers:
        if server.disabled or not server.name:
            continue
        earlier = first.setdefault(server_prefix(server.name), server)
        if earlier is server:
            continue
        same = earlier.name == server.name
        message = f"there are two MCP servers `{shown(server.name)}`" if same else _alike(earlier, server)
        annotation = Annotation(earlier.name_span, "the first one")
        yield Finding(message, server.name_span, ("give one of them another name",), (annotation,))


def _alike(earlier: ServerModel, server: ServerModel) -> str:
    names = f"`{shown(earlier.name)}` and `{shown(server.name)}`"
    return f"the MCP servers {names} both offer their tools as `{server_prefix(server.name)}…`"
