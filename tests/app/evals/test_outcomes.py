"""X34: what says nothing of a program is not measured: it is in no rate and no verdict, and it is not well either."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.evaluation.report import Reason
from prosa.render import tests as render
from prosa.render import tests_ci
from prosa.runtime.errors import BudgetSpent, ProviderError, SandboxError
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall
from tests import warm
from tests.app.evals.skilled import MARK, Model, case, evals, obeys, ran, skill, triggers
from tests.app.evals.suites import BILLING, TRIAGE, Service, blocks, report, routed, suite, test, write
from tests.cli.programs import SOURCE, user
from tests.model_server.behaviour import Behaviour
from tests.model_server.server import ModelServer

DOWN = Behaviour(status=500, message="overloaded")


def comparisons(at: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = report(at)["comparisons"]
    return found


# ---- an outage is no verdict ----


@pytest.mark.parametrize("breaks", ["with", "without"])
@pytest.mark.parametrize("status", [500, 429])
def test_x34_an_outage_on_one_side_is_no_lift(here: Path, model_server: ModelServer, breaks: str, status: int):
    """A service that fails whenever the text of the skill is absent, and the same the other way round."""
    evals(skill(), *map(case, range(8)))

    def answer(request: Any) -> Behaviour:
        text = "\n".join(str(each["content"]) for each in request.body["messages"])
        if (MARK in text) is (breaks == "with"):
            return Behaviour(status=status, message="overloaded")
        return Behaviour(content=obeys(text))

    model_server.answer = answer
    found, at = test(here, "skills", "--format", "json", server=model_server)
    (told,) = comparisons(at)
    assert (found, told["verdict"], told["p"], told["p_adjusted"]) == (1, "not measured", None, None)
    broken = {"with": "first", "without": "second"}[breaks]
    assert told["measured"] == {"first": [8, 8], "second": [8, 8]} | {broken: [0, 8]}
    assert told["difference"] == {"value": None, "interval": None, "method": "sign-flip"}
    assert told["reasons"][0]["kind"] == "provider"
    assert "overloaded" in told["reasons"][0]["message"]
    assert report(at)["passed"] is False
    found, at = test(here, "skills", server=model_server)
    assert (found, "lift of tide-times: not measured" in at.out) == (1, True)
    assert "not measured: provider: " in at.out
    assert "better" not in at.out
    assert "worse" not in at.out


def test_x34_a_scripted_error_is_no_verdict(here: Path):
    evals(skill(), *map(case, range(3)))
    lines = [
        *[{"program": "tide-times", "content": "AHOY"}] * 3,
        *[{"program": "tide-times-without", "error": "down"}] * 3,
    ]
    (here / "r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    status, at = test(here, "skills", "--model", "scripted:r.jsonl", "--format", "json")
    (told,) = comparisons(at)
    assert (status, told["verdict"]) == (1, "not measured")


def test_x34_a_grader_that_ran_dry_is_no_verdict(here: Path):
    """The first side is graded, the second is not: nothing is said of either."""
    evals(skill(body="Be brief."), *(case(at, assertions=["It is polite."]) for at in range(8)))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        warm.run([*git, *arguments], check=True, cwd=here)
    skill()
    verdicts = [{"program": "grade", "content": {"reason": "so", "pass": True}}] * 8
    lines = [*[{"content": "AHOY"}] * 24, *verdicts]
    (here / "r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    arguments = ("skills", "--model", "scripted:r.jsonl", "--against", "HEAD", "--concurrency", "1")
    status, at = test(here, *arguments, "--format", "json")
    assert status == 1
    assert [each["verdict"] for each in comparisons(at)] == ["not measured", "not measured"]
    last = report(at)["suites"][-1]["cases"][0]["attempts"][0]
    assert (last["passed"], last["outcome"], last["reason"]["kind"]) == (False, "not measured", "grader")
    assert last["grades"][0]["passed"] is None
    assert last["failures"] == []


class Broken(Model):
    """Raises an error for some requests."""

    def __init__(self, error: Callable[[], Exception], when: Callable[[str], bool] = lambda _: True) -> None:
        super().__init__(obeys)
        self.error, self.when = error, when

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        if self.when("\n".join(each.content for each in request.messages)):
            raise self.error()
        return await super().complete(request, on_text)


def down(kind: str = "server") -> ProviderError:
    return ProviderError("down", kind=kind, retryable=False)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (down, "provider"),
        (lambda: down("timeout"), "provider"),
        (lambda: BudgetSpent("nothing is left"), "budget"),
        (lambda: SandboxError("no sandbox"), "sandbox"),
    ],
)
def test_x34_why_an_attempt_is_not_measured(here: Path, error: Callable[[], Exception], kind: str):
    evals(skill(), *map(case, range(6)))
    found = ran(here, Broken(error))
    assert {each.outcome for each in found.attempts} == {"not measured"}
    assert {each.reason.kind for each in found.attempts if each.reason} == {kind}
    assert [each.comparison.verdict for each in found.comparisons] == ["not measured"]
    assert not found.ok


def test_x34_what_is_measured_counts_where_it_is_enough(here: Path):
    """One outage in ten on the side without the skill: the rates leave it out, the verdict counts it against them."""
    evals(skill(), *map(case, range(10)))
    found = ran(here, Broken(down, lambda text: MARK not in text and "port 3" in text))
    (told,) = found.comparisons
    assert (told.comparison.verdict, told.comparison.cases, told.comparison.measured) == (
        "better",
        9,
        ((10, 10), (9, 10)),
    )
    assert told.lift is not None
    assert told.lift.rates == (1.0, 0.0)
    assert found.ok
    text = render.tests_text(found)
    assert "?" in text
    assert "1 not measured" in text
    assert "20 runs (10 to compare with, 1 not measured)" in " ".join(text.split())
    assert json.loads(render.tests_jsonl(found).splitlines()[-1])["measured"]["second"] == [9, 10]


def test_x34_what_unmeasured_attempts_could_take_back_is_said(here: Path):
    evals(skill(), *(case(at, assertions=[{"contains": "AHOY" if at < 6 else "At six"}]) for at in range(7)))
    found = ran(here, Broken(down, lambda text: MARK not in text and "port 6" in text))
    (told,) = found.comparisons
    assert (told.comparison.verdict, told.comparison.p) == ("cannot tell", 2 / 64)
    assert "1 attempt not measured could change that" in " ".join(render.tests_text(found).split())


def test_x34_a_service_that_never_answers_is_not_the_programs_fault(here: Path):
    """The wall clock ends the run while it waits for the service: a time-out of the service."""
    evals(skill(), case())

    class Silent(Model):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            import asyncio

            return await asyncio.get_running_loop().create_future()

    found = ran(here, Silent(obeys), timeout=0.05)
    assert {each.outcome for each in found.attempts} == {"not measured"}
    assert all("a model call was never answered" in str(each.reason) for each in found.attempts)


def test_x34_a_time_out_of_code_that_a_model_wrote_is_the_programs_own(here: Path):
    """A run that its own limits end is judged: nothing of it was an outage."""
    write(suite(("Slow", blocks("x"))))
    call = ToolCall("1", "python", json.dumps({"code": "while True: pass"}))

    class Looping(Model):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            return ModelReply("", (call,), finish="tool_calls")

    found = prosa.run_tests(
        "triage.test.md", provider=Looping(obeys), environ=user(here), timeout=0.5, max_iterations=3
    )
    (attempt,) = found.attempts
    assert (attempt.outcome, attempt.facts.failure) == ("failed", "limit")


def test_x34_an_outage_that_a_case_expects_is_judged(here: Path, model_server: ModelServer):
    write(
        suite(
            ("Named", blocks("x", run="fails: {kind: provider, text: overloaded}")),
            ("Any", blocks("x", run="fails: true")),
            ("Other", blocks("x", run="fails: {kind: refused}")),
        )
    )
    model_server.answer = lambda _: DOWN
    status, at = test(here, "--format", "json", server=model_server)
    found = {each["name"]: each["attempts"][0]["outcome"] for each in report(at)["suites"][0]["cases"]}
    assert (status, found) == (1, {"Named": "passed", "Any": "passed", "Other": "not measured"})


def test_x34_an_outage_of_an_imported_program_is_one_of_the_attempt(here: Path):
    """The run goes on without the program that it called: what it answers then says nothing."""
    (here / "triage.md").write_text(TRIAGE.replace("input:\n", "imports: [./helper.md]\ninput:\n", 1))
    (here / "helper.md").write_text(
        "---\nname: helper\ndescription: Helps.\ninput: {type: object}\noutput: {type: object}\n---\nHelp.\n"
    )
    write(suite(("Charged twice", blocks("charged", expect="team: billing"))))

    class Half(Model):
        async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
            if request.program == "helper":
                raise BudgetSpent("nothing is left")
            if any(each.role == "tool" for each in request.messages):
                return ModelReply('{"team": "care", "reason": "no help"}')
            return ModelReply("", (ToolCall("1", "helper", "{}"),), finish="tool_calls")

    found = prosa.run_tests("triage.test.md", provider=Half(obeys), environ=user(here))
    (attempt,) = found.attempts
    assert (attempt.outcome, attempt.facts.failure) == ("not measured", None)
    assert attempt.reason == Reason("budget", "a model call was never answered: nothing is left")


# ---- graders and checks ----


def graded(*verdicts: object) -> Callable[[str, int], object]:
    given = iter(verdicts)

    def answer(text: str, number: int) -> object:
        return next(given) if "You judge" in text else routed(text)

    return answer


YES, NO, GONE = {"pass": True, "reason": "yes"}, {"pass": False, "reason": "no"}, DOWN


@pytest.mark.parametrize(
    ("votes", "outcome", "passed"),
    [
        ([YES, YES, GONE], "passed", True),
        ([NO, NO, GONE], "failed", False),
        ([YES, NO, GONE], "not measured", None),
        ([YES, GONE, GONE], "not measured", None),
        ([GONE, GONE, GONE], "not measured", None),
    ],
)
def test_x34_votes_decide_where_the_missing_ones_could_not_change_it(
    here: Path, model_server: ModelServer, votes: list[object], outcome: str, passed: bool | None
):
    write(suite(("Charged twice", blocks("charged", grade="It is polite.")), front="votes: 3\n"))
    Service(model_server, graded(*votes))
    status, at = test(here, "--format", "json", "--concurrency", "1", server=model_server)
    (attempt,) = report(at)["suites"][0]["cases"][0]["attempts"]
    assert (attempt["outcome"], attempt["grades"][0]["passed"], status) == (outcome, passed, int(outcome != "passed"))


def test_x34_one_failed_assertion_is_failed_whatever_a_grader_says(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", blocks("charged", grade="It is polite.\nIt is short."))))
    Service(model_server, graded(NO, GONE))
    status, at = test(here, "--format", "json", "--concurrency", "1", server=model_server)
    (attempt,) = report(at)["suites"][0]["cases"][0]["attempts"]
    assert (status, attempt["outcome"], attempt["reason"]) == (1, "failed", None)
    assert sorted(str(each["passed"]) for each in attempt["grades"]) == ["False", "None"]


def test_x34_a_check_without_a_sandbox_is_not_measured(here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("prosa.app.evals.judge.missing_part", lambda: "the library is not installed")
    code = "def check(input, output, calls):\n    return True"
    write(
        suite(
            ("Checked", blocks("charged", check=code)), ("Wrong", blocks("charged", expect="team: sales", check=code))
        )
    )
    provider = Model(lambda _: json.dumps(routed("charged")))
    found = prosa.run_tests("triage.test.md", provider=provider, environ=user(here))
    assert [each.outcome for each in found.attempts] == ["not measured", "failed"]
    assert found.attempts[0].reason == Reason("sandbox", "there is no sandbox: the library is not installed")


def test_x34_what_a_grader_says_is_quoted(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", blocks("charged", grade="It is polite."))))
    Service(model_server, graded(NO))
    status, at = test(here, server=model_server)
    assert (status, 'grade: "It is polite." does not hold: no' in at.out) == (1, True)


# ---- gates ----


def _gated(here: Path, require: str, repeat: int, broken: set[int], cases: int = 10) -> tuple[int, dict[str, Any]]:
    """The suite and the status where some of the runs break, counted from 0 in the order of the cases."""
    write(
        suite(
            *((f"Case {at}", blocks(f"charged {at}", expect="team: billing")) for at in range(cases)),
            front=f'repeat: {repeat}\nrequire: "{require}"\n',
        )
    )
    lines = [{"error": "down"} if at in broken else {"content": routed("charged")} for at in range(cases * repeat)]
    (here / "r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    status, at = test(here, "--model", "scripted:r.jsonl", "--concurrency", "1", "--format", "json")
    return status, report(at)["suites"][0]


@pytest.mark.parametrize(
    ("require", "repeat", "broken", "outcome"),
    [
        ("all", 1, {0, 1}, "passed"),
        ("all", 1, {0, 1, 2}, "not measured"),
        ("1/2", 2, {0, 2, 4, 6}, "passed"),
        ("1/2", 2, {0, 1, 2, 3, 4}, "not measured"),
        ("pass^2 >= 0.9", 3, {0, 3, 6}, "passed"),
        ("pass^2 >= 0.9", 3, {0, 1}, "not measured"),
        ("pass@1 >= 0.9", 1, {0}, "not measured"),
    ],
)
def test_x34_gates_count_what_was_measured(here: Path, require: str, repeat: int, broken: set[int], outcome: str):
    status, found = _gated(here, require, repeat, broken)
    assert (found["outcome"], found["passed"], status) == (outcome, outcome == "passed", int(outcome != "passed"))
    assert found["rate"]["value"] == 1.0
    counts = [(each["pass"], each["n"], each["not_measured"]) for each in found["cases"]]
    assert sum(each[1] for each in counts) == 10 * repeat - len(broken)
    assert sum(each[2] for each in counts) == len(broken)


def test_x34_a_suite_of_which_nothing_was_measured_has_no_rate(here: Path):
    status, found = _gated(here, "all", 1, set(range(10)))
    assert (status, found["outcome"]) == (1, "not measured")
    assert found["rate"] == {"name": "pass^1", "value": None, "interval": None, "method": "wilson"}
    assert {each["outcome"] for each in found["cases"]} == {"not measured"}
    assert {each["passed"] for each in found["cases"]} == {False}


# ---- reports ----


def test_x34_build_servers_see_an_error_and_nothing_skipped(here: Path):
    write(suite(("Down", blocks("down")), ("Wrong", blocks("charged", expect="team: sales")), ("Good", BILLING)))
    provider = Broken(down, lambda text: "down" in text)
    provider.answer = lambda _: json.dumps(routed("charged"))
    found = prosa.run_tests("triage.test.md", provider=provider, environ=user(here))
    root = ET.fromstring(tests_ci.tests_junit(found))
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    kinds = {each.get("name"): [child.tag for child in each] for each in root.iter("testcase")}
    assert kinds == {"Down": ["error"], "Wrong": ["failure"], "Good": []}
    (error,) = root.iter("error")
    assert (error.get("message"), error.get("type")) == ("provider: down", "not measured")
    assert not list(root.iter("skipped"))
    annotated = tests_ci.tests_github(found).splitlines()
    assert [("Down" in each, "not measured" in each) for each in annotated] == [(True, True), (False, False)]
    assert all(each.startswith("::error ") for each in annotated)


def test_x34_a_lift_that_was_not_measured_or_is_worse_is_seen_by_build_servers(here: Path):
    evals(skill(), *map(case, range(8)))
    found = ran(here, Broken(down, lambda text: MARK not in text))
    root = ET.fromstring(tests_ci.tests_junit(found))
    (lift,) = [each for each in root.iter("testcase") if each.get("name") == "lift of tide-times"]
    assert [each.tag for each in lift] == ["error"]
    assert "lift of tide-times: not measured" in tests_ci.tests_github(found).replace("%3A", ":")
    worse = ran(here, Model(lambda text: "At six" if MARK in text else "AHOY"))
    (told,) = worse.comparisons
    assert (told.comparison.verdict, worse.ok) == ("worse", False)
    root = ET.fromstring(tests_ci.tests_junit(worse))
    (lift,) = [each for each in root.iter("testcase") if each.get("name") == "lift of tide-times"]
    assert [each.tag for each in lift] == ["failure"]


def test_x34_worse_is_exit_status_one_even_where_every_gate_is_open(here: Path, model_server: ModelServer):
    cases = ((f"Case {at}", blocks(f"charged {at}", expect="team: billing")) for at in range(8))
    write(suite(*cases, front='require: "pass^1 >= 0"\n'))
    told = {"bad": {"team": "care", "reason": "no"}, "good": {"team": "billing", "reason": "yes"}}
    model_server.answer = lambda request: Behaviour(content=told[request.body["model"]])
    status, at = test(here, "--model", "bad", "--against", "good", server=model_server)
    assert (status, "failed: 1 comparison worse" in at.out) == (1, True)
    assert test(here, "--model", "good", "--against", "bad", server=model_server)[0] == 0
    assert test(here, "--model", "good", "--against", "good", server=model_server)[0] == 0  # cannot tell


def test_x34_the_last_line_counts_what_it_says(here: Path):
    """Cases are those of the side that is asked, and runs those of both."""
    evals(skill(), *map(case, range(3)))
    assert render.tests_total(ran(here, Model(obeys), repeat=2)).startswith(
        "passed · 3 of 3 cases passed every time · 12 runs (6 to compare with) · "
    )
    found = ran(here, Broken(down, lambda text: MARK not in text))
    assert render.tests_total(found).startswith(
        "not measured: 1 comparison · 3 of 3 cases passed every time · 6 runs (3 to compare with, 3 not measured) · "
    )


def test_x34_a_request_that_was_not_answered_is_in_no_rate_of_triggering(here: Path):
    folder = skill()
    triggers(folder, *({"query": f"When is high water at port {at}?", "should_trigger": True} for at in range(10)))
    found = ran(here, Broken(down, lambda text: "port 4" in text), folder)
    (suite_report,) = found.suites
    assert suite_report.confusion is not None
    assert [dict(row.loaded) for row in suite_report.confusion.rows] == [{"none": 9, "not measured": 1}]
    assert [each.counted.repeats for each in suite_report.cases] == [1, 1, 1, 1, 0, 1, 1, 1, 1, 1]


def test_x34_several_comparisons_of_a_suite_are_adjusted_together(here: Path, model_server: ModelServer):
    """Two models and their lifts: three comparisons, of which each needs seven cases that differ."""
    evals(skill(), *map(case, range(6)))
    Service(model_server, lambda text, _: "AHOY")
    model_server.answer = lambda request: Behaviour(
        content=obeys("\n".join(str(each["content"]) for each in request.body["messages"]))
    )
    _, at = test(here, "skills", "--model", "a,b", "--format", "json", server=model_server)
    assert [(each["p"], each["p_adjusted"]) for each in comparisons(at)] == [
        (2 / 64, 6 / 64),
        (2 / 64, 6 / 64),
        (1.0, 1.0),
    ]
    assert {each["verdict"] for each in comparisons(at)} == {"cannot tell"}
    assert [each["level"] for each in comparisons(at)] == pytest.approx([1 - 0.05 / 3, 1 - 0.05 / 3, 0.95])
    assert all(each["more"] == each["enough_cases"] for each in comparisons(at))


# ---- tokens and seconds ----


def test_x34_tokens_and_seconds_of_both_sides_stand_beside_their_rates(here: Path, model_server: ModelServer):
    evals(skill(), case(1), case(2))
    Service(model_server, lambda text, _: obeys(text))
    _, at = test(here, "skills", "--no-cache", "--record", "tapes", "--format", "json", server=model_server)
    (told,) = comparisons(at)
    for side in told["sides"].values():
        assert side["tokens"] == {"mean": 110.0, "deviation": 0.0}
        assert side["seconds"]["mean"] > 0
        assert side["seconds"]["deviation"] >= 0
    assert told["lift"]["with"] == told["sides"]["first"]
    played = [test(here, "skills", "--replay", "tapes", "--format", "json")[1].out for _ in range(2)]
    assert played[0] == played[1]  # two replays are compared without seconds
    sides = json.loads(played[0])["comparisons"][0]["sides"]
    assert {side["seconds"] for side in sides.values()} == {None}
    assert [side["tokens"]["mean"] for side in sides.values()] == [110.0, 110.0]
    text = test(here, "skills", "--replay", "tapes")[1].out
    assert "a run takes 110 ± 0 tokens with it; 110 ± 0 tokens without" in text


def test_x34_answers_from_the_cache_have_no_seconds(here: Path, model_server: ModelServer):
    write(suite(("Charged twice", BILLING)))
    Service(model_server, routed)
    seconds = []
    for _ in range(2):
        _, at = test(here, "--format", "json", server=model_server)
        seconds.append(report(at)["suites"][0]["cases"][0]["attempts"][0]["seconds"])
    assert seconds[0] > 0
    assert seconds[1] is None


# ---- what a skill cannot have ----


def test_x34_what_a_skill_cannot_have_stands_above_its_lift(here: Path):
    """X32: the same words as `prosa plan` has for it."""
    from prosa.cli.main import main
    from tests.cli.desk import desk

    folder = skill(body=f"{MARK} The last changes: !`git log --oneline`")
    path = folder / "SKILL.md"
    path.write_text(path.read_text().replace("name:", "allowed-tools: Bash(git log *)\nname:", 1))
    evals(folder, case())
    found = ran(here, Model(obeys))
    text = render.tests_text(found)
    needs = [
        f"tide-times asks for {each}" for each in ("commands whose output", "tools of its agent: `Bash(git log *)`")
    ]
    assert all(each in " ".join(text.split()) for each in needs)
    assert text.index("requirements that are not met here:") < text.index("lift of tide-times")
    it = desk(environ=user(here))
    assert main(["plan", str(folder)], it.console) == 0
    planned = [line for line in it.out.splitlines() if "tide-times asks for" in line]
    assert [f"  - {each}" for each in render.tests_json(found)["suites"][0]["unavailable"]] == planned
    assert "unavailable" not in render.tests_json(found)["suites"][1]


# ---- files of other tools ----


@pytest.mark.parametrize("name", ["evals/eval_set.json", "eval_set.json", "evals/my-requests.json"])
def test_x34_a_file_of_requests_is_known_by_its_shape(here: Path, name: str):
    folder = skill()
    path = folder / name
    path.write_text(json.dumps([{"query": "When is high water?", "should_trigger": True}]))
    found = ran(here, Model(obeys, lambda _: ["tide-times"]), path)
    (suite_report,) = found.suites
    assert suite_report.routing is not None
    assert found.ok
    if path.name == "eval_set.json":
        assert len(ran(here, Model(obeys, lambda _: ["tide-times"]), folder).suites) == 1
    else:
        with pytest.raises(prosa.RunError, match="no test documents"):
            ran(here, Model(obeys), folder)


def test_x34_a_file_of_requests_without_its_skill_says_where_it_belongs(here: Path):
    (here / "eval_set.json").write_text(json.dumps([{"query": "When is high water?", "should_trigger": True}]))
    status, at = test(here, "eval_set.json")
    assert (status, "there is no SKILL.md that it is about" in at.err) == (1, True)
    assert "put it into the folder of its skill" in at.err
    (here / "other.json").write_text('{"a": 1}')
    status, at = test(here, "other.json")
    assert (status, "Traceback" in at.err) == (1, False)


def test_x34_cases_of_skill_evaluator_are_tried(here: Path, model_server: ModelServer):
    folder = skill()
    case_ = {"question": "When?", "expected_script": "scripts/a.py", "expected_behavior": ["It greets"]}
    (folder / "evals" / "evals.json").write_text(json.dumps([case_] * 2))
    Service(model_server, lambda text, _: {"pass": True, "reason": "yes"} if "You judge" in text else "AHOY")
    status, at = test(here, "skills", server=model_server)
    assert (status, "2 of 2 cases passed every time" in " ".join(at.out.split())) == (0, True)
    assert (
        "note: skills/tide-times/evals/evals.json:1: `expected_script` is not evaluated here; it is in 2 cases"
        in at.err
    )


# ---- stopping ----


STOPPED = """
import sys
from prosa.cli.main import entry
sys.argv = ["prosa", "test", "--repeat", "4", "--concurrency", "1", "--no-progress", *sys.argv[1:]]
entry()
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("form", ["text", "json"])
def test_x34_a_test_that_is_stopped_says_what_it_has(
    here: Path, model_server: ModelServer, number: signal.Signals, status: int, form: str
):
    write(suite(("Charged twice", BILLING), ("Later", BILLING)))
    environ = user(here, OPENAI_BASE_URL=model_server.base_url, PROSA_CACHE_DIR=str(here / "cache"))
    (here / "cache").mkdir(mode=0o700)
    running: list[subprocess.Popen[str]] = []

    def answer(text: str, calls: int) -> object:
        if calls == 3:
            running[0].send_signal(number)
            return Behaviour(fault="hang")
        return routed(text)

    Service(model_server, answer)
    command = [sys.executable, "-c", STOPPED, "--format", form]
    environment = {**os.environ, **environ, "PYTHONPATH": str(SOURCE)}
    running.append(warm.popen(command, cwd=here, env=environment, stdout=-1, stderr=-1, text=True))
    out, err = running[0].communicate(timeout=60)
    assert running[0].returncode == status, err
    assert "Traceback" not in err
    if form == "text":
        assert "✓" not in out  # two of four are no whole case
        assert "2/2" in out
        assert "2× not measured: interrupted: the test was stopped" in out
        assert "8 runs (6 not measured)" in out
        assert err.endswith(("interrupted\n", "stopped by signal 15\n"))
        return
    (found,) = json.loads(out)["suites"]
    assert found["outcome"] == "not measured"
    outcomes = [each["outcome"] for case_ in found["cases"] for each in case_["attempts"]]
    assert outcomes == ["passed"] * 2 + ["not measured"] * 6
