"""Diagnostics in the words of the protocol. In: what a check found. Out: values that the client shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from lsprotocol import types

from prosa.diagnostics import Diagnostic, Severity
from prosa.diagnostics.address import page_address
from prosa.lsp.positions import Encoding, range_of

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
    found: Iterable[Diagnostic], encoding: Encoding, uri_of: Callable[[Path], str], documentation: str
) -> list[types.Diagnostic]:
    """Return the diagnostics of one document. The code is the name of the rule, which `prosa explain` takes and a
    suppression names; it leads to the page of the rule where the address of the ``documentation`` is known."""
    return [
        types.Diagnostic(
            range=range_of(each.source.lines, each.span.start, each.span.end, encoding),
            message="\n".join((each.message, *each.notes)),
            severity=_SEVERITIES[each.severity],
            code=each.rule,
            code_description=_description(each.rule, documentation),
            source=SOURCE,
            tags=_TAGS.get(each.rule),
            related_information=[*_related(each, encoding, uri_of)] or None,
            data={"code": each.code},
        )
        for each in found
    ]


def _description(rule: str, documentation: str) -> types.CodeDescription | None:
    address = page_address(rule, documentation)
    return types.CodeDescription(address) if address else None


def _related(
    found: Diagnostic, encoding: Encoding, uri_of: Callable[[Path], str]
) -> Iterator[types.DiagnosticRelatedInformation]:
    for each in found.annotations:
        source = each.source or found.source
        location = types.Location(
            uri_of(Path(source.path)), range_of(source.lines, each.span.start, each.span.end, encoding)
        )
        yield types.DiagnosticRelatedInformation(location, each.message)
