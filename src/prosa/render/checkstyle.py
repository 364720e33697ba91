"""Diagnostics as XML of Checkstyle, which most build servers read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from prosa.diagnostics import Diagnostic, Severity
from prosa.render.junit import attribute

_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info", Severity.HINT: "info"}


def render_checkstyle(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the report: a `file` for each document with findings."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<checkstyle version="4.3">']
    for path, found in groupby(sorted(diagnostics, key=attrgetter("path")), key=attrgetter("path")):
        lines += [f"  <file name={attribute(path)}>", *_errors(found), "  </file>"]
    return "\n".join((*lines, "</checkstyle>"))


def _errors(found: Iterator[Diagnostic]) -> Iterator[str]:
    for each in found:
        line, column = each.start
        place = f'line="{line}" column="{column}" severity="{_SEVERITIES[each.severity]}"'
        yield f"    <error {place} message={attribute(each.message)} source={attribute(f'prosa.{each.rule}')}/>"
