"""The report of `prosa probe` for people and as JSON.

Text is complete without colours: each line has a mark and the word beside it. No text from a site is written
unescaped.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Value
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.site.probe.evidence import Mark
from prosa.site.probe.finding import Level, Status
from prosa.site.probe.report import Finding, Report

LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")
_SIGNS: dict[Status, str] = {"passed": "✓ passed", "failed": "✗ failed", "not-applicable": "– not applicable"}
_COLORS: dict[Status, str] = {"passed": "\x1b[32m", "failed": "\x1b[1;31m", "not-applicable": "\x1b[2m"}
_RESET = "\x1b[0m"


def render_probe(report: Report, *, color: bool = False) -> str:
    """Return the findings by level, evidence below those that failed, and at the end the verdict and the score."""
    lines = []
    for level in LEVELS:
        lines += [
            level,
            *(line for each in report.findings if each.check.level == level for line in _lines(each, color)),
        ]
        lines.append("")
    lines += [f"note: {safe(each)}" for each in report.notes]
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
    must, should = len(report.failed("MUST")), len(report.failed("SHOULD"))
    said = "every MUST holds" if report.conformant else f"{must} MUST {_do(must)} not hold"
    also = "every SHOULD that applies holds" if not should else f"{should} SHOULD {_do(should)} not hold"
    what = "page" if report.is_site else "document"
    looked = f"{report.pages:,} {what}{'' if report.pages == 1 else 's'} looked at"
    yield f"{safe(report.target)}: {said}, {also}; {looked}."
    yield f"Agent-readiness: {report.score} of 100."


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def render_probe_json(report: Report) -> str:
    """Return one object; `url` or `path` names what was probed, `line` is null where a place has no lines."""
    whole = {
        "url" if report.is_site else "path": report.target,
        "conformant": report.conformant,
        "score": report.score,
        "checks": [_check(each) for each in report.findings],
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
