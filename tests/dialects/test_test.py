"""X28: the dialect of tests. Cases, blocks and rows are read with their places; reading never fails."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.evals.document.model import SuiteModel
from prosa.dialects.evals.document.rows import RowProblem, read_rows
from prosa.dialects.reading import open_document
from prosa.dialects.table import TEST
from prosa.evaluation.expectations import match
from prosa.evaluation.matchers import MISSING
from prosa.source import SourceText

DOCUMENT = """---
tests: ./triage.md
repeat: 5
require: "pass^3 >= 0.9"
models: [gpt-4o-mini, local]
votes: 3
---
# Tests of triage

Text, and a fence for people:

```yaml
team: nobody
```

## Charged *twice*

```yaml input
request: I was charged twice.
```

### Why

```yaml expect
team: billing
```

```json run
{"calls": {"max": 2}}
```

```text grade
The reason names the charge.

It is polite.
```

## Notes

Nothing is tried here.

## Words

```text input
just text
```

```python expect
def check(input, output, calls):
    return True
```
"""


def suite(text: str, path: str = "a.test.md") -> SuiteModel:
    model = open_document(SourceText(text, path)).model_of(TEST)
    assert model is not None
    return model


def test_x28_a_document_and_its_cases():
    reading = open_document(SourceText(DOCUMENT, "notes/a.TEST.md"))
    assert (reading.name, reading.problems, reading.front.problems) == ("test", (), ())
    model = suite(DOCUMENT)
    assert (model.tests, model.repeat, model.requirement.text, model.votes) == ("./triage.md", 5, "pass^3 >= 0.9", 3)
    assert model.models == ("gpt-4o-mini", "local")
    first, second = (model.case(each) for each in model.cases)
    assert (first.name, first.place) == ("Charged twice", "a.test.md:16")
    assert first.input == {"request": "I was charged twice."}
    assert (first.expect, first.run) == ({"team": "billing"}, {"calls": {"max": 2}})
    assert first.grade == ("The reason names the charge.", "It is polite.")
    assert (second.name, second.input, second.run, second.grade) == ("Words", "just text", None, ())
    assert [each.pointer for each in match(second.expect, "x").checks] == [""]


def test_x28_without_repeat_a_rate_says_how_many():
    assert suite('---\ntests: a.md\nrequire: "pass^4 >= 0.5"\n---\n').repeat == 4
    assert suite("---\ntests: a.md\n---\n").repeat == 1


@pytest.mark.parametrize(
    ("block", "output", "passes"),
    [
        ("```yaml expect\na: 1\n```", {"a": 1, "b": 2}, True),
        ("```yaml expect\nlength: 2\n```", [1, 2], True),
        ("```text expect\nhello\n```", "hello", True),
        ("```yaml expect\n[1, 2]\n```", [1, 2], True),
        ("```yaml expect\n[1, 2]\n```", [1, 3], False),
    ],
)
def test_x28_a_check_in_python_stands_beside_any_expectation(block, output, passes):
    check = "```python expect\ndef check(input, output, calls):\n    return True\n```"
    model = suite(f"---\ntests: a.md\n---\n\n## A\n\n{block}\n\n{check}\n")
    found = match(model.cases[0].expect, output)
    assert (not found.failures) == passes
    assert bool(found.checks) == passes


@pytest.mark.parametrize(
    ("front", "rule"),
    [
        ("repeat: 3", "missing-field"),
        ("tests: a.md\nrepeat: 0", "wrong-form"),
        ("tests: a.md\nrepeat: many", "wrong-type"),
        ("tests: a.md\nrequire: most", "wrong-form"),
        ("tests: a.md\nvotes: 2", "wrong-form"),
        ("tests: a.md\nreqiure: all", "unknown-field"),
    ],
)
def test_x28_fields_that_are_wrong(front, rule):
    reading = open_document(SourceText(f"---\n{front}\n---\n\n## A\n\n```yaml input\n{{}}\n```\n", "a.test.md"))
    assert [each.rule for each in reading.problems] == [rule]


def test_x28_a_problem_in_a_block_has_its_place():
    text = "---\ntests: a.md\n---\n\n## A\n\n```yaml expect\na: 1\nb: {matches: '('}\na: 2\n```\n"
    reading = open_document(SourceText(text, "a.test.md"))
    assert [(each.rule, text[each.span.start : each.span.end]) for each in reading.problems] == [("duplicate-key", "a")]
    bomb = "a: &a [x, x]\n" + "".join(f"b{at}: &b{at} [*a, *a]\n" for at in range(40))
    text = f"---\ntests: a.md\n---\n\n## A\n\n```yaml input\n{bomb}{'[' * 200}\n```\n"
    reading = open_document(SourceText(text, "a.test.md"))
    assert reading.problems
    assert all(each.span.end <= len(text) for each in reading.problems)
    model = reading.model_of(TEST)
    assert model is not None
    assert model.cases[0].value("input") is MISSING


@pytest.mark.parametrize("grade", ["3", "null", "true", '{"a": 1}'])
def test_x28_a_grade_that_is_no_question_is_reported_and_shown(grade: str):
    text = f"---\ntests: a.md\n---\n\n## A\n\n```json grade\n{grade}\n```\n"
    reading = open_document(SourceText(text, "a.test.md"))
    assert [each.rule for each in reading.problems] == ["bad-grade"]
    assert reading.facts()["cases"] == [{"name": "A", "line": 5, "input": {}}]


def test_x28_an_indented_block_is_read_all_the_same():
    model = suite("---\ntests: a.md\n---\n\n## A\n\n  ```yaml input\n  a: {b: 1}\n  ```\n")
    assert model.cases[0].value("input") == {"a": {"b": 1}}
    reading = open_document(
        SourceText("---\ntests: a.md\n---\n\n## A\n\n ```yaml expect\n a: {one-of: 1}\n ```\n", "a.test.md")
    )
    assert [each.rule for each in reading.problems] == ["bad-matcher"]


def test_x28_it_points_at_its_program_and_its_grader():
    model = suite("---\ntests: ./triage.md\ngrader: ../mine.md\n---\n")
    reading = open_document(SourceText("---\ntests: ./triage.md\ngrader: ../mine.md\n---\n", "a.test.md"))
    assert [(each.target, each.rel, each.origin) for each in reading.references()] == [
        ("./triage.md", "tests", "front-matter"),
        ("../mine.md", "graded-by", "front-matter"),
    ]
    assert model.span("tests").of(model.document.source.text) == "./triage.md"


def test_x28_facts_are_plain_data():
    facts = open_document(SourceText(DOCUMENT, "a.test.md")).facts()
    assert json.loads(json.dumps(facts)) == facts
    assert [each["name"] for each in facts["cases"]] == ["Charged twice", "Words"]
    assert "expect" not in suite("---\ntests: a\n---\n\n## A\n\n```yaml input\n{}\n```\n").cases[0].blocks


def test_x28_a_test_document_is_already_in_its_normal_form():
    reading = open_document(SourceText(DOCUMENT, "a.test.md"))
    assert reading.format_edits(FormatOptions()) == ()


ROWS = """{"name": "one", "input": {"a": 1}, "expect": {"b": 2}, "id": 7}

