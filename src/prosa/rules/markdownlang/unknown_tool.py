"""`unknown-tool`: the body tells the model to use a tool of an MCP server that the program does not have (L20)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.markdownlang.names import server_prefix
from prosa.rules.subject import ProgramSubject
from prosa.source import Span

_NAMED = re.compile(r"(?<![A-Za-z0-9_-])mcp__[A-Za-z0-9_-]{1,64}")

MAX_NAMED = 100
"""Tools of one body that are looked at."""


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name in the body. Which tools a server has is known only when it runs; which servers there are is not."""
    model = subject.program.model
    known = {server_prefix(each.name): each for each in model.mcp_servers if each.name}
    for match in [*_NAMED.finditer(model.body)][:MAX_NAMED]:
        name = match.group()
        prefix = next((each for each in known if name.startswith(each)), None)
        if prefix is not None and not known[prefix].disabled:
            continue
        server = name.split("__")[1]
        span = Span(*match.span()).shift(model.body_offset)
        if prefix is not None:
            yield Problem("unknown-tool", f"`{name}` belongs to a server that is disabled", span)
            continue
        guess = nearest(server, [each.name for each in model.mcp_servers])
        note = f"did you mean the server `{guess}`?" if guess else "declare it under `mcp_servers`"
        message = f"`{name}` is no tool: the program has no server `{server}`"
        meant = Misspelling(server, guess) if guess else None
        yield Problem("unknown-tool", message, span, (note,), misspelling=meant)
