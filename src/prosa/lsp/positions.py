"""Positions as the protocol counts them, lines from 0 and columns in units of the agreed encoding; diagnostics in its
words.

A position outside the text is the nearest one inside it, and one within a character is the beginning of that character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from lsprotocol import types

from prosa.diagnostics import Diagnostic, Severity
from prosa.diagnostics.address import page_address
from prosa.source import LineIndex

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def position_at(lines: LineIndex, offset: int, encoding: Encoding) -> types.Position:
    """Return the position of a character."""
    line, column = lines.position(offset)
    if encoding == "utf-16":
        return types.Position(line - 1, lines.utf16_column(offset))
    if encoding == "utf-8":
        return types.Position(line - 1, lines.byte_offset(offset) - lines.byte_offset(lines.starts[line - 1]))
    return types.Position(line - 1, column - 1)


def range_of(lines: LineIndex, start: int, end: int, encoding: Encoding) -> types.Range:
    """Return the range from one character up to another."""
    return types.Range(position_at(lines, start, encoding), position_at(lines, end, encoding))


def offset_at(lines: LineIndex, position: types.Position, encoding: Encoding) -> int:
    """Return the character at a position."""
    if position.line >= lines.count:
        return len(lines.text)
    text = lines.line_text(position.line + 1)
    return lines.starts[position.line] + _characters(text, position.character, encoding)


def _characters(text: str, units: int, encoding: Encoding) -> int:
    """Return how many whole characters of a line fit into these units."""
    if encoding == "utf-32" or text.isascii():
        return min(units, len(text))
    if encoding == "utf-16":
        return _whole(text, text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "surrogatepass"))
    data = text.encode("utf-8", "surrogatepass")
    end = min(units, len(data))
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return len(data[:end].decode("utf-8", "surrogatepass"))


def _whole(text: str, cut: str) -> int:
    """Return how many characters of a line a cut has, without half of one at its end."""
    return len(cut) - 1 if cut and text[len(cut) - 1] != cut[-1] else len(cut)


SOURCE = "prosa"

_SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = MappingProxyType(
    {
        Severity.ERROR: types.DiagnosticSeverity.Error,
        Severity.WARNING: types.DiagnosticSeverity.Warning,
        Severity.INFO: types.DiagnosticSeverity.Information,
        Severity.HINT: types.DiagnosticSeverity.Hint,
    }
)


_TAGS: Mapping[str, list[types.DiagnosticTag]] = MappingProxyType(
    {
        "unused-input": [types.DiagnosticTag.Unnecessary],
        "unused-suppression": [types.DiagnosticTag.Unnecessary],
        "deprecated-payload-mime": [types.DiagnosticTag.Deprecated],
    }
)
"""How editors draw what some rules find: faded, or struck out."""


def protocol_diagnostics(
    diagnostics: Iterable[Diagnostic], encoding: Encoding, uri_of: Callable[[Path], str], documentation: str
) -> list[types.Diagnostic]:
    """Return the diagnostics of one document. The code is the name of the rule, which `prosa explain` takes and a
    suppression names; it leads to the page of the rule where the address of the ``documentation`` is known."""
    return [
        types.Diagnostic(
            range=range_of(diagnostic.source.lines, diagnostic.span.start, diagnostic.span.end, encoding),
            message="\n".join((diagnostic.message, *diagnostic.notes)),
            severity=_SEVERITIES[diagnostic.severity],
            code=diagnostic.rule,
            code_description=_description(diagnostic.rule, documentation),
            source=SOURCE,
            tags=_TAGS.get(diagnostic.rule),
            related_information=[*_related(diagnostic, encoding, uri_of)] or None,
            data={"code": diagnostic.code},
        )
        for diagnostic in diagnostics
    ]


def _description(rule: str, documentation: str) -> types.CodeDescription | None:
    address = page_address(rule, documentation)
    return types.CodeDescription(address) if address else None


def _related(
    diagnostic: Diagnostic, encoding: Encoding, uri_of: Callable[[Path], str]
) -> Iterator[types.DiagnosticRelatedInformation]:
    for annotation in diagnostic.annotations:
        source = annotation.source or diagnostic.source
        location = types.Location(
            uri_of(Path(source.path)), range_of(source.lines, annotation.span.start, annotation.span.end, encoding)
        )
        yield types.DiagnosticRelatedInformation(location, annotation.message)
