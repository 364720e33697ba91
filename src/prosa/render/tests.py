"""What came of tests, for people, as JSON, as JUnit XML and as workflow commands of GitHub.

In: a report. Out: text. JUnit is that of Jenkins (junit-10.xsd of its xUnit plugin): as a case may have no properties
of its own there, each stands in a suite of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.sax.saxutils import escape

from prosa.data import Value
from prosa.evaluation.report import Attempt, CaseReport, Compared, Lift, Report, SuiteReport, loaded_skills
from prosa.evaluation.routing import FAILED, NONE, SEVERAL, Confusion
from prosa.evaluation.statistics import Estimate, Interval
from prosa.render.github import command
from prosa.render.json import dump
from prosa.render.junit import attribute, xml_text
from prosa.render.plain import safe, width

MAX_FAILURES = 5
"""Failures of a case that people are shown."""

MAX_WIDTH = 80
"""Columns of a terminal."""

MAX_NAME = 40
"""Characters of the name of a case on its line."""

MAX_LABEL = 16
"""Characters of the name of a skill in a table."""

_GREEN, _RED, _YELLOW, _RESET = "\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"


def tests_text(report: Report, *, color: bool = False) -> str:
    """The report for people."""
    blocks = ["\n".join(_suite_lines(each, color)) for each in report.suites]
    if report.comparisons:
        lines = (line for each in report.comparisons for line in _lift(each).split("\n"))
        blocks.append("\n".join(part for line in lines for part in _wrapped(line)))
    total = tests_total(report)
    of_skills = any(each.without or each.routing is not None for each in report.suites)
    return "\n\n".join((*blocks, "\n".join(_wrapped(total)) if of_skills else total))


def tests_total(report: Report) -> str:
    """The last line: cases, runs, gates, dollars."""
    attempts = report.attempts
    cases = [case for suite in report.suites for case in suite.cases if not suite.without]
    good = sum(each.counted.rate == 1 for each in cases)
    words = [f"{good} of {_count(len(cases), 'case')} passed in every one of {_count(len(attempts), 'run')}"]
    kept = sum(each.kept for each in attempts)
    if kept:
        words.append(f"{_count(kept, 'answer')} from the cache")
    words.append(_money(report))
    if not kept and not any(each.calls for each in attempts):
        words.append("nothing was asked now")
    closed = sum(not each.passed for each in report.suites)
    verdict = "passed" if report.ok else f"failed: {_count(closed, 'suite')} short of what is required"
    return f"{verdict} · {' · '.join(words)}"


def _money(report: Report) -> str:
    if report.cost is None:
        return "cost unknown"
    grading = report.grading
    return _dollars(report.cost) + (f" and {_dollars(grading)} for grading" if grading else "")


def _dollars(amount: float) -> str:
    return f"${amount:.4f}" if amount else "$0"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _suite_lines(suite: SuiteReport, color: bool) -> Iterator[str]:
    about = [suite.path, suite.program, *([suite.label] if suite.label else [])]
    yield from _wrapped(" · ".join(map(safe, about)) + (" (compared with)" if suite.baseline else ""))
    widest = max(width(_name(each)) for each in suite.cases)
    for at, case in enumerate(suite.cases):
        yield _case_line(suite, at, case, widest, color)
        shown = case.failures[:MAX_FAILURES]
        for failure, times in shown:
            often = f"{times}× " if case.counted.repeats > 1 else ""
            yield from _wrapped(f"      {often}{safe(str(failure))}")
        if len(case.failures) > len(shown):
            yield f"      … and {_count(len(case.failures) - len(shown), 'other failure')}"
    if (table := suite.confusion) is not None:
        yield from _confusion_lines(table)
        yield from _elsewhere(suite)
    verdict = "" if suite.baseline else f"; {'passed' if suite.passed else 'FAILED'}"
    yield f"  {_rate(suite)} {_estimate(suite.gate.rate)}; required: {suite.requirement.text}{verdict}"


def _rate(suite: SuiteReport) -> str:
    require = suite.requirement
    return f"{require.form}{require.k}" if require.is_rate else "pass^1"


def _case_line(suite: SuiteReport, at: int, case: CaseReport, widest: int, color: bool) -> str:
    counted = case.counted
    mark, style = ("✓", _GREEN) if counted.rate == 1 else ("✗", _RED) if suite.fails(at) else ("~", _YELLOW)
    mark = f"{style}{mark}{_RESET}" if color else mark
    name = _name(case)
    cost = "" if case.cost is None else f"  {_dollars(case.cost)}"
    share = f"{counted.passed}/{counted.repeats}"
    return f"  {mark} {name}{' ' * (widest - width(name))}  {share:>7}  {_interval(case.interval)}{cost}".rstrip()


def _name(case: CaseReport) -> str:
    return _short(case.case.name, MAX_NAME)


def _wrapped(line: str) -> Iterator[str]:
    """A line that may be as long as an answer, in lines that a terminal shows whole. A word is cut only where its
    script sets no spaces."""
    lead = len(line) - len(line.lstrip())
    current, empty = " " * lead, True
    for word in line.split():
        for piece in _pieces(word, MAX_WIDTH - lead - 2):
            if not empty and width(current) + 1 + width(piece) > MAX_WIDTH:
                yield current
                current, empty = " " * (lead + 2), True
            current += piece if empty else f" {piece}"
            empty = False
    yield current


def _pieces(word: str, most: int) -> Iterator[str]:
    if word.isascii() or width(word) <= most:
        yield word
        return
    piece = ""
    for char in word:
        if width(piece + char) > most:
            yield piece
            piece = ""
        piece += char
    yield piece


# ---- skills ----


def _confusion_lines(table: Confusion) -> Iterator[str]:
    """Which skills were loaded for which requests: a row for each skill that requests belong to."""
    columns, more = _columns(table)
    labels = [_short(each, MAX_LABEL) for each in columns]
    rows = [_short(each.expected, MAX_LABEL) for each in table.rows]
    left = max(width(each) for each in (*rows, "belongs to"))
    yield f"  {'belongs to':<{left}}  {'  '.join(labels)}{'  others' if more else ''}  (loaded)"
    for name, row in zip(rows, table.rows, strict=True):
        cells = [f"{row.loaded.get(each, 0):>{width(label)}}" for each, label in zip(columns, labels, strict=True)]
        others = [f"{sum(row.loaded.get(each, 0) for each in more):>6}"] if more else []
        yield f"  {name}{' ' * (left - width(name))}  {'  '.join((*cells, *others))}"


def _columns(table: Confusion) -> tuple[list[str], list[str]]:
    """The columns that a terminal has room for, and the others: the skill itself, then what was loaded most."""
    fixed = [each for each in (table.own, NONE, SEVERAL, FAILED) if each in table.columns]
    counts = {name: sum(row.loaded.get(name, 0) for row in table.rows) for name in table.columns if name not in fixed}
    most = sorted(counts, key=lambda name: -counts[name])
    room = MAX_WIDTH - MAX_LABEL - 4 - len("  others  (loaded)")
    room -= sum(width(_short(each, MAX_LABEL)) + 2 for each in fixed)
    kept: list[str] = []
    for name in most:
        room -= width(_short(name, MAX_LABEL)) + 2
        if room < 0:
            break
        kept.append(name)
    shown = [each for each in table.columns if each in fixed or each in kept]
    return shown, [each for each in most if each not in kept]


def _short(name: str, most: int) -> str:
    """A name in at most so many cells."""
    name = safe(name)
    if width(name) <= most:
        return name
    while width(name) >= most:
        name = name[: -max(1, (width(name) - most) // 2)]
    return f"{name}…"


def _elsewhere(suite: SuiteReport) -> Iterator[str]:
    """The requests that are not for the skill, under the skill beside it that they belong to, or that was loaded."""
    routing = suite.routing
    if routing is None:
        return
    for case in suite.cases:
        belongs = routing.belongs.get(case.case.name, "")
        loads = Counter(name for each in case.attempts for name in loaded_skills(each) or () if name != routing.own)
        name = belongs or next((name for name, _ in loads.most_common(1)), "")
        if name and belongs != routing.own:
            yield f"  {_short(name, MAX_LABEL)}: {_name(case)} (loaded {loads[name]} of {len(case.attempts)})"


def _lift(each: Compared) -> str:
    """What a skill does: the difference with its interval, and what both sides cost."""
    told, lift = each.comparison, each.lift
    if lift is None:
        return _comparison(each)
    interval = told.difference.interval
    bounds = f"[{interval.low:+.2f}, {interval.high:+.2f}] ({interval.method})"
    (rate, plain), (cost, before) = lift.rates, lift.costs
    sides = f"{rate:.2f} {_side_cost(cost)} with it, {plain:.2f} {_side_cost(before)} without"
    first = f"lift of {_short(lift.skill, MAX_LABEL)}: {told.difference.value:+.2f} {bounds}: {told.verdict}"
    return "\n".join(filter(None, (first, f"  {sides}", _more(each).replace(" (", "  (", 1))))


def _side_cost(cost: float | None) -> str:
    return "at an unknown cost" if cost is None else f"for {_dollars(cost)}"


def _interval(interval: Interval) -> str:
    return f"[{interval.low:.2f}, {interval.high:.2f}]"


def _estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} {_interval(estimate.interval)} ({estimate.interval.method})"


def _comparison(each: Compared) -> str:
    told = each.comparison
    difference = told.difference
    interval = f"[{difference.interval.low:+.2f}, {difference.interval.high:+.2f}] ({difference.interval.method})"
    names = f"{safe(each.path)}: {safe(each.first)} against {safe(each.second)}"
    return f"{names}: {difference.value:+.2f} {interval}: {told.verdict}{_more(each)}"


def _more(each: Compared) -> str:
    """What would tell where it cannot be told."""
    told = each.comparison
    if told.verdict != "cannot tell":
        return ""
    return f" ({told.more} more repeats would)" if told.more else " (more repeats would not; more cases may)"


# ---- JSON ----


def tests_json(report: Report) -> dict[str, Value]:
    """The report as data. Nothing in it depends on when or how quickly something ran."""
    attempts = report.attempts
    return {
        "passed": report.ok,
        "suites": [_suite_object(each) for each in report.suites],
        "comparisons": [_comparison_object(each) for each in report.comparisons],
        "total": {
            "cases": sum(len(each.cases) for each in report.suites),
            "runs": len(attempts),
            "calls": sum(each.facts.calls for each in attempts),
            "kept": sum(each.kept for each in attempts),
            "cost": report.cost,
            "grading": report.grading,
        },
    }


def tests_jsonl(report: Report) -> str:
    """One line for each case of each suite, then one for each confusion table and for each comparison."""
    lines = [dump(_case_object(suite, at, case)) for suite in report.suites for at, case in enumerate(suite.cases)]
    routed = (each for each in report.suites if each.routing is not None)
    lines += [dump({"path": each.path, "routing": _routing_object(each)}) for each in routed]
    return "\n".join((*lines, *(dump(_comparison_object(each)) for each in report.comparisons)))


def _suite_object(suite: SuiteReport) -> dict[str, Value]:
    return {
        "path": suite.path,
        "program": suite.program,
        "model": suite.model or None,
        "baseline": suite.baseline,
        "require": suite.requirement.text,
        "passed": suite.passed,
        "rate": {"name": _rate(suite), **_estimate_object(suite.gate.rate)},
        "cost": suite.cost,
        **({"label": suite.label} if suite.label else {}),
        **({"routing": _routing_object(suite)} if suite.routing is not None else {}),
        "cases": [_case_object(suite, at, each, alone=False) for at, each in enumerate(suite.cases)],
    }


def _routing_object(suite: SuiteReport) -> dict[str, Value]:
    """Which skills were loaded for which requests."""
    table = suite.confusion
    if table is None or suite.routing is None:
        return {}
    rows = [{"expected": row.expected, "loaded": dict(row.loaded)} for row in table.rows]
    requests = {each.case.name: suite.routing.expected(each.case.name) for each in suite.cases}
    return {"skill": table.own, "offered": list(table.offered), "confusion": rows, "expected": requests}


def _estimate_object(estimate: Estimate) -> dict[str, Value]:
    interval = estimate.interval
    return {"value": estimate.value, "interval": [interval.low, interval.high], "method": interval.method}


def _case_object(suite: SuiteReport, at: int, case: CaseReport, *, alone: bool = True) -> dict[str, Value]:
    head = {"path": suite.path, "program": suite.program, "model": suite.model or None} if alone else {}
    head |= {"label": suite.label} if alone and suite.label else {}
    counted, interval = case.counted, case.interval
    return {
        **head,
        "name": case.case.name,
        "line": _line(case),
        "passed": not suite.fails(at),
        "pass": counted.passed,
        "n": counted.repeats,
        "interval": [interval.low, interval.high],
        "method": interval.method,
        "cost": case.cost,
        "attempts": [_attempt_object(each) for each in case.attempts],
    }


def _line(case: CaseReport) -> int | None:
    line = case.case.place.rpartition(":")[2]
    return int(line) if line.isascii() and line.isdigit() else None


def _attempt_object(attempt: Attempt) -> dict[str, Value]:
    facts = attempt.facts
    told: dict[str, Value] = {"passed": attempt.passed, "output": attempt.output}
    if facts.failure is not None:
        told |= {"error": {"kind": facts.failure, "text": facts.error}}
    failures = [{"pointer": f.pointer, "expected": f.expected, "found": f.found} for f in attempt.failures]
    told |= {"failures": failures, "calls": facts.calls, "cost": facts.cost}
    if attempt.trace:
        told["trace"] = attempt.trace
    if attempt.graded:
        told["grades"] = [
            {"question": g.question, "passed": g.passed, "reason": g.reason, "votes": [g.votes, g.of]}
            for g in attempt.graded
        ]
        told["grading"] = attempt.grading
    return told


def _comparison_object(each: Compared) -> dict[str, Value]:
    told = each.comparison
    names = {"path": each.path, "first": each.first, "second": each.second}
    found = {**names, "difference": _estimate_object(told.difference), "verdict": told.verdict, "more": told.more}
    return found if each.lift is None else found | {"lift": _lift_object(each.lift)}


def _lift_object(lift: Lift) -> dict[str, Value]:
    sides = zip(("with", "without"), lift.rates, lift.costs, strict=True)
    return {"skill": lift.skill, **{side: {"rate": rate, "cost": cost} for side, rate, cost in sides}}


# ---- JUnit ----


def tests_junit(report: Report) -> str:
    """The report as XML: one case for each case and model, with properties `pass`, `n`, `interval` and `cost`."""
    suites = [line for suite in report.suites for line in _junit_suite(suite)]
    suites += [line for each in report.comparisons if each.lift is not None for line in _junit_lift(each, each.lift)]
    tests = sum(line.startswith("    <testcase") for line in suites)
    failures = sum(line.startswith("      <failure") for line in suites)
    head = f'<testsuites name="prosa test" tests="{tests}" failures="{failures}" errors="0">'
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"))


def _junit_suite(suite: SuiteReport) -> Iterator[str]:
    for at, case in enumerate(suite.cases):
        interval = case.interval
        properties = {
            "pass": f"{case.counted.passed}",
            "n": f"{case.counted.repeats}",
            "interval": f"{interval.low:.4f} {interval.high:.4f}",
            "method": interval.method,
            "cost": "" if case.cost is None else f"{case.cost:.6f}",
        }
        why = "\n".join(f"{times}x {failure}" for failure, times in case.failures)
        headline = next((str(failure) for failure, _ in case.failures), "")
        traces = "\n".join(each.trace for each in case.attempts if each.trace and not each.passed)
        text = "\n".join(filter(None, (case.case.place, why, traces)))
        told = (headline or "short of what is required", text) if suite.fails(at) else None
        yield from _junit_case(suite, case.case.name, properties, told, why)
    if not suite.passed and not suite.gate.short:
        rate = f"{_rate(suite)} {_estimate(suite.gate.rate)}"
        told = (f"required: {suite.requirement.text}", rate)
        yield from _junit_case(suite, f"required: {suite.requirement.text}", {}, told, "")


def _junit_lift(each: Compared, lift: Lift) -> Iterator[str]:
    """What a skill does, as a case that never fails: its properties are what somebody may look at."""
    difference = each.comparison.difference
    properties = {
        "lift": f"{difference.value:.4f}",
        "interval": f"{difference.interval.low:.4f} {difference.interval.high:.4f}",
        "method": difference.interval.method,
        "verdict": each.comparison.verdict,
        "cost": _property(lift.costs[0]),
        "cost-without": _property(lift.costs[1]),
    }
    told = "".join(f"<property name={attribute(key)} value={attribute(text)}/>" for key, text in properties.items())
    place = attribute(f"{each.path} · lift")
    yield f'  <testsuite name={place} tests="1" failures="0" errors="0">'
    yield f"    <properties>{told}</properties>"
    yield f"    <testcase name={attribute(f'lift of {lift.skill}')} classname={place}/>"
    yield "  </testsuite>"


def _property(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.6f}"


def _junit_case(
    suite: SuiteReport, name: str, properties: dict[str, str], failed: tuple[str, str] | None, why: str
) -> Iterator[str]:
    place = attribute(f"{suite.path}{f' · {suite.label}' if suite.label else ''}")
    yield f'  <testsuite name={place} tests="1" failures="{0 if failed is None else 1}" errors="0">'
    if properties:
        each = "".join(f"<property name={attribute(key)} value={attribute(text)}/>" for key, text in properties.items())
        yield f"    <properties>{each}</properties>"
    if failed is not None:
        yield f"    <testcase name={attribute(name)} classname={place}>"
        text = escape(xml_text(failed[1]))
        yield f'      <failure message={attribute(failed[0])} type="expectation">{text}</failure>'
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
    """One command for each case that is why a gate is closed, and one for each gate that none of them closes alone."""
    lines = []
    for suite in report.suites:
        for at, case in enumerate(suite.cases):
            if suite.fails(at):
                why = (
                    "\n".join(f"{times}× {failure}" for failure, times in case.failures) or "short of what is required"
                )
                path, _, line = case.case.place.rpartition(":")
                lines.append(command("error", path or suite.path, int(line or 1), case.case.name, why))
        if not suite.passed and not suite.gate.short:
            text = f"{_rate(suite)} {_estimate(suite.gate.rate)}"
            lines.append(command("error", suite.path, 1, f"required: {suite.requirement.text}", text))
    return "\n".join(lines)
