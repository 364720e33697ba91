"""What came of tests, for people and as JSON.

In: a report. Out: text, or plain data. `tests_ci` has the forms that build servers read, `tests_plan` what a test would
take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.json import decode, encode

from prosa.data import Plain
from prosa.evaluation.comparison import MAX_CASES, Comparison
from prosa.evaluation.report import (
    Attempt,
    CaseReport,
    Compared,
    Reason,
    Report,
    Spread,
    SuiteReport,
    TriedSide,
    loaded_skills,
)
from prosa.evaluation.routing import FAILED, NONE, NOT_MEASURED, SEVERAL, Confusion
from prosa.evaluation.statistics import Estimate, Interval
from prosa.render.json import dump
from prosa.render.plain import safe, width

MAX_FAILURES = 5
"""Failures of a case that people are shown; of a side that is compared with, one."""

MAX_REASONS = 3
"""Reasons of a comparison that people are shown."""

MAX_WIDTH = 80
"""Columns of a terminal."""

MAX_NAME = 40
"""Characters of the name of a case on its line."""

MAX_LABEL = 16
"""Characters of the name of a skill in a table."""

_GREEN, _RED, _YELLOW, _RESET = "\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"


def tests_text(report: Report, *, color: bool = False) -> str:
    """Return the report for people."""
    blocks = ["\n".join(_suite_lines(suite, color)) for suite in report.suites]
    if needs := [*dict.fromkeys(need for suite in report.suites for need in suite.unavailable)]:
        lines = ["requirements that are not met here:", *(f"  - {safe(need)}" for need in needs)]
        blocks.append("\n".join(part for line in lines for part in wrapped(line)))
    if unseen := unseen_facts(report):
        lines = ["not seen, or not held:", *(f"  - {safe(text)}" for text in unseen)]
        blocks.append("\n".join(part for line in lines for part in wrapped(line)))
    if report.comparisons:
        lines = [line for comparison in report.comparisons for line in comparison_lines(comparison)]
        blocks.append("\n".join(part for line in lines for part in wrapped(line)))
    total = tests_total(report)
    of_skills = any(suite.without or suite.routing is not None for suite in report.suites)
    return "\n\n".join((*blocks, "\n".join(wrapped(total)) if of_skills else total))


def unseen_facts(report: Report) -> list[str]:
    """Return what was not seen of agents, or could not be held, each sentence once."""
    facts = (attempt.agent for attempt in report.attempts if attempt.agent is not None)
    return list(dict.fromkeys(f"{fact.agent}: {words}" for fact in facts for words in fact.unseen))


def tests_total(report: Report) -> str:
    """Return the last line: gates and verdicts, cases, runs, dollars."""
    attempts = report.attempts
    asked = [suite for suite in report.suites if not suite.without and not suite.baseline]
    cases = [case for suite in asked for case in suite.cases]
    good = sum(case.passed for case in cases)
    words = [f"{good} of {count_words(len(cases), 'case')} passed every time", _runs(report)]
    kept = sum(attempt.kept for attempt in attempts)
    if kept:
        words.append(f"{count_words(kept, 'answer')} from the cache")
    words.append(money_words(report))
    if not kept and not any(attempt.calls for attempt in attempts):
        words.append("no model was called now")
    return f"{ending_words(report)} · {' · '.join(words)}"


def _runs(report: Report) -> str:
    """Return how many runs there were, of which sides, and how many of them say nothing."""
    attempts = report.attempts
    beside = sum(len(case.attempts) for suite in report.suites if suite.baseline for case in suite.cases)
    unmeasured = sum(not attempt.measured for attempt in attempts)
    words = [f"{beside:,} to compare with"] if beside else []
    words += [f"{unmeasured:,} not measured"] if unmeasured else []
    return count_words(len(attempts), "run") + (f" ({', '.join(words)})" if words else "")


def ending_words(report: Report) -> str:
    """Return the outcome of the whole report in words."""
    closed = [suite for suite in report.suites if not suite.passed]
    verdicts = Counter(comparison.comparison.verdict for comparison in report.comparisons)
    short, lacking = (sum(bool(suite.gate.lacking) is lacks for suite in closed) for lacks in (False, True))
    failed = [f"{count_words(short, 'suite')} below what is required"] if short else []
    failed += [f"{count_words(verdicts['worse'], 'comparison')} worse"] if verdicts["worse"] else []
    unknown = [count_words(lacking, "suite")] if lacking else []
    unknown += [count_words(verdicts["not measured"], "comparison")] if verdicts["not measured"] else []
    parts = [f"failed: {', '.join(failed)}"] if failed else []
    parts += [f"not measured: {', '.join(unknown)}"] if unknown else []
    return "; ".join(parts) or "passed"


def money_words(report: Report) -> str:
    """Return what the answers and their grading cost."""
    if report.cost is None:
        return "cost unknown"
    grading = report.grading
    return dollars(report.cost) + (f" and {dollars(grading)} for grading" if grading else "")


def dollars(amount: float) -> str:
    """Return US dollars in four decimal places."""
    return f"${amount:.4f}" if amount else "$0"


def count_words(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _suite_lines(suite: SuiteReport, color: bool) -> Iterator[str]:
    about = [suite.path, suite.program, *([suite.label] if suite.label else [])]
    yield from wrapped(" · ".join(map(safe, about)) + (" (compared with)" if suite.baseline else ""))
    widest = max(width(_name(report)) for report in suite.cases)
    for at, case in enumerate(suite.cases):
        yield _case_line(suite, at, case, widest, color)
        yield from _why(case, 1 if suite.baseline else MAX_FAILURES)
    if (table := suite.confusion) is not None:
        yield from _confusion_lines(table)
        yield from offered_lines(suite)
        yield from _elsewhere(suite)
    yield from wrapped(f"  {rate_name(suite)} {gate_words(suite)}")


def _why(case: CaseReport, most: int) -> Iterator[str]:
    """Yield what the attempts of a case lacked, and why some were not measured."""
    reasons = [*case.failures, *((unmeasured_words(reason), times) for reason, times in case.reasons)]
    for failure, times in reasons[:most]:
        often = f"{times}× " if len(case.attempts) > 1 else ""
        yield from wrapped(f"      {often}{safe(str(failure))}")
    if len(reasons) > most:
        yield f"      … and {count_words(len(reasons) - most, 'other failure')}"


def unmeasured_words(reason: Reason) -> str:
    """Return why an attempt does not count; those of agents say it by themselves."""
    return str(reason) if reason.kind in _OWN_WORDS else f"not measured: {reason}"


_OWN_WORDS = ("not offered", "broken")


def gate_words(suite: SuiteReport) -> str:
    """Return the required rate, and the measured one."""
    gate = suite.gate
    rate = "unknown" if gate.rate is None else _estimate(gate.rate)
    if suite.baseline:
        return f"{rate}; required: {suite.requirement.text}"
    verdict = "passed" if suite.passed else f"not measured: {gate.lacking}" if gate.lacking else "FAILED"
    return f"{rate}; required: {suite.requirement.text}; {verdict}"


def rate_name(suite: SuiteReport) -> str:
    """Return the name of the rate that a suite is about."""
    require = suite.requirement
    return f"{require.form}{require.k}" if require.is_rate else "pass^1"


def _case_line(suite: SuiteReport, at: int, case: CaseReport, widest: int, color: bool) -> str:
    counted = case.counted
    mark, style = "~", _YELLOW
    if not counted.repeats:
        mark = "?"
    elif case.passed:
        mark, style = "✓", _GREEN
    elif suite.fails(at):
        mark, style = "✗", _RED
    mark = f"{style}{mark}{_RESET}" if color else mark
    name = _name(case)
    share = f"{counted.passed}/{counted.repeats}" if counted.repeats else "-"
    parts = [interval_words(case.interval)] if counted.repeats else []
    parts += [f"{counted.unmeasured} not measured"] if counted.unmeasured else []
    parts += [] if case.cost is None else [dollars(case.cost)]
    return f"  {mark} {name}{' ' * (widest - width(name))}  {share:>7}  {'  '.join(parts)}".rstrip()


def _name(case: CaseReport) -> str:
    return short_name(case.case.name, MAX_NAME)


def wrapped(line: str) -> Iterator[str]:
    """Yield a line that may be as long as an answer, in lines that a terminal shows whole. A word is cut only where its
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
    """Yield which skills were loaded for which requests: a row for each skill that requests belong to."""
    columns, more = _columns(table)
    labels = [short_name(column, MAX_LABEL) for column in columns]
    rows = [short_name(row.expected, MAX_LABEL) for row in table.rows]
    left = max(width(row) for row in (*rows, "belongs to"))
    yield f"  {'belongs to':<{left}}  {'  '.join(labels)}{'  others' if more else ''}  (loaded)"
    for name, row in zip(rows, table.rows, strict=True):
        cells = [f"{row.loaded.get(column, 0):>{width(label)}}" for column, label in zip(columns, labels, strict=True)]
        others = [f"{sum(row.loaded.get(column, 0) for column in more):>6}"] if more else []
        yield f"  {name}{' ' * (left - width(name))}  {'  '.join((*cells, *others))}"


