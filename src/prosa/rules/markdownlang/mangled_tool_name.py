"""`mangled-tool-name`: `mcp**server**tool`, where a formatter took the underscores for bold (LA13)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.markdownlang.names import server_tool_name
from prosa.rules.subject import ProgramSubject
from prosa.source import Edit, Span

_MANGLED = re.compile(r"(?<![A-Za-z0-9_-])mcp\*\*([A-Za-z0-9_.-]{1,64})\*\*([A-Za-z0-9_.-]{1,64})")
"""A word, not structure: the body goes to the model as text, so emphasis is not parsed away."""


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the mangled name in the body."""
    model = subject.program.model
    for match in _MANGLED.finditer(model.body):
        name = server_tool_name(match[1], match[2].rstrip("."))
        span = Span(match.start(), match.end() - (len(match[2]) - len(match[2].rstrip(".")))).shift(model.body_offset)
        fix = Fix(f"write `{name}`", (Edit(span, name),))
        yield Problem(
            "mangled-tool-name", f"this tool is called `{name}`", span, ("a formatter ate the underscores",), fix=fix
        )
