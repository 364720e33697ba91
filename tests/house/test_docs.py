"""What the documentation says is true: examples run, commands and targets exist, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from prosa.cli.commands import COMMANDS
from prosa.dialects.markdownlang.fields import PROGRAM
from tests import warm
from tests.house.examples import commands, differences, fences, matches, surroundings
from tests.house.tree import PACKAGE, ROOT, files, named

README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"
PAGES = [
    file
    for file in files()
    if file.suffix == ".md"
    and (file.parent == ROOT or file.is_relative_to(ROOT / "docs"))
    and not file.is_relative_to(REFERENCE)  # it is generated, and `test_reference` looks at it
]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#|mailto:)([^)#\s]+)")


def without_fences(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.MULTILINE | re.DOTALL)


def shell_lines(text: str) -> list[list[str]]:
    """The command lines of a page's `sh` and `console` fences."""
    found: list[str] = []
    for fence in fences(text):
        if fence.language == "sh":
            found += [line for line in fence.text.splitlines() if line and not line.startswith("#")]
        elif fence.language == "console":
            found += [command for command, _ in commands(fence)]
    return [shlex.split(line, comments=True) for line in found]


def test_the_readme_opens_with_the_name_one_sentence_and_the_start():
    name, sentence, start, *_ = README.split("\n\n")
    assert name == "# Prosa"
    assert sentence.endswith(".") and sentence.count(". ") == 0
    assert start.startswith("## Start")
    first = next(fences(README))
    assert [line.split("#")[0].strip() for line in first.text.splitlines()] == ["make demo", "make test"]


def test_the_readme_has_a_program_of_about_ten_lines():
    program = next(fence for fence in fences(README) if fence.language == "markdown")
    assert program.text.startswith("---\n")
    assert program.text.count("\n") <= 14


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_example_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path):
    folder, home = tmp_path / "examples", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    wrong = [str(each) for each in differences(page.read_text(encoding="utf-8"), folder, surroundings(home))]
    assert not wrong, "\n\n".join(wrong)


def test_the_text_names_the_file_that_a_block_shows():
    """A code host shows the second word behind the backticks nowhere."""
    wrong = {
        named(page): unnamed for page in PAGES if page.parent == ROOT / "docs" and (unnamed := files_unnamed(page))
    }
    assert wrong == {}


def files_unnamed(page: Path) -> list[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    unnamed = []
    for fence in fences("\n".join(lines)):
        above = lines[: fence.line - 1]
        while above and f"`{fence.file}`" not in above[-1] and not above[-1].startswith("```"):
            above.pop()
        if fence.file and not (above and f"`{fence.file}`" in above[-1]):
            unnamed.append(fence.file)
    return unnamed


def test_every_link_leads_to_a_file():
    wrong = [
        (named(page), target)
        for page in PAGES
        for target in LINK.findall(without_fences(page.read_text(encoding="utf-8")))
        if not (page.parent / target).exists()
    ]
    assert wrong == []


def test_every_target_of_make_exists():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = [(named(page), words) for page in PAGES for words in shell_lines(page.read_text(encoding="utf-8"))]
    asked = {(page, words[1]) for page, words in lines if words[:1] == ["make"] and words[1:]}
    assert {(page, target) for page, target in asked if target not in targets} == set()


def test_every_command_and_flag_exists():
    wrong = []
    for page in PAGES:
        for words in shell_lines(page.read_text(encoding="utf-8")):
            if words[:1] not in (["prosa"], ["markdownlang"]):
                continue
            if words[0] == "prosa" and not words[1].startswith("-"):
                shown = help_of("prosa", words[1], "--help", "all")
            else:
                shown = help_of(words[0], "--help")
            flags = [word.split("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)]
            wrong += [(named(page), words, flag) for flag in flags if flag.lstrip("-") not in shown]
    assert wrong == []


def test_the_readme_is_short_and_the_guides_name_every_command():
    assert len(README.split()) <= 900
    guides = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [command.name for command in COMMANDS if f"prosa {command.name}" not in guides] == []


@cache
def help_of(*words: str) -> str:
    command = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
    done = warm.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_architecture_speaks_of_every_folder():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert [folder for folder in sorted(folders) if f"`{folder}/`" not in text] == []


def test_the_contributing_page_has_the_five_recipes():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipes = re.findall(r"^## Add an? (.+)$", text, re.MULTILINE)
    assert {"command", "rule", "dialect", "provider", "tool"} <= set(recipes)


def test_every_path_named_in_the_pages_for_developers_exists():
    pages = (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md")
    named_paths = {
        path
        for page in pages
        for path in re.findall(
            r"`((?:src|tests|docs|bench|sandbox|tools|examples|requirements)/[\w./-]+)`", page.read_text()
        )
    }
    assert [path for path in sorted(named_paths) if not (ROOT / path).exists()] == []


def test_every_decision_page_has_the_parts_of_the_template():
    template = (ROOT / "docs" / "decisions" / "template.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## .+$", template, re.MULTILINE)
    texts = {page: page.read_text("utf-8") for page in sorted((ROOT / "docs" / "decisions").glob("0*.md"))}
    assert [named(page) for page, text in texts.items() if re.findall(r"^## .+$", text, re.MULTILINE) != parts] == []
    assert [named(page) for page, text in texts.items() if not text.startswith(f"# {page.name[:4]}. ")] == []
    assert len({page.name[:4] for page in texts}) == len(texts)


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a … c\n", "a bb c\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nb\n", False),
        ("", "anything\n", False),
    ],
)
def test_a_transcript_matches_what_it_should(expected: str, printed: str, same: bool):
    assert matches(expected, printed) is same


def test_an_example_that_fails_is_a_difference(tmp_path: Path):
    page = (
        "```text note.txt\nhello\n```\n```console\n$ cat note.txt\nhello\n$ echo one\ntwo\n```\n```python\n1 / 0\n```\n"
    )
    assert [each.line for each in differences(page, tmp_path, surroundings(tmp_path))] == [4, 10]


def test_commands_run_the_package_of_this_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Pages, sites and servers of the tests are those of the tree, though another one is installed."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    command = [sys.executable, "-P", "-c", "import prosa; print(prosa.__file__)"]
    done = subprocess.run(command, env=surroundings(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == PACKAGE / "__init__.py"


def test_the_page_about_programs_names_every_field_of_a_program():
    text = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    named_words = set(re.findall(r"[a-z_]+", text.replace("-", "_")))
    fields = list(PROGRAM)
    for field in fields:
        assert field.name in named_words, field.name
        fields += field.inner
