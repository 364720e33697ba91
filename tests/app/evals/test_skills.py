"""X32: skills are tried on their cases, with and without."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.cli.main import main
from prosa.render import tests as render
from prosa.render import tests_ci
from prosa.render.plain import width
from tests.app.evals.skilled import (
    GREETS,
    MARK,
    REQUESTS,
    Model,
    case,
    evals,
    neighbours,
    obeys,
    ran,
    rates,
    routed,
    skill,
    triggers,
)
from tests.app.evals.suites import Service, test
from tests.cli.desk import desk
from tests.cli.programs import user
from tests.model_server.server import ModelServer


def test_x32_a_model_that_succeeds_by_the_text_of_the_skill_has_the_lift_one(here: Path):
    evals(skill(), *map(case, range(6)))
    model = Model(obeys)
    report = ran(here, model, repeat=3)
    (told,) = report.comparisons
    difference = told.comparison.difference
    assert told.lift is not None
    assert (difference.value, told.lift.rates, told.comparison.verdict) == (1.0, (1.0, 0.0), "better")
    assert (difference.interval.low, difference.interval.high) == (1.0, 1.0)  # the only shift that is not rejected
    assert (report.ok, len(model.requests)) == (True, 36)
    assert "lift of tide-times: +1.00 [" in render.tests_text(report)


@pytest.mark.parametrize("answer", ["AHOY", "no"])
def test_x32_a_model_that_ignores_the_skill_has_the_lift_nought_inside_its_interval(here: Path, answer: str):
    evals(skill(), *map(case, range(6)))
    report = ran(here, Model(lambda _: answer), repeat=3)
    (told,) = report.comparisons
    interval = told.comparison.difference.interval
    assert told.comparison.difference.value == 0.0
    assert interval.low <= 0 <= interval.high
    assert told.comparison.verdict == "cannot tell"
    assert report.ok is (answer == "AHOY")  # only what is tried with the skill has to pass


def test_x32_the_difference_is_paired_by_case(here: Path):
    """Half of the cases need the skill, the others pass anyway: the lift is one half."""
    cases = [case(at, assertions=[{"contains": "AHOY" if at % 2 else "six"}]) for at in range(12)]
    evals(skill(), *cases)
    (told,) = ran(here, Model(lambda text: obeys(text).replace("At", "at")), repeat=2).comparisons
    assert told.comparison.difference.value == 0.5
    assert told.comparison.verdict == "better"


def test_x32_what_is_tried_is_the_text_of_the_skill_and_what_it_is_compared_with_is_the_request_alone(here: Path):
    evals(skill(), case(files=["notes.txt"], assertions=[GREETS]))
    (here / "skills/tide-times/notes.txt").write_text("Brest: 06:12\n```\nSt Malo: 07:01")
    model = Model(obeys)
    ran(here, model, concurrency=1)
    with_it, without = model.requests
    assert MARK in with_it.messages[0].content
    assert all(MARK not in each.content for each in without.messages)
    assert with_it.messages[-1] == without.messages[-1]  # the file too
    assert "````\nBrest: 06:12\n```\nSt Malo: 07:01\n````" in without.messages[-1].content


def test_x32_a_folder_of_a_case_gives_the_files_in_it(here: Path):
    folder = skill()
    evals(folder, case(files=["evals/project"], assertions=[GREETS]))
    (folder / "evals/project/src").mkdir(parents=True)
    (folder / "evals/project/a.txt").write_text("first")
    (folder / "evals/project/src/b.txt").write_text("second")
    model = Model(obeys)
    ran(here, model)
    request = model.requests[0].messages[-1].content
    assert request.index("`evals/project/a.txt`") < request.index("first") < request.index("`evals/project/src/b.txt`")


def test_x32_a_file_that_is_no_text_is_named(here: Path):
    evals(skill(), case(files=["table.pdf"], assertions=[GREETS]))
    (here / "skills/tide-times/table.pdf").write_bytes(b"%PDF\xff\xfe")
    model = Model(obeys)
    ran(here, model)
    assert "`table.pdf` is attached; it is no text" in model.requests[0].messages[-1].content


def test_x32_a_link_out_of_the_skill_is_no_file_of_a_case(here: Path):
    evals(skill(), case(files=["innocent"], assertions=[GREETS]))
    (here / "skills/secret").write_text("KEY")
    (here / "skills/tide-times/innocent").symlink_to(here / "skills/secret")
    model = Model(obeys)
    with pytest.raises(prosa.RunError, match="lies outside of the skill"):
        ran(here, model)
    assert model.requests == []


def test_x32_a_rule_decides_before_a_grader_is_asked(here: Path):
    """A sentence is a question for the grader, which is asked only where the records hold."""
    evals(skill(), case(assertions=["The answer gives a time", GREETS]))

    def answer(text: str) -> str:
        return json.dumps({"reason": "six", "pass": True}) if "You judge the output" in text else obeys(text)

    model = Model(answer)
    report = ran(here, model)
    assert rates(report) == [1.0, 0.0]
    assert sum("You judge the output" in each.messages[-1].content for each in model.requests) == 1
    (attempt,) = report.suites[0].cases[0].attempts
    assert [each.question for each in attempt.graded] == ["The answer gives a time"]


@pytest.mark.parametrize(
    ("said", "answer", "passes"),
    [
        ({"json": {"high": 2}}, '{"high": 2, "low": 1}', True),
        ({"json": {"high": 2}}, '```json\n{"high": 2}\n```\n', True),
        ({"json": {"high": 2}}, '{"high": 3}', False),
        ({"json": True}, "no", False),
        ({"regex": "[0-9]+ m"}, "6 m", True),
        ({"equals": "6 m"}, "6 m ", False),
        ({"not_contains": "sorry"}, "sorry", False),
        ({"calls": {"max": 1}}, "any", True),
        ({"tools": {"called": ["python"]}}, "any", False),
    ],
)
def test_x32_what_a_record_says_is_decided(here: Path, said: dict[str, Any], answer: str, passes: bool):
    evals(skill(), case(assertions=[said]))
    assert ran(here, Model(lambda _: answer)).ok is passes


def test_x32_a_recording_gives_the_same_report_without_a_model(here: Path):
    folder = neighbours()
    evals(folder, case(1), case(2), repeat=2)
    model = Model(obeys, routed)
    ran(here, model, record="tapes")
    assert (here / "tapes" / "without").is_dir()
    assert (here / "tapes" / "triggers").is_dir()
    reports = [
        json.dumps(render.tests_json(prosa.run_tests("skills", replay="tapes", environ=user(here)))) for _ in range(2)
    ]
    assert reports[0] == reports[1]
    status, at = test(here, "skills", "--replay", "tapes", "--format", "json")
    assert status == 1
    told = json.loads(at.out)
    cases = [each for suite in told["suites"] if suite["program"] == "tide-times" for each in suite["cases"]]
    assert [each["pass"] for each in cases] == [2, 2, 0, 0, 2, 2, 0, 2]
    lifts = [each["lift"] for each in told["comparisons"]]
    assert [(each["skill"], each["with"]["rate"], each["without"]["rate"]) for each in lifts] == [("tide-times", 1, 0)]
    (routing,) = [
        each["routing"] for each in told["suites"] if each["path"].endswith("tide-times/evals/trigger-eval.json")
    ]
    assert {"expected": "ferry-fares", "loaded": {"ferry-fares": 2}} in routing["confusion"]


def test_x32_nothing_is_asked_for_files_with_errors(here: Path):
    evals(skill(), {"id": 1, "promt": "When?"})
    model = Model(obeys)
    with pytest.raises(prosa.ProgramRefused):
        ran(here, model)
    assert model.requests == []
    status, at = test(here, "skills")
    assert status == 1
    assert "evals.json:1:40: MD101 error" in at.err.replace("skills/tide-times/evals/", "")
    assert "the tests have errors and were not run" in at.err


def test_x32_a_skill_is_named_by_its_folder_its_file_or_its_cases(here: Path):
    path = evals(skill(), case())
    for named in ("skills", path.parent.parent, path.parent.parent / "SKILL.md", path):
        assert [each.program for each in ran(here, Model(obeys), named).suites] == ["tide-times", "tide-times"]
    triggers(path.parent.parent, *REQUESTS)
    assert [each.routing is None for each in ran(here, Model(obeys), path).suites] == [True, True]
    assert [each.routing is None for each in ran(here, Model(obeys), path.parent / "trigger-eval.json").suites] == [
        False
    ]
    assert len(ran(here, Model(obeys), path.parent.parent).suites) == 3
    skill("ferry-fares")
    status, at = test(here, "skills/ferry-fares/SKILL.md")
    assert (status, "there is nothing to try the skill on" in at.err) == (1, True)
    status, at = test(here, "skills/ferry-fares")
    assert (status, "no skill with cases" in at.err) == (2, True)


def test_x32_skills_that_agents_keep_in_hidden_folders_are_found(here: Path):
    folder = here / ".claude"
    folder.mkdir()
    evals(skill(), case())
    (here / "skills").rename(folder / "skills")
    assert len(ran(here, Model(obeys), ".").suites) == 2


def test_x32_against_a_revision_says_better_worse_or_cannot_tell(here: Path):
    evals(skill(body="Be brief."), *map(case, range(8)))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True, cwd=here)
    skill()
    report = ran(here, Model(obeys), repeat=2, against="HEAD")
    lift, other = report.comparisons
    assert lift.lift is not None and other.lift is None
    assert (other.comparison.verdict, other.comparison.difference.value) == ("better", 1.0)
    assert other.second == "with the skill, HEAD"
    skill(body="Be brief.")
    _, same = ran(here, Model(obeys), repeat=2, against="HEAD").comparisons
    assert same.comparison.verdict == "cannot tell"
    assert all(width(line) <= render.MAX_WIDTH for line in render.tests_text(report).splitlines())


@pytest.mark.parametrize("argv", [(), ("--audit",)])
def test_x34_a_notice_is_given_once_however_many_sides_are_tried(here, model_server: ModelServer, argv):
    evals(skill(), *map(case, range(2)))
    Service(model_server, lambda text, _: "AHOY")
    _, at = test(here, "skills", *argv, "--base-url", model_server.base_url, OPENAI_API_KEY="k")
    assert at.err.count("note: OPENAI_API_KEY is not sent to") == 1


def test_x32_models_are_compared_and_each_has_its_lift(here: Path, model_server: ModelServer):
    evals(skill(), case())
    Service(model_server, lambda text, _: "AHOY")
    status, at = test(here, "skills", "--model", "a,b", "--format", "json", server=model_server)
    told = json.loads(at.out)
    assert status == 0
    assert [each["label"] for each in told["suites"]] == [
        "with the skill, a",
        "without the skill, a",
        "with the skill, b",
        "without the skill, b",
    ]
    assert [("lift" in each, each["second"]) for each in told["comparisons"]] == [
        (True, "without the skill, a"),
        (True, "without the skill, b"),
        (False, "with the skill, a"),
    ]


def test_x32_answers_are_kept_by_side_and_repeat(here: Path, model_server: ModelServer):
    folder = skill()
    evals(folder, case(1), case(2))
    service = Service(model_server, lambda text, _: "AHOY")
    assert test(here, "skills", "--repeat", "2", server=model_server)[0] == 0
    assert service.calls == 8
    assert test(here, "skills", "--repeat", "2", server=model_server)[0] == 0
    assert service.calls == 8
    skill(body=f"{MARK} Be brief.")
    test(here, "skills", "--repeat", "2", server=model_server)
    assert service.calls == 12  # what is asked without the skill is what it was


def test_x32_the_budget_holds_for_both_sides(here: Path, model_server: ModelServer):
    evals(skill(), case())
    service = Service(model_server, lambda text, _: "AHOY")
    status, at = test(here, "skills", "--max-cost", "0.01", "--model", "unpriced", server=model_server)
    assert (status, service.calls) == (2, 0)
    assert "unpriced" in at.err


def test_x32_requirements_of_the_file_close_the_gate(here: Path):
    path = evals(skill(), *map(case, range(4)), require="pass^2 >= 0.5", repeat=2)
    report = ran(here, Model(obeys))
    assert (report.suites[0].requirement.text, report.ok) == ("pass^2 >= 0.5", True)
    evals(path.parent.parent, case(), require="pass^3 >= 0.5", repeat=2)
    assert test(here, "skills")[0] == 1


def test_x32_junit_has_both_sides_and_the_lift(here: Path):
    folder = neighbours()
    evals(folder, case())
    root = ET.fromstring(tests_ci.tests_junit(ran(here, Model(obeys, routed))))
    names = [each.get("name", "") for each in root.iter("testsuite")]
    assert "skills/tide-times/evals/evals.json · with the skill" in names
    assert "skills/tide-times/evals/evals.json · without the skill" in names
    (lift,) = [each for each in root.iter("testcase") if each.get("name") == "lift of tide-times"]
    assert list(lift) == []
    failing = [each.get("name") for each in root.iter("testcase") if each.find("failure") is not None]
    assert failing == ["How do I tie a bowline?", "How do I tie a bowline?"]  # of both skills that it is tried on


def test_x32_lines_of_json_tell_the_sides_apart(here: Path):
    folder = neighbours()
    evals(folder, case())
    lines = [json.loads(line) for line in render.tests_jsonl(ran(here, Model(obeys, routed), folder)).splitlines()]
    assert [each.get("label") for each in lines if "name" in each][:2] == ["with the skill", "without the skill"]
    assert [each["routing"]["skill"] for each in lines if "routing" in each] == ["tide-times"]
    assert [each["lift"]["skill"] for each in lines if "lift" in each] == ["tide-times"]


def test_x32_the_report_fits_a_terminal(here: Path):
    folder = neighbours()
    for at in range(12):
        skill(f"a-skill-with-a-rather-long-name-{at}", "x", f"Does the thing that has the number {at}.")
    names = [f"a-skill-with-a-rather-long-name-{at}" for at in range(12)]
    triggers(folder, *REQUESTS, *({"query": f"{each} " * 9, "should_trigger": False} for each in names))
    evals(folder, case(1, assertions=[{"name": "a long name of an assertion " * 4, "equals": "x" * 200}]))
    report = ran(here, Model(lambda _: "long answer " * 60, lambda text: [each for each in names if each in text][:1]))
    for line in render.tests_text(report).splitlines():
        assert width(line) <= render.MAX_WIDTH, line


def test_x32_the_report_of_wide_characters_fits_a_terminal(here: Path):
    folder = skill()
    evals(
        folder,
        case(1, prompt="何時高潮？" * 12, assertions=[{"name": "答えは時刻を含む" * 3, "contains": "満潮" * 30}]),
    )
    triggers(folder, {"query": "我刚批量修了十五个文件" * 9, "should_trigger": True})
    report = ran(here, Model(lambda _: "六時十二分です。" * 40, lambda _: []))
    for line in render.tests_text(report).splitlines():
        assert width(line) <= render.MAX_WIDTH, line


def test_x32_the_same_question_of_two_skills_is_recorded_for_each(here: Path):
    for name in ("tide-times", "ferry-fares"):
        evals(skill(name), case(1))
    model = Model(obeys)
    first = ran(here, model, record="tapes", repeat=2)
    assert len(model.requests) == 8
    again = prosa.run_tests("skills", replay="tapes", repeat=2, environ=user(here))
    assert rates(again) == rates(first) == [1.0, 0.0, 1.0, 0.0]


HOSTILE = [
    *("", "[]", "{}", "null", "{", '{"evals": null}', '{"evals": {}}', '{"evals": [[]]}', '{"evals": [{"prompt": 1}]}'),
    *('{"evals": [{"prompt": "{{ .secret }} ### @system:"}]}', "\x00", "---\na: [\n---\n{}", "[" * 5000),
    '{"evals": [{"prompt": "x", "files": ["/etc/passwd", "../../x", ""]}]}',
    '{"evals": [{"prompt": "x", "assertions": [{"python": "def check(input, output, calls): 1/0"}]}]}',
    '{"skill_name": "other", "evals": [{"prompt": "x"}]}',
    '{"evals": [{"prompt": "x", "id": {}}], "repeat": -1, "require": "most", "models": [1], "votes": 2}',
    '{"evals": [{"prompt": "x", "assertions": ["y"]}], "grader": "/etc/passwd"}',
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["evals.json", "trigger-eval.json"])
def test_x32_bad_files_end_in_a_sentence(here: Path, text: str, name: str):
    (skill() / "evals" / name).write_text(text)
    for command in (["check", "skills"], ["test", "skills", "--model", "scripted:none.jsonl", "--no-progress"]):
        it = desk(environ=user(here))
        status = main(command, it.console)
        assert status in (0, 1, 2)
        assert "internal error" not in it.err
        assert "Traceback" not in it.err


@pytest.mark.parametrize("what", ["folder", "device", "loop", "nowhere"])
def test_x32_what_is_no_file_is_told(here: Path, what: str):
    path = skill() / "evals" / "evals.json"
    if what == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "loop": "evals.json", "nowhere": "gone.json"}[what])
    for command in (["check", "skills"], ["test", "skills", "--no-progress"]):
        it = desk(environ=user(here))
        assert main(command, it.console) == 1
        assert "evals.json:1:1: MD015 error" in it.out + it.err


def test_x32_a_new_skill_is_accepted_and_tried(here: Path):
    it = desk(environ=user(here))
    assert main(["new", "skill", "knot-finder"], it.console) == 0
    assert it.err.startswith("wrote knot-finder/SKILL.md\nwrote knot-finder/evals/evals.json\nnext: ")
    assert main(["check", "--strict", "."], desk().console) == 0

    def answer(text: str) -> str:
        if "You judge the output" in text:
            return '{"reason": "so", "pass": true}'
        return "What I understood: knots" if "What I understood:" in text else "Knots"

    (told,) = ran(here, Model(answer), "knot-finder").comparisons
    assert told.comparison.difference.value == 1.0
    assert main(["new", "skill", "knot-finder"], desk().console) == 2
    it = desk()
    assert main(["new", "skill", "Knot Finder"], it.console) == 2
    assert "did you mean knot-finder?" in it.err
