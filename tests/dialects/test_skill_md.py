"""Agent Skills: both forms are read, and no text makes the reader fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.convert import convert
from prosa.convert.form import TargetContext
from prosa.diagnostics import Problem, Severity
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.reading import detect
from prosa.dialects.skill_md.as_dialect import definitions, facts, format_edits, read, references, write
from prosa.dialects.skill_md.host_needs import host_needs
from prosa.dialects.skill_md.model import SkillModel, as_name, is_name, normal
from prosa.dialects.skill_md.read import split_tools
from prosa.document import parse
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import check, check_documents, check_text
from prosa.rules.policy import Profile, specification
from prosa.source import SourceText, TextFiles
from tests.depth import examples
from tests.document.markdown import SOUP

FULL = """\
---
name: tidy-tables
description: >-
  Aligns the columns of a table.
  Use it when a table is hard to read.
license: Apache-2.0
compatibility: Needs a terminal
allowed-tools: Read Bash(git add:*)
metadata:
  author: someone
  version: 1.10
argument-hint: "[file]"
---

# Tidy tables

See [the rules](reference/rules.md#widths) and [[Tables]], or <https://example.org/a>.

## Parameters

- `table` (required): The table
  as text
- width: How wide a column
  - not: a parameter
- `Mode` (optional, default: plain)
- Keep it short.
"""

BARE = """\
# Weather Report

Says what the weather is
like in a place.

Parameters:

- place (required): Where
- units (optional): Which units (metric, imperial)

Uses the `weather` tool.
"""


def model(text: str, name: str = "tidy-tables/SKILL.md") -> tuple[SkillModel, tuple[Problem, ...]]:
    front = read_front(SourceText(text, name))
    return read(front, parse(front.source, body=front.body))


def test_every_field_of_the_published_form_is_read():
    """Values are source text where the field is a string (X1)."""
    skill, problems = model(FULL)
    assert problems == ()
    assert facts(skill) == {
        "dialect": "skill_md",
        "name": "tidy-tables",
        "description": "Aligns the columns of a table. Use it when a table is hard to read.",
        "license": "Apache-2.0",
        "compatibility": "Needs a terminal",
        "allowed_tools": ["Read", "Bash(git add:*)"],
        "metadata": {"author": "someone", "version": "1.10"},
        "parameters": [
            {"name": "table", "required": True, "description": "The table as text", "line": 21},
            {"name": "width", "required": None, "description": "How wide a column - not: a parameter", "line": 23},
            {"name": "Mode", "required": False, "description": "", "line": 25},
        ],
        "bare": False,
    }


def test_the_bare_form_is_read_with_a_warning():
    """Name and description are derived; the parameters are the list behind its line."""
    skill, problems = model(BARE)
    assert [problem.rule for problem in problems] == ["skill-without-front-matter"]
    found = facts(skill)
    assert (found["name"], found["description"]) == ("weather-report", "Says what the weather is like in a place.")
    assert [(each["name"], each["required"]) for each in found["parameters"]] == [("place", True), ("units", False)]
    assert found["bare"] is True
    assert definitions(skill) == ()


def test_x3_the_name_of_the_file_decides():
    """X3. Whatever its front matter looks like."""
    text = "---\nname: a\ninput: {type: object}\n---\n"
    assert detect(read_front(SourceText(text, "a/SKILL.md"))).dialect == "skill_md"
    assert detect(read_front(SourceText(text, "a/skill.md"))).dialect == "skill_md"
    assert detect(read_front(SourceText(text, "a/other.md"))).dialect == "markdownlang"


def test_references_and_definitions():
    skill, _ = model(FULL)
    assert [(ref.origin, ref.kind, ref.target, ref.fragment) for ref in references(skill)] == [
        ("inline", "path", "reference/rules.md", "widths"),
        ("wikilink", "stem", "Tables", ""),
        ("inline", "url", "https://example.org/a", ""),
    ]
    (named,) = definitions(skill)
    assert (named.kind, named.name, named.span.of(FULL)) == ("title", "tidy-tables", "tidy-tables")


HEAD = "name: a\ndescription: b\n"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (HEAD, []),
        ("description: b\n", [("missing-field", "error")]),
        ("name: a\n", [("missing-field", "error")]),
        ("name: a\ndescription: ''\n", [("missing-field", "error")]),
        (f"name: a\ndescription: {'b' * 1024}\n", []),
        (f"name: a\ndescription: {'b' * 1025}\n", [("wrong-form", "error")]),
        (HEAD + f"compatibility: {'c' * 501}\n", [("wrong-form", "error")]),
        (HEAD + "license: [MIT]\n", [("wrong-type", "error")]),
        (HEAD + "metadata: {a: 1, b: true}\n", []),
        (HEAD + "metadata: {a: [1]}\n", [("non-string-metadata", "warning")]),
        (HEAD + "metadata: text\n", [("wrong-type", "error")]),
        (HEAD + "licence: MIT\n", [("unknown-field", "warning")]),
        (HEAD + "published: 2026\n", [("unknown-field", "hint")]),
        (HEAD + "disable-model-invocation: true\nmodel: large\n", []),
        (HEAD + "allowed-tools:\n", []),
        (HEAD + "allowed-tools: [[a]]\n", [("wrong-type", "error")]),
    ],
)
def test_shapes_of_fields(fields: str, expected: list[tuple[str, str]]):
    """Field shapes are found by the table of fields."""
    text = f"---\n{fields}---\n\nDo it.\n"
    found = check_text(SourceText(text, "a/SKILL.md")).diagnostics
    assert [(each.rule, str(each.severity)) for each in found] == expected


@pytest.mark.parametrize("title", ["## Inputs", "**Arguments**:", "Some words.\nParameters:", "### Input\n"])
def test_titles_of_parameters(title: str):
    skill, _ = model(f"{title}\n\n1. `a` - first\n2. b — second\n")
    assert [(each.name, each.description) for each in skill.parameters] == [("a", "first"), ("b", "second")]


@pytest.mark.parametrize(
    "text",
    ["Parameters:\n\nwords\n\n- a: b\n", "- a: b\n", "Parameters and more:\n\n- a: b\n", "> Parameters:\n\n- a: b\n"],
)
def test_other_lists_are_no_parameters(text: str):
    assert model(text)[0].parameters == ()


@pytest.mark.parametrize(
    ("text", "good", "name"),
    [
        ("a-1", True, "a-1"),
        ("A B", False, "a-b"),
        ("-a--b-", False, "a-b"),
        ("Über uns", False, "über-uns"),
        ("表", True, "表"),
        ("ＡＢ", False, "ab"),
        ("…", False, None),
        ("a" * 65, False, "a" * 64),
        ("", False, None),
    ],
)
def test_names(text: str, good: bool, name: str | None):
    assert (is_name(text), as_name(text)) == (good, name)
    assert name is None or is_name(name)


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("Read", ("Read",)),
        ("Read  Grep", ("Read", "Grep")),
        ("Read, Grep,Glob", ("Read", "Grep", "Glob")),
        ("Bash(git add, b) Read", ("Bash(git add, b)", "Read")),
        ("Bash(open Read", ("Bash(open Read",)),
        ("a) b", ("a)", "b")),
        (" , ", ()),
    ],
)
def test_tools_are_split_outside_parentheses(text: str, tools: tuple[str, ...]):
    assert split_tools(text) == tools


@pytest.mark.parametrize("value", ["Read, Grep", "Read ,Bash(a, b)", '"Read,Grep"'])
def test_commas_between_tools_are_the_usual_form_and_stay(value: str):
    text = f"---\nname: a\ndescription: b\nallowed-tools: {value} # mine\n---\n\nDo it.\n"
    assert check_text(SourceText(text, "a/SKILL.md")).diagnostics == ()


def test_broken_links_are_left_to_the_rules_of_every_document():
    found = check_text(SourceText(FULL, "tidy-tables/SKILL.md")).diagnostics
    assert {each.code[:2] for each in found} <= {"MD"}


@settings(max_examples=examples(60), deadline=None)
@given(SOUP, SOUP)
def test_no_text_makes_the_reader_fail(head: str, body: str):
    for text in (body, f"---\n{head}\n---\n{body}", f"---\nname: x\nallowed-tools: {head}\n---\n{body}"):
        skill, _ = model(text)
        facts(skill)
        assert format_edits(skill, FormatOptions()) == ()
        assert all(ref.span.of(text) for ref in references(skill))
        assert all(each.span.of(text)[:1] for each in skill.parameters)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.fixed_dictionaries(
        {"name": st.text(min_size=1), "description": st.text(min_size=1)},
        optional={
            "license": st.text(),
            "allowed-tools": st.lists(st.sampled_from(["Read", "Bash(a b)", "Grep"]), min_size=1),
            "metadata": st.dictionaries(st.text(min_size=1), st.text()),
        },
    )
)
def test_what_is_written_reads_as_the_same_skill(fields: dict[str, Any]):
    text = write(fields, "Do it.\n")
    front = read_front(SourceText(text))
    wanted = {**fields, "allowed-tools": " ".join(fields.get("allowed-tools", ()))}
    assert front.problems == ()
    assert {**wanted, **(front.value or {})} == wanted
    assert text.endswith("---\n\nDo it.\n")


@pytest.mark.parametrize(
    ("name", "folder", "valid"),
    [
        ("技能", "技能", True),
        ("мой-навык", "мой-навык", True),
        ("НАВЫК", "НАВЫК", False),
        ("cafe\u0301", "café", True),
        ("ünï-2", "ünï-2", True),
        ("my_skill", "my_skill", False),
        ("MySkill", "MySkill", False),
        ("-a", "-a", False),
        ("a--b", "a--b", False),
        ("навык", "other", False),
        ("a" * 64, "a" * 64, True),
        ("a" * 65, "a" * 65, False),
    ],
)
@pytest.mark.parametrize("profile", [None, "agentskills"])
def test_a_name_is_lower_case_letters_of_any_script(name: str, folder: str, profile: str | None, valid: bool):
    """As the reference implementation of Agent Skills has it, after NFKC."""
    found = checked(f"name: {name}\ndescription: b\n", f"{folder}/SKILL.md", profile)
    assert [each.rule for each in found if each.code in ("SK002", "SK003")][:1] == (
        [] if valid else ["skill-name-unlike-folder" if is_name(name) else "skill-name-form"]
    )
    assert valid or profile is None or found[0].severity is Severity.ERROR


@settings(max_examples=examples(200))
@given(st.text(max_size=80))
def test_a_name_that_is_offered_is_one_and_stays(text: str):
    offered = as_name(text)
    assert offered is None or is_name(offered)
    assert not is_name(text) or offered == normal(text)


def checked(fields: str, path: str = "a/SKILL.md", profile: str | None = None, body: str = "\nDo it.\n"):
    """What is found in a skill, by the rules of Prosa or by a specification alone."""
    source = SourceText(f"---\n{fields}---\n{body}", path)
    how = Profile(specification=specification(profile) if profile else None)
    return check([Path(path)], Analyzer(TextFiles(source), how.hints), how).diagnostics


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        (HEAD, None),
        (HEAD + "version: 1.0\n", "unknown-field"),
        (HEAD + "argument-hint: x\n", "client-field"),
        (HEAD + "metadata: {a: {b: [1]}}\n", None),
        (HEAD + "allowed-tools:\n- Read\n", None),
        (HEAD + f"compatibility: {'c' * 501}\n", "wrong-form"),
        (HEAD + "compatibility: [a]\n", "wrong-type"),
        ("name: a\n", "missing-field"),
        ("name: a\nname: a\ndescription: b\n", "duplicate-key"),
        (f"name: a\ndescription: {'b' * 1025}\n", "wrong-form"),
        ("name: a\ndescription: !x b\n", "custom-tag"),
        ("name: 'a\n", "yaml-syntax"),
    ],
)
def test_x32_the_profile_agentskills_judges_as_the_reference_does(fields: str, rule: str | None):
    found = checked(fields, profile="agentskills", body="\nSee [this](nowhere.md).\n")
    assert [each.rule for each in found if each.severity is Severity.ERROR] == ([rule] if rule else [])
    assert not {each.code[:4] for each in found} & {"MD02"}


def test_a_client_field_is_found_only_on_request():
    text = f"---\n{HEAD}argument-hint: x\n---\n\nDo it.\n"
    for select, found in (("SK", []), ("ALL", []), ("SK010", ["SK010"]), ("client-field", ["SK010"])):
        source = SourceText(text, "a/SKILL.md")
        diagnostics = check_documents([Path("a/SKILL.md")], TextFiles(source), select=(select,)).diagnostics
        assert [each.code for each in diagnostics] == found


def test_x31_nested_metadata_comes_back_from_a_conversion():
    text = f"---\n{HEAD}metadata:\n  openclaw: {{requires: [x], env: {{A: 1.10}}}}\n---\n\nDo it.\n"
    there = convert(SourceText(text, "a/SKILL.md"), "skill", "program", TargetContext("a", "a.md"))
    assert convert(SourceText(there.text, "a.md"), "program", "skill", TargetContext("a", "a/SKILL.md")).text == text


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("Look at !`git diff`.\n", ["commands whose output belongs in its text: `git diff`"]),
        ("```!\ngit status\n```\n", ["commands whose output belongs in its text: `git status`"]),
        ("```bash\nmake\n```\n", ["a block of shell commands"]),
        ("Run scripts/pad.sh FILE.\n", ["scripts in languages other than Python: `scripts/pad.sh`"]),
        ("```bash\n# pads\npython scripts/pad.py FILE --width 80\n```\n", []),
        ('```python\nprint("no command")\n```\n', []),
        ("Write `!` in front of what is negated, and `!important` where it matters.\n", []),
    ],
)
def test_x32_what_a_skill_needs_is_known_by_its_text_and_is_no_finding(body: str, needs: list[str]):
    """X32. `plan` says it."""
    text = f"---\n{HEAD}---\n\n{body}"
    assert list(host_needs(model(text)[0])) == needs
    assert check_text(SourceText(text, "a/SKILL.md")).diagnostics == ()