def _columns(table: Confusion) -> tuple[list[str], list[str]]:
    """Return the columns that a terminal has room for, and the others: the skill itself, then what was loaded most."""
    fixed = [column for column in (table.own, NONE, SEVERAL, FAILED, NOT_MEASURED) if column in table.columns]
    counts = {name: sum(row.loaded.get(name, 0) for row in table.rows) for name in table.columns if name not in fixed}
    most = sorted(counts, key=lambda name: -counts[name])
    room = MAX_WIDTH - MAX_LABEL - 4 - len("  others  (loaded)")
    room -= sum(width(short_name(column, MAX_LABEL)) + 2 for column in fixed)
    kept: list[str] = []
    for name in most:
        room -= width(short_name(name, MAX_LABEL)) + 2
        if room < 0:
            break
        kept.append(name)
    shown = [column for column in table.columns if column in fixed or column in kept]
    return shown, [column for column in most if column not in kept]


def offered_lines(suite: SuiteReport) -> Iterator[str]:
    """Yield in how many attempts of agents the skill was listed, and in how many it was loaded: two different facts."""
    attempts = [attempt for case in suite.cases for attempt in case.attempts if attempt.agent is not None]
    if not attempts or suite.routing is None:
        return
    own = suite.routing.own
    facts = [attempt.agent for attempt in attempts if attempt.agent is not None]
    seen = [fact for fact in facts if fact.listed is not None]
    listed = f"{sum(own in (fact.listed or ()) for fact in seen)} of {len(seen)}" if seen else "not seen"
    yield f"  not offered  {sum(attempt.outcome == 'not offered' for attempt in attempts)} of {len(attempts)}"
    yield f"  listed {listed}, loaded {sum(own in fact.loaded for fact in facts)} of {len(facts)}"


