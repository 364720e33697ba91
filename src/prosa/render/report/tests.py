"""The page of a test: verdict and figures, cases and sides, every answer with its evidence, and how it came out before
(X37). Several pages where there are more cases than one holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prosa.records.test import Feedback, ShownTest, TestRecord
from prosa.render.plain import safe
from prosa.render.report.attempts import FormOf, answer_lengths, case_section
from prosa.render.report.frame import MAX_PAGE, frame_weight, page
from prosa.render.report.parts import Part, Whole, brief, fitting, level, table, weight
from prosa.render.report.results import results, searches, trends
from prosa.render.report.subjects import SIGNS, Row, Subject, side_name, state_of, state_words, subjects
from prosa.render.tests import count_words, ending_words, tests_total

PER_PAGE = 100
"""Cases of a page, where there are several."""

MAX_LISTED = 200
"""Cases that failed and are listed on the first of several pages."""

LEAST_COMPARED = 4_000
"""Characters of an answer that are compared at least."""

_SHARE = 0.6
"""The part of a page that cases may take without their texts, so that room for these is left."""


def test_page(
    shown: ShownTest, *, limit: int = MAX_PAGE, whole: Whole | None = None, form: FormOf | None = None
) -> str:
    """Return a test as one page of at most ``limit`` bytes. Answers share the room; if the cases need more than there
    is, those that failed come first and the page says how many are missing. ``whole`` maps the SHA-256 of texts that
    are whole in a file to its path from the page; ``form`` is one for the feedback on a case."""
    all_subjects = subjects(shown.report)
    start, end = [*_start(shown, limit)], [*trends(shown.trends, limit), *_foot(shown.record)]
    room = limit - frame_weight(_title(shown)) - weight(start) - weight(end)
    rows = [row for subject in all_subjects for row in subject.rows]
    sections = _fitting(rows, shown.feedback, int(room * _SHARE), form)
    while True:
        body = [*start, *_cases(all_subjects, sections), *end]
        text = page(_title(shown), body, limit, whole or {})
        if not sections or len(text.encode()) <= limit:
            return text
        sections = dict(list(sections.items())[: len(sections) // 2])


def test_pages(
    shown: ShownTest,
    *,
    limit: int = MAX_PAGE,
    whole: Whole | None = None,
    per_page: int = PER_PAGE,
    form: FormOf | None = None,
    only: str = "",
) -> dict[str, str]:
    """Return a test as pages by the names of their files, `index.html` the first. Each has at most ``limit`` bytes and
    ``per_page`` cases. ``only`` names one that is made alone."""
    all_subjects = subjects(shown.report)
    rows = [row for subject in all_subjects for row in subject.rows]
    if len(rows) <= per_page:
        return {"index.html": test_page(shown, limit=limit, whole=whole, form=form)}
    chunks = [rows[at : at + per_page] for at in range(0, len(rows), per_page)]
    names = [f"cases-{number}.html" for number in range(1, len(chunks) + 1)]
    pages: dict[str, str] = {}
    if only in ("", "index.html"):
        index = [*_start(shown, limit), *_contents(names, chunks), *trends(shown.trends, limit), *_foot(shown.record)]
        pages["index.html"] = page(_title(shown), index, limit, whole or {})
    for at, (name, chunk) in enumerate(zip(names, chunks, strict=True)):
        if only not in ("", name):
            continue
        sections = _fitting(chunk, shown.feedback, int((limit - frame_weight(_title(shown))) * _SHARE), form)
        body = [*_turning(shown, names, at), *_cases(all_subjects, sections, chunk), *_foot(shown.record)]
        pages[name] = page(_title(shown), body, limit, whole or {})
    return pages


def _fitting(
    rows: Sequence[Row], feedback: Mapping[tuple[str, str], Feedback], room: int, form: FormOf | None = None
) -> dict[str, list[Part]]:
    """Return as many cases as fit by their ids, in their order: the line of the matrix, then the section. Those that
    failed come first."""
    order = sorted(range(len(rows)), key=lambda at: not rows[at].is_bad)
    most = max(LEAST_COMPARED, level(answer_lengths(rows), int(room / _SHARE)))
    sections = (
        [_matrix_row(row), *case_section(row, feedback.get((row.path, row.title)), most, form)]
        for row in map(rows.__getitem__, order)
    )
    fitted = dict(zip(order, fitting(sections, room), strict=False))
    return {rows[at].name: [*fitted[at]] for at in sorted(fitted)}


def _title(shown: ShownTest) -> str:
    skills = dict.fromkeys(comparison.skill for comparison in shown.report.comparisons if comparison.skill)
    paths = dict.fromkeys(suite.path for suite in shown.report.suites)
    names = [safe(skill)[:60] for skill in (skills or paths)]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _start(shown: ShownTest, limit: int) -> Iterator[Part]:
    yield from _head(shown)
    yield from searches(shown.improvements, limit)
    yield from results(shown.report, limit)


def _head(shown: ShownTest) -> Iterator[str]:
    record, report = shown.record, shown.report
    ending = ending_words(report)
    kind = "good" if report.ok else "open" if ending.startswith("not measured") else "bad"
    sign = {"good": "✓", "open": "?", "bad": "✗"}[kind]
    yield '<header>\n<p class="over">Prosa test report</p>\n'
    yield f"<h1>{brief(_title(shown))}</h1>\n"
    if record.state != "done":
        words = f"{record.done:,} of {record.total:,} attempts are over"
        yield f'<p class="ending open"><b>? {record.state}</b> {words}</p>\n'
    else:
        yield f'<p class="ending {kind}"><b>{sign} {brief(ending)}</b></p>\n'
    yield f'<p class="lead">{brief(tests_total(report).removeprefix(f"{ending} · "))}</p>\n'
    facts = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in _about(shown))
    yield f'<dl class="about">{facts}</dl>\n</header>\n'


def _about(shown: ShownTest) -> Iterator[tuple[str, str]]:
    record = shown.record
    yield "Started", f"{brief(record.started[:16].replace('T', ' '))} UTC"
    if record.revision:
        yield "Revision", f"<code>{brief(record.revision[:12])}</code>{' with changes' if record.changed else ''}"
    if models := [*dict.fromkeys(suite.model for suite in shown.report.suites if suite.model)]:
        yield "Model", ", ".join(brief(model, 60) for model in models[:6])
    yield "Test", f"<code>{brief(record.id)}</code>"


def _foot(record: TestRecord) -> Iterator[str]:
    yield f"<footer><p>Written by Prosa {brief(record.version)}. This page loads nothing from any address and executes "
    yield "nothing.</p></footer>\n"


# ---- cases ----


def _cases(
    all_subjects: Sequence[Subject], sections: Mapping[str, list[Part]], only: Sequence[Row] = ()
) -> Iterator[Part]:
    """Yield the matrix and the cases of each subject, as far as they have sections."""
    names = {row.name for row in only}
    yield from _filters() if len(sections) > 1 else ()
    for number, subject in enumerate(all_subjects, 1):
        wanted = [row for row in subject.rows if not names or row.name in names]
        rows = [row for row in wanted if row.name in sections]
        if not wanted:
            continue
        yield f'<section class="subject">\n<h2 id="cases-{number}">Cases of {brief(subject.path, 120)}</h2>\n'
        if len(rows) < len(wanted):
            yield f'<p class="note">{len(rows):,} of {count_words(len(wanted), "case")} have room here, those that '
            yield "failed first. <code>--report DIR/</code> writes all of them as several pages.</p>\n"
        heads = ("Case", *(brief(side_name(suite), 80) for suite in subject.suites))
        yield from table("Cases and sides", "matrix", heads, (sections[row.name][0] for row in rows))
        for row in rows:
            yield from sections[row.name][1:]
        yield "</section>\n"


def _filters() -> Iterator[str]:
    """Yield the choice of cases, which works without a script."""
    yield '<fieldset class="filters"><legend>Show</legend>\n'
    for name, words in (("all", "all cases"), ("bad", "not passed"), ("apart", "sides differ")):
        checked = " checked" if name == "all" else ""
        yield f'<label><input type="radio" name="show" id="show-{name}"{checked}> {words}</label>\n'
    yield "</fieldset>\n"
    yield '<p class="note">Marked words are in one of two answers only.</p>\n'


def _matrix_row(row: Row) -> str:
    """Return a line of the matrix: a sign, words and a colour for each side."""
    cells: list[str] = []
    for case in row.cases:
        if case is None:
            cells.append('<td class="none">–</td>')
            continue
        state = state_of(case)
        cells.append(f'<td class="{state}"><b>{SIGNS[state]}</b> {brief(state_words(case))}</td>')
    classes = f"{'bad' if row.is_bad else 'good'} {'apart' if row.differs else 'alike'}"
    name = f'<a href="#{row.name}">{brief(row.title, 120)}</a>'
    return f'<tr class="{classes}"><th scope="row">{name}</th>{"".join(cells)}</tr>\n'


# ---- several pages ----


def _contents(names: Sequence[str], chunks: Sequence[Sequence[Row]]) -> Iterator[str]:
    """Yield the pages, and the first cases that failed."""
    yield '<section>\n<h2>Cases</h2>\n<ul class="pages">\n'
    first = 1
    for name, chunk in zip(names, chunks, strict=True):
        bad = sum(row.is_bad for row in chunk)
        words = f'<b class="failed">✗ {bad:,} not passed</b>' if bad else '<b class="passed">✓ all passed</b>'
        yield f'<li><a href="{name}">{first:,} to {first + len(chunk) - 1:,}</a> {words}</li>\n'
        first += len(chunk)
    yield "</ul>\n"
    bad_rows = [(name, row) for name, chunk in zip(names, chunks, strict=True) for row in chunk if row.is_bad]
    if bad_rows:
        yield "<h3>Not passed</h3>\n<ul>\n"
        yield from (
            f'<li><a href="{name}#{row.name}">{brief(row.title, 120)}</a></li>\n' for name, row in bad_rows[:MAX_LISTED]
        )
        yield f"<li>… and {len(bad_rows) - MAX_LISTED:,} more</li>\n" if len(bad_rows) > MAX_LISTED else ""
        yield "</ul>\n"
    yield "</section>\n"


def _turning(shown: ShownTest, names: Sequence[str], at: int) -> Iterator[str]:
    """Yield the head of one of several pages."""
    yield '<header>\n<p class="over">Prosa test report</p>\n'
    yield f'<h1>{brief(_title(shown))}</h1>\n<nav aria-label="Pages"><a href="index.html">Summary</a>'
    yield f' <a href="{names[at - 1]}">Previous</a>' if at else ""
    yield f" <span>page {at + 1:,} of {len(names):,}</span>"
    yield f' <a href="{names[at + 1]}">Next</a>' if at + 1 < len(names) else ""
    yield "</nav>\n</header>\n"
