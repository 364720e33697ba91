"""Diagnostics in the formats of code hosts, build servers and editors: SARIF, commands of GitHub and Azure, Code
Quality of GitLab, rdjsonl of reviewdog, Checkstyle, JUnit, and Markdown for the summary of a job."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from prosa.data import Plain
from prosa.diagnostics import Applicability, Diagnostic, Severity
from prosa.diagnostics.address import page_address, page_path
from prosa.regex import regex
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.rules.registry import page_of, rule_named
from prosa.source import SourceText, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note", Severity.HINT: "note"}


def render_sarif(
    diagnostics: Sequence[Diagnostic], version: str, documentation: str = "", known: Sequence[Diagnostic] | None = None
) -> str:
    """Return one run with its rules and results. Columns count UTF-16 units, the default of SARIF. Rules link to their
    pages below the address of the ``documentation``, if that is known. Under a baseline, ``known`` are the findings in
    it: unchanged and suppressed results, while the others are new."""
    listed = (*diagnostics, *(known or ()))
    names = sorted({diagnostic.rule for diagnostic in listed}, key=lambda name: rule_named(name).code)
    places = {name: at for at, name in enumerate(names)}
    rules = [_rule(name, documentation) for name in names]
    about = {"informationUri": documentation} if documentation else {}
    driver: dict[str, Plain] = {"name": "prosa", "semanticVersion": version, **about, "rules": rules}
    ids = fingerprints(listed)
    results = [_result(diagnostic, places[diagnostic.rule], name) for diagnostic, name in zip(listed, ids, strict=True)]
    if known is not None:
        results = [_compared(result, at < len(diagnostics)) for at, result in enumerate(results)]
    run: dict[str, Plain] = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _compared(result: dict[str, Plain], is_new: bool) -> dict[str, Plain]:
    """Return a result with what a baseline says of it."""
    if is_new:
        return {**result, "baselineState": "new", "suppressions": []}
    return {**result, "baselineState": "unchanged", "suppressions": [{"kind": "external", "status": "accepted"}]}


def _rule(name: str, documentation: str) -> dict[str, Plain]:
    rule = rule_named(name)
    page, address = page_of(rule), page_address(name, documentation)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": name},
        "fullDescription": {"text": _first_paragraph(page) or name},
        "help": {"text": page, "markdown": page},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
        "properties": {"page": page_path(name)},
    }


def _first_paragraph(page: str) -> str:
    """Return the first paragraph of the page of a rule, on one line."""
    paragraphs = (part for part in page.split("\n\n") if part.strip() and not part.startswith(("#", "```", "|")))
    return " ".join(next(paragraphs, "").split())


def _result(diagnostic: Diagnostic, place: int, fingerprint: str) -> dict[str, Plain]:
    text = "\n".join((diagnostic.message, *diagnostic.notes))
    result: dict[str, Plain] = {
        "ruleId": diagnostic.code,
        "ruleIndex": place,
        "level": _SARIF_LEVELS[diagnostic.severity],
        "message": {"text": text},
        "locations": [_sarif_location(diagnostic.source, diagnostic.span)],
        "partialFingerprints": {"prosa/v1": fingerprint},
    }
    if diagnostic.annotations:
        result["relatedLocations"] = [
            {**_sarif_location(note.source or diagnostic.source, note.span), "message": {"text": note.message}}
            for note in dict.fromkeys(diagnostic.annotations)
        ]
    if diagnostic.fix is not None and diagnostic.fix.edits and diagnostic.fix.applicability is Applicability.SAFE:
        result["fixes"] = [_fix(diagnostic)]
    return result


def _fix(diagnostic: Diagnostic) -> dict[str, Plain]:
    assert diagnostic.fix is not None
    replacements: list[Plain] = [
        {"deletedRegion": _region(diagnostic.source, edit.span), "insertedContent": {"text": edit.replacement}}
        for edit in diagnostic.fix.edits
    ]
    change: dict[str, Plain] = {"artifactLocation": _artifact(diagnostic.source), "replacements": replacements}
    return {"description": {"text": diagnostic.fix.message}, "artifactChanges": [change]}


def _sarif_location(source: SourceText, span: Span) -> dict[str, Plain]:
    return {"physicalLocation": {"artifactLocation": _artifact(source), "region": _region(source, span)}}


def _artifact(source: SourceText) -> dict[str, Plain]:
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


_GITHUB_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
    Severity.HINT: "notice",
}


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line."""
    return "\n".join(_github_command(diagnostic) for diagnostic in diagnostics)


