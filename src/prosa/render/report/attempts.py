"""A case on a page: what was asked and expected, and the attempts of all sides beside each other with their answers,
evidence, transcript and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from prosa.data import Value
from prosa.evaluation.case import Case
from prosa.evaluation.expectations import GRADE, Failure
from prosa.evaluation.matchers import Missing
from prosa.evaluation.report import AgentFacts, Attempt, Graded, OutputFile, Step, SuiteReport
from prosa.records.test import Feedback
from prosa.render.json import dump
from prosa.render.report.differences import LEAST_ALIKE, TwoTexts, compare_texts
from prosa.render.report.parts import Mark, Part, PictureBlock, TextBlock, brief, text_block
from prosa.render.report.subjects import OUTCOME_SIGNS, SIGNS, Row, side_name, state_of, state_words
from prosa.render.tests import count_words, dollars, interval_words, unmeasured_words

MAX_REPEATS = 20
"""Repeats of a case that are shown."""

MAX_FILES = 20
"""Files of an attempt that are shown."""

MAX_EVIDENCE = 20
"""Failures and grades of an attempt that are shown."""

_WHOLE = "--report DIR/"
"""Has answers and differences whole."""

MAX_REASON = 1_000
"""Characters of a grader's reason, or of a failure."""


FormOf: TypeAlias = Callable[[Row, Feedback], str]
"""Returns the form in which people say what they think of a case, with what they said before."""


def case_section(row: Row, feedback: Feedback | None, most: int, form: FormOf | None = None) -> Iterator[Part]:
    """Yield a case; it is open if an attempt did not pass. No more than ``most`` characters of an answer have room. A
    ``form`` takes the place of the feedback."""
    classes = f"case {'bad' if row.is_bad else 'good'} {'apart' if row.differs else 'alike'}"
    yield f'<details class="{classes}" id="{row.name}"{" open" if row.is_bad else ""}>\n<summary>'
    yield f"<h3>{brief(row.title)}</h3> <span>{'; '.join(_shares(row))}</span></summary>\n"
    if form is not None:
        yield form(row, feedback or Feedback())
    elif feedback is not None and (feedback.opinion or feedback.text):
        word = f"<b>{feedback.opinion}</b> " if feedback.opinion else ""
        yield f'<p class="feedback">Feedback: {word}{brief(feedback.text, MAX_REASON)}</p>\n'
    case = next(report.case for report in row.cases if report is not None)
    yield from _asked(case)
    yield from _repeats(row, most)
    most = max(len(report.attempts) for report in row.cases if report is not None)
    if most > MAX_REPEATS:
        yield f'<p class="cut">{count_words(most - MAX_REPEATS, "further repeat")} of each side.</p>\n'
    yield "</details>\n"


def _shares(row: Row) -> Iterator[str]:
    for suite, case in zip(row.suites, row.cases, strict=True):
        if case is not None:
            state = state_of(case)
            name = f"{brief(side_name(suite), 60)} " if len(row.suites) > 1 else ""
            span = f" <small>{interval_words(case.interval)}</small>" if case.counted.repeats > 1 else ""
            yield f'{name}<b class="{state}">{SIGNS[state]} {brief(state_words(case))}</b>{span}'


def _asked(case: Case) -> Iterator[Part]:
    yield '<div class="asked">\n'
    yield from _titled("Input", text_block(case.request or _single_text(case.input)))
    if not isinstance(case.expect, Missing):
        yield from _titled("Expected", text_block(answer_text(case.expect)))
    if expected := _asserted(case):
        yield from _titled("Assertions", text_block(answer_text(expected)))
    if case.run is not None:
        yield from _titled("Expected of the run", text_block(dump(case.run)))
    yield "</div>\n"


def _asserted(case: Case) -> dict[str, Value]:
    """Return what each assertion expects by its name; further ones of the same name have a number."""
    expectations: dict[str, Value] = {}
    times = Counter[str]()
    assertions = [(assertion.name, assertion.expect) for assertion in case.assertions]
    for name, expected in (*assertions, *((expected.name, dict(expected.words)) for expected in case.workspace)):
        times[name] += 1
        own = f"{name} ({times[name]})" if name in expectations else name
        expectations[own if own not in expectations else f"{own}'"] = expected
    return expectations


