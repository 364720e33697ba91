"""A test as the files that other tools for skills read: skill-creator's form and that of agentskills.io at once.

In: a test with its answers. Out: contents by path below the folder of one iteration; nothing is written here. Both
forms know skills only: a program stands in the place of one. Requests of a trigger suite have no answer and are left
out.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from statistics import stdev

from msgspec import Struct

from prosa.data import Plain
from prosa.evaluation.case import Case
from prosa.evaluation.expectations import GRADE, Failure
from prosa.evaluation.matchers import Missing
from prosa.evaluation.report import Attempt, CaseReport, Compared, OutputFile, SuiteReport
from prosa.evaluation.workspace import Expected
from prosa.records.test import ShownTest
from prosa.regex import regex

WITH, WITHOUT = "with_skill", "without_skill"
NEW, OLD = "new_skill", "old_skill"
"""The sides of a lift, and of any other comparison: the names that both tools know. The first sorts before the second,
which is how skill-creator's script finds the one that it subtracts from."""

PLACES = 4
"""Decimals of a mean; skill-creator's script has as many."""


class _Benchmark(Struct, frozen=True):
    """One `benchmark.json`: its name, the suite of each configuration, and how they were compared."""

    name: str
    sides: tuple[tuple[str, SuiteReport], ...]
    compared: Compared | None = None

    @property
    def cases(self) -> list[Case]:
        """The cases of all sides, each once."""
        return list({case.case.name: case.case for _, suite in self.sides for case in suite.cases}.values())


class _Run(Struct, frozen=True):
    """A repeat of a case, by its number, with what is known of each of its expectations."""

    number: int
    attempt: Attempt
    expectations: tuple[Mapping[str, Plain], ...]


def benchmark_files(shown: ShownTest) -> Iterator[tuple[str, bytes]]:
    """Yield each file of an iteration with its path. Several suites get a folder each."""
    benchmarks = list(_benchmarks(shown))
    folders = file_names([benchmark.name for benchmark in benchmarks])
    for benchmark, folder in zip(benchmarks, folders, strict=True):
        before = f"{folder}/" if len(benchmarks) > 1 else ""
        yield from ((before + path, content) for path, content in _files(benchmark, shown))


def eval_folders(cases: Sequence[str]) -> list[str]:
    """Return the name of the folder of each case, in their order."""
    return [f"eval-{name}" for name in file_names(cases)]


def _benchmarks(shown: ShownTest) -> Iterator[_Benchmark]:
    """Yield a benchmark for each comparison, and one for each suite that is in none."""
    suites = {(report.path, report.label): report for report in shown.report.suites if report.routing is None}
    alone = dict(suites)
    for compared in shown.report.comparisons:
        first, second = ((compared.path, label) for label in (compared.first, compared.second))
        if first in suites and second in suites:
            names = (WITH, WITHOUT) if compared.skill else (NEW, OLD)
            sides = tuple(zip(names, (suites[first], suites[second]), strict=True))
            yield _Benchmark(compared.skill or suites[first].program, sides, compared)
            alone.pop(first, None)
            alone.pop(second, None)
    for suite in alone.values():
        yield _Benchmark(suite.program, ((WITHOUT if suite.without else WITH, suite),))


def _files(benchmark: _Benchmark, shown: ShownTest) -> Iterator[tuple[str, bytes]]:
    cases = benchmark.cases
    runs: list[Plain] = []
    notes: list[str] = []
    sides = [(name, {case.case.name: case for case in suite.cases}) for name, suite in benchmark.sides]
    folders = eval_folders([case.name for case in cases])
    for number, (case, folder) in enumerate(zip(cases, folders, strict=True), start=1):
        about: dict[str, Plain] = {
            "eval_id": number,
            "eval_name": case.name,
            "prompt": _prompt(case),
            "assertions": _asked(case),
        }
        yield f"{folder}/eval_metadata.json", _json(about)
        for configuration, reports in sides:
            if (report := reports.get(case.name)) is not None:
                yield from _side_files(f"{folder}/{configuration}", report)
                runs += [_run_object(run, number, case.name, configuration) for run in _measured(report)]
                notes += _notes(report, configuration)
    yield "benchmark.json", _json(_benchmark_object(benchmark, shown, runs, notes))


