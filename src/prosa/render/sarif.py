"""Diagnostics as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import quote

from prosa.data import Value
from prosa.diagnostics import Applicability, Diagnostic, Severity
from prosa.diagnostics.address import page_address, page_path
from prosa.render.fingerprint import fingerprints
from prosa.render.json import dump
from prosa.rules.registry import page_of, rule_named
from prosa.source import SourceText, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note", Severity.HINT: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic], version: str, documentation: str = "") -> str:
    """Return one run with its rules and results. Columns count UTF-16 units, the default of SARIF. Rules link to their
    pages below the address of the ``documentation``, if that is known."""
    names = sorted({each.rule for each in diagnostics}, key=lambda name: rule_named(name).code)
    places = {name: at for at, name in enumerate(names)}
    rules = [_rule(name, documentation) for name in names]
    about = {"informationUri": documentation} if documentation else {}
    driver = {"name": "prosa", "semanticVersion": version, **about, "rules": rules}
    ids = fingerprints(diagnostics)
    results = [_result(each, places[each.rule], name) for each, name in zip(diagnostics, ids, strict=True)]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(name: str, documentation: str) -> dict[str, Value]:
    rule = rule_named(name)
    page, address = page_of(rule), page_address(name, documentation)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": name},
        "fullDescription": {"text": _first_paragraph(page) or name},
        "help": {"text": page, "markdown": page},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"page": page_path(name)},
    }


def _first_paragraph(page: str) -> str:
    """Return the first paragraph of the page of a rule, on one line."""
    paragraphs = (each for each in page.split("\n\n") if each.strip() and not each.startswith(("#", "```", "|")))
    return " ".join(next(paragraphs, "").split())


def _result(each: Diagnostic, place: int, fingerprint: str) -> dict[str, Value]:
    text = "\n".join((each.message, *each.notes))
    result: dict[str, Value] = {
        "ruleId": each.code,
        "ruleIndex": place,
        "level": _LEVELS[each.severity],
        "message": {"text": text},
        "locations": [_location(each.source, each.span)],
        "partialFingerprints": {"prosa/v1": fingerprint},
    }
    if each.annotations:
        result["relatedLocations"] = [
            {**_location(note.source or each.source, note.span), "message": {"text": note.message}}
            for note in dict.fromkeys(each.annotations)
        ]
    if each.fix is not None and each.fix.edits and each.fix.applicability is Applicability.SAFE:
        result["fixes"] = [_fix(each)]
    return result


def _fix(each: Diagnostic) -> dict[str, Value]:
    assert each.fix is not None
    replacements = [
        {"deletedRegion": _region(each.source, edit.span), "insertedContent": {"text": edit.replacement}}
        for edit in each.fix.edits
    ]
    change = {"artifactLocation": _artifact(each.source), "replacements": replacements}
    return {"description": {"text": each.fix.message}, "artifactChanges": [change]}


def _location(source: SourceText, span: Span) -> dict[str, Value]:
    return {"physicalLocation": {"artifactLocation": _artifact(source), "region": _region(source, span)}}


def _artifact(source: SourceText) -> dict[str, Value]:
    path = PurePath(source.path)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix(), errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def _region(source: SourceText, span: Span) -> dict[str, int]:
    lines = source.lines
    return {
        "startLine": lines.position(span.start).line,
        "startColumn": lines.utf16_column(span.start) + 1,
        "endLine": lines.position(span.end).line,
        "endColumn": lines.utf16_column(span.end) + 1,
    }
