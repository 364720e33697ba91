"""X32: the cases of a skill and the requests that it is for, as other tools write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.app.check.check import CheckOptions
from prosa.app.check.gather import gather
from prosa.app.check.workspace import Workspace
from prosa.dialects.evals.suite.read import MAX_PROBLEMS, read_evals
from prosa.dialects.reading import open_document
from prosa.evaluation.case import Assertion
from prosa.evaluation.matchers import MATCHERS
from prosa.rules.engine import check_text
from prosa.source import SourceText


def evals(*cases: object, **more: object):
    text = json.dumps({"skill_name": "tide-times", "evals": list(cases), **more})
    return read_evals(SourceText(text, "evals/evals.json"))


def triggers(data: object):
    return read_evals(SourceText(json.dumps(data), "evals/trigger-eval.json"))


def only(**case: object):
    model, problems = evals({"id": 1, "prompt": "When?", **case})
    assert problems == ()
    return model.evals[0]


def test_x32_a_file_of_the_shared_format_is_read_as_it_is():
    model, problems = evals(
        {
            "id": 7,
            "prompt": "When is high water at Brest?",
            "expected_output": "Two times",
            "files": ["evals/files/brest.csv"],
            "expectations": ["Two times are given", {"name": "zone", "description": "The zone is given"}],
            "priority": "high",
        },
        version="2",
    )
    assert problems == ()
    (case,) = model.evals
    assert (model.skill_name, case.id, case.name) == ("tide-times", "7", "7: When is high water at Brest?")
    assert case.asked == ("Two times are given", "The zone is given")
    assert [name for name, _ in case.files] == ["evals/files/brest.csv"]


def test_x32_assertions_and_expectations_count_together_and_each_once():
    assert only(assertions=["a", "b"], expectations=["b", "c"]).asked == ("a", "b", "c")


def test_x32_what_the_output_has_to_be_is_asked_where_nothing_else_is_said():
    assert only(expected_output="Two times").asked == ("The output is what is described here: Two times",)
    assert only(expected_output="Two times", assertions=["a"]).asked == ("a",)
    assert only(expected_output="Two times", assertions=[{"contains": "6"}]).asked == ()


@pytest.mark.parametrize(
    ("record", "expect", "as_json"),
    [
        ({"name": "x", "contains": "6.9 m"}, {"contains": "6.9 m"}, False),
        ({"name": "x", "not_contains": "a"}, {"not-contains": "a"}, False),
        ({"name": "x", "regex": "[0-9]"}, {"matches": "[0-9]"}, False),
        ({"name": "x", "type": "contains", "value": "a"}, {"contains": "a"}, False),
        ({"name": "x", "type": "regex", "pattern": "a"}, {"matches": "a"}, False),
        ({"name": "x", "type": "not_contains", "values": ["a", "b"]}, {"not-contains": ["a", "b"]}, False),
        ({"name": "x", "type": "exact_match", "value": "a"}, {"equals": "a"}, False),
        ({"name": "x", "type": "json_valid"}, {"absent": False}, True),
        ({"name": "x", "json": {"high": 2}}, {"high": 2}, True),
        ({"name": "x", "json": True}, {"absent": False}, True),
    ],
)
def test_x32_a_rule_decides_what_a_record_says_and_nothing_else(record, expect, as_json):
    case = only(assertions=[record])
    assert case.assertions == (Assertion("x", expect, as_json),)
    assert case.asked == ()


def test_x32_no_meaning_is_guessed_from_prose():
    sentence = 'The output contains "6.9 m" and equals 3'
    case = only(assertions=[sentence, {"name": "contains", "description": sentence + "!"}])
    assert (case.assertions, case.asked) == ((), (sentence, sentence + "!"))


def test_x32_a_record_of_a_type_that_no_rule_knows_is_asked_by_its_sentence_and_never_by_its_name():
    asked = [{"id": "a", "text": "Names 10", "type": "string_match"}, {"type": "semantic", "description": "Is brief"}]
    assert only(assertions=asked).asked == ("Names 10", "Is brief")
    assert only(assertions=[{"type": "llm-rubric", "value": "Is brief"}]).asked == ("Is brief",)
    _, problems = evals(
        {"id": 1, "prompt": "p", "assertions": [{"name": "x", "type": "contains_any", "values": ["a"]}]}
    )
    assert [each.rule for each in problems] == ["bad-assertion"]


def test_x32_cases_under_another_name_are_named():
    model, problems = read_evals(SourceText('{"skill": "a", "cases": [{"prompt": "x"}]}', "evals.json"))
    assert [each.misspelling and each.misspelling.meant for each in problems] == ["evals"]
    assert model.evals == ()


def test_x32_expectations_of_the_run():
    assert only(assertions=[{"tools": {"called": ["python"]}}, {"calls": {"max": 3}}]).run == {
        "tools": {"called": ["python"]},
        "calls": {"max": 3},
    }


@pytest.mark.parametrize(
    ("record", "name", "meant"),
    [
        ({"contains": "a", "not_contain": "b"}, "not_contain", "not-contains"),
        ({"type": "contains", "value": "a", "lenght": 3}, "lenght", "length"),
        ({"file": "a.csv", "contian": "x"}, "contian", "contains"),
        ({"changed": ["a"], "onlyy": True}, "onlyy", "only"),
    ],
)
def test_x32_a_misspelt_word_beside_another_is_a_problem(record: object, name: str, meant: str):
    """X32. It would decide nothing, and an answer pass that should fail."""
    _, problems = evals({"id": 1, "prompt": "x", "assertions": [record]})
    assert [(each.rule, each.message) for each in problems] == [
        ("bad-assertion", f"`{name}` decides nothing; did you mean `{meant}`?")
    ]
    assert [each.misspelling and each.misspelling.meant for each in problems] == [meant]


@pytest.mark.parametrize(
    "field",
    ["weight", "comment", "metric", "failed", "tests", "tags", "evidence", "values", "notes", "title", "passed"],
)
def test_x32_a_field_of_another_tool_means_nothing(field: str):
    assert only(assertions=[{"contains": "a", field: "x"}]).assertions == (Assertion("contains", {"contains": "a"}),)


def test_x32_expectations_of_the_run_hold_together():
    """X32. The second assertion about the tools takes nothing away from the first."""
    tools = [{"tools": {"called": ["python"]}}, {"tools": {"called": ["a"], "not-called": ["skill_read"]}}]
    numbers = [{"calls": {"max": 3}}, {"calls": {"min": 1, "max": 5}}, {"cost": 0.5}, {"cost": {"max": 1}}]
    assert only(assertions=[*tools, *numbers]).run == {
        "tools": {"called": ["python", "a"], "not-called": ["skill_read"]},
        "calls": {"max": 3, "min": 1},
        "cost": {"min": 0.5, "max": 0.5},
    }
    failing = [{"fails": True}, {"fails": {"kind": "limit"}}, {"fails": {"text": "ten"}}]
    assert only(assertions=failing).run == {"fails": {"kind": "limit", "text": "ten"}}


@pytest.mark.parametrize("second", [False, {"kind": "input"}, {"text": "nine"}])
def test_x32_expectations_of_a_failure_that_exclude_each_other_are_a_problem(second: object):
    _, problems = evals(
        {"id": 1, "prompt": "x", "assertions": [{"fails": {"kind": "limit", "text": "ten"}}, {"fails": second}]}
    )
    assert [(each.rule, each.message) for each in problems] == [
        ("bad-assertion", "`fails` says otherwise in an assertion above")
    ]


def test_x32_cases_have_names_of_their_own():
    model, _ = evals(*({"id": at, "name": "same", "prompt": "p", "expected_output": "x"} for at in range(3)))
    names = [each.name for each in model.evals]
    assert names[0] == "same"
    assert len(set(names)) == 3


def test_x32_requests_in_each_form():
    flat = [{"query": "a", "should_trigger": True}, {"prompt": "b", "should_trigger": False, "expected_skill": "c"}]
    for data in (flat, {"queries": flat}, {"skill_name": "tide-times", "evals": flat}):
        model, problems = triggers(data)
        assert problems == ()
        assert [(each.query, each.should_trigger, each.belongs) for each in model.queries] == [
            ("a", True, ""),
            ("b", False, "c"),
        ]


def test_x32_a_file_of_another_name_holds_what_its_items_say():
    def held(text: str) -> str:
        return read_evals(SourceText(text, "other.json"))[0].holds

    assert held('[{"query": "a", "should_trigger": true}]') == "triggers"
    assert held('{"evals": [{"prompt": "a", "should_trigger": true}]}') == "triggers"
    assert [held(text) for text in ('{"evals": [{"prompt": "a"}]}', "[]", "{}", "1")] == ["cases"] * 4


def test_x32_a_slip_in_a_field_is_named_and_other_fields_are_kept():
    _, problems = evals({"id": 1, "promt": "When?", "grading_notes": 1})
    said = [(each.rule, each.message, each.misspelling and each.misspelling.meant) for each in problems]
    assert ("unknown-field", "`promt` is not a field of a case", "prompt") in said
    assert [rule for rule, _, _ in said] == ["missing-field", "unknown-field"]


def test_x32_problems_of_a_huge_file_have_a_bound():
    _, problems = evals(*(["no case"] * 50_000))
    assert len(problems) <= MAX_PROBLEMS + 1


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "contains", "{{", "\x00"]))
NAMES = st.sampled_from(
    [
        *("skill_name", "evals", "id", "prompt", "promt", "files", "assertions", "expectations", "query", "repeat"),
        *("should_trigger", "type", "value", "name", "json", "tools", "require", *MATCHERS),
    ]
)
DATA = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner)), max_leaves=12
)


@given(data=DATA, top=st.booleans(), name=st.sampled_from(["evals.json", "triggers.json"]), cut=st.integers(0, 4))
def test_x32_whatever_the_file_holds_it_is_read_and_every_problem_has_a_place(data, top, name, cut):
    text = json.dumps({"evals": [data]} if top else data)
    text = text[: len(text) - cut]
    for each in check_text(SourceText(text, f"evals/{name}")).diagnostics:
        assert 0 <= each.span.start <= each.span.end <= len(text)
    assert open_document(SourceText(text, name)).facts()["queries"] is not None


def test_x32_a_check_of_a_folder_looks_at_the_files_beside_its_skills(tmp_path: Path):
    folder = tmp_path / "tide-times"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tide-times\ndescription: Tells tides.\n---\nx\n")
    (folder / "evals" / "evals.json").write_text("{}")
    (folder / "triggers.json").write_text("[]")
    (tmp_path / "triggers.json").write_text("[]")  # of no skill
    (group,) = gather([tmp_path])
    assert [path.relative_to(tmp_path).as_posix() for path in group.paths] == [
        "tide-times/SKILL.md",
        "tide-times/evals/evals.json",
        "tide-times/triggers.json",
    ]
    (group,) = gather([folder / "SKILL.md"])
    assert [path.name for path in group.paths] == ["SKILL.md"]


def test_x32_a_resident_corpus_takes_in_cases_that_are_new(tmp_path: Path):
    folder = tmp_path / "tide-times"
    (folder / "evals").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "SKILL.md").write_text("---\nname: tide-times\ndescription: Tells tides.\n---\nx\n")
    workspace = Workspace.open(tmp_path, CheckOptions(), {})
    cases, stray = folder / "evals" / "evals.json", tmp_path / "triggers.json"
    for path in (cases, stray):
        path.write_text("[{}]")
    found = workspace.update(cases)
    assert [each.rule for each in found[cases]] == ["missing-field"]
    assert workspace.update(stray) == {}  # of no skill: a check of the whole does not look at it either
    cases.write_text('{"skill_name": "tides", "evals": [{"prompt": "x", "expected_output": "y"}]}')
    assert [each.rule for each in workspace.update(cases)[cases]] == ["evals-of-another-skill"]
    (folder / "SKILL.md").write_text("---\nname: tides\ndescription: Tells tides.\n---\nx\n")
    workspace.update(folder / "SKILL.md")
    assert cases not in workspace.diagnostics


# ---- files of other tools ----

FOREIGN = {
    "id": "tides-001",
    "question": "When is high water at Brest?",
    "expected_skill": "tide-times",
    "expected_script": "scripts/tides.py",
    "ground_truth": "06:12 and 18:40",
    "expected_behavior": ["The answer gives two times", "The answer names the zone"],
}


def test_x34_the_list_of_skill_evaluator_is_read_and_what_is_not_judged_is_named():
    second = {"question": "And tomorrow?", "expected_skill": None, "expected_script": "", "ground_truth": "07:01"}
    model, problems = read_evals(SourceText(json.dumps([FOREIGN, second]), "evals/evals.json"))
    first, other = model.evals
    assert (first.id, first.prompt) == ("tides-001", "When is high water at Brest?")
    assert first.asked == ("The answer gives two times", "The answer names the zone")
    assert (first.expected_output, other.asked) == (
        "06:12 and 18:40",
        ("The output is what is described here: 07:01",),
    )
    assert [(each.rule, each.message) for each in problems] == [
        ("unjudged-expectation", "`expected_skill` is not evaluated here; it is in one case"),
        ("unjudged-expectation", "`expected_script` is not evaluated here; it is in one case"),
    ]


@pytest.mark.parametrize("said", ["It is brief", ["It is brief"]])
def test_x34_behaviour_is_a_sentence_or_several(said: object):
    model, problems = read_evals(
        SourceText(json.dumps([{"question": "When?", "expected_behavior": said}]), "evals/evals.json")
    )
    assert (model.evals[0].asked, problems) == (("It is brief",), ())


@pytest.mark.parametrize("name", ["evals/eval_set.json", "eval_set.json", "requests.json", "x.JSON"])
def test_x34_requests_are_known_by_their_shape(name: str):
    text = json.dumps([{"query": "When is high water?", "should_trigger": True}])
    reading = open_document(SourceText(text, name))
    assert reading.name == "evals"
    model, problems = read_evals(SourceText(text, name))
    assert (model.holds, [each.query for each in model.queries], problems) == ("triggers", ["When is high water?"], ())


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", "", '[{"query": "x"}]', '{"should_trigger": []}', '["should_trigger"]', '[{"should_trigger": 1'],
)
def test_x34_another_json_file_is_no_suite(text: str):
    assert open_document(SourceText(text, "package.json")).name != "evals"
