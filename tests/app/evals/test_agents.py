"""Suites of skills tried in agents, with a fake in place of agents (X34, X36)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from prosa.app.agents.task import AgentOptions, AgentTask, agent_choices
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.run import run_tests
from prosa.app.evals.variants import TestOptions
from prosa.app.options import Environment, Options, Record, RecordingOptions, Replay
from prosa.evaluation.report import Report
from prosa.records.agent import AgentTrace
from prosa.render.tests import tests_json as report_json
from prosa.render.tests import tests_text as report_text
from prosa.render.tests_ci import tests_junit as report_junit
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.settings import Settings
from tests.app.evals.in_agents import FakeAgents, changed, step, trace
from tests.app.evals.skilled import Model, case, evals, skill, triggers
from tests.app.evals.suites import BILLING, TRIAGE, suite, write


def report(agents: FakeAgents | None, *paths: str, recording: RecordingOptions | None = None, **more: Any) -> Report:
    options = Options(recording=recording)
    environment = Environment({}, Settings())
    groups = find_tests(paths or ("skills",))
    suites = load_suites(groups, options, environment, in_agent=True)
    chosen = TestOptions(cache=False, agents=AgentOptions(agent_choices(("fake",))), **more)
    return asyncio.run(run_tests(suites, chosen, options, environment, agents=agents))


def by_side(with_it: AgentTrace, without: AgentTrace, *contents: bytes) -> FakeAgents:
    return FakeAgents(lambda task: ((with_it if task.skills else without), contents))


OUT = b"high water: 06:12\n"
WROTE = {"name": "wrote", "file": "out/tides.txt", "contains": "high water"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outcomes(found: Report) -> list[list[str]]:
    return [[each.outcome for one in suite.cases for each in one.attempts] for suite in found.suites]


def test_x36_a_case_with_and_without_the_skill_is_judged_by_the_files_that_the_agent_left():
    folder = skill()
    evals(folder, *(case(number, assertions=[WROTE]) for number in range(1, 9)))
    good = trace(changes=(changed("out/tides.txt", OUT),), listed=("tide-times",), loaded=("tide-times",))
    found = report(by_side(good, trace(), OUT))
    assert outcomes(found) == [["passed"] * 8, ["failed"] * 8]
    assert found.comparisons[0].comparison.verdict == "better"
    assert "lift of tide-times: +1.00" in report_text(found)
    data = report_json(found)["suites"][0]["cases"][0]["attempts"][0]
    assert data["agent"]["listed"] == ["tide-times"] and data["agent"]["changed"] == ["out/tides.txt"]


def test_x36_a_skill_that_was_not_offered_is_no_failure_of_it():
    folder = skill()
    evals(folder, *(case(number) for number in range(1, 8)))
    found = report(by_side(trace("AHOY", listed=("other",)), trace("no")))
    assert outcomes(found)[0] == ["not offered"] * 7
    assert found.comparisons[0].comparison.verdict == "not measured" and not found.ok
    assert "fake did not offer tide-times to the model; it offered other" in " ".join(report_text(found).split())
    assert "<error" in report_junit(found) and "skipped" not in report_junit(found)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("calls", "failed"),
        ("timeout", "failed"),
        ("files", "failed"),
        ("failed", "failed"),
        ("crashed", "failed"),
        ("cost", "not measured"),
        ("service", "not measured"),
        ("missing", "broken"),
        ("silent", "broken"),
        ("unreadable", "broken"),
    ],
)
def test_x36_each_end_of_an_agent_has_its_outcome(end: str, outcome: str):
    folder = skill()
    evals(folder, case())
    ended = trace("AHOY", end=end, reason=f"it ended: {end}", listed=("tide-times",))
    found = report(by_side(ended, trace("AHOY")))
    attempt = found.suites[0].cases[0].attempts[0]
    assert (attempt.outcome, found.suites[1].cases[0].attempts[0].outcome) == (outcome, "passed")
    assert f"it ended: {end}" in " ".join(report_text(found).split())


def test_x36_the_expectations_of_the_workspace_hold_or_say_what_is_wrong():
    folder = skill()
    (folder / "evals" / "files").mkdir()
    (folder / "evals" / "files" / "expected.txt").write_bytes(OUT)
    (folder / "evals" / "check.py").write_text("print(open('/outputs/out/tides.txt').read())\nraise SystemExit(3)\n")
    checks: dict[str, Any] = {
        "same": {"file": "out/tides.txt", "same-as": "evals/files/expected.txt"},
        "absent": {"file": "gone.txt", "exists": False},
        "json": {"file": "out/tides.txt", "json": {"a": 1}},
        "only": {"changed": ["out/**"], "only": True},
        "loaded": {"loaded": "tide-times"},
        "unloaded": {"loaded": False},
        "script": {"command": ["check.py", "--strict"]},
        "missing script": {"command": "none.py"},
        "python": {"file": "out/tides.txt", "python": "def check(input, output, calls): return 'high' in output"},
    }
    evals(folder, *(case(at, assertions=[{"name": name, **each}]) for at, (name, each) in enumerate(checks.items())))
    good = trace(
        changes=(changed("out/tides.txt", OUT), changed("out/b.txt", b"b")),
        listed=("tide-times",),
        loaded=("tide-times",),
        steps=(step("Write"),),
    )
    lost = folder / "evals" / "none.py"
    lost.write_text("")

    def answered(task: AgentTask) -> tuple[AgentTrace, tuple[bytes, ...]]:
        lost.unlink(missing_ok=True)
        return good if task.skills else trace(), (OUT, b"b")

    found = report(FakeAgents(answered))
    said = {one.case.assertions or one.case.workspace[0].name: one.attempts[0] for one in found.suites[0].cases}
    assert {name: each.outcome for name, each in said.items()} == {
        "same": "passed",
        "absent": "passed",
        "json": "failed",
        "only": "passed",
        "loaded": "passed",
        "unloaded": "failed",
        "script": "failed",
        "missing script": "failed",
        "python": "passed",
    }
    assert str(said["script"].failures[0]).endswith("found high water: 06:12")


@pytest.mark.parametrize("needs", [{"command": "none.py"}, {"file": "a.txt", "same-as": "evals/files/none.txt"}])
def test_x36_no_agent_starts_where_a_file_that_an_assertion_needs_is_missing(needs: dict[str, Any]):
    evals(skill(), case(assertions=[needs]))
    with pytest.raises(ProgramRefused):
        report(by_side(trace(), trace()))


def test_x36_what_is_about_the_workspace_is_not_measured_in_the_own_loop():
    folder = skill()
    evals(folder, case(assertions=[WROTE]))
    options, environment = Options(), Environment({}, Settings())
    suites = load_suites(find_tests(("skills",)), options, environment)
    provider = Model(lambda _: "AHOY")
    found = asyncio.run(run_tests(suites, TestOptions(cache=False), options, environment, provider=provider))
    reason = found.suites[0].cases[0].attempts[0].reason
    assert reason is not None and reason.kind == "agent" and "--agent NAME" in reason.message


def test_x36_triggers_count_what_was_loaded_before_the_first_change_and_keep_listed_apart():
    folder = skill()
    skill("ferries", described="Knows when ferries leave.")
    triggers(
        folder,
        {"query": "When is high water?", "should_trigger": True},
        {"query": "When does the ferry leave?", "should_trigger": False, "expected_skill": "ferries"},
        {"query": "Not offered?", "should_trigger": True},
    )

    def answer(task: AgentTask) -> tuple[AgentTrace, tuple[bytes, ...]]:
        assert task.triggers and [each.name for each in task.skills] == ["tide-times", "ferries"]
        if "Not" in task.prompt:
            return trace(listed=("ferries",)), ()
        name = "ferries" if "ferry" in task.prompt else "tide-times"
        return trace(end="loaded", listed=("tide-times", "ferries"), loaded=(name,), loaded_first=(name,)), ()

    found = report(FakeAgents(answer), "skills/tide-times")
    assert outcomes(found) == [["passed", "passed", "not offered"]]
    text = report_text(found)
    assert "not offered  1 of 3" in text and "listed 2 of 3, loaded 1 of 3" in text


def test_x36_files_of_a_case_are_laid_where_it_says():
    folder = skill()
    (folder / "evals" / "files" / "data").mkdir(parents=True)
    (folder / "evals" / "files" / "data" / "a.csv").write_text("1,2\n")
    (folder / "b.txt").write_text("b")
    files = ["evals/files/data/a.csv", {"path": "b.txt", "as": "deep/c.txt"}]
    evals(folder, case(files=files, assertions=[{"file": "data/a.csv", "contains": "1,2"}]))
    agents = by_side(trace(listed=("tide-times",)), trace())
    found = report(agents)
    assert [place for _, place in agents.tasks[0].files] == ["data/a.csv", "deep/c.txt"]
    assert agents.tasks[0].prompt == "When is high water at port 1?"
    assert outcomes(found) == [["passed"], ["passed"]]


def test_x36_a_recording_regrades_without_an_agent_and_a_changed_skill_is_not_replayed(tmp_path: Path):
    folder = skill()
    evals(folder, *(case(number, assertions=[WROTE]) for number in range(1, 4)))
    good = trace(changes=(changed("out/tides.txt", OUT),), listed=("tide-times",), loaded=("tide-times",))
    first = report(by_side(good, trace(), OUT), recording=RecordingOptions(Record(tmp_path / "tapes")))
    again = RecordingOptions(None, Replay(tmp_path / "tapes"))
    replayed = report(None, recording=again)
    assert outcomes(replayed) == outcomes(first)
    evals(folder, *(case(number, assertions=[{**WROTE, "contains": "low water"}]) for number in range(1, 4)))
    assert outcomes(report(None, recording=again)) == [["failed"] * 3, ["failed"] * 3]
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "\nmore\n")
    changed_skill = report(None, recording=again)
    assert outcomes(changed_skill)[0] == ["not measured"] * 3
    assert "the skill tide-times has changed since it was recorded" in report_text(changed_skill).replace("\n", " ")


def test_x25_a_classified_skill_is_recorded_only_without_its_secrets(tmp_path: Path):
    folder = skill()
    text = (folder / "SKILL.md").read_text().replace("description:", "classification: confidential\ndescription:")
    (folder / "SKILL.md").write_text(text)
    evals(folder, case())
    agents = by_side(trace("AHOY key-12345", listed=("tide-times",)), trace("AHOY"))
    refused = report(agents, recording=RecordingOptions(Record(tmp_path / "tapes")))
    assert outcomes(refused) == [["not measured"], ["not measured"]] and not (tmp_path / "tapes").exists()
    report(agents, recording=RecordingOptions(Record(tmp_path / "tapes", redact=(r"key-\d+",))))
    texts = [path.read_text() for path in (tmp_path / "tapes").rglob("*.json")]
    assert len(texts) == 2 and not any("key-12345" in each for each in texts)


def test_x36_a_program_is_not_tried_in_an_agent():
    Path("triage.md").write_text(TRIAGE)
    write(suite(("A", BILLING)))
    with pytest.raises(RunError, match="--agent tries skills"):
        report(by_side(trace(), trace()), "triage.test.md")


def test_x36_measured_attempts_are_kept_and_others_are_asked_again():
    folder = skill()
    evals(folder, case(1), case(2))

    class Memory(dict[str, str]):
        def get(self, keys: Any, default: Any = None) -> Any:  # type: ignore[override]
            return {key: self[key] for key in keys if key in self}

        def put(self, rows: Any) -> None:
            self.update(rows)

    ends = {"When is high water at port 1?": "done", "When is high water at port 2?": "service"}
    agents = FakeAgents(lambda task: (trace("AHOY", end=ends[task.prompt], listed=("tide-times",)), ()))
    options, environment, kept = Options(), Environment({}, Settings()), Memory()
    suites = load_suites(find_tests(("skills",)), options, environment, in_agent=True)
    chosen = TestOptions(agents=AgentOptions(agent_choices(("fake",))))
    for _ in range(2):
        found = asyncio.run(run_tests(suites, chosen, options, environment, agents=agents, kept=kept))
    asked = [each.prompt for each in agents.tasks]
    assert asked.count("When is high water at port 1?") == 2 and asked.count("When is high water at port 2?") == 4
    assert found.suites[0].cases[0].attempts[0].kept == 1


def test_x36_mistakes_in_an_expectation_of_the_workspace_have_a_place():
    folder = skill()
    evals(
        folder,
        case(1, assertions=[{"file": "../x", "exists": True}, {"changed": [], "only": "yes"}, {"command": "a.sh"}]),
        case(2, assertions=[{"file": "a", "exists": False, "contains": "x"}, {"loaded": ""}], files=[{"as": "x"}]),
    )
    with pytest.raises(RunError) as caught:
        load_suites(find_tests(("skills",)), Options(), Environment({}, Settings()), in_agent=True)
    said = json.dumps([each.message for each in caught.value.diagnostics])  # type: ignore[attr-defined]
    for words in (
        "inside the workspace",
        "`only` is true or false",
        "below `evals/`",
        "stands alone",
        "`loaded` takes",
    ):
        assert words in said