def _single_text(value: Value) -> str:
    """Return an input as text; of an object with nothing but a text, that one."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        return answer_text(only if isinstance(only, str) else value)
    return answer_text(value)


def _titled(title: str, block: TextBlock) -> Iterator[Part]:
    yield f"<div><h4>{title}</h4>"
    yield block
    yield "</div>\n"


def answer_text(output: Value) -> str:
    """Return an answer as text: itself if it is one, else indented JSON."""
    if isinstance(output, str):
        return output
    try:
        return dump(output, indent=2)
    except RecursionError:
        return "a value that is nested too deeply to be shown"


def _repeats(row: Row, most: int) -> Iterator[Part]:
    """Yield the repeats: of several sides one below the other, of one side beside each other."""
    repeats = list(zip_longest(*(case.attempts[:MAX_REPEATS] if case is not None else () for case in row.cases)))
    several = sum(case is not None for case in row.cases) > 1
    yield "" if several else '<div class="repeat sides-3">\n'
    for number, attempts in enumerate(repeats, 1):
        sides = [(suite, attempt) for suite, attempt in zip(row.suites, attempts, strict=True) if attempt is not None]
        yield f'<div class="repeat sides-{min(len(sides), 3)}">\n' if several else ""
        yield from _repeat(sides, number if len(repeats) > 1 else None, most)
        yield "</div>\n" if several else ""
    yield "" if several else "</div>\n"


def _repeat(sides: Sequence[tuple[SuiteReport, Attempt]], number: int | None, most: int) -> Iterator[Part]:
    """Yield one repeat of all sides. Two answers are compared with each other, more with the last."""
    answers = [at for at, (_, attempt) in enumerate(sides) if _has_answer(attempt)]
    texts = [answer_text(sides[at][1].output) for at in answers]
    compared = [compare_texts(text, texts[-1], most) for text in texts[:-1]]
    marked = {at: _pieces(_told(compared, n), n == len(texts) - 1, texts[n]) for n, at in enumerate(answers)}
    for at, (suite, attempt) in enumerate(sides):
        yield from _attempt(suite, number, attempt, marked.get(at))
    if any(pair.alike < LEAST_ALIKE for pair in compared):
        yield '<p class="note">These answers have too little in common for marks.</p>\n'


def _has_answer(attempt: Attempt) -> bool:
    return attempt.output is not None or (attempt.measured and attempt.facts.failure is None)


def _told(compared: Sequence[TwoTexts], at: int) -> TwoTexts | None:
    """Return the comparison that marks an answer: of the last one only if it is one of two."""
    if at < len(compared):
        return compared[at]
    return compared[0] if len(compared) == 1 else None


def _pieces(texts: TwoTexts | None, is_last: bool, text: str) -> tuple[tuple[str, Mark], ...]:
    if texts is None:
        return ((text, ""),)
    mark: Mark = "del" if is_last else "ins"
    return tuple((piece, mark if differs else "") for piece, differs in (texts.second if is_last else texts.first))


def _attempt(
    suite: SuiteReport, number: int | None, attempt: Attempt, answer: tuple[tuple[str, Mark], ...] | None
) -> Iterator[Part]:
    outcome = attempt.outcome
    title = " · ".join([brief(side_name(suite), 80), *([f"repeat {number}"] if number is not None else [])])
    yield f'<section class="attempt {outcome.replace(" ", "-")}">\n'
    yield f'<h4><b class="pill">{OUTCOME_SIGNS[outcome]} {outcome}</b> {title}</h4>\n'
    yield f'<p class="facts">{" · ".join(_facts(attempt))}</p>\n'
    if attempt.reason is not None:
        yield f'<p class="why">{brief(unmeasured_words(attempt.reason), MAX_REASON)}</p>\n'
    if attempt.facts.failure is not None:
        yield f'<p class="why">No answer: {brief(f"{attempt.facts.failure}: {attempt.facts.error}", MAX_REASON)}</p>\n'
    if answer is not None:
        yield TextBlock(answer, is_first=True, kind="answer", where=_WHOLE)
    if attempt.cut is not None:
        yield f'<p class="cut">This is its beginning. All of it had {attempt.cut.size:,} bytes as JSON and the SHA-256 '
        yield f"<code>{brief(attempt.cut.digest)}</code>; the store keeps no more.</p>\n"
    yield from _evidence(attempt)
    yield from _transcript(attempt.steps)
    yield from _files(attempt.files)
    if attempt.agent is not None:
        yield from _agent(attempt.agent)
    yield "</section>\n"


def _facts(attempt: Attempt) -> Iterator[str]:
    facts = attempt.facts
    yield count_words(facts.calls, "call")
    if facts.tokens is not None:
        yield count_words(facts.tokens, "token")
    yield "cost unknown" if facts.cost is None else dollars(facts.cost)
    if attempt.seconds is not None:
        yield f"{attempt.seconds:.1f} s"
    if attempt.kept:
        yield "from the cache"
    if attempt.trace:
        yield f"recording <code>{brief(attempt.trace)}</code>"


def answer_lengths(rows: Iterable[Row]) -> list[int]:
    """Return the characters of each answer that is shown."""
    cases = (case for row in rows for case in row.cases if case is not None)
    return [
        len(answer_text(attempt.output))
        for case in cases
        for attempt in case.attempts[:MAX_REPEATS]
        if _has_answer(attempt)
    ]


# ---- evidence ----


def _evidence(attempt: Attempt) -> Iterator[str]:
    asked = {graded.question for graded in attempt.graded}
    failures = [failure for failure in attempt.failures if failure.pointer != GRADE or failure.expected not in asked]
    if failures or attempt.graded:
        yield '<ul class="evidence">\n'
        yield from map(_failure, failures[:MAX_EVIDENCE])
        yield from map(_grade, attempt.graded[:MAX_EVIDENCE])
        more = len(failures[MAX_EVIDENCE:]) + len(attempt.graded[MAX_EVIDENCE:])
        yield f"<li>… and {more:,} more</li>\n" if more else ""
        yield "</ul>\n"


def _failure(failure: Failure) -> str:
    place = f"<code>{brief(failure.pointer or 'output')}</code>"
    wanted, actual = brief(failure.expected, MAX_REASON), brief(failure.found, MAX_REASON)
    return f'<li class="failed"><b>✗</b> {place} expected {wanted}, found {actual}</li>\n'


def _grade(graded: Graded) -> str:
    sign, kind = {True: ("✓", "passed"), False: ("✗", "failed"), None: ("?", "unknown")}[graded.passed]
    word = {"passed": "holds", "failed": "does not hold", "unknown": "no verdict"}[kind]
    votes = f" ({graded.votes} of {graded.of} votes)" if graded.of > 1 else ""
    reason = f" <small>{brief(graded.reason, MAX_REASON)}</small>" if graded.reason else ""
    return f'<li class="{kind}"><b>{sign} {word}</b>{votes}: {brief(graded.question, MAX_REASON)}{reason}</li>\n'


# ---- transcript ----


def _transcript(steps: Sequence[Step]) -> Iterator[Part]:
    if steps:
        calls = sum(step.kind == "call" for step in steps)
        yield f"<details><summary>Transcript: {count_words(calls, 'tool call')}</summary>\n"
        yield TextBlock(tuple(piece for step in steps for piece in _step(step)), kind="steps")
        yield "</details>\n"


def _step(step: Step) -> Iterator[tuple[str, Mark]]:
    if step.kind == "call":
        yield f"→ {step.tool}", "call"
        yield f" {step.text or dump(step.arguments)}\n", ""
    elif step.kind == "result":
        yield ("✗ error" if step.is_error else "← result"), ("wrong" if step.is_error else "result")
        yield f" {_whole(step)}\n", ""
    else:
        yield "said", "said"
        yield f" {_whole(step)}\n", ""


def _whole(step: Step) -> str:
    return f"{step.text}… ({step.size:,} characters)" if step.size > len(step.text) else step.text


# ---- files ----


def _files(files: Sequence[OutputFile]) -> Iterator[Part]:
    if not files:
        return
    yield f"<details><summary>{count_words(len(files), 'file')}</summary>\n"
    for file in files[:MAX_FILES]:
        yield from _file(file)
    if len(files) > MAX_FILES:
        yield f'<p class="cut">{count_words(len(files) - MAX_FILES, "further file")}.</p>\n'
    yield "</details>\n"


def _file(file: OutputFile) -> Iterator[Part]:
    size = f" · {count_words(file.size, 'byte')}" if file.kind != "deleted" else ""
    yield f'<p class="file"><b>{file.kind}</b> <code>{brief(file.path)}</code>{size}</p>\n'
    if file.diff:
        yield TextBlock(tuple(map(_diff_line, file.diff.splitlines(keepends=True))), kind="diff", where=_WHOLE)
    elif file.content and (picture := PictureBlock(file.path, file.content)).type:
        yield picture
    elif file.digest:
        yield f'<p class="cut">Not shown. SHA-256 <code>{brief(file.digest)}</code></p>\n'


_DIFF: Mapping[str, Mark] = {"+": "plus", "-": "minus", "@": "at"}


def _diff_line(line: str) -> tuple[str, Mark]:
    return line, "at" if line.startswith(("+++", "---")) else _DIFF.get(line[0], "")


# ---- agents ----


def _agent(agent: AgentFacts) -> Iterator[str]:
    yield f'<dl class="agent"><dt>agent</dt><dd>{brief(f"{agent.agent} {agent.version}")}: {brief(agent.end)}</dd>'
    listed = "not seen" if agent.listed is None else _names(agent.listed)
    yield f"<dt>listed</dt><dd>{listed}</dd><dt>loaded</dt><dd>{_names(agent.loaded)}</dd>"
    for title, names in (("changed", agent.changed), ("denied", agent.denied), ("not seen, or not held", agent.unseen)):
        if names:
            yield f"<dt>{title}</dt><dd>{_names(names)}</dd>"
    if agent.subagents:
        yield f"<dt>subagents</dt><dd>{agent.subagents}</dd>"
    reported = [count_words(agent.reported_tokens, "token")] if agent.reported_tokens is not None else []
    reported += [dollars(agent.reported_cost)] if agent.reported_cost is not None else []
    if reported:
        yield f"<dt>by its own count</dt><dd>{', '.join(reported)}</dd>"
    yield "</dl>\n"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(brief(name) for name in names[:MAX_EVIDENCE])
    return shown + (f" and {len(names) - MAX_EVIDENCE} more" if len(names) > MAX_EVIDENCE else "") or "none"
