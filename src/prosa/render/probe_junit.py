"""The report of `prosa probe` as JUnit XML: one suite per level, one case per check, for build servers."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from prosa.render.junit import attribute, xml_text
from prosa.render.plain import safe
from prosa.render.probe import LEVELS
from prosa.site.probe.finding import Level
from prosa.site.probe.report import Finding, Report


def render_probe_junit(report: Report, *, strict: bool = False) -> str:
    """Return the report. A failed MUST is a failure, with ``strict`` a failed SHOULD too; anything less is a passed
    case with its message on `system-out`. A check that does not apply is a skipped case."""
    fails: tuple[Level, ...] = ("MUST", "SHOULD") if strict else ("MUST",)
    failures = len(report.failed(*fails))
    head = f'<testsuites name="prosa probe" tests="{len(report.findings)}" failures="{failures}" errors="0">'
    lines = [line for level in LEVELS for line in _suite(report, level, fails)]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</testsuites>"))


def _suite(report: Report, level: Level, fails: tuple[Level, ...]) -> Iterator[str]:
    cases = [each for each in report.findings if each.check.level == level]
    failures = len(report.failed(level)) if level in fails else 0
    skipped = sum(each.status == "not-applicable" for each in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f'  <testsuite name="{level}" {counts}>'
    for each in cases:
        yield from _case(each, attribute(report.target), is_failure=level in fails)
    yield "  </testsuite>"


def _case(each: Finding, owner: str, *, is_failure: bool) -> Iterator[str]:
    head = f"    <testcase name={attribute(each.check.id)} classname={owner}"
    if each.status == "passed":
        yield f"{head}/>"
        return
    yield f"{head}>"
    if each.status == "not-applicable":
        yield f"      <skipped message={attribute(each.words)}/>"
    elif is_failure:
        text = escape(xml_text("\n".join(_said(each))))
        yield f"      <failure message={attribute(_wrong(each))} type={attribute(each.check.id)}>{text}</failure>"
    else:
        text = escape(xml_text("\n".join((_wrong(each), *_said(each)))))
        yield f"      <system-out>{text}</system-out>"
    yield "    </testcase>"


def _wrong(each: Finding) -> str:
    return f"does not hold: {each.check.headline} ({each.check.source})"


def _said(each: Finding) -> Iterator[str]:
    yield from (safe(str(mark)) for mark in each.evidence)
    if each.more:
        yield f"… and {each.more:,} more"
    yield each.check.advice
