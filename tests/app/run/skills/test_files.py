"""The files of a skill: what `skill_read` gives, and what it never does (X32, X5)."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files.skill_files import MAX_FILES, RootedSkillFiles, skill_files
from tests.app.run.skills.worlds import skill, write
from tests.depth import examples

MOST = 4_000


def read(folder, path, first=1, most=MOST):
    return RootedSkillFiles().read(str(folder), path, first, most)


@pytest.fixture
def home(tmp_path):
    write(tmp_path / "secret.md", "the secret")
    write(tmp_path / "out" / "more.md", "the secret")
    files = {
        "references/a.md": "one\ntwo\n",
        "assets/logo.png": b"\x89PNG\0\xff",
        "evals/evals.json": "{}",
        ".env": "K=1",
    }
    home = skill(tmp_path, files=files)
    (home / "link.md").symlink_to(tmp_path / "secret.md")
    (home / "folder").symlink_to(tmp_path / "out")
    (home / "inside.md").symlink_to("references/a.md")
    return home


def test_x32_files_are_known_by_their_paths_below_the_folder(home):
    assert skill_files(home) == ("assets/logo.png", "inside.md", "references/a.md")


@pytest.mark.parametrize("path", ["references/a.md", "./references//a.md", "/skill/references/a.md", "x/../inside.md"])
def test_x32_a_text_file_is_read(home, path):
    result = read(home, path)
    assert (result.content, result.is_error) == ("one\ntwo\n", False)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.md", "outside of the folder"),
        ("references/../../secret.md", "outside of the folder"),
        ("/etc/passwd", "outside of the folder"),
        ("a\0b", "outside of the folder"),
        ("link.md", "a link leads there"),
        ("folder/more.md", "a link leads there"),
        (".env", "not shown"),
        ("evals/evals.json", "not shown"),
        ("assets/logo.png", "not text"),
        ("references/b.md", "no such file"),
        ("x" * 5_000, "cannot be read"),
    ],
)
def test_x32_what_is_not_given_is_said_without_a_path_of_the_host(home, tmp_path, path, reason):
    result = read(home, path)
    assert result.is_error and reason in result.content
    assert str(tmp_path) not in result.content and "the secret" not in result.content


def test_x32_a_pipe_is_no_file(home):
    os.mkfifo(home / "pipe")
    assert "not a regular file" in read(home, "pipe").content
    assert "pipe" not in skill_files(home)


def test_x32_a_folder_is_listed(home):
    assert read(home, ".").content == "./\n  SKILL.md\n  assets/\n  inside.md\n  references/"
    assert read(home, "references").content == "references/\n  a.md"


def test_x32_a_long_file_is_read_in_parts(home):
    lines = [f"line {number} ü\n" for number in range(1, 2_000)]
    write(home / "long.md", "".join(lines))
    seen, first = [], 1
    while True:
        result = read(home, "long.md", first)
        assert len(result.content.encode()) <= MOST
        text, _, note = result.content.partition("\n[lines")
        seen += text.splitlines()
        if not note:
            break
        first = int(note.rpartition(" ")[2].rstrip("]"))
    assert seen == [line.strip("\n") for line in lines]
    assert "it has 1999 lines" in read(home, "long.md", 2_000).content


def test_x32_a_line_longer_than_a_result_is_cut(home):
    write(home / "wide.md", "ü" * 100_000)
    result = read(home, "wide.md")
    assert len(result.content.encode()) <= MOST and "was cut" in result.content


def test_x32_of_very_many_files_some_are_known(tmp_path):
    home = skill(tmp_path)
    for number in range(MAX_FILES + 5):
        (home / f"{number}.md").touch()
    assert len(skill_files(home)) == MAX_FILES


@settings(max_examples=examples(100), deadline=None)
@given(parts=st.lists(st.sampled_from(["..", ".", "", "references", "a.md", "folder", "link.md", "\\", "~", "skill"])))
def test_x32_no_path_leads_out_of_the_folder(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "paths"
    home = root / "greeting"
    if not home.exists():
        write(root / "secret.md", "the secret")
        skill(root, files={"references/a.md": "inside"})
        (home / "link.md").symlink_to(root / "secret.md")
        (home / "folder").symlink_to(root)
    for path in ("/".join(parts), "/" + "/".join(parts), "\\".join(parts)):
        content = read(home, path).content
        assert "the secret" not in content and "secret.md" not in content
