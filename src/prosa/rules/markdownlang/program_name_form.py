"""`program-name-form`: a name that model APIs do not take as the name of a tool (LA12). It still works, changed."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.names import MAX_TOOL_NAME, tool_name
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the name."""
    model = subject.program.model
    wire = tool_name(model.name)
    if "name" in model.spans and wire != model.name:
        message = f"the name `{shown(model.name)}` is no tool name: programs that import it call it `{wire}`"
        note = f"a tool name is at most {MAX_TOOL_NAME} letters, digits, `_` and `-`"
        yield Problem("program-name-form", message, model.span("name"), (note,))
