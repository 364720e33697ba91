"""X37: a test as files that other tools for skills read, and what people think of answers."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prosa.adapters.files import FileChanged
from prosa.app.evals.feedback import feedback_place, known_feedback, read_feedback, write_feedback
from prosa.app.evals.reports import write_benchmark
from prosa.evaluation.case import Case, Gate, Requirement, RunFacts
from prosa.evaluation.expectations import Failure
from prosa.evaluation.report import Attempt, CaseReport, Cut, OutputFile, Reason, Report, Step, SuiteReport
from prosa.records.test import Feedback, ShownTest, TestRecord
from prosa.render.benchmark import file_names
from prosa.runtime.errors import RunError
from tests.app.evals.skilled import MARK, Model, case, evals, ran, skill

RECORD = TestRecord("T1", "test", ".", "abc123", False, "1", "2026-11-27T12:00:00Z", "", False, 1)


def shown(report: Report) -> ShownTest:
    return ShownTest(RECORD, report)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def attempt(output: Any = "six", **more: Any) -> Attempt:
    return Attempt(output, RunFacts(1, 0.01, 2.0, tokens=100), seconds=2.0, **more)


def suite(*attempts: Attempt, **more: Any) -> Report:
    """A report of one case with these attempts."""
    asked = Case("When?", {"port": "X"}, **more)
    gate = Gate(True, None)
    return Report((SuiteReport("a.test.md", "tides", "m", Requirement(), (CaseReport(asked, attempts),), gate),))


def outputs(here: Path, report: Report) -> dict[str, bytes]:
    folder = write_benchmark(shown(report), here / "out") / "eval-when" / "with_skill" / "outputs"
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def grading(here: Path, report: Report) -> Any:
    return read(write_benchmark(shown(report), here / "out") / "eval-when" / "with_skill" / "grading.json")


def sometimes(text: str, numbers: Any = count()) -> str:  # noqa: B008 - one counter for all calls is what it is for
    return "AHOY, at six" if MARK in text and next(numbers) % 3 else "At six"


# ---- the forms ----


def test_x37_an_iteration_has_the_folders_and_files_that_both_public_forms_name(here: Path):
    evals(skill(), case(1), case(2))
    folder = write_benchmark(shown(ran(here, Model(lambda t: "AHOY" if MARK in t else "no"))), here / "out")
    assert folder == here / "out" / "iteration-1"
    sides = sorted(f"{each.parent.name}/{each.name}" for each in folder.glob("eval-*/*_skill"))
    assert [each.partition("/")[2] for each in sides] == ["with_skill", "without_skill"] * 2
    for side in folder.glob("eval-*/*_skill"):
        assert {each.name for each in side.iterdir()} == {"outputs", "timing.json", "grading.json", "run-1"}
        assert [each.name for each in (side / "outputs").iterdir()] == ["answer.md"]
        assert read(side / "grading.json") == read(side / "run-1" / "grading.json")
    graded = read(next(folder.glob("eval-1*/without_skill/grading.json")))
    assert graded["expectations"] == graded["assertion_results"]
    (told,) = graded["expectations"]
    assert (told["text"], told["passed"]) == ("greets", False)
    assert "AHOY" in told["evidence"]
    assert graded["summary"] == {"passed": 0, "failed": 1, "total": 1, "pass_rate": 0.0}
    about = read(next(folder.glob("eval-1*/eval_metadata.json")))
    assert (about["eval_id"], about["prompt"], about["assertions"]) == (1, "When is high water at port 1?", ["greets"])


def test_x37_the_benchmark_has_our_means_and_differences_as_texts_and_as_numbers(here: Path):
    evals(skill(), *map(case, range(3)))
    report = ran(here, Model(sometimes), repeat=3)
    found = read(write_benchmark(shown(report), here / "out") / "benchmark.json")
    (told,) = report.comparisons
    rates = [found["run_summary"][side]["pass_rate"]["mean"] for side in ("with_skill", "without_skill")]
    assert rates == [round(each, 4) for each in told.lift.rates]
    assert list(found["run_summary"]) == ["with_skill", "without_skill", "delta"]
    assert found["run_summary"]["delta"]["pass_rate"] == f"{rates[0] - rates[1]:+.2f}"
    assert found["delta_values"]["pass_rate"] == pytest.approx(rates[0] - rates[1], abs=1e-4)
    assert found["metadata"]["skill_name"] == "tide-times"
    assert (found["metadata"]["evals_run"], found["metadata"]["runs_per_configuration"]) == ([1, 2, 3], 3)
    assert len(found["runs"]) == 18
    run = found["runs"][0]
    assert (run["configuration"], run["run_number"], run["eval_id"]) == ("with_skill", 1, 1)
    assert {"pass_rate", "passed", "failed", "total", "time_seconds", "tokens", "errors"} <= run["result"].keys()
    assert run["expectations"][0].keys() == {"text", "passed", "evidence"}
    assert found["prosa"]["verdict"] == told.comparison.verdict


def test_x37_timing_has_the_keys_of_both_forms_and_leaves_out_what_is_not_known(here: Path):
    folder = write_benchmark(shown(suite(attempt(), attempt("six"))), here / "out") / "eval-when" / "with_skill"
    assert read(folder / "timing.json") == {
        "total_tokens": 100,
        "duration_ms": 2000,
        "total_duration_seconds": 2.0,
        "executor_duration_seconds": 2.0,
    }
    unknown = Attempt("six", RunFacts(1, None, 0.0))
    folder = write_benchmark(shown(suite(unknown)), here / "out")
    assert read(folder / "eval-when" / "with_skill" / "timing.json") == {}
    assert read(folder / "benchmark.json")["run_summary"]["with_skill"].keys() == {"pass_rate"}


def test_x37_attempts_that_were_not_measured_are_in_no_mean_and_are_said(here: Path):
    lost = attempt(None, outcome="not measured", reason=Reason("provider", "it answered 500"))
    folder = write_benchmark(shown(suite(attempt(), lost)), here / "out")
    side = folder / "eval-when" / "with_skill"
    assert [each.name for each in side.glob("run-*")] == ["run-1"]
    assert read(side / "grading.json")["not_measured"][0]["reason"] == "provider: it answered 500"
    found = read(folder / "benchmark.json")
    assert found["run_summary"]["with_skill"]["pass_rate"]["mean"] == 1.0
    assert "(with_skill, run 2): not measured" in found["notes"][0]


def test_x37_expectations_that_a_run_left_unasked_are_not_graded(here: Path):
    failed = attempt(failures=(Failure("", "a text with 5", "six"),), outcome="failed")
    graded = grading(here, suite(failed, expect={"contains": "5"}, grade=("Is it kind?",), run={"calls": 1}))
    told = {each["text"]: each["passed"] for each in graded["expectations"]}
    assert told == {"the run ends as expected": True, "the output is as `expect` says": False}
    assert graded["summary"]["pass_rate"] == 0.0


def test_x37_a_run_without_an_output_fails_one_expectation_and_shows_its_error(here: Path):
    facts = RunFacts(1, None, 0.0, failure="refused", error="no")
    failed = Attempt(None, facts, failures=(Failure("run", "an output", "refused: no"),), outcome="failed")
    report = suite(failed, expect={"contains": "5"})
    assert [each["text"] for each in grading(here, report)["expectations"]] == ["the run ends as expected"]
    assert outputs(here, report) == {"error.md": b"refused: no\n"}


# ---- outputs ----


def test_x37_files_of_an_attempt_stand_whole_where_they_are_known(here: Path):
    text = "a,b\n1,2\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    diff = "--- /dev/null\n+++ b/out/x.csv\n@@ -0,0 +1,2 @@\n+a,b\n+1,2\n"
    files = (
        OutputFile("out/x.csv", "added", digest, len(text), True, diff),
        OutputFile("out/cut.csv", "added", digest, len(text), True, diff[:-5]),
        OutputFile("README.md", "changed", "d", 3, True, "-a\n+b\n"),
        OutputFile("pic/p.PNG", "added", "d", 4, False, "", b"\x89PNG"),
        OutputFile("lost.bin", "added", "d", 4),
    )
    found = outputs(here, suite(attempt({"at": 6}, files=files)))
    assert found.keys() == {"answer.json", "out__x.csv", "out__cut.csv.diff", "README.md.diff", "pic__p.PNG"}
    assert (found["out__x.csv"], found["pic__p.PNG"]) == (text.encode(), b"\x89PNG")
    assert json.loads(found["answer.json"]) == {"at": 6}


def test_x37_answers_are_whole_and_a_cut_one_says_so(here: Path):
    whole = "</script>\x1b[31m" + "ü" * 5_000_000
    assert outputs(here, suite(attempt(whole))) == {"answer.md": whole.encode()}
    folder = write_benchmark(shown(suite(attempt("only this", cut=Cut(90_000, "f00")))), here / "out")
    assert (folder / "eval-when/with_skill/outputs/beginning-of-answer.md").read_text() == "only this"
    assert read(folder / "benchmark.json")["notes"][0].endswith("of 90,000 bytes: f00")


def test_x37_the_transcript_stands_beside_its_run(here: Path):
    steps = (Step("call", tool="sh", arguments={"cmd": "ls"}), Step("result", "x", "sh", is_error=True, size=9))
    folder = write_benchmark(shown(suite(attempt(steps=steps))), here / "out") / "eval-when" / "with_skill" / "run-1"
    text = (folder / "transcript.md").read_text()
    assert "## Eval Prompt" in text
    assert "## Error of sh\n\nx\n\n(cut: 9 characters)" in text
    assert read(folder / "grading.json")["execution_metrics"]["errors_encountered"] == 1


# ---- places ----


def test_x37_a_later_test_is_the_next_iteration_and_touches_none_before(here: Path):
    (here / "out" / "iteration-7").mkdir(parents=True)
    (here / "out" / "iteration-x").mkdir()
    for number in (8, 9):
        assert write_benchmark(shown(suite(attempt())), here / "out").name == f"iteration-{number}"
    assert sorted(each.name for each in (here / "out").iterdir()) == [f"iteration-{n}" for n in (7, 8, 9, "x")]
    assert not [*(here / "out" / "iteration-7").iterdir()]


def test_x37_what_cannot_be_written_leaves_nothing_half_done(here: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_benchmark(shown(suite(attempt())), here / "out")
    assert not [*(here / "out").iterdir()]


def test_x37_names_of_people_are_safe_file_names(here: Path):
    names = ["../../etc/passwd", "A b", "a-B", "", "日本 語", "x" * 400, "\u202eevil", "CON", "ÄÖ"]
    found = file_names(names)
    assert found == ["etc-passwd", "a-b", "a-b-2", "unnamed", "日本-語", "x" * 60, "evil", "_con", "äö"]
    assert file_names(["a.md", "A.MD", "../x", "NUL.txt"], dots=True) == ["a.md", "A-2.MD", "x", "_NUL.txt"]


def test_x37_several_suites_have_a_folder_each(here: Path):
    (one,) = suite(attempt()).suites
    report = Report((one, replace(one, path="b.test.md")))
    folder = write_benchmark(shown(report), here / "out")
    assert sorted(each.name for each in folder.iterdir()) == ["tides", "tides-2"]
    assert (folder / "tides-2" / "benchmark.json").is_file()


# ---- feedback ----


@pytest.mark.parametrize(
    ("suite", "place"),
    [
        ("s/evals/evals.json", "s/evals/feedback.json"),
        ("a/triage.test.md", "a/triage.feedback.json"),
        ("a/odd.md", "a/odd.feedback.json"),
    ],
)
def test_x37_feedback_stands_beside_the_cases(suite: str, place: str):
    assert feedback_place(Path(suite)) == Path(place)


def test_x37_feedback_is_written_by_case_and_read_again(here: Path):
    place = here / "a.feedback.json"
    file = write_feedback(read_feedback(place), "When?", Feedback("bad", "too late"))
    file = write_feedback(file, "Where?", Feedback("good"))
    assert read(place) == {
        "reviews": [
            {"run_id": "When?", "feedback": "too late", "opinion": "bad"},
            {"run_id": "Where?", "feedback": "", "opinion": "good"},
        ]
    }
    assert read_feedback(place) == file
    assert write_feedback(file, "When?", Feedback()).feedback == {"Where?": Feedback("good")}


def test_x37_feedback_is_not_written_over_a_file_that_changed_since(here: Path):
    place = here / "a.feedback.json"
    before = read_feedback(place)
    place.write_text('{"When?": "mine"}')
    with pytest.raises(FileChanged):
        write_feedback(before, "When?", Feedback("bad"))
    assert place.read_text() == '{"When?": "mine"}'


def test_x37_feedback_of_other_tools_is_read_by_their_names_of_runs(here: Path):
    place = here / "feedback.json"
    reviews = [
        {"run_id": "eval-when-with_skill", "feedback": " late ", "timestamp": "x"},
        {"run_id": "iteration-2-my-eval-tides-eval-when-without_skill-run-3", "feedback": "later"},
        {"run_id": "eval-where-with_skill", "feedback": ""},
    ]
    place.write_text(json.dumps({"reviews": reviews, "status": "complete"}))
    assert read_feedback(place, ["When?", "Where?"]).feedback == {"When?": Feedback("", "late\nwithout_skill: later")}
    place.write_text('{"eval-when": "late", "eval-where": ""}')
    assert read_feedback(place, ["When?", "Where?"]).feedback == {"When?": Feedback("", "late")}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"a": 1}', '{"reviews": [1]}', "\ud800".encode("utf-8", "replace").decode()]
)
def test_x37_a_file_of_another_form_is_refused_in_one_sentence(here: Path, text: str):
    place = here / "feedback.json"
    place.write_text(text)
    with pytest.raises(RunError, match="feedback"):
        read_feedback(place)


def test_x37_feedback_beside_the_cases_counts_before_that_in_a_folder(here: Path):
    report = suite(attempt())
    folder = write_benchmark(shown(report), here / "out")
    (folder / "feedback.json").write_text('{"eval-when": "of the viewer"}')
    assert known_feedback(report, here / "out") == {("a.test.md", "When?"): Feedback("", "of the viewer")}
    (here / "a.feedback.json").write_text('{"When?": "of the view"}')
    assert known_feedback(report, here / "out") == {("a.test.md", "When?"): Feedback("", "of the view")}
    (here / "a.feedback.json").write_text("{")
    heard: list[str] = []
    known_feedback(report, here / "out", heard.append)
    assert "a.feedback.json:1: feedback is JSON" in heard[0]
