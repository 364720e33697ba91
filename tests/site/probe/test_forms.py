"""The report in its four forms: what programs read is well-formed, and says what the text says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from prosa.site.probe.evidence import Check, Status
from prosa.site.probe.questions import sample
from prosa.site.probe.report import CAP, CHECKS, WEIGHTS, score_of, weight_of
from tests.house.tree import ROOT
from tests.render.demands import junit_complaints, sarif_complaints
from tests.site.probe.probing import probe, report, written
from tests.site.probe.site import FERRIES, HOME, harbour
from tools.docs.tables import check_page

PAGE = (ROOT / "docs" / "visiting.md").read_text(encoding="utf-8")


def test_junit_has_a_case_for_every_check_and_a_failure_for_every_must():
    with harbour("no-map", "no-vary") as site:
        loose, strict = (probe(site.url, "--format", "junit", *more)[1].out for more in ((), ("--strict",)))
    for text, failures in ((loose, ["links-lead-to-nodes"]), (strict, ["links-lead-to-nodes", "vary-accept"])):
        assert junit_complaints(text) == []
        root = ElementTree.fromstring(text.encode())
        assert (root.get("tests"), root.get("failures")) == (str(len(CHECKS)), str(len(failures)))
        assert [each.get("type") for each in root.iter("failure")] == failures
        assert [suite.get("name") for suite in root] == ["MUST", "SHOULD", "MAY"]
        for suite in root:
            assert int(suite.get("tests") or 0) == len(suite)
            assert int(suite.get("skipped") or 0) == len(list(suite.iter("skipped")))


def test_sarif_has_a_rule_for_every_check_and_a_place_for_every_result(tmp_path: Path):
    folder = written(tmp_path, {"index.md": HOME, "ferries.md": FERRIES.replace("    method: POST\n", "")})
    whole = json.loads(probe(folder, "--format", "sarif")[1].out)
    assert sarif_complaints(whole) == []
    (run,) = whole["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [check.id for check in CHECKS]
    assert Counter(each["ruleId"] for each in run["results"]) == {"links-lead-to-nodes": 1, "complete-actions": 1}
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"] and each["level"] == "error"
        place = each["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].startswith("file:///") and place["region"]["startLine"] > 0
    assert run["properties"]["conformant"] is False


def test_sarif_of_a_site_points_at_urls():
    with harbour("no-vary") as site:
        whole = json.loads(probe(site.url, "--format", "sarif")[1].out)
        assert sarif_complaints(whole) == []
        (run,) = whole["runs"]
        places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
        assert places == [f"{site.url}/", f"{site.url}/ferries"]
    assert {each["level"] for each in run["results"]} == {"warning"}


def test_json_has_the_keys_of_the_interface():
    with harbour("no-vary") as site:
        whole = report(site.url)
        assert list(whole) == ["url", "conformant", "score", "checks", "pages", "notes"]
        assert whole["url"] == site.url
    keys = ["id", "level", "source", "status", "headline", "looked_at", "evidence", "more", "fix"]
    assert {tuple(each) for each in whole["checks"]} == {tuple(keys)}
    assert {each["id"] for each in whole["checks"] if each["fix"]} == {"vary-accept"}


def test_the_reference_has_every_check_and_no_other():
    """Each row says the level and the headline that the table says."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in check_page().text.splitlines()
        if line.startswith("| `")
    ]
    documented = {row[0].strip("`"): (row[1], row[2]) for row in rows}
    assert documented == {check.id: (check.level, check.headline) for check in CHECKS}
    assert len(BY_ID) == len(CHECKS)


def test_the_page_has_the_weights():
    assert f"MUST weighs {WEIGHTS['MUST']}, a SHOULD {WEIGHTS['SHOULD']} and a MAY {WEIGHTS['MAY']}" in PAGE
    assert f"at most {CAP}" in PAGE


@given(st.lists(st.sampled_from(["passed", "failed", "not-applicable"]), min_size=len(CHECKS), max_size=len(CHECKS)))
def test_the_score_is_a_share_and_a_failed_must_halves_it(statuses: list[Status]):
    found = list(zip(CHECKS, statuses, strict=True))
    score = score_of(found)
    assert 0 <= score <= 100
    if ("MUST", "failed") in ((check.level, status) for check, status in found):
        assert score <= CAP
    if "passed" in statuses and "failed" not in statuses:
        assert score == 100
    for at, (check, status) in enumerate(found):
        if status == "failed":
            better: list[tuple[Check, Status]] = [*found[:at], (check, "passed"), *found[at + 1 :]]
            assert score_of(better) >= score


BY_ID = {check.id: check for check in CHECKS}


def test_the_points_of_section_11_weigh_twice():
    assert weight_of(BY_ID["links-lead-to-nodes"]) == 2 * weight_of(BY_ID["unique-ids"])
    assert weight_of(BY_ID["auth-on-every-action"]) == 2 * weight_of(BY_ID["csrf-documented"])
    assert score_of([]) == 0


@given(st.integers(0, 500), st.integers(1, 50))
def test_a_sample_is_spread_and_always_the_same(count: int, most: int):
    found = list(sample(range(count), most))
    assert found == sorted(set(found)) == list(sample(range(count), most))
    assert len(found) == min(count, most)
