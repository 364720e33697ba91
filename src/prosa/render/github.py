"""Diagnostics as workflow commands of GitHub Actions, which shows them beside the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.diagnostics import Diagnostic, Severity
from prosa.render.plain import safe

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice", Severity.HINT: "notice"}


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line."""
    return "\n".join(_command(each) for each in diagnostics)


def _command(each: Diagnostic) -> str:
    start, end = each.start, each.end
    properties = [f"file={_property(safe(each.path))}", f"line={start.line}", f"endLine={end.line}"]
    if start.line == end.line:  # columns across lines are refused there
        properties += [f"col={start.column}", f"endColumn={end.column}"]
    properties.append(f"title={_property(f'{each.code} {each.rule}')}")
    text = "\n".join(safe(line) for line in (each.message, *each.notes))
    return f"::{_LEVELS[each.severity]} {','.join(properties)}::{_data(text)}"


def command(level: str, path: str, line: int, title: str, text: str) -> str:
    """Return a command about a line of a file."""
    words = "\n".join(safe(each) for each in text.split("\n"))
    return f"::{level} file={_property(safe(path))},line={line},title={_property(safe(title))}::{_data(words)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
