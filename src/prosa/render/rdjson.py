"""Diagnostics as lines of reviewdog's Diagnostic Format (rdjsonl), which comments on changes at any code host."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.data import Value
from prosa.diagnostics import Applicability, Diagnostic, Severity
from prosa.diagnostics.address import page_address
from prosa.render.json import dump
from prosa.source import SourceText, Span

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO", Severity.HINT: "INFO"}


def render_rdjsonl(diagnostics: Sequence[Diagnostic], documentation: str = "") -> str:
    """Return one diagnostic per line, with the edits of a safe fix. Columns count bytes of UTF-8. Rules lead to their
    pages below the address of the ``documentation``, if that is known."""
    return "\n".join(dump(_object(each, documentation)) for each in diagnostics)


def _object(each: Diagnostic, documentation: str) -> dict[str, Value]:
    address = page_address(each.rule, documentation)
    found: dict[str, Value] = {
        "message": "\n".join((each.message, *each.notes)),
        "location": _location(each.source, each.span),
        "severity": _SEVERITIES[each.severity],
        "source": {"name": "prosa"},
        "code": {"value": f"{each.code} {each.rule}", **({"url": address} if address else {})},
    }
    if each.fix is not None and each.fix.applicability is Applicability.SAFE:
        found["suggestions"] = [
            {"range": _range(each.source, edit.span), "text": edit.replacement} for edit in each.fix.edits
        ]
    if each.annotations:
        found["related_locations"] = [
            {"message": note.message, "location": _location(note.source or each.source, note.span)}
            for note in dict.fromkeys(each.annotations)
        ]
    return found


def _location(source: SourceText, span: Span) -> dict[str, Value]:
    return {"path": source.path, "range": _range(source, span)}


def _range(source: SourceText, span: Span) -> dict[str, Value]:
    return {"start": _position(source, span.start), "end": _position(source, span.end)}


def _position(source: SourceText, offset: int) -> dict[str, Value]:
    lines = source.lines
    line = lines.line(offset)
    return {"line": line, "column": lines.byte_offset(offset) - lines.byte_offset(lines.offset(line, 1)) + 1}
