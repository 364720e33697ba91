"""Sources that want to break a conversion, its reader or the machine (X31)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prosa.cli.main import main
from prosa.convert.convert import convert
from prosa.convert.form import NotConvertible, TargetContext
from prosa.convert.table import ROWS
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.convert.test_skills import skill
from tests.work import is_linear

PATTERNS = {
    "braces": "{{",
    "comments": "{{!--",
    "blocks": "{{#each a}}",
    "messages": "### @system:\n",
    "titles": "\n## Parameters\n\n- a: b\n",
    "backslashes": "\\{{",
    "uses": "uses ",
    "calls": "/a ",
    "footnotes": "[^1]: {",
    "html": "<!--",
    "arguments": "$ARGUMENTS ",
    "configuration": "% a = 1\n",
    "fences": "---\n",
    "quotes": "> ",
    "nul": "\0",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize("origin", ["skill", "dotprompt", "chat"])
def test_x31_time_is_linear_in_the_size_of_a_source(origin, pattern):
    front = "---\nname: a\ndescription: b\n---\n"

    def converted(size: int) -> None:
        text = front + pattern * (size // len(pattern))
        convert(SourceText(text, ROWS[origin].path("a")), origin, "program", TargetContext("a", "a.md"))

    assert is_linear(converted, 4_000, 32_000)


def test_x6_nothing_in_a_document_is_run_or_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X6, X31."""
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    monkeypatch.chdir(tmp_path)
    body = "\n!`touch ran`\n\n@/etc/passwd\n\n[out](../../etc/passwd) ![x](https://example.org/x.png)\n\n$(touch ran)\n"
    (tmp_path / "SKILL.md").write_text(skill(body), encoding="utf-8")
    for target in ROWS:
        if target != "skill":
            assert main(["convert", "SKILL.md", "--to", target], desk().console) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("openai", "{"),
        ("openai", "3"),
        ("openai", '[{"role": "judge", "content": ""}]'),
        ("openai", '[{"role": "user", "content": "\\ud800"}]'),
        ("openai", "[" * 5000),
        ("llm", "{}"),
        ("llm", '[{"prompt": 3}]'),
        ("skill", "---\na: 1\n"),
        ("skill", "---\n- 1\n---\n"),
        ("program", "---\na: {{ b }}\n---\n"),
    ],
)
def test_x31_what_cannot_be_read_whole_is_refused_with_its_place(form, text):
    with pytest.raises(NotConvertible) as refused:
        convert(SourceText(text, ROWS[form].path("a")), form, "markdown", TargetContext())
    assert refused.value.message and 0 <= refused.value.offset <= len(text)


def test_x31_the_files_beside_a_skill_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SKILL.md").write_text(skill("\nSee scripts/run.py.\n"), encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    it = desk()
    assert main(["convert", "SKILL.md", "--to", "program"], it.console) == 0
    assert "manual: the files beside the skill stay there: `scripts`" in it.err


def test_x31_a_file_goes_into_no_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SKILL.md").write_text(skill("\nx\n"), encoding="utf-8")
    it = desk()
    assert main(["convert", "SKILL.md", "--to", "program", "-o", "no/a.md"], it.console) == 1
    assert "no/a.md" in it.err and not (tmp_path / "no").exists()


@pytest.mark.parametrize("name", ["evals.json", "trigger-eval.json"])
@pytest.mark.parametrize("text", ["", "# x\n", '"x"\n', "{\n"])
def test_x31_a_file_with_the_name_of_cases_is_refused_whatever_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    it = desk()
    assert main(["convert", name, "--to", "program"], it.console) == 1
    assert it.err.startswith(f"error: {name}:") and "internal error" not in it.err
