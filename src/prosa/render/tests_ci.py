"""The results of tests, as JUnit XML and as workflow commands of GitHub.

In: a report. Out: text. JUnit is that of Jenkins (junit-10.xsd of its xUnit plugin): since a case cannot have
properties there, each has its own suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from xml.sax.saxutils import escape

from msgspec import Struct

from prosa.evaluation.report import CaseReport, Compared, Report, SuiteReport
from prosa.evaluation.routing import NOT_MEASURED
from prosa.render.formats import attribute, command, xml_text
from prosa.render.tests import comparison_lines, gate_words, rate_name


def tests_junit(report: Report) -> str:
    """Return the report as XML: one case for each case and model, with properties `pass`, `n`, `interval` and
    `cost`."""
    suites = [line for suite in report.suites for line in _junit_suite(suite)]
    suites += [line for comparison in report.comparisons for line in _junit_comparison(comparison)]
    tests, failures, errors = (
        sum(line.startswith(start) for line in suites) for start in ("    <testcase", "      <failure", "      <error")
    )
    head = f'<testsuites name="prosa test" tests="{tests}" failures="{failures}" errors="{errors}">'
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"))


class _Verdict(Struct, frozen=True):
    """What keeps a case of JUnit from passing: `failure`, or `error` for what was not measured."""

    element: Literal["failure", "error"]
    message: str
    text: str

    @property
    def kind(self) -> str:
        """The word for its subject."""
        return "expectation" if self.element == "failure" else NOT_MEASURED


def _junit_suite(suite: SuiteReport) -> Iterator[str]:
    for at, case in enumerate(suite.cases):
        interval = case.interval
        properties = {
            "pass": f"{case.counted.passed}",
            "n": f"{case.counted.repeats}",
            "interval": f"{interval.low:.4f} {interval.high:.4f}",
            "method": interval.method,
            "cost": _property(case.cost),
        }
        why = "\n".join(_often(case))
        yield from _junit_case(_place(suite), case.case.name, properties, _case_verdict(suite, at), why)
    if (verdict := _gate_verdict(suite)) is not None:
        yield from _junit_case(_place(suite), f"required: {suite.requirement.text}", {}, verdict, "")


def _often(case: CaseReport) -> Iterator[str]:
    yield from (f"{times}x {failure}" for failure, times in case.failures)
    yield from (f"{times}x not measured: {reason}" for reason, times in case.reasons)


def _case_verdict(suite: SuiteReport, at: int) -> _Verdict | None:
    """Return the message about a case; None if it passed."""
    case, outcome = suite.cases[at], suite.outcome(at)
    if outcome == "passed":
        return None
    traces = (attempt.trace for attempt in case.attempts if attempt.trace and not attempt.passed)
    text = "\n".join(filter(None, (case.case.place, *_often(case), *traces)))
    if outcome == "failed":
        headline = next((str(failure) for failure, _ in case.failures), "below what is required")
        return _Verdict("failure", headline, text)
    headline = next((str(reason) for reason, _ in case.reasons), NOT_MEASURED)
    return _Verdict("error", headline, text)


def _gate_verdict(suite: SuiteReport) -> _Verdict | None:
    """Return the message about a closed gate if none of its cases explains it."""
    if suite.passed or any(_case_verdict(suite, at) is not None for at in range(len(suite.cases))):
        return None
    element: Literal["failure", "error"] = "error" if suite.gate.lacking else "failure"
    return _Verdict(element, f"required: {suite.requirement.text}", f"{rate_name(suite)} {gate_words(suite)}")


def _junit_comparison(compared: Compared) -> Iterator[str]:
    """Yield a lift as a case with properties, and another comparison if it is a problem."""
    verdict = _comparison_verdict(compared)
    if not compared.skill and verdict is None:
        return
    difference = compared.comparison.difference
    interval = difference.interval
    p = compared.comparison.p_adjusted
    properties = {
        "lift" if compared.skill else "difference": "" if difference.value is None else f"{difference.value:.4f}",
        "interval": "" if interval is None else f"{interval.low:.4f} {interval.high:.4f}",
        "method": "sign-flip",
        "p": "" if p is None else f"{p:.6f}",
        "verdict": compared.comparison.verdict,
        "cost": _property(compared.sides[0].cost),
        "cost-without" if compared.skill else "cost-second": _property(compared.sides[1].cost),
    }
    place = f"{compared.path} · lift" if compared.skill else compared.path
    yield from _junit_case(place, _title(compared), properties, verdict, "")


def _title(compared: Compared) -> str:
    return f"lift of {compared.skill}" if compared.skill else f"{compared.first} against {compared.second}"


def _comparison_verdict(compared: Compared) -> _Verdict | None:
    """Return the message about a problematic comparison; None for any other."""
    verdict = compared.comparison.verdict
    text = "\n".join(comparison_lines(compared))
    if verdict == "worse":
        return _Verdict("failure", f"{_title(compared)}: worse", text)
    return _Verdict("error", f"{_title(compared)}: not measured", text) if verdict == NOT_MEASURED else None


def _property(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.6f}"


def _place(suite: SuiteReport) -> str:
    return f"{suite.path}{f' · {suite.label}' if suite.label else ''}"


def _junit_case(place: str, name: str, properties: dict[str, str], verdict: _Verdict | None, why: str) -> Iterator[str]:
    failures, errors = (int(verdict is not None and verdict.element == element) for element in ("failure", "error"))
    place = attribute(place)
    yield f'  <testsuite name={place} tests="1" failures="{failures}" errors="{errors}">'
    if properties:
        tags = "".join(f"<property name={attribute(key)} value={attribute(text)}/>" for key, text in properties.items())
        yield f"    <properties>{tags}</properties>"
    if verdict is not None:
        yield f"    <testcase name={attribute(name)} classname={place}>"
        head = f"{verdict.element} message={attribute(verdict.message)} type={attribute(verdict.kind)}"
        yield f"      <{head}>{escape(xml_text(verdict.text))}</{verdict.element}>"
        yield "    </testcase>"
    elif why:
        yield f"    <testcase name={attribute(name)} classname={place}>"
        yield f"      <system-out>{escape(xml_text(why))}</system-out>"
        yield "    </testcase>"
    else:
        yield f"    <testcase name={attribute(name)} classname={place}/>"
    yield "  </testsuite>"


# ---- GitHub ----


def tests_github(report: Report) -> str:
    """Return one command for each case that failed or was not measured where that closes a gate, one for each gate that
    none of them closes alone, and one for each comparison that is not well."""
    lines = []
    for suite in report.suites:
        for at, case in enumerate(suite.cases):
            if suite.outcome(at) != "passed" and not suite.baseline:
                why = "\n".join(reason.replace("x ", "× ", 1) for reason in _often(case)) or "below what is required"
                path, _, line = case.case.place.rpartition(":")
                lines.append(command("error", path or suite.path, int(line or 1), case.case.name, why))
        if (verdict := _gate_verdict(suite)) is not None:
            lines.append(command("error", suite.path, 1, verdict.message, verdict.text))
    verdicts = ((comparison, _comparison_verdict(comparison)) for comparison in report.comparisons)
    lines += [
        command("error", compared.path, 1, annotation.message, annotation.text)
        for compared, annotation in verdicts
        if annotation is not None
    ]
    return "\n".join(lines)
