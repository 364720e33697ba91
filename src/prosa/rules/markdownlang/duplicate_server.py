"""`duplicate-server`: two MCP servers of one name, or of names whose tools could not be told apart (L20, LA12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.model import ServerModel
from prosa.dialects.markdownlang.names import server_prefix
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name of the later one. Disabled servers have no tools and do not count."""
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
        yield Problem("duplicate-server", message, server.name_span, ("give one of them another name",), (annotation,))


def _alike(earlier: ServerModel, server: ServerModel) -> str:
    names = f"`{shown(earlier.name)}` and `{shown(server.name)}`"
    return f"the MCP servers {names} both offer their tools as `{server_prefix(server.name)}…`"
