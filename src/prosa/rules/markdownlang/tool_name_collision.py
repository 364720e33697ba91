"""`tool-name-collision`: two tools of one program with the same wire name (LA12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Annotation, Problem
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.names import PYTHON_TOOL, VISIT_TOOL, tool_name
from prosa.graph import ResolvedImport
from prosa.rules.subject import ProgramSubject


def check(subject: ProgramSubject) -> Iterator[Problem]:
    """At the import that comes later. The built-in `python` is always there, and `visit` where there are sites."""
    built_in = (PYTHON_TOOL, VISIT_TOOL) if subject.program.model.mdh else (PYTHON_TOOL,)
    first: dict[str, ResolvedImport] = {}
    for each in subject.program.imports:
        if each.path is None or each.path not in subject.closure.programs:
            continue
        name = tool_name(subject.closure.programs[each.path].model.name)
        earlier = first.setdefault(name, each)
        if name in built_in and earlier is each:
            message = f"`{shown(each.ref.text)}` is a program named `{name}`, which is the name of the built-in tool"
            yield Problem("tool-name-collision", message, each.ref.span, ("give the program another `name`",))
        elif earlier is not each:
            yield _same_name(each, earlier, name)


def _same_name(each: ResolvedImport, earlier: ResolvedImport, name: str) -> Problem:
    annotation = (Annotation(earlier.ref.span, "the first one"),)
    if earlier.path == each.path:
        message = f"`{shown(each.ref.text)}` is imported twice"
        return Problem("tool-name-collision", message, each.ref.span, ("remove one of them",), annotation)
    message = f"two imported programs would both be the tool `{name}`"
    return Problem(
        "tool-name-collision", message, each.ref.span, ("give one of the programs another `name`",), annotation
    )
