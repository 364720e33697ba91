"""Diagnostics as SARIF and JUnit, and changes as a diff."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.diagnostics import Annotation, Applicability, Diagnostic, Fix, Severity
from prosa.render.diff import MAX_COMPARED, render_diff
from prosa.render.formats import (
    MOST,
    fingerprints,
    render_azure,
    render_checkstyle,
    render_gitlab,
    render_junit,
    render_markdown,
    render_rdjsonl,
    render_sarif,
)
from prosa.source import Edit, SourceText, Span
from tests.depth import examples
from tests.render.demands import (
    GITLAB,
    RDJSON,
    checkstyle_complaints,
    complaints,
    junit_complaints,
    sarif_complaints,
)

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
        "artifactLocation": {"uri": "docs/%C3%A4%20b.md", "uriBaseId": "%SRCROOT%"},
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


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_junit_is_xml_whatever_it_reports(message: str, path: str):
    source = SourceText(message, path)
    found = Diagnostic("MD020", "unresolved-link", Severity.ERROR, message, source, Span(0, 0), (message,))
    assert ElementTree.fromstring(render_junit([found], [path])).attrib["failures"] == "1"
    assert len(json.loads(render_sarif([found], "0"))["runs"][0]["results"]) == 1
    assert junit_complaints(render_junit([found], [path])) == []
    assert checkstyle_complaints(render_checkstyle([found])) == []
    assert render_azure([found]).count("\n") == 0
    assert render_markdown([found], 1).count("\n") == 4
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


def test_sarif_explains_its_rules_and_says_that_the_check_ended_well():
    (run,) = json.loads(render_sarif([diagnostic()], "0"))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["markdown"].startswith("# ") and "Further examples" not in rule["help"]["markdown"]
    assert rule["fullDescription"]["text"] and "\n" not in rule["fullDescription"]["text"]
    assert run["invocations"] == [{"executionSuccessful": True}]


def prints(text: str, *spans: Span) -> list[str]:
    source = SourceText(text, "a.md")
    return fingerprints(
        [Diagnostic("MD020", "unresolved-link", Severity.ERROR, "gone", source, each) for each in spans]
    )


@given(st.lists(st.sampled_from(["", "x", "# y", "😀"]), max_size=6), st.integers(1, 4))
def test_a_fingerprint_survives_edits_above_and_is_never_that_of_another(above: list[str], count: int):
    line = "see [gone](gone.md)\n"
    text = "".join(f"{each}\n" for each in above)
    spans = [Span(at * len(line) + 4, at * len(line) + 10) for at in range(count)]
    before = prints(line * count, *spans)
    moved = [Span(each.start + len(text), each.end + len(text)) for each in spans]
    assert prints(text + line * count, *moved) == before and len(set(before)) == count
    assert not set(prints(f"other {line}", Span(10, 16))) & set(before)


def test_gitlab_knows_a_finding_again():
    report = json.loads(render_gitlab([diagnostic(), diagnostic(Severity.HINT), diagnostic()]))
    assert complaints(GITLAB, report) == []
    assert [each["severity"] for each in report] == ["major", "info", "major"]
    assert report[0]["location"] == {"path": "docs/ä b.md", "lines": {"begin": 1, "end": 1}}
    assert len({each["fingerprint"] for each in report}) == 3
    assert json.loads(render_gitlab([])) == []


def test_azure_gets_a_command_a_line_and_no_text_of_a_document_is_one():
    hostile = replace(diagnostic(), source=SourceText("x", "a;b]c\n.md"), span=Span(0, 1), message="a\n##vso[x]y")
    first, second = render_azure([diagnostic(Severity.INFO), hostile]).split("\n")
    assert first.startswith(
        "##vso[task.logissue type=warning;sourcepath=docs/ä b.md;linenumber=1;columnnumber=5;code=MD020;]"
    )
    assert second.startswith("##vso[task.logissue type=error;sourcepath=a%3Bb%5Dc") and second.endswith(
        "[unresolved-link]"
    )


def test_reviewdog_gets_bytes_and_what_a_safe_fix_writes():
    fix = Fix("write x", (Edit(Span(4, 5), "x"),))
    note = Annotation(Span(0, 1), "here")
    unsafe = replace(diagnostic(), fix=replace(fix, applicability=Applicability.UNSAFE))
    lines = render_rdjsonl([diagnostic(fix=fix, annotations=(note,)), unsafe]).split("\n")
    found = [json.loads(each) for each in lines]
    assert [complaints(RDJSON, each) for each in found] == [[], []]
    place = {"start": {"line": 1, "column": 8}, "end": {"line": 1, "column": 9}}
    assert found[0]["location"] == {"path": "docs/ä b.md", "range": place}
    assert found[0]["suggestions"] == [{"range": place, "text": "x"}] and "suggestions" not in found[1]
    assert found[0]["related_locations"][0]["message"] == "here"


def test_checkstyle_has_a_file_for_each_document_with_findings():
    other = replace(diagnostic(), source=SourceText("x", "b.md"), span=Span(0, 1))
    report = render_checkstyle([diagnostic(), other, diagnostic(Severity.WARNING)])
    assert checkstyle_complaints(report) == []
    root = ElementTree.fromstring(report)
    assert [(each.get("name"), len(each)) for each in root] == [("b.md", 1), ("docs/ä b.md", 2)]
    assert ElementTree.fromstring(render_checkstyle([])).tag == "checkstyle"


def test_a_summary_shows_the_worst_first_and_says_what_is_left_out():
    many = [diagnostic(Severity.HINT)] * MOST + [diagnostic()]
    text = render_markdown(many, 2)
    head, _, _, _, first, *rest = text.split("\n")
    assert head == f"### Prosa: 1 error, {MOST} hints in 2 documents"
    assert first.startswith("| error | docs/ä b.md\\:1\\:5 | \\`\\<c\\>\\`")
    assert rest[-1] == "1 more is in the log."
    assert render_markdown([], 1) == "### Prosa: nothing found in 1 document"


LINES = st.lists(st.sampled_from(["a", "b", "c\r", "", "d d"]), max_size=14).map("\n".join)


@settings(max_examples=examples(40), deadline=None)
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
