"""Our templates against Go's: every case of ``cases/`` and the answer of the real Go in ``golden.jsonl``.

A case of mode ``go`` must come out as Go's does, errors on the same line. A case of mode ``decided`` differs from Go by
a requirement, which its ``why`` names; its expected text is written by hand. ``make vectors`` asks Go again.
"""

from __future__ import annotations

import re

import pytest

from tests.template.vectors import CASES, FILES, GO_VERSION, GOLDEN, differences, expected, fingerprint, go

ALL = [case for cases in CASES.values() for case in cases]
DECIDED = [case for case in ALL if case["mode"] == "decided"]
REQUIREMENT = re.compile(r"\b(X9|X1[1-4]|X2|L2[5-7]|LA2[0-6]|LW5)\b")


def failing(name: str) -> None:
    found = differences(name)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name", ["actions", "conditions", "exec-errors", "parse-errors", "range", "templates", "trim", "variables"]
)
def test_x11_l25_grammar_and_semantics_are_go_s(name: str) -> None:
    """X11, L25: fields, if, range, with, define, block, variables, trim markers, comments, and where errors stand."""
    failing(name)


@pytest.mark.parametrize("name", ["compare", "literals", "logic", "print"])
def test_x11_values_and_operators_are_go_s(name: str) -> None:
    """X11, X12: constants, comparisons of every pair of kinds, and, or, not, print, println."""
    failing(name)


@pytest.mark.parametrize("name", ["escape", "printf"])
def test_x11_x12_formatting_is_go_s_but_for_percent_v(name: str) -> None:
    """X11, X12: printf with every verb, flag, width, star and argument index; html, js, urlquery."""
    failing(name)


def test_x12_la21_lw5_values_print_as_json_and_integers_stay_integers() -> None:
    failing("values")


def test_x13_la20_absent_names_print_nothing_and_are_false() -> None:
    failing("absence")


@pytest.mark.parametrize("name", ["access", "functions"])
def test_x14_l26_la22_la23_la24_lw5_functions(name: str) -> None:
    """X14, L26, LA22, LA23, LA24, LW5: piped and direct argument order, clamped slices, titles, defaults, joins."""
    failing(name)


def test_x11_la25_names_may_have_hyphens_and_nothing_else_new() -> None:
    failing("names")


def test_l27_la26_x11_data_is_never_read_as_template() -> None:
    failing("data-stays-data")


def test_every_file_of_cases_is_tested() -> None:
    named = {"actions", "conditions", "exec-errors", "parse-errors", "range", "templates", "trim", "variables"}
    named |= {"compare", "literals", "logic", "print", "escape", "printf", "values", "absence", "access", "functions"}
    assert named | {"names", "data-stays-data"} == set(FILES)


def test_every_case_has_an_answer_of_go_and_every_answer_a_case() -> None:
    assert [case["id"] for case in ALL] == list(GOLDEN)
    stale = [case["id"] for case in ALL if GOLDEN[case["id"]]["asked"] != fingerprint(case)]
    assert not stale, "ask Go again with `make vectors`"
    assert GO_VERSION.startswith("go1.")


def test_every_case_is_of_a_known_shape() -> None:
    keys = {"go": {"id", "mode", "template", "data"}, "decided": {"id", "mode", "template", "data", "expect", "why"}}
    wrong = [case["id"] for case in ALL if set(case) - {"line", "why"} != keys[case["mode"]] - {"why"}]
    assert not wrong
    assert len({(case["template"], fingerprint(case)) for case in ALL}) == len(ALL), "one question twice"


def test_every_case_that_is_decided_names_its_requirement_and_differs_from_go() -> None:
    assert not [case["id"] for case in DECIDED if not REQUIREMENT.search(case["why"])]
    assert not [case["id"] for case in DECIDED if go(case) == expected(case)]