# ---- a side of a case ----


def _side_files(folder: str, case: CaseReport) -> Iterator[tuple[str, bytes]]:
    """Yield what one configuration of a case came to: its outputs with what they were worth, together and by run."""
    runs = _measured(case)
    for number, attempt in enumerate(case.attempts, start=1):
        before = f"run-{number}-" if len(case.attempts) > 1 else ""
        contents = list(_outputs(attempt))
        for name, (_, content) in zip(file_names([name for name, _ in contents], dots=True), contents, strict=True):
            yield f"{folder}/outputs/{before}{name}", content
    yield f"{folder}/grading.json", _json(_together(runs, case))
    yield f"{folder}/timing.json", _json(_timing([run.attempt for run in runs]))
    for run in runs:
        yield f"{folder}/run-{run.number}/grading.json", _json(_grading(run))
        yield f"{folder}/run-{run.number}/timing.json", _json(_timing([run.attempt]))
        if run.attempt.steps:
            yield f"{folder}/run-{run.number}/transcript.md", _transcript(case.case, run.attempt).encode()


def _measured(case: CaseReport) -> list[_Run]:
    return [
        _Run(number, attempt, tuple(_expectations(case.case, attempt)))
        for number, attempt in enumerate(case.attempts, start=1)
        if attempt.measured
    ]


def _outputs(attempt: Attempt) -> Iterator[tuple[str, bytes]]:
    """Yield the answer and the files that came out, each under a name without folders: skill-creator's viewer looks
    into none."""
    if attempt.facts.failure is not None:
        yield "error.md", f"{attempt.facts.failure}: {attempt.facts.error}\n".encode("utf-8", "replace")
    elif isinstance(attempt.output, str):
        name = "answer.md" if attempt.cut is None else "beginning-of-answer.md"
        yield name, attempt.output.encode("utf-8", "replace")
    else:
        yield "answer.json", _json(attempt.output)
    for file in attempt.files:
        yield from _output(file)


def _output(file: OutputFile) -> Iterator[tuple[str, bytes]]:
    """Yield a file as it came out where that is known, otherwise its difference."""
    name = file.path.replace("\\", "/").strip("/").replace("/", "__")
    whole = file.content or _added(file)
    if whole:
        yield name, whole
    elif file.diff:
        yield f"{name}.diff", file.diff.encode("utf-8", "replace")


def _added(file: OutputFile) -> bytes:
    """Return the text of a new file from its difference; empty where that was cut."""
    if file.kind != "added" or not file.is_text:
        return b""
    lines = file.diff.splitlines(keepends=True)
    text = "".join(line[1:] for line in lines if line.startswith("+") and not line.startswith("+++ "))
    if lines and lines[-1].startswith("\\"):
        text = text.removesuffix("\n")
    content = text.encode("utf-8", "replace")
    return content if hashlib.sha256(content).hexdigest() == file.digest else b""


def _grading(run: _Run) -> dict[str, Plain]:
    """Return `grading.json` of a run: the expectations under the keys of both forms. An attempt of Prosa passes as a
    whole, and that is its pass rate: so the tools show the rates of `prosa test`."""
    attempt = run.attempt
    # Without `total_duration_seconds` here: with it skill-creator's script never looks into `timing.json` for tokens.
    seconds = _seconds(attempt)
    timing: dict[str, Plain] = {} if seconds is None else {"executor_duration_seconds": seconds}
    return {
        "expectations": list(run.expectations),
        "assertion_results": list(run.expectations),
        "summary": _counted(run),
        "execution_metrics": {
            "tool_calls": dict(Counter(attempt.facts.tools)),
            "total_tool_calls": len(attempt.facts.tools),
            "errors_encountered": _errors(attempt),
        },
        "timing": timing,
    }


def _counted(run: _Run) -> dict[str, float]:
    passed, total = sum(expectation["passed"] is True for expectation in run.expectations), len(run.expectations)
    return {"passed": passed, "failed": total - passed, "total": total, "pass_rate": 1.0 if run.attempt.passed else 0.0}


