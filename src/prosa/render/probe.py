"""The report of `prosa probe` for people, as JSON, as JUnit XML and as SARIF.

Text is complete without colours: each line has a mark and the word beside it. No text from a site is written unescaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import quote
from xml.sax.saxutils import escape

from prosa.data import Plain, Value
from prosa.render.formats import SCHEMA, attribute, xml_text
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.site.probe.evidence import Check, Level, Mark, Status
from prosa.site.probe.report import Finding, Report

LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")
_SIGNS: dict[Status, str] = {"passed": "✓ passed", "failed": "✗ failed", "not-applicable": "– not applicable"}
_COLORS: dict[Status, str] = {"passed": "\x1b[32m", "failed": "\x1b[1;31m", "not-applicable": "\x1b[2m"}
_RESET = "\x1b[0m"


def render_probe(report: Report, *, color: bool = False) -> str:
    """Return the findings by level, evidence below those that failed, and at the end the verdict and the score."""
    lines = []
    for level in LEVELS:
        level_lines = [
            line for finding in report.findings if finding.check.level == level for line in _lines(finding, color)
        ]
        lines += [level, *level_lines, ""] if level_lines else []
    lines += [f"note: {safe(note)}" for note in report.notes]
    return "\n".join((*lines, *_verdict(report)))


def _lines(finding: Finding, color: bool) -> Iterator[str]:
    check, sign = finding.check, _SIGNS[finding.status]
    painted = f"{_COLORS[finding.status]}{sign}{_RESET}" if color else sign
    yield f"  {painted}: {check.headline} ({safe(finding.words)}) [{check.id}; {check.source}]"
    if finding.status != "failed":
        return
    for mark in finding.evidence:
        yield f"      {safe(str(mark))}"
    if finding.more:
        yield f"      … and {finding.more:,} more"
    yield f"      help: {check.advice}"


def _verdict(report: Report) -> Iterator[str]:
    if all(finding.check.level == "MAY" for finding in report.findings):
        wrong, there = (
            report.failed("MAY"),
            [finding for finding in report.findings if finding.status != "not-applicable"],
        )
        yield f"{safe(report.target)}: {len(there) - len(wrong)} of {len(there)} files that agents look for hold."
        return
    must, should = len(report.failed("MUST")), len(report.failed("SHOULD"))
    outcome = "every MUST holds" if report.conformant else f"{must} MUST {_do(must)} not hold"
    also = "every SHOULD that applies holds" if not should else f"{should} SHOULD {_do(should)} not hold"
    what = "page" if report.is_site else "document"
    looked = f"{report.pages:,} {what}{'' if report.pages == 1 else 's'} looked at"
    yield f"{safe(report.target)}: {outcome}, {also}; {looked}."
    yield f"Agent-readiness: {report.score} of 100."


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def render_probe_json(report: Report) -> str:
    """Return one object; `url` or `path` names what was probed, `line` is null where a place has no lines."""
    whole: dict[str, Plain] = {
        "url" if report.is_site else "path": report.target,
        "conformant": report.conformant,
        "score": report.score,
        "checks": [_check(finding) for finding in report.findings],
        "pages": report.pages,
        "notes": list(report.notes),
    }
    return dump(whole, indent=2)


def _check(finding: Finding) -> dict[str, Value]:
    check = finding.check
    return {
        "id": check.id,
        "level": check.level,
        "source": check.source,
        "status": finding.status,
        "headline": check.headline,
        "looked_at": finding.words,
        "evidence": [_evidence(mark) for mark in finding.evidence],
        "more": finding.more,
        "fix": check.advice if finding.status == "failed" else None,
    }


def _evidence(mark: Mark) -> dict[str, Value]:
    return {"at": mark.at, "line": mark.line, "message": mark.message}


def render_probe_junit(report: Report, *, strict: bool = False) -> str:
    """Return the report. A failed MUST is a failure, with ``strict`` a failed SHOULD too; anything less is a passed
    case with its message on `system-out`. A check that does not apply is a skipped case."""
    fails: tuple[Level, ...] = ("MUST", "SHOULD") if strict else ("MUST",)
    failures = len(report.failed(*fails))
    head = f'<testsuites name="prosa probe" tests="{len(report.findings)}" failures="{failures}" errors="0">'
    lines = [line for level in LEVELS for line in _suite(report, level, fails)]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</testsuites>"))


def _suite(report: Report, level: Level, fails: tuple[Level, ...]) -> Iterator[str]:
    cases = [finding for finding in report.findings if finding.check.level == level]
    failures = len(report.failed(level)) if level in fails else 0
    skipped = sum(case.status == "not-applicable" for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f'  <testsuite name="{level}" {counts}>'
    for case in cases:
        yield from _case(case, attribute(report.target), is_failure=level in fails)
    yield "  </testsuite>"


def _case(finding: Finding, owner: str, *, is_failure: bool) -> Iterator[str]:
    head = f"    <testcase name={attribute(finding.check.id)} classname={owner}"
    if finding.status == "passed":
        yield f"{head}/>"
        return
    yield f"{head}>"
    if finding.status == "not-applicable":
        yield f"      <skipped message={attribute(finding.words)}/>"
    elif is_failure:
        text = escape(xml_text("\n".join(_said(finding))))
        yield f"      <failure message={attribute(_wrong(finding))} type={attribute(finding.check.id)}>{text}</failure>"
    else:
        text = escape(xml_text("\n".join((_wrong(finding), *_said(finding)))))
        yield f"      <system-out>{text}</system-out>"
    yield "    </testcase>"


def _wrong(finding: Finding) -> str:
    return f"does not hold: {finding.check.headline} ({finding.check.source})"


def _said(finding: Finding) -> Iterator[str]:
    yield from (safe(str(mark)) for mark in finding.evidence)
    if finding.more:
        yield f"… and {finding.more:,} more"
    yield finding.check.advice


_LEVELS: dict[Level, str] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


def render_probe_sarif(report: Report, version: str) -> str:
    """Return one run. The score and the counts of examined pages are among its properties."""
    rules = [_rule(finding.check) for finding in report.findings]
    driver: dict[str, Plain] = {"name": "prosa", "semanticVersion": version, "rules": rules}
    results = [result for at, finding in enumerate(report.findings) for result in _results(finding, at)]
    properties: dict[str, Value] = {
        "target": report.target,
        "score": report.score,
        "conformant": report.conformant,
        "pages": report.pages,
    }
    run: dict[str, Plain] = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": results,
        "properties": properties,
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(check: Check) -> dict[str, Value]:
    return {
        "id": check.id,
        "shortDescription": {"text": check.headline},
        "help": {"text": check.advice},
        "defaultConfiguration": {"level": _LEVELS[check.level]},
        "properties": {"tags": [check.level, check.source]},
    }


def _results(finding: Finding, at: int) -> Iterator[dict[str, Value]]:
    if finding.status != "failed":
        return
    check = finding.check
    for number, mark in enumerate(finding.evidence):
        last = number == len(finding.evidence) - 1
        more = f" (and {finding.more:,} more)" if finding.more and last else ""
        yield {
            "ruleId": check.id,
            "ruleIndex": at,
            "level": _LEVELS[check.level],
            "message": {"text": f"{mark.message}{more}\n{check.advice}"},
            "locations": [_location(mark)],
        }


def _location(mark: Mark) -> dict[str, Value]:
    place: dict[str, Value] = {"artifactLocation": {"uri": _uri(mark.at)}}
    if mark.line is not None:
        place["region"] = {"startLine": mark.line}
    return {"physicalLocation": place}


def _uri(at: str) -> str:
    if "://" in at:
        return at
    path = PurePath(at)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
