"""Instructions that come beside a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.dialects.magi.envelope import read_external
from prosa.source import SourceText
from tests.app.scripts.documents import block, document, lines_of, own, run, trusting
from tests.cli.programs import prosa

SUMMARY = {"id": "summary", "prompt": "Sum up.", "priority": "low", "auto-run": True}
TITLE = {"script-id": "title", "prompt": "A title.", "priority": "high"}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A plain document, and one script in it that nobody asked for."""
    return document(tmp_path, "# Page\n\nTen apples.\n", block("inside"), name="page.md")


def beside(folder: Path, value: Any) -> Path:
    path = folder / "scripts.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.mark.parametrize(
    "value",
    [[SUMMARY, TITLE], {"ai-scripts": [SUMMARY, TITLE]}, {"markdown-content": "…", "ai-scripts": [SUMMARY, TITLE]}],
)
def test_m41_scripts_come_from_a_list_or_an_envelope(value: Any, page: Path):
    status, at = run(page, "--scripts", beside(page.parent, value), "--all", "--format", "jsonl", "--jobs", "1")
    assert status == 0
    assert [line["script"] for line in lines_of(at)] == ["title", "summary"]


def test_m41_one_object_is_one_script_and_sees_the_whole_document(page: Path):
    path = beside(page.parent, SUMMARY)
    environ = own(page.parent)
    _, at = prosa("render", page, "--scripts", path, "--script", "summary", environ=environ)
    assert at.out == "The document:\n\n```markdown\n# Page\n\nTen apples.\n```\n\nSum up.\n"
    _, section = prosa("render", page, "--scripts", path, "--context", "section", environ=environ)
    assert section.out == at.out
    assert run(page, "--scripts", path, "--script", "summary")[1].out == "Done.\n"


def test_m41_without_a_choice_the_plan_says_where_the_scripts_are(page: Path):
    path = beside(page.parent, [SUMMARY])
    status, at = run(page, "--scripts", path)
    assert status == 2 and f"{page}, instructed by {path}: 1 script" in at.out


def test_m41_x7b_who_wrote_the_instructions_must_be_trusted(page: Path):
    path = beside(page.parent, [SUMMARY])
    assert trusting(page)[0] == 0
    status, at = run(page, "--scripts", path, "--auto")
    assert status == 1 and f"{path} is not trusted" in at.err
    assert trusting(path)[0] == 0
    assert run(page, "--scripts", path, "--auto")[1].out == "Done.\n"


@pytest.mark.parametrize("flag", ["--write", "--stale"])
def test_m41_a_result_needs_a_block_to_stand_below(flag: str, page: Path):
    status, at = run(page, "--scripts", beside(page.parent, [SUMMARY]), "--all", flag)
    assert status == 2 and "needs blocks in the document" in at.err


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("", "1"),
        ("{", "1"),
        ("[]", "1: it holds no script"),
        ("3", "1: instructions are a list of objects"),
        ('{"scripts": []}', "1: instructions are a list of objects, or an object with `ai-scripts`"),
        ("[\n  7\n]", "2: a script is an object"),
    ],
)
def test_m41_what_holds_no_scripts_is_told_with_its_line(value: str, place: str, page: Path):
    path = beside(page.parent, value)
    status, at = run(page, "--scripts", path, "--all")
    assert status == 1 and f"{path}:{place}" in at.err


def test_m41_a_script_with_an_error_has_its_line_in_the_json():
    source = SourceText(
        '\ufeff[\n {"id": "a", "prompt": "x"},\n {"id": "a"},\n {"prompt": 3, "script-id": "b"}\n]', "s.json"
    )
    scripts, problems = read_external(source)
    assert [script.address for script in scripts] == ["a", "a@3", "b"]
    found = [(problem.rule, source.position(problem.span.start).line) for problem in problems]
    assert ("missing-field", 3) in found and any(line == 4 for _, line in found)


def test_m41_a_missing_file_is_wrong_use(page: Path):
    status, at = run(page, "--scripts", page.parent / "gone.json", "--all")
    assert status == 2 and "no such file" in at.err