{"input": 1, "grade": ["Is it?"], "run": {"calls": 1}}
{"input": 1, "expects": 2}
{"input": 1, "expect": {"a": {"matches": "("}}}
[1]
{"expect": 1}
{"input": 1, "grade": 3}
{"input": 1, "name": []}
{
"""


def test_x28_rows_are_cases_or_say_why_not():
    read = list(read_rows(SourceText(ROWS, "cases.jsonl")))
    first, second = read[:2]
    assert not isinstance(first, RowProblem)
    assert not isinstance(second, RowProblem)
    assert (first.name, first.input, first.expect, first.place) == ("one", {"a": 1}, {"b": 2}, "cases.jsonl:1")
    assert (second.name, second.expect, second.grade) == ("row 3", MISSING, ("Is it?",))
    problems = [each for each in read[2:] if isinstance(each, RowProblem)]
    assert [each.line for each in problems] == [4, 5, 6, 7, 8, 9, 10]
    assert "did you mean `expect`?" in problems[0].message
    assert "not a pattern of RE2" in problems[1].message


pieces = st.lists(
    st.sampled_from(
        [
            *("---\n", "tests: a.md\n", "repeat: 3\n", "require: all\n", "models: x\n", "# T\n", "## A\n", "## A\n\n"),
            *("```yaml input\n", "```\n", "```json expect\n", "```text grade\n", "```python expect\n", "```yaml run\n"),
            *(
                "a: 1\n",
                "{",
                "}\n",
                "- x\n",
                "> ```yaml input\n",
                "$.a: {matches: '('}\n",
                "fails: x\n",
                "\x00",
                "  ",
                "\r",
            ),
        ]
    ),
    max_size=30,
)


@example(["---\n", "tests: a.md\n", "## A\n", "```yaml input\n"])
@given(pieces)
def test_x28_reading_never_fails(parts):
    text = "".join(parts)
    reading = open_document(SourceText(text, "a.test.md"))
    model = reading.model_of(TEST)
    assert model is not None
    json.dumps(reading.facts())
    assert all(0 <= each.span.start <= each.span.end <= len(text) for each in reading.problems)
    for case in model.cases:
        match(model.case(case).expect, {"a": 1}) if not reading.problems else None