def _together(runs: Sequence[_Run], case: CaseReport) -> dict[str, Plain]:
    """Return `grading.json` of all runs of a configuration; of a single one it is that of the run."""
    unmeasured = [
        {"run": number, "outcome": attempt.outcome, "reason": str(attempt.reason or "")}
        for number, attempt in enumerate(case.attempts, start=1)
        if not attempt.measured
    ]
    more: dict[str, Plain] = {"not_measured": unmeasured} if unmeasured else {}
    if len(runs) == 1 and len(case.attempts) == 1:
        return _grading(runs[0])
    checks = [
        {**expectation, "text": f"{expectation['text']} (run {run.number})"}
        for run in runs
        for expectation in run.expectations
    ]
    passed = sum(expectation["passed"] is True for expectation in checks)
    summary: dict[str, Plain] = {"passed": passed, "failed": len(checks) - passed, "total": len(checks)}
    if runs:
        summary["pass_rate"] = round(sum(run.attempt.passed for run in runs) / len(runs), PLACES)
    return {"expectations": checks, "assertion_results": checks, "summary": summary, **more}


def _timing(attempts: Sequence[Attempt]) -> dict[str, Plain]:
    """Return `timing.json`: the mean of attempts. What is not known is left out, which both tools can read."""
    tokens, seconds = _mean(attempt.facts.tokens for attempt in attempts), _mean(map(_seconds, attempts))
    timing: dict[str, Plain] = {} if tokens is None else {"total_tokens": round(tokens)}
    if seconds is not None:
        timing["duration_ms"] = round(seconds * 1000)
        timing["total_duration_seconds"] = timing["executor_duration_seconds"] = round(seconds, 3)
    return timing


def _mean(values: Iterable[float | None]) -> float | None:
    known = list(values)
    numbers = [number for number in known if number is not None]
    return fsum(numbers) / len(numbers) if numbers and len(numbers) == len(known) else None


def _seconds(attempt: Attempt) -> float | None:
    """Return the seconds of an attempt, to the millisecond: all means are of the numbers that stand in the files."""
    return None if attempt.seconds is None else round(attempt.seconds, 3)


def _errors(attempt: Attempt) -> int:
    return sum(step.kind == "result" and step.is_error for step in attempt.steps)


def _transcript(case: Case, attempt: Attempt) -> str:
    parts = [f"## Eval Prompt\n\n{_prompt(case)}"]
    for step in attempt.steps:
        if step.kind == "call":
            parts.append(f"## Call of {step.tool}\n\n{json.dumps(step.arguments, ensure_ascii=False)}")
        else:
            title = "Answer" if step.kind == "say" else f"{'Error' if step.is_error else 'Result'} of {step.tool}"
            cut = f"\n\n(cut: {step.size:,} characters)" if step.size > len(step.text) else ""
            parts.append(f"## {title}\n\n{step.text}{cut}")
    return "\n\n".join(parts).encode("utf-8", "replace").decode() + "\n"


# ---- expectations ----

AS_EXPECTED = "the output is as `expect` says"
RAN = "the run ends as expected"


def _asked(case: Case) -> list[str]:
    """Return what is expected in a case, in words."""
    expectations = [RAN] if case.run is not None else []
    expectations += [] if isinstance(case.expect, Missing) else [AS_EXPECTED]
    expectations += [assertion.name for assertion in case.assertions]
    expectations += [expected.name for expected in case.workspace]
    return [*expectations, *dict.fromkeys(case.grade)]


def _expectations(case: Case, attempt: Attempt) -> Iterator[Mapping[str, Plain]]:
    """Yield what each expectation of a case came to. Questions that were not asked, because a rule had failed before,
    are left out: nothing is known of them."""
    left = [failure for failure in attempt.failures if failure.pointer != GRADE]
    named: dict[str, list[Failure]] = {}
    named[RAN] = _taken(left, lambda failure: failure.pointer == "run" or failure.pointer.startswith("run/"))
    for assertion in case.assertions:
        named[assertion.name] = _taken(left, partial(_is_of, assertion.name))
    for expected in case.workspace:
        named[expected.name] = _taken(left, partial(_is_left, expected))
    named[AS_EXPECTED] = left
    asked = {*_asked(case)}
    if attempt.facts.failure is not None and not named[RAN]:
        asked = {RAN}  # it failed as it was meant to, and there is no output to look at
    elif attempt.facts.failure is not None:
        asked = set()
    for text, failures in named.items():
        if failures or text in asked:
            yield _expectation(text, not failures, "; ".join(map(str, failures)))
    for graded in attempt.graded:
        if graded.passed is not None:
            yield _expectation(graded.question, graded.passed, graded.reason)


