"""X28: what a run is held against, and how many repeats have to pass."""

from __future__ import annotations

import pytest

from prosa.evaluation.case import RunFacts, expects_failure, gate, parse_requirement, run_failures, run_mistakes
from prosa.evaluation.statistics import Counted

FACTS = RunFacts(calls=3, cost=0.002, seconds=1.5, tools=("python", "triage", "python"))
FAILED = RunFacts(1, None, 0.1, failure="refused", error="validation failed: no valid output after 3 iterations")


@pytest.mark.parametrize(
    "expected",
    [
        None,
        {},
        {"calls": 3},
        {"calls": {"min": 1, "max": 3}},
        {"cost": {"max": 0.01}, "seconds": {"max": 2}},
        {"tools": {"called": ["python"], "not-called": ["visit"]}},
        {"fails": False},
    ],
    ids=str,
)
def test_x28_a_run_as_expected(expected):
    assert list(run_failures(expected, FACTS)) == []


@pytest.mark.parametrize(
    ("expected", "facts", "told"),
    [
        ({"calls": {"max": 2}}, FACTS, "run/calls: expected at most 2, found 3"),
        ({"calls": 2}, FACTS, "run/calls: expected 2, found 3"),
        ({"seconds": {"max": 1}}, FACTS, "run/seconds: expected at most 1, found 1.5"),
        ({"cost": {"max": 0.001}}, FACTS, "run/cost: expected at most 0.001 dollars, found 0.002"),
        (
            {"tools": {"called": ["visit"]}},
            FACTS,
            "run/tools: expected a call of visit, found calls of python and triage",
        ),
        (
            {"tools": {"not-called": ["triage"]}},
            FACTS,
            "run/tools: expected no call of triage, found calls of python and",
        ),
        ({"tools": {"called": ["x"]}}, RunFacts(1, 0, 0), "run/tools: expected a call of x, found no call of a tool"),
        ({"fails": True}, FACTS, "run/fails: expected a failure, found an output"),
        (None, FAILED, "run: expected an output, found refused: validation failed"),
        ({"fails": {"kind": "limit"}}, FAILED, "run/fails/kind: expected limit, found refused: validation failed"),
        ({"fails": {"text": "x y"}}, FAILED, 'run/fails/text: expected something that contains "x y", found refused'),
        ({"fails": True, "cost": {"max": 1}}, FAILED, "run/cost: expected a known cost, found a model without"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_x28_a_run_that_is_not(expected, facts, told):
    (failure,) = run_failures(expected, facts)
    assert str(failure).startswith(told)


@pytest.mark.parametrize(
    "expected",
    [
        {"fails": True},
        {"fails": {"kind": "refused"}},
        {"fails": {"text": "no valid"}},
        {"fails": {"text": {"matches": "[0-9]"}}},
    ],
    ids=str,
)
def test_x28_an_expected_failure(expected):
    assert expects_failure(expected)
    assert list(run_failures(expected, FAILED)) == []


@pytest.mark.parametrize(
    ("expected", "pointer", "words"),
    [
        ([], "", "takes a mapping"),
        ({"call": 1}, "/call", "did you mean `calls`?"),
        ({"calls": 1.5}, "/calls", "`calls` takes a whole number"),
        ({"cost": {"max": -1}}, "/cost/max", "not negative"),
        ({"tools": ["python"]}, "/tools", "takes `{called"),
        ({"tools": {"calld": ["python"]}}, "/tools/calld", "did you mean `called`?"),
        ({"tools": {"called": "python"}}, "/tools/called", "takes a list"),
        ({"fails": "yes"}, "/fails", "takes true"),
        ({"fails": {"kind": "refusal"}}, "/fails/kind", "did you mean `refused`?"),
        ({"fails": {"texts": "x"}}, "/fails/texts", "did you mean `text`?"),
        ({"fails": {"text": 3}}, "/fails/text", "takes a text"),
        ({"fails": {"text": {"matches": "("}}}, "/fails/text", "takes a text"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_x28_mistakes_about_a_run(expected, pointer, words):
    (mistake,) = run_mistakes(expected)
    assert mistake.pointer == pointer
    assert words in mistake.message


@pytest.mark.parametrize(
    "text", ["", "most", "5/4", "0/5", "pass^0 >= 0.9", "pass^3 > 0.9", "pass^3 >= 1.5", "pass#3 >= 1"]
)
def test_x28_what_is_no_requirement(text):
    assert parse_requirement(text) is None


def _gate(text: str, *counts: tuple[int, int], lower: bool = False):
    requirement = parse_requirement(text)
    assert requirement is not None
    return gate(requirement, [Counted(*each) for each in counts], lower=lower)


def test_x28_every_case_has_to_pass():
    assert _gate("all", (5, 5), (5, 5)).passed
    assert _gate("all", (5, 5), (4, 5)).short == (1,)
    assert _gate("4/5", (5, 5), (4, 5)).passed
    assert _gate("4/5", (9, 10), (7, 10)).short == (1,)


def test_x28_a_rate_is_asked_of_the_mean():
    found = _gate("pass^3 >= 0.7", (5, 5), (4, 5))
    assert found.passed
    assert found.rate.value == pytest.approx((1 + 0.4) / 2)
    closed = _gate("pass^3 >= 0.8", (5, 5), (4, 5))
    assert (closed.passed, closed.short) == (False, (1,))
    assert _gate("pass@2 >= 0.9", (1, 2), (2, 2)).passed
    with pytest.raises(ValueError, match="no rate"):
        _gate("pass^3 >= 0.9", (2, 2))


def test_x28_the_lower_bound_asks_for_more():
    assert _gate("4/5", (5, 5)).passed
    assert not _gate("4/5", (5, 5), lower=True).passed
    assert _gate("4/5", (50, 50), lower=True).passed
    many = [(5, 5)] * 40
    assert _gate("pass^1 >= 0.9", *many, lower=True).passed
    assert not _gate("pass^1 >= 0.99", *many, lower=True).passed
