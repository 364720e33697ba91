"""The front matter and the schemas of a program."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Severity
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.fields import user_setting
from prosa.dialects.markdownlang.names import MAX_TOOL_NAME, tool_name
from prosa.rules.markdownlang import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import ProgramSubject

REPORTED = (
    RULES.reported("ML001", "missing-front-matter", Severity.ERROR),
    RULES.reported("ML002", "missing-description", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML003", "missing-output", Severity.ERROR, stops="run"),
    RULES.reported("ML005", "limit-above-ceiling", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML010", "bad-schema", Severity.ERROR),
    RULES.reported("ML011", "schema-without-type", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("ML012", "unknown-schema-keyword", Severity.WARNING),
    RULES.reported("ML013", "required-without-property", Severity.WARNING),
)
"""What readers report by name."""


@RULES.program("ML004", "program-name-form", Severity.WARNING, strict=Severity.ERROR)
def program_name_form(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a name that model APIs do not take as the name of a tool (LA12); it still works, changed. The finding points
    at the name."""
    model = subject.program.model
    wire = tool_name(model.name)
    if "name" in model.spans and wire != model.name:
        message = f"the name `{shown(model.name)}` is no tool name: programs that import it call it `{wire}`"
        note = f"a tool name is at most {MAX_TOOL_NAME} letters, digits, `_` and `-`"
        yield Finding(message, model.span("name"), (note,))


@RULES.program("ML006", "setting-of-the-user", Severity.ERROR)
def setting_of_the_user(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a document that chooses an endpoint, a key, a tool or a permission (X7). The finding points at the field's
    name."""
    for entry in subject.program.model.fields or ():
        instead = user_setting(entry.key.text)
        if instead:
            message = f"`{entry.key.text}` is for the user to decide, not for a document: the line is refused"
            yield Finding(message, entry.key.span, (instead,))
