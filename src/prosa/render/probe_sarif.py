"""The report of `prosa probe` as SARIF 2.1.0: a rule for every check, a result for every line of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import quote

from prosa.data import Value
from prosa.render.json import dump
from prosa.render.sarif import SCHEMA
from prosa.site.probe.evidence import Mark
from prosa.site.probe.finding import Check, Level
from prosa.site.probe.report import Finding, Report

_LEVELS: dict[Level, str] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


def render_probe_sarif(report: Report, version: str) -> str:
    """Return one run. The score and the counts of examined pages are among its properties."""
    rules = [_rule(each.check) for each in report.findings]
    driver = {"name": "prosa", "semanticVersion": version, "rules": rules}
    results = [result for at, each in enumerate(report.findings) for result in _results(each, at)]
    properties = {
        "target": report.target,
        "score": report.score,
        "conformant": report.conformant,
        "pages": report.pages,
    }
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results, "properties": properties}
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
