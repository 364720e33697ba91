"""A stored test with what people think of its answers, and their opinions written beside its cases (X37).

In: the place of a store, a test, an opinion. Out: what is shown of the test; a file beside the cases. The store says
where the cases are; nothing is written where they are no longer.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from prosa.app.evals.feedback import FeedbackFile, feedback_place, known_feedback, read_feedback, write_feedback
from prosa.app.evals.stored import shown_test
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
    shown, troubles = shown_test(place, name), list[str]()
    feedback = known_feedback(shown.report, notice=troubles.append, files=shown.files)
    return replace(shown, feedback=feedback), tuple(trouble.removeprefix("warning: ") for trouble in troubles)


def save_feedback(place: StorePlace, name: str, path: str, case: str, feedback: Feedback) -> FeedbackFile:
    """Write an opinion on the answers to a case beside the cases of its suite, which ``path`` names. Raises `NoTest`,
    `StoreProblem`, and `FeedbackRefused` for a case that is not in the test or a file that cannot be written."""
    shown = shown_test(place, name)
    named = shown.files.get(path)
    cases = _cases(shown, path)
    if named is None or case not in cases:
        raise FeedbackRefused(f"test {shown.record.id} has no case {case[:60]!r} in {path[:200]}")
    if len(feedback.text) > MAX_OPINION:
        raise FeedbackRefused(f"an opinion has at most {MAX_OPINION:,} characters")
    file = Path(named)
    if not file.is_file():
        raise FeedbackRefused(f"{file} no longer exists, and feedback is stored beside it")
    try:
        return write_feedback(read_feedback(feedback_place(file), cases), case, feedback)
    except (FileProblem, OSError) as problem:
        raise FeedbackRefused(f"the feedback cannot be written: {problem}") from None


def _cases(shown: ShownTest, path: str) -> list[str]:
    suites = [suite for suite in shown.report.suites if suite.path == path]
    return list(dict.fromkeys(case.case.name for suite in suites for case in suite.cases))
