"""A stored test with what people think of its answers, and their opinions written beside its cases (X37).

In: the place of a store, a test, an opinion. Out: what is shown of the test; a file beside the cases. The store says
where the cases are; nothing is written where they are no longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from prosa.adapters.store.tests import suites_of
from prosa.app.evals.feedback import FeedbackFile, feedback_place, read_feedback, write_feedback
from prosa.app.evals.stored import shown_test
from prosa.app.journal.history import reading_store
from prosa.records.run import StorePlace
from prosa.records.test import Feedback, ShownTest
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

MAX_OPINION = 4_000
"""Characters of a sentence about the answers to a case."""


class FeedbackRefused(RunError):
    """An opinion that cannot be written."""


def test_with_feedback(place: StorePlace, name: str) -> tuple[ShownTest, tuple[str, ...]]:
    """Return a stored test with the feedback beside its cases, and why some of that cannot be read. Raises `NoTest`,
    `StoreProblem`."""
    shown, troubles = shown_test(place, name), []
    found: dict[tuple[str, str], Feedback] = {}
    for path, file in _case_files(place, shown.record.id).items():
        try:
            read = read_feedback(feedback_place(file), _cases(shown, path))
        except (FileProblem, RunError) as problem:
            troubles.append(str(problem))
            continue
        found |= {(path, case): each for case, each in read.feedback.items()}
    return replace(shown, feedback=found), tuple(troubles)


def save_feedback(place: StorePlace, name: str, path: str, case: str, feedback: Feedback) -> FeedbackFile:
    """Write an opinion on the answers to a case beside the cases of its suite, which ``path`` names. Raises `NoTest`,
    `StoreProblem`, and `FeedbackRefused` for a case that is not in the test or a file that cannot be written."""
    shown = shown_test(place, name)
    file = _case_files(place, shown.record.id).get(path)
    cases = _cases(shown, path)
    if file is None or case not in cases:
        raise FeedbackRefused(f"test {shown.record.id} has no case {case[:60]!r} in {path[:200]}")
    if len(feedback.text) > MAX_OPINION:
        raise FeedbackRefused(f"an opinion has at most {MAX_OPINION:,} characters")
    if not file.is_file():
        raise FeedbackRefused(f"{file} is not there any more, and feedback stands beside it")
    try:
        return write_feedback(read_feedback(feedback_place(file), cases), case, feedback)
    except (FileProblem, OSError) as problem:
        raise FeedbackRefused(f"the feedback cannot be written: {problem}") from None


def _case_files(place: StorePlace, test: str) -> Mapping[str, Path]:
    """Return the files of the cases by the paths of their suites in the report."""
    with reading_store(place) as connection:
        rows = suites_of(connection, [test])[test] if connection is not None else []
        return {each.path: Path(each.file) for each in rows}


def _cases(shown: ShownTest, path: str) -> list[str]:
    suites = [each for each in shown.report.suites if each.path == path]
    return list(dict.fromkeys(case.case.name for suite in suites for case in suite.cases))