def _taken(failures: list[Failure], belongs: Callable[[Failure], bool]) -> list[Failure]:
    """Take the failures that belong to one expectation out of a list."""
    taken = [failure for failure in failures if belongs(failure)]
    failures[:] = [failure for failure in failures if failure not in taken]
    return taken


def _is_of(name: str, failure: Failure) -> bool:
    return failure.pointer == name or failure.pointer.startswith(f"{name} ")


def _is_left(expected: Expected, failure: Failure) -> bool:
    """Return whether a failure is of an expectation of the workspace."""
    where = str(expected.words["file"]) if expected.form == "file" else expected.form
    return failure.pointer == expected.name or failure.pointer == where or failure.pointer.startswith(f"{where}/")


def _expectation(text: str, passed: bool, evidence: str) -> Mapping[str, Plain]:
    return {"text": text, "passed": passed, "evidence": evidence or ("holds" if passed else "does not hold")}


# ---- benchmark.json ----


def _run_object(run: _Run, number: int, name: str, configuration: str) -> dict[str, Plain]:
    counted, attempt = _counted(run), run.attempt
    return {
        "eval_id": number,
        "eval_name": name,
        "configuration": configuration,
        "run_number": run.number,
        "result": {
            **{key: counted[key] for key in ("pass_rate", "passed", "failed", "total")},
            "time_seconds": _seconds(attempt),
            "tokens": attempt.facts.tokens,
            "tool_calls": len(attempt.facts.tools),
            "errors": _errors(attempt),
        },
        "expectations": list(run.expectations),
        "notes": [],
    }


def _benchmark_object(
    benchmark: _Benchmark, shown: ShownTest, runs: Sequence[Plain], notes: Sequence[str]
) -> dict[str, Plain]:
    summary = {name: _summary(suite) for name, suite in benchmark.sides}
    fields: dict[str, Plain] = {"metadata": _metadata(benchmark, shown), "runs": list(runs)}
    fields["run_summary"] = summary
    if len(summary) > 1:
        first, second = summary.values()
        values = {
            key: round(first[key]["mean"] - second[key]["mean"], PLACES)
            for key in _SIGNED
            if key in first and key in second
        }
        delta = {key: _SIGNED[key].format(value) for key, value in values.items()}
        fields["run_summary"] = {**summary, "delta": delta}
        fields["delta_values"] = values
    if benchmark.compared is not None:
        comparison = benchmark.compared.comparison
        rates = [side.rate for side in benchmark.compared.sides]
        fields["prosa"] = {
            "verdict": comparison.verdict,
            "rates": rates,
            "p": comparison.p,
            "p_adjusted": comparison.p_adjusted,
        }
    return fields | {"notes": [*notes, *_about(benchmark, summary)]}


_SIGNED = {"pass_rate": "{:+.2f}", "time_seconds": "{:+.1f}", "tokens": "{:+.0f}"}
"""How skill-creator writes a difference; its viewer shows these texts as they stand."""


def _metadata(benchmark: _Benchmark, shown: ShownTest) -> dict[str, Plain]:
    suite = benchmark.sides[0][1]
    return {
        "skill_name": benchmark.name,
        "skill_path": suite.path,
        "executor_model": suite.model or suite.label,
        "analyzer_model": "",
        "timestamp": shown.record.started,
        "evals_run": list(range(1, len(benchmark.cases) + 1)),
        "runs_per_configuration": max(
            (len(case.attempts) for _, side in benchmark.sides for case in side.cases), default=0
        ),
        "test": shown.record.id,
        "revision": shown.record.revision,
    }


