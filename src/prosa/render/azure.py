"""Diagnostics as logging commands of Azure Pipelines, which lists them with the run."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.diagnostics import Diagnostic, Severity
from prosa.render.plain import safe

_ESCAPES = {"%": "%AZP25", "\r": "%0D", "\n": "%0A", ";": "%3B", "]": "%5D"}


def render_azure(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line. There are only errors and warnings."""
    return "\n".join(map(_command, diagnostics))


def _command(each: Diagnostic) -> str:
    properties = {
        "type": "error" if each.severity is Severity.ERROR else "warning",
        "sourcepath": safe(each.path),
        "linenumber": str(each.start.line),
        "columnnumber": str(each.start.column),
        "code": each.code,
    }
    said = "".join(f"{name}={_escaped(value)};" for name, value in properties.items())
    text = " ".join(safe(line) for line in (each.message, *each.notes))
    return f"##vso[task.logissue {said}]{text} [{each.rule}]"


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)
