"""A test as Markdown of GitHub, for a comment on a pull request or a file (X37).

Texts of documents, people and models stand in code alone: in a code span, or in a fence longer than any in them. There
nothing is markup, an address, or a mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

from prosa.evaluation.expectations import Failure
from prosa.evaluation.report import Attempt, CaseReport, Compared, SuiteReport
from prosa.records.improvement import Improvement
from prosa.records.test import ShownTest
from prosa.regex import regex
from prosa.render.improve import improvement_lines
from prosa.render.plain import with_escapes
from prosa.render.report.attempts import answer_text
from prosa.render.report.parts import Part, Whole, assemble, fitting, one_line, weight, with_room
from prosa.render.report.results import VERDICTS, side_figures
from prosa.render.report.subjects import OUTCOME_SIGNS, SIGNS, Row, Subject, side_name, state_of, state_words, subjects
from prosa.render.tests import (
    basis_words,
    count_words,
    difference_words,
    dollars,
    interval_words,
    rate_name,
    tests_total,
    unmeasured_words,
)

MAX_COMMENT = 60_000
"""Bytes of a comment; GitHub refuses more than 65,536 characters."""

MAX_ROWS = 200
"""Lines of a table."""

MAX_LINES = 5
"""Failures, reasons and answers of a case that are shown."""

MAX_TICKS = 60
"""Backticks in a row up to which a text is shown in a fence."""

_SHARE = 0.7
"""The part of the room that cases may take without their answers."""

_TICKS = regex("`+")
_TOO_MANY = regex(f"`{{{MAX_TICKS + 1}}}")


def test_markdown(shown: ShownTest, *, limit: int = MAX_COMMENT, whole: Whole | None = None) -> str:
    """Return a test in at most ``limit`` bytes: verdicts, suites, what did not pass with its answers, all cases."""
    report = shown.report
    all_subjects = subjects(report)
    start = list(_start(shown, limit))
    end = [f"{line}\n" for line in _end(shown)]
    rows = [row for subject in all_subjects for row in subject.rows if row.is_bad]
    room = limit - weight(start) - weight(end) - 200
    matrix = fitting(([line] for subject in all_subjects for line in _matrix(subject)), room // 3)
    left = int((room - sum(map(weight, matrix))) * _SHARE)
    bad = ["\n#### Not passed\n" if rows else "", *_within(map(_case, rows), left, "case")]
    return assemble([*start, *bad, *(part for table in matrix for part in table), *end], limit, whole or {})


def code(text: str, most: int = 200) -> str:
    """Return a text as a code span on one line, which holds in a table too: a bar becomes a broken one."""
    line = one_line(text, most).replace("|", "¦")
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    return (
        f"{ticks} {line} {ticks}" if line.startswith("`") or line.endswith("`") or not line else f"{ticks}{line}{ticks}"
    )


class FenceBlock(Struct, frozen=True):
    """A text of any size in a fence."""

    text: str
    is_first: bool = True

    def need(self, most: int) -> int:
        """Return the bytes that it takes whole, if these are at most ``most``; else some number above that."""
        if len(self.text) > most or _TOO_MANY.search(self.text):
            return most + 1
        return len(_fence(with_escapes(self.text)).encode())

    def html(self, room: int, whole: Whole) -> str:
        """Return it in at most so many bytes; what is cut says how large it is."""
        if self.need(room) <= room:
            return _fence(with_escapes(self.text))
        data = self.text.encode("utf-8", "surrogatepass")
        digest = sha256(data).hexdigest()
        where = f"; the full text is in {code(whole[digest])}" if digest in whole else ""
        note = f"\nCut here. All of it has {len(data):,} bytes and the SHA-256 `{digest}`{where}.\n"
        left = max(0, room - len(note.encode()) - 2 * MAX_TICKS - 20)
        shown = with_escapes(self.text[:left]).encode()[:left].decode(errors="ignore")
        return _fence(_TOO_MANY.split(shown)[0]) + note


def _fence(text: str) -> str:
    ticks = "`" * max(3, max(map(len, _TICKS.findall(text)), default=0) + 1)
    return f"{ticks}text\n{text}{'' if text.endswith(chr(10)) else chr(10)}{ticks}\n"


# ---- head and foot ----


def _start(shown: ShownTest, limit: int) -> Iterator[Part]:
    """Yield verdicts and suites, in less than half of ``limit`` bytes."""
    report = shown.report
    yield from _within(map(_comparison, report.comparisons), limit // 6, "comparison")
    yield from _within(map(_search, shown.improvements), limit // 6, "search")
    if shown.record.state != "done":
        yield f"**{shown.record.state}**: {shown.record.done:,} of {shown.record.total:,} attempts are over\n"
    yield f"\n{'✓' if report.ok else '✗'} {tests_total(report)}\n\n"
    yield "| Suite | Side | Rate | Required | Cost |\n|---|---|---|---|---|\n"
    yield from _within(([_suite(suite)] for suite in report.suites), limit // 8, "suite")


def _within(sections: Iterable[Iterable[Part]], room: int, noun: str) -> Iterator[Part]:
    kept, missing = with_room(sections, room)
    yield from kept
    if missing:
        yield f"\nNo room for {count_words(missing, f'further {noun}')}.\n"


def _comparison(compared: Compared) -> Iterator[str]:
    comparison = compared.comparison
    sign = VERDICTS[comparison.verdict][0]
    name = (
        code(compared.skill, 80)
        if compared.skill
        else f"{code(compared.first, 80)} against {code(compared.second, 80)}"
    )
    difference = "" if comparison.p is None else f", {difference_words(comparison)}"
    yield f"### {sign} {name}: {comparison.verdict}{difference}\n\n{basis_words(compared)}\n\n"
    yield "| Side | Pass rate | Cost | Tokens of an attempt | Seconds of an attempt |\n|---|---|---|---|---|\n"
    for label, side in zip(
        (compared.first or compared.path, compared.second or compared.path), compared.sides, strict=True
    ):
        yield _cells([code(label, 60), *side_figures(side)])
    yield from (f"\n- {times:,}× {code(unmeasured_words(why))}\n" for why, times in compared.reasons[:MAX_LINES])
    yield "\n"


def _search(record: Improvement) -> Iterator[str]:
    yield from (f"- {code(line.strip(), 400)}\n" for line in improvement_lines(record))
    yield "\n"


def _suite(suite: SuiteReport) -> str:
    gate = suite.gate
    rate = "unknown" if gate.rate is None else f"{gate.rate.value:.2f} {interval_words(gate.rate.interval)}"
    verdict = "" if suite.baseline else " ✓" if suite.passed else " ? not measured" if gate.lacking else " ✗ FAILED"
    required = "compared with" if suite.baseline else f"{code(suite.requirement.text)}{verdict}"
    cost = "unknown" if suite.cost is None else dollars(suite.cost)
    return _cells([code(suite.path, 80), code(side_name(suite), 80), f"{rate_name(suite)} {rate}", required, cost])


def _end(shown: ShownTest) -> Iterator[str]:
    record = shown.record
    revision = f" at {code(record.revision[:12])}{' with changes' if record.changed else ''}" if record.revision else ""
    started = f"{code(record.started[:16].replace('T', ' '), 40)} UTC"
    yield f"\nTest {code(record.id, 60)}{revision}, {started}, Prosa {code(record.version, 40)}"


# ---- cases ----


def _case(row: Row) -> Iterator[Part]:
    """Yield a case that did not pass, with what each side lacked and the answers of the attempts that failed."""
    yield f"\n**{code(row.title, 120)}**\n\n"
    bad: list[tuple[SuiteReport, int, Attempt]] = []
    for suite, case in zip(row.suites, row.cases, strict=True):
        if case is not None:
            yield f"- {code(side_name(suite), 80)}: {SIGNS[state_of(case)]} {state_words(case)}\n"
            yield from () if suite.baseline else _lacks(case)
            bad += [
                (suite, at, attempt)
                for at, attempt in enumerate(case.attempts, 1)
                if not attempt.passed and not suite.baseline
            ]
    answers = [answer for answer in bad if answer[2].output is not None][:MAX_LINES]
    if answers:
        yield f"\n<details><summary>{count_words(len(answers), 'answer')}</summary>\n"
        for suite, at, attempt in answers:
            outcome = f"{OUTCOME_SIGNS[attempt.outcome]} {attempt.outcome}"
            yield f"\n{outcome}, {code(side_name(suite), 80)}, repeat {at}:\n\n"
            yield FenceBlock(answer_text(attempt.output))
        yield "\n</details>\n"


def _lacks(case: CaseReport) -> Iterator[str]:
    failures = [f"{times}× {_failure(failure)}" for failure, times in case.failures]
    reasons = [f"{times}× {code(unmeasured_words(reason))}" for reason, times in case.reasons]
    for line in (*failures[:MAX_LINES], *reasons[:MAX_LINES]):
        yield f"  - {line}\n"


def _failure(failure: Failure) -> str:
    place = code(failure.pointer or "output")
    return f"{place} expected {code(failure.expected)}, found {code(failure.found, 400)}"


def _matrix(subject: Subject) -> Iterator[str]:
    """Yield the lines of a table of cases and sides."""
    yield f"\n#### Cases of {code(subject.path, 120)}\n\n" + _cells(
        ["Case", *(code(side_name(s), 80) for s in subject.suites)]
    )
    yield _cells(["---"] * (len(subject.suites) + 1))
    yield from map(_matrix_line, subject.rows[:MAX_ROWS])
    if len(subject.rows) > MAX_ROWS:
        yield f"\n… and {count_words(len(subject.rows) - MAX_ROWS, 'further case')}\n"


def _matrix_line(row: Row) -> str:
    words = ("–" if case is None else f"{SIGNS[state_of(case)]} {state_words(case)}" for case in row.cases)
    return _cells([code(row.title, 120), *words])


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