def _summary(suite: SuiteReport) -> dict[str, dict[str, float]]:
    """Return means over the measured runs; what is not known of all of them is left out, which the viewer shows as a
    dash."""
    attempts = [attempt for case in suite.cases for attempt in case.attempts if attempt.measured]
    values: dict[str, list[float | None]] = {
        "pass_rate": [float(attempt.passed) for attempt in attempts],
        "time_seconds": [_seconds(attempt) for attempt in attempts],
        "tokens": [attempt.facts.tokens for attempt in attempts],
    }
    return {key: _spread(numbers) for key, value in values.items() if (numbers := _known(value))}


def _known(values: Sequence[float | None]) -> list[float]:
    numbers = [value for value in values if value is not None]
    return numbers if len(numbers) == len(values) else []


def _spread(values: Sequence[float]) -> dict[str, float]:
    deviation = stdev(values) if len(values) > 1 else 0.0
    figures = {"mean": fsum(values) / len(values), "stddev": deviation, "min": min(values), "max": max(values)}
    return {key: round(statistic, PLACES) for key, statistic in figures.items()}


def _notes(case: CaseReport, configuration: str) -> Iterator[str]:
    """Yield what the numbers of a case do not say."""
    for number, attempt in enumerate(case.attempts, start=1):
        where = f"{case.case.name} ({configuration}, run {number})"
        if not attempt.measured:
            yield f"{where}: not measured, and in no mean: {attempt.reason or attempt.outcome}"
        if attempt.cut is not None:
            cut = attempt.cut
            yield f"{where}: only the beginning of the answer is kept, of {cut.size:,} bytes: {cut.digest}"


def _about(benchmark: _Benchmark, summary: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    """Yield a note where the mean over cases, which Prosa compares, is not that over runs."""
    if benchmark.compared is None:
        return
    for (name, _), side in zip(benchmark.sides, benchmark.compared.sides, strict=True):
        mean = summary[name]["pass_rate"]["mean"] if summary[name] else None
        if side.rate is not None and mean is not None and abs(side.rate - mean) > 10**-PLACES:
            yield f"{name}: by case, which is what Prosa compares, the rate is {side.rate:.4f}"


def _prompt(case: Case) -> str:
    """Return the request of a case; the input of a program as JSON."""
    if case.request:
        return case.request
    return case.input if isinstance(case.input, str) else json.dumps(case.input, ensure_ascii=False, indent=1)


def _json(value: Plain) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


# ---- file names ----

MAX_CHARS = 60
MAX_BYTES = 180
"""Of a name; with what is put before and behind it, it has to fit into 255 bytes."""

_OTHERS = regex(r"[\W_]+")
_OTHERS_BUT_DOTS = regex(r"[^\w.]+|\.{2,}")
_DEVICE = regex(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
"""What Windows takes for a device."""


def file_names(names: Sequence[str], *, dots: bool = False) -> list[str]:
    """Return a file name for each name, in their order: letters and digits of any script in lower case, the rest as
    `-`. With ``dots`` they are file names already: their case, dots and `_` stay."""
    unique_names: list[str] = []
    taken: set[str] = set()
    last: dict[str, int] = {}
    for name in names:
        safe = _safe(name, dots=dots)
        stem, suffix = _split(safe) if dots else (safe, "")
        chosen, number = safe, last.get(safe, 1)
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}{suffix}"
        last[safe] = number
        taken.add(chosen.casefold())
        unique_names.append(chosen)
    return unique_names


def _safe(name: str, *, dots: bool) -> str:
    text = unicodedata.normalize("NFC", name) if dots else unicodedata.normalize("NFKC", name).casefold()
    text = (_OTHERS_BUT_DOTS if dots else _OTHERS).sub("-", text)
    text = text[-MAX_CHARS:] if dots else text[:MAX_CHARS]
    text = text.encode("utf-8", "ignore")[:MAX_BYTES].decode("utf-8", "ignore").strip("-.") or "unnamed"
    return f"_{text}" if _DEVICE.match(text) else text


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f"{dot}{suffix}") if stem else (name, "")