def _github_command(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.start, diagnostic.end
    properties = [f"file={_property(safe(diagnostic.path))}", f"line={start.line}", f"endLine={end.line}"]
    if start.line == end.line:  # columns across lines are refused there
        properties += [f"col={start.column}", f"endColumn={end.column}"]
    properties.append(f"title={_property(f'{diagnostic.code} {diagnostic.rule}')}")
    text = "\n".join(safe(line) for line in (diagnostic.message, *diagnostic.notes))
    return f"::{_GITHUB_LEVELS[diagnostic.severity]} {','.join(properties)}::{_data(text)}"


def command(level: str, path: str, line: int, title: str, text: str) -> str:
    """Return a command about a line of a file."""
    words = "\n".join(safe(part) for part in text.split("\n"))
    return f"::{level} file={_property(safe(path))},line={line},title={_property(safe(title))}::{_data(words)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info", Severity.HINT: "info"}


def render_gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a JSON list with an entry for each diagnostic."""
    ids = fingerprints(diagnostics)
    return dump([_entry(diagnostic, name) for diagnostic, name in zip(diagnostics, ids, strict=True)], indent=2)


def _entry(diagnostic: Diagnostic, fingerprint: str) -> dict[str, Plain]:
    return {
        "description": f"{diagnostic.message} ({diagnostic.rule})",
        "check_name": diagnostic.rule,
        "fingerprint": fingerprint,
        "severity": _GITLAB_SEVERITIES[diagnostic.severity],
        "location": {"path": diagnostic.path, "lines": {"begin": diagnostic.start.line, "end": diagnostic.end.line}},
    }


_AZURE_ESCAPES = {"%": "%AZP25", "\r": "%0D", "\n": "%0A", ";": "%3B", "]": "%5D"}


def render_azure(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one command per line. There are only errors and warnings."""
    return "\n".join(map(_azure_command, diagnostics))


def _azure_command(diagnostic: Diagnostic) -> str:
    properties = {
        "type": "error" if diagnostic.severity is Severity.ERROR else "warning",
        "sourcepath": safe(diagnostic.path),
        "linenumber": str(diagnostic.start.line),
        "columnnumber": str(diagnostic.start.column),
        "code": diagnostic.code,
    }
    attributes = "".join(f"{name}={_azure_escaped(value)};" for name, value in properties.items())
    text = " ".join(safe(line) for line in (diagnostic.message, *diagnostic.notes))
    return f"##vso[task.logissue {attributes}]{text} [{diagnostic.rule}]"


def _azure_escaped(text: str) -> str:
    return "".join(_AZURE_ESCAPES.get(character, character) for character in text)


_RDJSON_SEVERITIES = {
    Severity.ERROR: "ERROR",
    Severity.WARNING: "WARNING",
    Severity.INFO: "INFO",
    Severity.HINT: "INFO",
}


def render_rdjsonl(diagnostics: Sequence[Diagnostic], documentation: str = "") -> str:
    """Return one diagnostic per line, with the edits of a safe fix. Columns count bytes of UTF-8. Rules lead to their
    pages below the address of the ``documentation``, if that is known."""
    return "\n".join(dump(_object(diagnostic, documentation)) for diagnostic in diagnostics)


def _object(diagnostic: Diagnostic, documentation: str) -> dict[str, Plain]:
    address = page_address(diagnostic.rule, documentation)
    fields: dict[str, Plain] = {
        "message": "\n".join((diagnostic.message, *diagnostic.notes)),
        "location": _rdjson_location(diagnostic.source, diagnostic.span),
        "severity": _RDJSON_SEVERITIES[diagnostic.severity],
        "source": {"name": "prosa"},
        "code": {"value": f"{diagnostic.code} {diagnostic.rule}", **({"url": address} if address else {})},
    }
    if diagnostic.fix is not None and diagnostic.fix.applicability is Applicability.SAFE:
        fields["suggestions"] = [
            {"range": _range(diagnostic.source, edit.span), "text": edit.replacement} for edit in diagnostic.fix.edits
        ]
    if diagnostic.annotations:
        fields["related_locations"] = [
            {"message": note.message, "location": _rdjson_location(note.source or diagnostic.source, note.span)}
            for note in dict.fromkeys(diagnostic.annotations)
        ]
    return fields


def _rdjson_location(source: SourceText, span: Span) -> dict[str, Plain]:
    return {"path": source.path, "range": _range(source, span)}


def _range(source: SourceText, span: Span) -> dict[str, Plain]:
    return {"start": _position(source, span.start), "end": _position(source, span.end)}


def _position(source: SourceText, offset: int) -> dict[str, Plain]:
    lines = source.lines
    line = lines.line(offset)
    return {"line": line, "column": lines.byte_offset(offset) - lines.byte_offset(lines.offset(line, 1)) + 1}


_CHECKSTYLE_SEVERITIES = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "info",
    Severity.HINT: "info",
}