def short_name(name: str, most: int) -> str:
    """Return a name in at most so many cells."""
    name = safe(name)
    if width(name) <= most:
        return name
    while width(name) >= most:
        name = name[: -max(1, (width(name) - most) // 2)]
    return f"{name}…"


def _elsewhere(suite: SuiteReport) -> Iterator[str]:
    """Yield the requests that are not for the skill, under the skill beside it that they belong to, or that was
    loaded."""
    routing = suite.routing
    if routing is None:
        return
    for case in suite.cases:
        belongs = routing.belongs.get(case.case.name, "")
        loads = Counter(
            name for attempt in case.attempts for name in loaded_skills(attempt) or () if name != routing.own
        )
        name = belongs or next((name for name, _ in loads.most_common(1)), "")
        if name and belongs != routing.own:
            yield f"  {short_name(name, MAX_LABEL)}: {_name(case)} (loaded {loads[name]} of {len(case.attempts)})"


def comparison_lines(compared: Compared) -> Iterator[str]:
    """Yield the difference with its interval and the verdict, its basis, and the costs of both sides."""
    comparison = compared.comparison
    names = f"{safe(compared.path)}: {safe(compared.first)} against {safe(compared.second)}"
    head = f"lift of {short_name(compared.skill, MAX_LABEL)}" if compared.skill else names
    yield f"{head}: {'' if comparison.p is None else f'{difference_words(comparison)}: '}{comparison.verdict}"
    yield f"  {basis_words(compared)}"
    if comparison.p is None or comparison.is_open:
        for reason, times in compared.reasons[:MAX_REASONS]:
            yield f"    {times}× {safe(str(reason))}"
    yield from (f"  {words}" for words in _sides(compared))


def basis_words(compared: Compared) -> str:
    """Return what a verdict rests on: the test, or which attempts were measured where they are too few."""
    return _lacking(compared) if compared.comparison.p is None else _test(compared.comparison)


def difference_words(comparison: Comparison) -> str:
    """Return the mean difference with its interval."""
    interval = comparison.difference.interval
    bounds = f" [{interval.low:+.2f}, {interval.high:+.2f}]" if interval is not None else ""
    return f"{comparison.difference.value or 0.0:+.2f}{bounds}"


def _test(comparison: Comparison) -> str:
    """Return the result of the test, and what is missing for a verdict."""
    assert comparison.p is not None and comparison.p_adjusted is not None
    adjusted = "" if comparison.p_adjusted == comparison.p else f", adjusted {_p(comparison.p_adjusted)}"
    verb = "differs" if 1 in (comparison.cases_differing, comparison.cases) else "differ"
    differ = f"{comparison.cases_differing} of {count_words(comparison.cases, 'case')} {verb}"
    words = f"p = {_p(comparison.p)}{adjusted} (sign-flip test, {differ})"
    if comparison.is_open:
        unmeasured = sum(planned - measured for measured, planned in comparison.measured)
        return f"{words}; {count_words(unmeasured, 'attempt')} not measured could change that"
    if comparison.verdict != "cannot tell" or not comparison.cases_differing:
        return words
    if comparison.enough_cases is not None:
        return f"{words}; about {comparison.enough_cases} cases like these would tell"
    return f"{words}; {MAX_CASES} cases like these would not tell"


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.0001 else "0.0001 or less"


def _lacking(compared: Compared) -> str:
    """Return which attempts were measured, where they are too few."""
    names = ("with it", "without") if compared.skill else ("of the first", "of the second")
    counts = (f"{count} of {of} {name}" for (count, of), name in zip(compared.comparison.measured, names, strict=True))
    return f"measured: {', '.join(counts)}; 80 % of both are needed"


def _sides(compared: Compared) -> Iterator[str]:
    """Yield the costs of both sides; of two models or versions only those not in their own blocks."""
    names = ("with it", "without") if compared.skill else ("first", "second")
    if compared.skill:
        rates = ("unknown" if side.rate is None else f"{side.rate:.2f}" for side in compared.sides)
        rows = zip(rates, map(side_cost, (side.cost for side in compared.sides)), names, strict=True)
        yield ", ".join(" ".join(words) for words in rows)
    took = [_took(side) for side in compared.sides]
    if all(took):
        yield f"a run takes {'; '.join(f'{words} {name}' for words, name in zip(took, names, strict=True))}"


def _took(side: TriedSide) -> str:
    """Return tokens and seconds of an attempt, where they are known."""
    tokens = f"{spread_words(side.tokens, '.0f')} tokens" if side.tokens else ""
    seconds = f"{spread_words(side.seconds, '.1f')} s" if side.seconds else ""
    return " and ".join(filter(None, (tokens, seconds)))


def spread_words(spread: Spread, form: str) -> str:
    """Return a mean with its standard deviation."""
    return format(spread.mean, form) + (f" ± {format(spread.deviation, form)}" if spread.deviation is not None else "")


def side_cost(cost: float | None) -> str:
    """Return what one side cost."""
    return "at an unknown cost" if cost is None else f"for {dollars(cost)}"


def interval_words(interval: Interval) -> str:
    """Return both ends of an interval."""
    return f"[{interval.low:.2f}, {interval.high:.2f}]"


def _estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} {interval_words(estimate.interval)} ({estimate.interval.method})"


# ---- JSON ----


def tests_json(report: Report) -> dict[str, Plain]:
    """Return the report as data. Only the seconds of uncached attempts depend on when something ran."""
    attempts = report.attempts
    return {
        "passed": report.ok,
        "suites": [_suite_object(suite) for suite in report.suites],
        "comparisons": [_comparison_object(comparison) for comparison in report.comparisons],
        "total": {
            "cases": sum(len(suite.cases) for suite in report.suites),
            "runs": len(attempts),
            "calls": sum(attempt.facts.calls for attempt in attempts),
            "kept": sum(attempt.kept for attempt in attempts),
            "not_measured": sum(not attempt.measured for attempt in attempts),
            "cost": report.cost,
            "grading": report.grading,
        },
    }


def tests_jsonl(report: Report) -> str:
    """Return one line for each case of each suite, then one for each confusion table and for each comparison."""
    lines = [dump(_case_object(suite, at, case)) for suite in report.suites for at, case in enumerate(suite.cases)]
    routed = (suite for suite in report.suites if suite.routing is not None)
    lines += [dump({"path": suite.path, "routing": _routing_object(suite)}) for suite in routed]
    return "\n".join((*lines, *(dump(_comparison_object(comparison)) for comparison in report.comparisons)))


def _suite_object(suite: SuiteReport) -> dict[str, Plain]:
    return {
        "path": suite.path,
        "program": suite.program,
        "model": suite.model or None,
        "baseline": suite.baseline,
        "require": suite.requirement.text,
        "passed": suite.passed,
        "outcome": "passed" if suite.passed else "not measured" if suite.gate.lacking else "failed",
        "rate": {"name": rate_name(suite), **_estimate_object(suite.gate.rate)},
        "cost": suite.cost,
        **({"label": suite.label} if suite.label else {}),
        **({"routing": _routing_object(suite)} if suite.routing is not None else {}),
        **({"unavailable": list(suite.unavailable)} if suite.unavailable else {}),
        "cases": [_case_object(suite, at, case, alone=False) for at, case in enumerate(suite.cases)],
    }


def _routing_object(suite: SuiteReport) -> dict[str, Plain]:
    """Return which skills were loaded for which requests."""
    table = suite.confusion
    if table is None or suite.routing is None:
        return {}
    rows: list[Plain] = [{"expected": row.expected, "loaded": dict(row.loaded)} for row in table.rows]
    requests = {case.case.name: suite.routing.expected(case.case.name) for case in suite.cases}
    return {"skill": table.own, "offered": list(table.offered), "confusion": rows, "expected": requests}


def _estimate_object(estimate: Estimate | None) -> dict[str, Plain]:
    if estimate is None:
        return {"value": None, "interval": None, "method": "wilson"}
    interval = estimate.interval
    return {"value": estimate.value, "interval": [interval.low, interval.high], "method": interval.method}


def _case_object(suite: SuiteReport, at: int, case: CaseReport, *, alone: bool = True) -> dict[str, Plain]:
    head = {"path": suite.path, "program": suite.program, "model": suite.model or None} if alone else {}
    head |= {"label": suite.label} if alone and suite.label else {}
    counted, interval = case.counted, case.interval
    return {
        **head,
        "name": case.case.name,
        "line": _line(case),
        "passed": suite.outcome(at) == "passed",
        "outcome": suite.outcome(at),
        "pass": counted.passed,
        "n": counted.repeats,
        "not_measured": counted.unmeasured,
        "interval": [interval.low, interval.high],
        "method": interval.method,
        "cost": case.cost,
        "attempts": [_attempt_object(attempt) for attempt in case.attempts],
    }


def _line(case: CaseReport) -> int | None:
    line = case.case.place.rpartition(":")[2]
    return int(line) if line.isascii() and line.isdigit() else None


def _attempt_object(attempt: Attempt) -> dict[str, Plain]:
    facts = attempt.facts
    reason = None if attempt.reason is None else {"kind": attempt.reason.kind, "message": attempt.reason.message}
    fields: dict[str, Plain] = {"passed": attempt.passed, "outcome": attempt.outcome, "reason": reason}
    fields["output"] = attempt.output
    if facts.failure is not None:
        fields |= {"error": {"kind": facts.failure, "text": facts.error}}
    failures = [{"pointer": f.pointer, "expected": f.expected, "found": f.found} for f in attempt.failures]
    fields |= {"failures": failures, "calls": facts.calls, "cost": facts.cost, "tokens": facts.tokens}
    fields["seconds"] = attempt.seconds
    if attempt.agent is not None:
        fields["agent"] = decode(encode(attempt.agent))
    if attempt.trace:
        fields["trace"] = attempt.trace
    if attempt.graded:
        fields["grades"] = [
            {"question": g.question, "passed": g.passed, "reason": g.reason, "votes": [g.votes, g.of]}
            for g in attempt.graded
        ]
        fields["grading"] = attempt.grading
    return fields


def _comparison_object(compared: Compared) -> dict[str, Plain]:
    comparison = compared.comparison
    interval = comparison.difference.interval
    bounds = None if interval is None else [interval.low, interval.high]
    sides = [_side_object(side) for side in compared.sides]
    fields: dict[str, Plain] = {
        "path": compared.path,
        "first": compared.first,
        "second": compared.second,
        "difference": {"value": comparison.difference.value, "interval": bounds, "method": "sign-flip"},
        "verdict": comparison.verdict,
        "more": comparison.enough_cases,
        "p": comparison.p,
        "p_adjusted": comparison.p_adjusted,
        "p_worst": comparison.p_worst,
        "level": comparison.level,
        "method": "sign-flip",
        "cases": comparison.cases,
        "cases_differing": comparison.cases_differing,
        "measured": dict(zip(("first", "second"), map(list, comparison.measured), strict=True)),
        "enough_cases": comparison.enough_cases,
        "reasons": [{"kind": why.kind, "message": why.message, "attempts": times} for why, times in compared.reasons],
        "sides": dict(zip(("first", "second"), sides, strict=True)),
    }
    if compared.skill:
        fields["lift"] = {"skill": compared.skill, **dict(zip(("with", "without"), sides, strict=True))}
    return fields


def _side_object(side: TriedSide) -> dict[str, Plain]:
    fields: dict[str, Plain] = {"rate": side.rate, "cost": side.cost}
    for name, spread in (("tokens", side.tokens), ("seconds", side.seconds)):
        fields[name] = None if spread is None else {"mean": spread.mean, "deviation": spread.deviation}
    return fields
