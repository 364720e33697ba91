"""The manifest and the tests agree, in both directions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements.gaps import misnamed, untested
from tests.requirements.ledger import Requirement, load, missing
from tests.requirements.scan import scan, scan_text

HERE = Path(__file__)


def test_every_requirement_is_written_down():
    assert missing(load()) == []


def test_every_done_requirement_is_named_by_an_asserting_test():
    gaps = [f"{requirement.id}: {requirement.says}" for requirement in untested(load(), scan())]
    assert gaps == []


def test_no_test_names_what_is_planned_or_unknown():
    assert list(misnamed(load(), scan())) == []


def test_every_test_asserts():
    assert [str(test) for test in scan() if not test.asserts] == []


@pytest.mark.parametrize(
    ("text", "ids", "asserts"),
    [
        ("def test_l22_and_l23_hold(): assert 1", {"L22", "L23"}, True),
        ("def test_thing():\n  'LA4, X12.'\n  assert 1", {"LA4", "X12"}, True),
        ("def test_x7b(): pass", {"X7b"}, False),
        ("async def test_lw3():\n  with pytest.raises(E): ...", {"LW3"}, True),
        ("def ok(): assert 1\ndef test_l1(): ok()", {"L1"}, True),
        ("class TestIt:\n  def test_l2(self): assert_same(1, 1)", {"L2"}, True),
        ("def test_xml_l1x2_labels(): print()", set(), False),
    ],
)
def test_ids_and_assertions_are_found(text: str, ids: set[str], asserts: bool):
    (test,) = scan_text(text, HERE)
    assert (set(test.ids), test.asserts) == (ids, asserts)


def test_a_function_of_a_file_without_tests_may_assert_for_a_test(tmp_path: Path):
    (tmp_path / "claims.py").write_text("def check_all(value): assert value")
    (tmp_path / "test_claims.py").write_text("def test_l1(): check_all(1)\ndef test_l2(): check_none(1)")
    assert [test.asserts for test in scan(tmp_path)] == [True, False]


def test_gaps_are_found_in_both_directions():
    requirements = {
        "L1": Requirement("L1", "says", "source", None),
        "L2": Requirement("L2", "says", "source", "Later"),
    }
    tests = list(scan_text("def test_l1(): pass\ndef test_l2(): assert 1\ndef test_l99(): assert 1", HERE))
    assert [requirement.id for requirement in untested(requirements, tests)] == ["L1"]
    assert [sentence.split(" names ")[1] for sentence in misnamed(requirements, tests)] == [
        "L2, which is planned: Later",
        "L99, which is not in the manifest",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[L1]\nsays = "a"\nsource = "b"\nstate = "soon"', "has the state 'soon'"),
        ('[L1]\nsays = "a"\nsource = "b"\nstate = "planned: Nothing"', "known title"),
        ('[L1]\nsays = "a"\nstate = "done"', "needs exactly"),
        ('[Q1]\nsays = "a"\nsource = "b"\nstate = "done"', "not the id"),
    ],
)
def test_an_unsound_manifest_is_refused(tmp_path: Path, text: str, problem: str):
    (tmp_path / "part.toml").write_text(text)
    with pytest.raises(ValueError, match=problem):
        load(tmp_path)


def test_an_id_listed_twice_is_refused(tmp_path: Path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text('[L1]\nsays = "a"\nsource = "b"\nstate = "done"')
    with pytest.raises(ValueError, match="listed twice"):
        load(tmp_path)
