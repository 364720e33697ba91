"""Cases from a file of rows: JSON Lines with `input`, and `name`, `expect`, `run` and `grade` where a row has them.

In: the text of the file. Out: cases, and what is wrong with rows, each with its line. Rows may carry further columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from prosa.data import JsonError, Value, parse_json
from prosa.diagnostics.nearest import nearest
from prosa.dialects.evals.document.model import questions
from prosa.dialects.fields import shown
from prosa.evaluation.case import Case, run_mistakes
from prosa.evaluation.expectations import Mistake, mistakes
from prosa.evaluation.matchers import MISSING
from prosa.source import SourceText

COLUMNS = ("name", "input", "expect", "run", "grade")
MAX_ROWS = 100_000
"""Rows of one file; each is run, and paid for, on its own."""


class RowProblem(Struct, frozen=True):
    """A problem of a row; ``line`` counts in the file."""

    line: int
    message: str


def read_rows(source: SourceText) -> Iterator[Case | RowProblem]:
    """Yield the cases of a file in order, and the problems of invalid rows. Blank lines are skipped."""
    count = 0
    for line, text in enumerate(source.text.split("\n"), 1):
        if not text.strip():
            continue
        count += 1
        if count > MAX_ROWS:
            yield RowProblem(line, f"there are more than {MAX_ROWS:,} rows; nothing after this one is read")
            return
        yield _case(text, line, source.path)


def _case(text: str, line: int, path: str) -> Case | RowProblem:
    try:
        row = parse_json(text)
    except JsonError as error:
        return RowProblem(line, f"column {error.column}: {error.message}")
    if not isinstance(row, dict):
        return RowProblem(line, "a row is a JSON object with `input`, and `expect`, `run` or `grade`")
    if "input" not in row:
        guess = next((key for key in row if nearest(key, ("input",))), None)
        return RowProblem(line, f"there is no `input`{f'; `{shown(guess)}` is none' if guess else ''}")
    wrong = next(_wrong(row), None)
    if wrong is not None:
        return RowProblem(line, wrong)
    return Case(
        str(row.get("name", f"row {line}")),
        row["input"],
        row.get("expect", MISSING),
        row.get("run"),
        questions(row.get("grade") or []),
        f"{path}:{line}",
    )


def _wrong(row: dict[str, Value]) -> Iterator[str]:
    for key in row:
        if key not in COLUMNS and (guess := nearest(key, COLUMNS)) is not None and guess not in row:
            yield f"`{shown(key)}` is not a column of a case; did you mean `{guess}`?"
    if not isinstance(row.get("name", ""), str | int):
        yield "`name` is a text"
    wrong: list[Mistake] = list(mistakes(row["expect"])) if "expect" in row else []
    wrong += run_mistakes(row["run"]) if row.get("run") is not None else []
    for mistake in wrong:
        yield f"{mistake.pointer or 'the whole'}: {mistake.message}"
    grade = row.get("grade") or []
    if not isinstance(grade, str | list) or (isinstance(grade, list) and len(questions(grade)) != len(grade)):
        yield "`grade` takes a text, or a list of texts"
