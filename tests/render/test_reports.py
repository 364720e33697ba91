"""Diagnostics as SARIF and JUnit, and changes as a diff."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.diagnostics import Annotation, Applicability, Diagnostic, Fix, Severity
from prosa.render.diff import MAX_COMPARED, render_diff
from prosa.render.junit import render_junit
from prosa.render.sarif import render_sarif
from prosa.source import Edit, SourceText, Span
from tests.render.demands import junit_complaints, sarif_complaints

SOURCE = SourceText("a 😀 b\n<c> & \x00\n", "docs/ä b.md")


def diagnostic(severity: Severity = Severity.ERROR, **more) -> Diagnostic:
    return Diagnostic("MD020", "unresolved-link", severity, "`<c>` & \x1b \x00", SOURCE, Span(4, 5), ("note",), **more)


def test_sarif_has_rules_places_in_utf16_and_safe_fixes():
    fix = Fix("write x", (Edit(Span(4, 5), "x"),))
    unsafe = Fix("write x", (Edit(Span(4, 5), "x"),), Applicability.UNSAFE)
    annotation = Annotation(Span(0, 1), "here")
    found = [diagnostic(fix=fix, annotations=(annotation,)), diagnostic(Severity.HINT, fix=unsafe)]
    report = json.loads(render_sarif(found, "0.1.0"))
    (run,) = report["runs"]
    assert report["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["MD020"]
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/%C3%A4%20b.md"},
        "region": {"startLine": 1, "startColumn": 6, "endLine": 1, "endColumn": 7},
    }
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "x"}
    assert first["relatedLocations"][0]["message"] == {"text": "here"}
    assert (first["level"], second["level"], "fixes" in second) == ("error", "note", False)
    assert sarif_complaints(report) == []


def test_sarif_of_nothing_is_a_run_without_results():
    (run,) = json.loads(render_sarif([], "0.1.0"))["runs"]
    assert (run["results"], run["tool"]["driver"]["name"]) == ([], "prosa")


def test_junit_is_xml_with_a_case_for_each_finding_and_each_clean_document():
    report = render_junit([diagnostic(), diagnostic(Severity.WARNING)], ["docs/ä b.md", "clean.md"])
    root = ElementTree.fromstring(report)
    assert (root.attrib["tests"], root.attrib["failures"]) == ("3", "1")
    first, clean = root.findall("testsuite")
    failure, passed = first.findall("testcase")
    assert failure.find("failure").attrib["type"] == "unresolved-link"
    assert "<c>" in failure.find("failure").attrib["message"]
    assert passed.find("system-out").text.startswith("warning: ")
    assert junit_complaints(report) == []
    assert clean.find("testcase").attrib == {"name": "check", "classname": "clean.md"}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_junit_is_xml_whatever_it_reports(message: str, path: str):
    source = SourceText(message, path)
    found = Diagnostic("MD020", "unresolved-link", Severity.ERROR, message, source, Span(0, 0), (message,))
    assert ElementTree.fromstring(render_junit([found], [path])).attrib["failures"] == "1"
    assert len(json.loads(render_sarif([found], "0"))["runs"][0]["results"]) == 1
    assert junit_complaints(render_junit([found], [path])) == []
    twice = Annotation(Span(0, 1), message)
    more = replace(found, annotations=(twice, twice), fix=Fix(message, ()))
    assert sarif_complaints(json.loads(render_sarif([found, more], "0"))) == []


def test_what_readers_refuse_is_seen():
    """The rules of the readers are rules: what breaks one is named."""
    case = '<testcase name="a" line="1"><x/></testcase>'
    suite = f'<testsuites><testsuite name="a" tests="1" failures="0">{case}</testsuite></testsuites>'
    assert junit_complaints(suite) == ["testsuite lacks errors", "testcase has line", "testcase holds x"]
    report = json.loads(render_sarif([diagnostic()], "0"))
    report["runs"][0]["results"][0] |= {"line": 1, "level": "fatal"}
    assert len(sarif_complaints(report)) == 2


@pytest.mark.parametrize("name", ["\udcff.md", "/tmp/\udcff.md", "a:b?#.md"])
def test_names_that_are_no_text_or_no_url_are_places_all_the_same(name: str):
    found = replace(diagnostic(), source=SourceText("x", name), span=Span(0, 1))
    assert sarif_complaints(json.loads(render_sarif([found], "0"))) == []
    assert junit_complaints(render_junit([found], [name])) == []


LINES = st.lists(st.sampled_from(["a", "b", "c\r", "", "d d"]), max_size=14).map("\n".join)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES)
def test_a_diff_takes_the_one_text_to_the_other(tmp_path_factory: pytest.TempPathFactory, before: str, after: str):
    folder = tmp_path_factory.mktemp("diff")
    path = folder / "f.md"
    path.write_bytes(before.encode())
    diff = render_diff("f.md", before, after)
    assert (diff == "") is (before == after)
    if diff:
        git = [shutil.which("git") or "git", "apply", "-p0", "--unidiff-zero", "--allow-empty", "-"]
        subprocess.run(git, input=diff.encode(), check=True, cwd=folder, capture_output=True)
        assert path.read_bytes() == after.encode()


def test_a_large_change_is_shown_as_one(tmp_path: Path):
    before = "".join(f"a{number}\n" for number in range(MAX_COMPARED))
    after = before.replace("a", "b").replace("b0\n", "a0\n")
    diff = render_diff("f.md", before, after)
    (tmp_path / "f.md").write_text(before)
    subprocess.run(["git", "apply", "-p0", "-"], input=diff, text=True, check=True, cwd=tmp_path)
    assert (tmp_path / "f.md").read_text() == after
    assert diff.count("@@ ") == 1
