"""MDA documents become files for single hosts: what moves where, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prosa.app.convert.convert import ConvertOptions, Result, convert_documents
from prosa.cli.main import main
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.digest import computed
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.dialects.mda.reading import GOOD, errors, model, sealed

SOURCE = """---
name: ferry-times
description: Says when the next ferry leaves.
allowed-tools: 'Read Bash(echo:*)'
title: Ferry times
version: "1.4.0"
metadata:
  other-vendor:
    anything: [1, two]
---

See the timetable[^t] of the harbour[^h].

[^h]: {"rel-type": "parent", "doc-id": "harbour"}
[^t]: {"rel-type": "cites", "doc-id": "timetable", "rel-strength": 0.5}
"""

RELATIONS = """    relationships:
      - rel-type: cites
        doc-id: timetable
        rel-strength: 0.5
      - rel-type: parent
        doc-id: harbour
"""

BODY = SOURCE[SOURCE.index("\nSee the") :]


def made(text: str, target: str, path: str = "a.mda") -> Result:
    options = ConvertOptions(target=target, output=Path("out"), into=True)  # type: ignore[arg-type]
    (result,) = convert_documents([SourceText(text, path)], options)
    return result


def texts(result: Result) -> dict[str, str]:
    assert result.problem == ""
    return {each.path.as_posix(): each.text for each in result.files if each.path is not None}


def test_a_skill_has_the_fields_of_the_standard_and_the_rest_below_metadata():
    result = made(SOURCE, "skill")
    assert texts(result) == {
        "out/ferry-times/SKILL.md": f"""---
name: ferry-times
description: Says when the next ferry leaves.
allowed-tools: Read Bash(echo:*)
metadata:
  other-vendor:
    anything: [1, two]
  mda:
    title: Ferry times
    version: "1.4.0"
{RELATIONS}---
{BODY}"""
    }
    assert [(each.level, each.part) for each in result.report.items] == [("moved", "title"), ("moved", "version")]
    assert not result.report.loses


@pytest.mark.parametrize(("target", "name"), [("agents-md", "AGENTS.md"), ("claude-md", "CLAUDE.md")])
def test_other_outputs_have_the_tools_below_a_vendor(target: str, name: str):
    text = texts(made(SOURCE, target))[f"out/{name}"]
    assert "  claude-code:\n    allowed-tools: Read Bash(echo:*)\n  mda:\n" in text
    assert "\nallowed-tools" not in text and text.endswith(BODY)


def test_a_server_has_two_files_and_one_digest_over_both():
    seal = f'integrity:\n  algorithm: sha384\n  digest: "sha384:{"0" * 96}"\n'
    found = texts(made(SOURCE.replace("metadata:", f"{seal}metadata:"), "mcp-server-md"))
    beside = {"name": "ferry-times", "version": "1.4.0", "transport": "stdio"}
    assert found["out/ferry-times/mcp-server.json"] == json.dumps(beside, indent="\t") + "\n"
    compiled = model(found["out/ferry-times/MCP-SERVER.md"], "MCP-SERVER.md")
    stored = compiled.integrity("digest")
    assert stored is not None and stored.text == computed(compiled, canonical(beside)) != computed(compiled)


def test_a_digest_is_that_of_the_output_and_signatures_stay_behind():
    result = made(sealed(GOOD), "skill")
    text = texts(result)["out/ferry-times/SKILL.md"]
    assert errors(text, "ferry-times/SKILL.md") == []
    assert "signatures" not in text and sealed(text, "ferry-times/SKILL.md") == text
    assert [each.part for each in result.report.items if each.level == "lost"] == ["signatures"]
    assert model(text, "ferry-times/SKILL.md").text("doc-id") == "0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4"


def test_line_ends_are_lf_and_no_text_is_lost():
    windows = texts(made(SOURCE.replace("\n", "\r\n"), "agents-md"))
    assert windows == texts(made(SOURCE, "agents-md"))


@pytest.mark.parametrize(
    ("old", "new", "target", "said"),
    [
        ("name: ferry-times\n", "", "skill", "SKILL.md"),
        ("name: ferry-times\n", "", "mcp-server-md", "MCP-SERVER.md"),
        ("description: Says when the next ferry leaves.\n", "", "skill", "`description` is missing"),
        ('version: "1.4.0"', "version: 1.4", "skill", "a.mda:6:10: `version` must be a string, not a number"),
        ('"doc-id": "harbour"', '"doc": "harbour"', "agents-md", "a.mda:15:7: `doc-id` is missing"),
        ("title: Ferry times", "relationships: []", "agents-md", "`relationships` in the front matter"),
    ],
)
def test_a_document_with_errors_is_refused(old: str, new: str, target: str, said: str):
    result = made(SOURCE.replace(old, new, 1).replace("metadata:", "metadata:\n  mda: {}", 1), target)
    assert said in result.problem and result.files == ()


def test_only_documents_of_mda_are_compiled():
    assert "only an MDA document" in made("---\ntitle: A\n---\nText.\n", "agents-md").problem
    assert texts(made("---\ntitle: A\n---\nText.\n", "skill"))


def test_a_server_needs_a_folder_and_keeps_the_file_that_is_there(tmp_path: Path):
    source = tmp_path / "a.mda"
    source.write_text(SOURCE)
    it = desk()
    assert main(["convert", str(source), "--to", "mcp-server-md"], it.console) == 1
    assert "two files" in it.err
    (tmp_path / "mcp-server.json").write_text(
        '{"name": "ferry-times", "version": "2.0.0", "transport": "http", "url": "x"}'
    )
    assert main(["convert", str(source), "--to", "mcp-server-md", "-o", f"{tmp_path}/out/"], desk().console) == 0
    assert '"url": "x"' in (tmp_path / "out/ferry-times/mcp-server.json").read_text()
    (tmp_path / "mcp-server.json").write_text('{"name": "other", "version": "2.0.0", "transport": "http"}')
    assert "is `other`" in made(SOURCE, "mcp-server-md", str(source)).problem


def test_a_magi_document_without_a_name_is_called_by_its_title():
    """Not by its doc-id, which is no name for people; by its own name where it has one."""
    head = "---\ndoc-id: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4\n"
    (result,) = convert_documents(
        [SourceText(f"{head}title: Release notes\n---\nText.\n", "a.mda")], ConvertOptions(target="skill")
    )
    assert result.files[0].text.startswith("---\nname: release-notes\n")
    (result,) = convert_documents(
        [SourceText(f"{head}name: own-name\naudience: all\n---\nText.\n", "a.mda")], ConvertOptions(target="skill")
    )
    assert result.files[0].text.startswith("---\nname: own-name\n")
    assert "name" not in [each.part for each in result.report.items]
    (result,) = convert_documents([SourceText(f"{head}---\nText.\n", "the-notes.mda")], ConvertOptions(target="skill"))
    assert result.files[0].text.startswith("---\nname: the-notes\n")
