"""What came of a test as a whole, for its page: verdicts with their intervals, the rate of each suite, what was not
measured, which skills were loaded, the trend, and searches for better texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from prosa.evaluation.comparison import Verdict
from prosa.evaluation.report import Attempt, Compared, Reason, Report, SuiteReport, TriedSide
from prosa.evaluation.routing import Confusion, ConfusionRow
from prosa.records.improvement import Candidate, Improvement
from prosa.records.test import Trend, TrendPoint
from prosa.render.improve import decision_words, level_words
from prosa.render.report.parts import Part, brief, table, table_row, text_block, within
from prosa.render.report.pictures import MAX_POINTS, rate_bar, scale_picture, trend_picture
from prosa.render.report.subjects import side_name
from prosa.render.tests import (
    basis_words,
    count_words,
    difference_words,
    dollars,
    gate_words,
    interval_words,
    offered_lines,
    rate_name,
    spread_words,
    unmeasured_words,
    unseen_facts,
)

MAX_REASONS = 10
"""Reasons that are shown of a side, and notes of a kind."""

MAX_SKILLS = 40
"""Rows and columns of a confusion matrix that are shown."""

VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    "better": ("▲", "good"),
    "worse": ("▼", "bad"),
    "cannot tell": ("≈", "open"),
    "not measured": ("?", "open"),
}
"""A sign for each verdict, and the class of its colour."""


def results(report: Report, limit: int) -> Iterator[Part]:
    """Yield what came of a test, without its cases, in less than half of ``limit`` bytes."""
    lifts = (_comparison(f"lift-{at}", comparison) for at, comparison in enumerate(report.comparisons, 1))
    yield from within(lifts, limit // 6, "further comparison")
    yield '<section>\n<h2>Suites</h2>\n<div class="suites">\n'
    cards = (_suite(f"rate-{at}", suite) for at, suite in enumerate(report.suites, 1))
    yield from within(cards, limit // 10, "further suite")
    yield "</div>\n</section>\n"
    yield from _notes(report)
    routed = ((suite, confusion) for suite in report.suites if (confusion := suite.confusion) is not None)
    yield from within((_confusion(*pair) for pair in routed), limit // 12, "further skill table")


# ---- verdicts ----


def _comparison(name: str, compared: Compared) -> Iterator[Part]:
    """Yield a comparison: the verdict in words, the lift with its interval as a picture, what both sides take."""
    comparison = compared.comparison
    sign, kind = VERDICTS[comparison.verdict]
    first, second = _sides_named(compared)
    title = f"<b>{sign} {comparison.verdict}</b> <span>{_subject(compared)}</span>"
    yield f'<section class="verdict {kind}">\n<h2>{title}</h2>\n'
    yield '<div class="figures">\n'
    if comparison.p is not None and comparison.difference.value is not None:
        words = f"The difference is {difference_words(comparison)} on a scale from −1 to +1."
        noun = "lift" if compared.skill else "difference"
        yield f'<p class="lift"><b>{comparison.difference.value:+.2f}</b> <span>{noun}</span></p>\n<figure>'
        yield scale_picture(
            name,
            (f"The {noun} with its interval", words),
            comparison.difference.value,
            comparison.difference.interval,
            (-1, 1),
        )
        yield f"<figcaption><span>← {second} is better</span><span>{first} is better →</span></figcaption></figure>\n"
    yield "</div>\n"
    yield f'<p class="basis">{brief(basis_words(compared))}{_level(compared)}</p>\n'
    yield from _reasons(compared.reasons)
    yield from _taken((first, second), compared.sides)
    yield "</section>\n"


def _subject(compared: Compared) -> str:
    if compared.skill:
        return f"What {brief(compared.skill, 80)} does for its cases"
    return f"{brief(compared.first, 80)} against {brief(compared.second, 80)}"


def _sides_named(compared: Compared) -> tuple[str, str]:
    return brief(compared.first or compared.path, 60), brief(compared.second or compared.path, 60)


def _level(compared: Compared) -> str:
    comparison = compared.comparison
    if comparison.difference.interval is None or comparison.level is None:
        return ""
    low, high = comparison.difference.interval.low, comparison.difference.interval.high
    return f". Interval at the level {comparison.level:.3g}: {low:+.2f} to {high:+.2f}"


def _reasons(reasons: Sequence[tuple[Reason, int]]) -> Iterator[Part]:
    if reasons:
        yield '<ul class="reasons">\n'
        yield from (f"<li>{times:,}× {brief(unmeasured_words(why))}</li>\n" for why, times in reasons[:MAX_REASONS])
        more = sum(times for _, times in reasons[MAX_REASONS:])
        yield f"<li>… and {count_words(more, 'attempt')} for other reasons</li>\n" if more else ""
        yield "</ul>\n"


def _taken(names: tuple[str, str], sides: tuple[TriedSide, TriedSide]) -> Iterator[Part]:
    heads = ("Side", "Pass rate", "Cost", "Tokens of an attempt", "Seconds of an attempt")
    rows = (table_row(name, _with_bar(side)) for name, side in zip(names, sides, strict=True))
    return table("What both sides take", "sides", heads, rows)


def _with_bar(side: TriedSide) -> Sequence[str]:
    rate, *others = side_figures(side)
    return (rate if side.rate is None else f"{rate} {rate_bar(side.rate)}", *others)


def side_figures(side: TriedSide) -> tuple[str, str, str, str]:
    """Return what a side takes: pass rate, cost, tokens and seconds of an attempt."""
    return (
        "unknown" if side.rate is None else f"{side.rate:.2f}",
        "unknown" if side.cost is None else dollars(side.cost),
        "unknown" if side.tokens is None else spread_words(side.tokens, ",.0f"),
        "not measured" if side.seconds is None else spread_words(side.seconds, ".1f"),
    )


# ---- suites ----


def _suite(name: str, suite: SuiteReport) -> Iterator[Part]:
    gate = suite.gate
    kind = "beside" if suite.baseline else "good" if suite.passed else "open" if gate.lacking else "bad"
    sign = {"beside": "·", "good": "✓", "open": "?", "bad": "✗"}[kind]
    yield f'<article class="suite {kind}">\n<h3>{sign} {brief(side_name(suite), 80)}</h3>\n'
    about = [suite.path, *([suite.model] if suite.model else []), *(["compared with"] if suite.baseline else [])]
    yield f'<p class="facts">{" · ".join(brief(text, 120) for text in about)}</p>\n'
    if gate.rate is not None:
        words = f"{rate_name(suite)} is {gate.rate.value:.2f}, with the interval {interval_words(gate.rate.interval)}."
        yield scale_picture(
            name, ("Pass rate with its interval", words), gate.rate.value, gate.rate.interval, (0, 1), 320
        )
    yield f"<p><b>{escape(rate_name(suite))}</b> {brief(gate_words(suite))}</p>\n"
    cost = "cost unknown" if suite.cost is None else dollars(suite.cost)
    attempts = count_words(sum(len(case.attempts) for case in suite.cases), "attempt")
    yield f'<p class="facts">{count_words(len(suite.cases), "case")} · {attempts} · {cost}</p>\n'
    yield "</article>\n"


def _notes(report: Report) -> Iterator[Part]:
    """Yield what was not measured, and why; what a skill needs and lacks; what was not seen of agents."""
    why = Counter(attempt.reason for attempt in report.attempts if attempt.reason is not None)
    needs = [*dict.fromkeys(need for suite in report.suites for need in suite.unavailable)]
    unseen = unseen_facts(report)
    agents = _agents(report.attempts)
    if not (why or needs or unseen or agents):
        return
    yield '<section class="notes">\n<h2>Limits of this test</h2>\n'
    if why:
        yield f"<h3>Not measured: {sum(why.values()):,} of {count_words(len(report.attempts), 'attempt')}</h3>\n"
        yield from _reasons(why.most_common())
    for title, lines in (("Requirements that are not met here", needs), ("Not seen, or not held", unseen)):
        if lines:
            yield f"<h3>{title}</h3>\n<ul>\n"
            yield from (f"<li>{brief(line)}</li>\n" for line in lines[:MAX_REASONS])
            yield f"<li>… and {len(lines) - MAX_REASONS:,} more</li>\n" if len(lines) > MAX_REASONS else ""
            yield "</ul>\n"
    yield from agents
    yield "</section>\n"


def _agents(attempts: Sequence[Attempt]) -> list[Part]:
    """Return how often each agent listed skills, loaded one, and was refused something: different facts."""
    facts = [attempt.agent for attempt in attempts if attempt.agent is not None]
    if not facts:
        return []
    rows: list[str] = []
    for name in [*dict.fromkeys((fact.agent, fact.version) for fact in facts)][:MAX_REASONS]:
        own = [fact for fact in facts if (fact.agent, fact.version) == name]
        seen = [fact for fact in own if fact.listed is not None]
        listed = f"{sum(bool(fact.listed) for fact in seen)} of {len(seen)}" if seen else "not seen"
        loaded = f"{sum(bool(fact.loaded) for fact in own)} of {len(own)}"
        denied = f"{sum(len(fact.denied) for fact in own)}"
        rows.append(table_row(brief(" ".join(name)), (f"{len(own)}", listed, loaded, denied)))
    heads = ("Agent", "Attempts", "Listed", "Loaded", "Denied")
    return ["<h3>Agents</h3>\n", *table("Agents", "agents", heads, rows)]


# ---- skills ----


def _confusion(suite: SuiteReport, confusion: Confusion) -> Iterator[Part]:
    """Yield which skills were loaded for which requests: a row for each skill that requests belong to."""
    columns = confusion.columns[:MAX_SKILLS]
    heads = ("Requests that belong to", *(brief(column, 60) for column in columns))
    yield f"<section>\n<h2>Skills loaded: {brief(side_name(suite), 80)}</h2>\n"
    rows = (_loads(row, columns, confusion.own) for row in confusion.rows[:MAX_SKILLS])
    yield from table("Skills loaded for requests", "confusion", heads, rows)
    yield from (f'<p class="facts">{brief(line)}</p>\n' for line in offered_lines(suite))
    yield "</section>\n"


def _loads(row: ConfusionRow, columns: Sequence[str], own: str) -> str:
    """Return a row of numbers, each with a colour for right or wrong whose strength is its share of the row."""
    cells: list[str] = []
    for name in columns:
        number = row.loaded.get(name, 0)
        right = name == row.expected or (row.expected.startswith("not ") and name != own)
        heat = min(4, -(-4 * number // row.total)) if row.total else 0
        cells.append(f'<td class="{"right" if right else "wrong"} h{heat}">{number:,}</td>')
    return f'<tr><th scope="row">{brief(row.expected, 60)}</th>{"".join(cells)}</tr>\n'


# ---- trend ----


def trends(all_trends: Sequence[Trend], limit: int) -> Iterator[Part]:
    """Yield each suite over time, in less than a tenth of ``limit`` bytes."""
    several = [trend for trend in all_trends if len(trend.points) > 1]
    if several:
        yield '<section>\n<h2>Trend</h2>\n<div class="trends">\n'
        drawn = (_trend(f"trend-{at}", trend) for at, trend in enumerate(several, 1))
        yield from within(drawn, limit // 10, "further trend")
        yield "</div>\n</section>\n"


def _trend(name: str, trend: Trend) -> Iterator[Part]:
    """Yield a picture, and the same as a table."""
    points = trend.points[-MAX_POINTS:]
    title = " · ".join(brief(name, 80) for name in (trend.path, trend.label) if name)
    words = f"{len(points)} tests from {points[0].started[:10]} to {points[-1].started[:10]}; the table says the same."
    yield f"<div>\n<h3>{title}</h3>\n"
    yield trend_picture(name, ("Share of attempts that passed", words), points)
    yield f"<details><summary>{count_words(len(points), 'test')} as a table</summary>\n"
    heads = ("Started (UTC)", "Revision", "Passed", "Not measured", "Cost")
    yield from table("Trend", "trend", heads, map(_point, reversed(points)))
    yield "</details>\n</div>\n"


def _point(point: TrendPoint) -> str:
    revision = (
        f"<code>{brief(point.revision[:12])}</code>{' with changes' if point.changed else ''}"
        if point.revision
        else "–"
    )
    share = "–" if point.rate is None else f"{point.passed:,} of {point.measured:,} ({point.rate:.2f})"
    cost = "unknown" if point.cost is None else dollars(point.cost)
    cells = (revision, share, f"{point.unmeasured:,}", cost)
    return table_row(brief(point.started[:16].replace("T", " ")), cells)


# ---- searches for better texts ----


def searches(records: Sequence[Improvement], limit: int) -> Iterator[Part]:
    """Yield searches in at most a quarter of ``limit`` bytes, but for the texts."""
    yield from within(map(_found, records), limit // 4, "further search")


def _found(record: Improvement) -> Iterator[Part]:
    sign, kind = ("▲", "good") if record.accepted else ("≈", "open")
    yield f'<section class="verdict {kind}">\n<h2><b>{sign} {brief(decision_words(record))}</b> '
    yield f"<span>{record.part} of {brief(record.subject, 120)}</span></h2>\n"
    yield f'<p class="basis">{len(record.search)} search cases, {len(record.held_out)} held out; '
    yield f"{brief(level_words(record))}; seed {record.seed}, search <code>{brief(record.id)}</code></p>\n"
    rows = (table_row(_candidate_name(candidate), _figures(candidate)) for candidate in record.candidates)
    yield from table("Candidates", "figures", ("Candidate", "Made of", "Search cases", "Held-out cases", ""), rows)
    for candidate in record.candidates:
        yield f"<details><summary>Text of {_candidate_name(candidate)}</summary>\n"
        yield text_block(candidate.text)
        yield "</details>\n"
    yield "</section>\n"


def _candidate_name(candidate: Candidate) -> str:
    return f"candidate {candidate.id}" if candidate.id else "as it is"


def _figures(candidate: Candidate) -> Iterator[str]:
    yield "" if candidate.parent is None else f"{candidate.parent}"
    yield from ("" if rate is None else f"{rate:.2f}" for rate in (candidate.train, candidate.held_out))
    yield f"refused: {brief(candidate.refused, 200)}" if candidate.refused else ""