def render_checkstyle(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the report: a `file` for each document with findings."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<checkstyle version="4.3">']
    for path, group in groupby(sorted(diagnostics, key=attrgetter("path")), key=attrgetter("path")):
        lines += [f"  <file name={attribute(path)}>", *_errors(group), "  </file>"]
    return "\n".join((*lines, "</checkstyle>"))


def _errors(diagnostics: Iterator[Diagnostic]) -> Iterator[str]:
    for diagnostic in diagnostics:
        line, column = diagnostic.start
        place = f'line="{line}" column="{column}" severity="{_CHECKSTYLE_SEVERITIES[diagnostic.severity]}"'
        message, source = attribute(diagnostic.message), attribute(f"prosa.{diagnostic.rule}")
        yield f"    <error {place} message={message} source={source}/>"


_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(diagnostics: Sequence[Diagnostic], paths: Sequence[str]) -> str:
    """Return the report. An error is a failure; anything less is a passed case with its message on `system-out`."""
    by_path: dict[str, list[Diagnostic]] = {path: [] for path in paths}
    for diagnostic in diagnostics:
        by_path.setdefault(diagnostic.path, []).append(diagnostic)
    failures = sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    tests = sum(len(problems) or 1 for problems in by_path.values())
    head = f'<testsuites name="prosa check" tests="{tests}" failures="{failures}" errors="0">'
    lines = [line for path, problems in by_path.items() for line in _suite(path, problems)]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</testsuites>"))


def _suite(path: str, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    failures = sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    name = attribute(path)
    yield f'  <testsuite name={name} tests="{len(diagnostics) or 1}" failures="{failures}" errors="0">'
    if not diagnostics:
        yield f'    <testcase name="check" classname={name}/>'
    for diagnostic in diagnostics:
        yield from _case(diagnostic, name)
    yield "  </testsuite>"


def _case(diagnostic: Diagnostic, name: str) -> Iterator[str]:
    line, column = diagnostic.start
    place = attribute(f"{diagnostic.code} {diagnostic.rule} {line}:{column}")
    text = escape(xml_text("\n".join((f"{diagnostic.path}:{line}:{column}", *diagnostic.notes))))
    yield f"    <testcase name={place} classname={name}>"
    if diagnostic.severity is Severity.ERROR:
        message, rule = attribute(diagnostic.message), attribute(diagnostic.rule)
        yield f"      <failure message={message} type={rule}>{text}</failure>"
    else:
        yield f"      <system-out>{escape(xml_text(f'{diagnostic.severity}: {diagnostic.message}'))}</system-out>"
    yield "    </testcase>"


def attribute(text: str) -> str:
    """Return a text as an attribute, on one line and in quotes."""
    return quoteattr(xml_text(safe(text)))


def xml_text(text: str) -> str:
    """Return the text without characters that XML has not."""
    return _NOT_XML.sub("\ufffd", text)


MOST = 100
"""Rows of the table; hosts cut long summaries off."""

_ORDER = list(Severity)
_MARKUP = regex(r"([\\`*_{}\[\]<>()#+!|~&@:-])")


def render_markdown(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """Return the summary of a check of so many documents."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    counted = ", ".join(_count(counts[severity], severity.value) for severity in Severity if counts[severity])
    head = f"### Prosa: {counted or 'nothing found'} in {_count(files, 'document')}"
    if not diagnostics:
        return head
    worst = sorted(diagnostics, key=lambda diagnostic: _ORDER.index(diagnostic.severity))[:MOST]
    lines = [head, "", "| | Where | What | Rule |", "|---|---|---|---|", *map(_row, worst)]
    if len(diagnostics) > MOST:
        lines += ["", f"{len(diagnostics) - MOST:,} more {'is' if len(diagnostics) == MOST + 1 else 'are'} in the log."]
    return "\n".join(lines)


def _row(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.path}:{diagnostic.start.line}:{diagnostic.start.column}"
    cells = (diagnostic.severity, _text_only(where), _text_only(diagnostic.message), _text_only(diagnostic.rule))
    return f"| {' | '.join(cells)} |"


def _text_only(text: str) -> str:
    """Return a text that is only text, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(safe(text).split()))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def fingerprints(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """SHA-256 in hex for each diagnostic, in their order."""
    seen: Counter[tuple[str, ...]] = Counter()
    digests: list[str] = []
    for diagnostic in diagnostics:
        parts = (diagnostic.path, diagnostic.rule, diagnostic.message, _line(diagnostic))
        seen[parts] += 1
        text = "\0".join((*parts, str(seen[parts])))
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return digests


def _line(diagnostic: Diagnostic) -> str:
    """Return the line of a finding without the space around it; empty for a text that may not be quoted."""
    return diagnostic.source.lines.line_text(diagnostic.start.line).strip() if diagnostic.source.quotable else ""
