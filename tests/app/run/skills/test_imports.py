"""Skills as imports of programs: tools with a request in and text out (X32, L31)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.run.skills.worlds import call, skill, write
from tests.cli.programs import prosa, ran, user

PROGRAM = """\
---
name: party
description: Greets everybody.
input: {type: object, properties: {}}
output: {type: object, properties: {said: {type: string}}, required: [said]}
imports: %s
---
Greet them all.
"""


def party(folder: Path, imports: str = "[./greeting/SKILL.md]") -> Path:
    return write(folder / "party.md", PROGRAM % imports)


REPLIES = (
    {**call("greeting", request="Greet Ada, {{ .x }}"), "program": "party"},
    {**call("skill_read", path="references/styles.md"), "program": "greeting"},
    {"content": "Ahoy, Ada.", "program": "greeting"},
    {"content": {"said": "Ahoy, Ada."}, "program": "party"},
)


@pytest.mark.parametrize("imports", ["[./greeting/SKILL.md]", "[./greeting]", "[greeting/]"])
def test_x32_a_skill_is_a_tool_of_the_program_that_imports_it(tmp_path, imports):
    skill(tmp_path, files={"references/styles.md": "Say `Ahoy`.\n"})
    path = party(tmp_path, imports)
    status, at = ran(path, "--summary", replies=REPLIES)
    assert (status, json.loads(at.out)) == (0, {"said": "Ahoy, Ada."}), at.err
    assert '"greeting": 1' in at.err
    status, at = prosa("plan", path, "--format", "json", environ=user(tmp_path))
    plan = json.loads(at.out)
    assert [each["name"] for each in plan["tools"]] == ["python", "greeting"]
    assert [each["program"] for each in plan["imports"]] == ["greeting"]
    status, at = prosa("check", tmp_path, environ=user(tmp_path))
    assert (status, at.out) == (0, "Nothing found in 3 documents.\n")


def test_x32_the_plan_tells_what_imported_skills_cannot_have(tmp_path):
    skill(tmp_path, more="allowed-tools: Bash\n")
    at = prosa("plan", party(tmp_path), environ=user(tmp_path))[1]
    assert "greeting asks for tools of its agent: `Bash`" in at.out


def test_x32_a_skill_that_is_not_there_is_an_unknown_import(tmp_path):
    status, at = prosa("check", party(tmp_path), environ=user(tmp_path))
    assert status == 1 and "unknown-import" in at.out
    status, at = ran(party(tmp_path))
    assert status == 1 and "does not exist" in at.err


def test_x32_two_imports_of_one_name_collide(tmp_path):
    skill(tmp_path / "a")
    skill(tmp_path / "b")
    status, at = prosa("check", party(tmp_path, "[./a/greeting, ./b/greeting/SKILL.md]"), environ=user(tmp_path))
    assert status == 1 and "both be the tool `greeting`" in at.out
    skill(tmp_path, "python")
    status, at = prosa("check", party(tmp_path, "[./python]"), environ=user(tmp_path))
    assert status == 1 and "is a skill named `python`" in at.out


def test_x5_a_skill_outside_of_the_root_is_not_opened(tmp_path):
    skill(tmp_path / "out")
    path = party(tmp_path / "in", "[../out/greeting/SKILL.md]")
    status, at = prosa("run", path, "--root", path.parent, "--model", "scripted:x", environ=user(tmp_path))
    assert status == 1 and "lies outside the root" in at.err
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out" / "greeting")
    status, at = prosa(
        "check", party(tmp_path / "in", "[./link/SKILL.md]"), "--root", path.parent, environ=user(tmp_path)
    )
    assert "lies outside the root" in at.out


def test_x32_a_broken_skill_stops_the_run_with_its_place(tmp_path):
    write(tmp_path / "greeting" / "SKILL.md", "---\nname: [\n---\n\nGreet.\n")
    status, at = ran(party(tmp_path))
    assert status == 1 and "SKILL.md:" in at.err and "Traceback" not in at.err
