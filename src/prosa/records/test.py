"""What is kept of tests, as values: one call of `prosa test` with its suites and attempts, and how a suite came out
over time (X25, X37).

In: rows of a store. Out: what reports, trends and `--failed` are made of. Nothing of a classified subject is in any of
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prosa.data import Value
from prosa.evaluation.assembly import SuiteHead
from prosa.evaluation.matchers import MISSING, Missing
from prosa.evaluation.report import Attempt, Cut, OutputFile, Report, Step
from prosa.records.improvement import Improvement

TestState: TypeAlias = Literal["open", "done", "interrupted"]
"""A test is interrupted if it was cancelled, or if its process is gone."""

Opinion: TypeAlias = Literal["", "good", "bad"]

MOST: Final = 64 * 1024
"""Bytes of an answer, of the reasons of its graders, and of its files that are kept in `summary` (X25)."""

MOST_PICTURES: Final = 1024 * 1024
"""Bytes of the pictures of one attempt that are kept in `full`."""


class TestRecord(Struct, frozen=True):
    """One call of `prosa test`, or of a door that does the same.

    ``folder`` is where it was called and ``revision`` the git commit there, empty outside of a repository; ``changed``
    says that the working tree differed from it. ``heads`` is the JSON of its suites without attempts, ``lower`` whether
    the lower end of an interval was held against the gates. ``total`` counts the planned attempts, ``done`` those that
    are over, of which ``failed`` failed and ``unmeasured`` were not measured. ``passed`` is None until it ends.
    ``cost`` is US dollars with those of graders, None where a price is not known. ``version`` is that of Prosa.
    ``holder`` names the process, which is at ``host``.
    """

    id: str
    door: str
    folder: str
    revision: str
    changed: bool
    version: str
    started: str
    heads: str
    lower: bool
    total: int
    state: TestState = "open"
    ended: str | None = None
    done: int = 0
    failed: int = 0
    unmeasured: int = 0
    passed: bool | None = None
    cost: float | None = None
    holder: str = ""
    host: str = ""
    __test__ = False


class TestFilter(Struct, frozen=True):
    """Which tests are meant: at most ``limit``, those that started last; None leaves all in. ``since`` is a time as in
    a record, ``text`` a part of the id or of the path or the label of a suite, ``subject`` one of these or a file.
    ``below`` are the start and the id of the test after which a page of the list begins."""

    since: str | None = None
    text: str | None = None
    limit: int | None = None
    subject: str | None = None
    below: tuple[str, str] | None = None
    __test__ = False


class SuiteRow(Struct, frozen=True):
    """One suite of a test. ``file`` is the real path of its cases, ``path`` and ``label`` as in the report."""

    test: str
    number: int
    file: str
    path: str
    label: str
    baseline: bool
    passed: int = 0
    measured: int = 0
    unmeasured: int = 0
    cost: float | None = None


class AttemptRow(Struct, frozen=True):
    """One attempt of a test, by its place. ``name`` is that of its case; ``told`` is the attempt as JSON, without its
    transcript, which is ``steps`` where it is kept."""

    test: str
    suite: int
    number: int
    repeat: int
    name: str
    outcome: str
    told: str
    steps: str | None = None


class TrendPoint(Struct, frozen=True):
    """How one suite came out in one test: its attempts that passed, of those that were measured, and those that were
    not; US dollars."""

    test: str
    started: str
    revision: str
    changed: bool
    passed: int
    measured: int
    unmeasured: int
    cost: float | None = None

    @property
    def rate(self) -> float | None:
        """The share that passed; None where nothing was measured."""
        return self.passed / self.measured if self.measured else None


class Trend(Struct, frozen=True):
    """A suite over time, oldest first; ``path`` and ``label`` are those of the report."""

    path: str
    label: str
    points: tuple[TrendPoint, ...]


class Feedback(Struct, frozen=True):
    """What a person thinks of the answers to a case."""

    opinion: Opinion = ""
    text: str = ""


class ShownTest(Struct, frozen=True):
    """A test as a page shows it: its record and report, and what is known besides. ``feedback`` is by the path of a
    suite and the name of a case; ``files`` are the real paths of the cases by the paths of suites. ``improvements``
    are the searches for better texts whose attempts these are (X41)."""

    record: TestRecord
    report: Report
    trends: tuple[Trend, ...] = ()
    feedback: Mapping[tuple[str, str], Feedback] = {}
    files: Mapping[str, str] = {}
    improvements: tuple[Improvement, ...] = ()
    __test__ = False


def heads_json(heads: Sequence[SuiteHead]) -> str:
    """Return what is to be tried as JSON; expectations of a workspace are left out."""
    shown = [replace(head, cases=tuple(replace(case, workspace=()) for case in head.cases)) for head in heads]
    return encode(shown, enc_hook=_unset).decode()


def heads_of(record: TestRecord) -> tuple[SuiteHead, ...]:
    """Return what a test tried. Raises `msgspec.DecodeError` for what no store of ours ever wrote."""
    heads = decode(record.heads, type=tuple[SuiteHead, ...])
    return tuple(
        replace(
            head, cases=tuple(replace(case, expect=MISSING) if case.expect is None else case for case in head.cases)
        )
        for head in heads
    )


def _unset(value: Value) -> None:
    if not isinstance(value, Missing):
        raise NotImplementedError(type(value).__name__)


def stored_attempt(attempt: Attempt, *, full: bool = False) -> tuple[str, str | None]:
    """Return an attempt as JSON, and its transcript where ``full`` keeps it. An answer that is too large is cut; of
    files whose differences are too large only the digests stay."""
    output = attempt.output if isinstance(attempt.output, str) else json.dumps(attempt.output, ensure_ascii=False)
    data = output.encode("utf-8", "surrogatepass")
    if len(data) > MOST:
        beginning = data[:MOST].decode("utf-8", "ignore")
        attempt = replace(attempt, output=beginning, cut=Cut(len(data), sha256(data).hexdigest()))
    graded = tuple(replace(grade, reason=grade.reason[: MOST // len(attempt.graded)]) for grade in attempt.graded)
    reduced = replace(attempt, graded=graded, steps=(), files=_files(attempt.files, MOST_PICTURES if full else MOST))
    return encode(reduced).decode(), encode(attempt.steps).decode() if full and attempt.steps else None


def _files(files: Sequence[OutputFile], most: int) -> tuple[OutputFile, ...]:
    """Return files with the content of those that fit together."""
    output_files = list[OutputFile]()
    for file in files:
        size = len(file.diff) + len(file.content)
        if size > most:
            output_files.append(replace(file, diff="", content=b""))
            continue
        most -= size
        output_files.append(file)
    return tuple(output_files)


def attempt_of(row: AttemptRow) -> Attempt:
    """Return an attempt as it is kept. Raises `msgspec.DecodeError` for what no store of ours ever wrote."""
    attempt = decode(row.told, type=Attempt)
    return attempt if row.steps is None else replace(attempt, steps=decode(row.steps, type=tuple[Step, ...]))
