"""What git ignores, compared with git itself, and the walk that obeys it (X5)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.gitignore import compiled_pattern, ignored_in
from prosa.adapters.files.walk import Walk, documents_in
from prosa.source import FileProblem

FILES = (
    *("a.md", "b.md", "build/a.md", "build/deep/c.md", "docs/build/a.md", "docs/a.md", "docs/x/y/a.md", "foo.md"),
    *("docs/foo.md", "log1.md", "log2.md", "docs/[x].md", "sp ace.md", "!bang.md", "#hash.md", "docs/keep/k.md"),
)
PATTERNS = (
    *(
        "build",
        "build/",
        "/build",
        "docs/build",
        "*.md",
        "!a.md",
        "/*.md",
        "docs/**",
        "docs/*",
        "**/a.md",
        "docs/**/a.md",
    ),
    *(
        "foo*",
        "log[0-9].md",
        "log[!1].md",
        "log[^1].md",
        "?.md",
        r"\!bang.md",
        r"\#hash.md",
        "#comment",
        "",
        "sp ace.md",
    ),
    *(
        "sp\\ ace.md",
        "docs/\\[x].md",
        "docs/[[]x].md",
        "**",
        "**/",
        "/**/build",
        "a/**/b",
        "docs/x/",
        "!docs/",
        "!/docs/keep/",
    ),
    *(
        "a.md   ",
        "keep",
        "x/y",
        "/docs/x/y/a.md",
        "docs/**/",
        "[",
        "[a-",
        "***",
        "d*s",
        "*/a.md",
        "log[12].md",
        "log[]1].md",
    ),
)


def tree(folder: Path) -> Path:
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tree(tmp_path_factory.mktemp("repository"))


def by_git(folder: Path) -> list[str]:
    """The files that git would add: what is neither ignored nor in an ignored folder."""
    command = [
        "git",
        "-C",
        str(folder),
        "-c",
        "core.excludesFile=/dev/null",
        "ls-files",
        "-z",
        "-o",
        "--exclude-standard",
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in found.split("\0") if name.endswith(".md"))


def by_us(folder: Path) -> list[str]:
    walk = Walk([".md"], RootedFiles(folder))
    return sorted(os.path.relpath(each, folder) for each in walk.documents(folder) if isinstance(each, Path))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(PATTERNS), max_size=5),
    st.lists(st.sampled_from(PATTERNS), max_size=3),
    st.lists(st.sampled_from(PATTERNS), max_size=2),
)
def test_x5_the_walk_finds_what_git_would_add(repository: Path, top: list[str], inner: list[str], exclude: list[str]):
    """X5. `.gitignore` at the top and in a folder, and `.git/info/exclude`."""
    (repository / ".gitignore").write_text("\n".join(top), encoding="utf-8")
    (repository / "docs" / ".gitignore").write_text("\n".join(inner) + "\n", encoding="utf-8")
    (repository / ".git" / "info" / "exclude").write_text("\n".join(exclude), encoding="utf-8")
    assert by_us(repository) == by_git(repository)


def test_patterns_of_the_folders_above_hold_too(tmp_path: Path):
    folder = tree(tmp_path)
    (folder / ".gitignore").write_text("a.md\n/docs/x\n", encoding="utf-8")
    walk = Walk([".md"], RootedFiles(folder))
    inside = [each.name for each in walk.documents(folder / "docs") if isinstance(each, Path)]
    assert inside == ["[x].md", "foo.md", "k.md"]


def test_no_gitignore_finds_everything_and_a_named_file_is_always_taken(tmp_path: Path):
    folder = tree(tmp_path)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    files = RootedFiles(folder)
    assert documents_in([folder], [".md"], files) == []
    assert len(documents_in([folder], [".md"], files, gitignore=False)) == len(FILES)
    assert documents_in([folder / "a.md"], [".md"], files) == [folder / "a.md"]


def test_a_folder_without_a_work_tree_has_its_own_patterns(tmp_path: Path):
    (tmp_path / "a.md").touch()
    (tmp_path / "b.md").touch()
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.md\r\n\xff\n")
    assert by_us(tmp_path) == ["b.md"]


def test_hostile_patterns_take_no_time():
    for pattern in ("*" * 999, "**/" * 300, "[" * 999, "a*" * 400, "\\" * 999):
        compiled = compiled_pattern(pattern)
        assert compiled is None or compiled.fullmatch("b" * 200) is None or pattern.startswith("*")


def test_what_is_no_file_is_no_reason_to_stop(tmp_path: Path):
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / "a.md").touch()
    assert ignored_in(str(tmp_path)).patterns == ()
    assert by_us(tmp_path) == ["a.md"]


def test_x5_a_link_that_leads_back_to_itself_is_taken_so_that_reading_it_says_so(tmp_path: Path):
    """X5."""
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "folder").symlink_to(".")
    (found,) = documents_in([tmp_path], [".md"], RootedFiles(tmp_path))
    with pytest.raises(FileProblem, match="leads back to itself"):
        RootedFiles(tmp_path).read(found)


def test_a_walk_ends_after_the_most_folders_it_may_see(tmp_path: Path):
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "a.md").touch()
    found = list(Walk([".md"], RootedFiles(tmp_path), most_folders=3).documents(tmp_path))
    assert sum(isinstance(each, Path) for each in found) == 2
    assert isinstance(found[-1], FileProblem) and found[-1].kind == "too-large"
