"""What git ignores, compared with git itself, and the walk that obeys it (X5)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.walk import Walk, documents_in, ignored_in, is_foreign, would_meet
from prosa.dialects.table import AGENT_FOLDERS
from prosa.source import FileProblem
from prosa.source.files import Skipped
from tests.depth import examples

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


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home for git in which nothing is set but the place of the user's patterns."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield folder


@pytest.fixture(autouse=True)
def settings_of_the_user(home: Path) -> None:
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n", encoding="utf-8")
    (home / "mine").write_text("", encoding="utf-8")


def by_git(folder: Path) -> list[str]:
    """The files that git would add: what is neither ignored nor in an ignored folder."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "-o", "--exclude-standard"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in found.split("\0") if name.endswith(".md"))


def by_us(folder: Path) -> list[str]:
    walk = Walk([".md"], RootedFiles(folder))
    return sorted(os.path.relpath(each, folder) for each in walk.documents(folder) if isinstance(each, Path))


@settings(max_examples=examples(60), deadline=None)
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


def test_x23_a_gitignore_of_a_stranger_hangs_no_walk(tmp_path: Path):
    """X23. Five stars and two hundred equal letters were enough; the work of a pattern is counted in `tests/source`."""
    (tmp_path / ("a" * 200 + ".md")).touch()
    lines = ["*a" * 5 + "*b", "*a" * 90 + "*b", "**/" * 300, "[" * 999, "a*" * 400, "\\" * 999, "*" * 999 + "b"]
    (tmp_path / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
    assert by_us(tmp_path) == ["a" * 200 + ".md"]


TOKENS = (
    *("a", "b", "ab", "z", "é", "*", "**", "**/", "/**", "/", "?", ".md", "*.md", "-", "^", "]", "***", "\t", "!", "#"),
    *("[a]", "[!a]", "[^a-b]", "[]a]", "[!]a]", "[z-a]", "[a-]", "[--a]", "[a/]", "[^/]", "[a", "[\\a]", "[\\]a]"),
    *("[[:alpha:]]", "[[:digit:]]", "[![:upper:]x]", "[[:nope:]]", "[[:]", "[:a]", "[[:punct:]]", "[a-\\b]"),
    *(
        "A",
        "aB",
        "É",
        "\\A",
        "[A]",
        "[!A]",
        "[A-C]",
        "[^A-C]",
        "[Z-a]",
        "[[:upper:]]",
        "[[:lower:]]",
        "[^[:upper:]]",
        ".MD",
    ),
    *("\\a", "\\*", "\\[", "\\ ", " ", "\\!", "\\#", "\\", "\\\\", "\\/"),
)
LINES = st.lists(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=5).map("".join), max_size=4)
NAMES = ("a", "b", "ab", "B", "Ab", "É", "[a]", "a]", "A1", "é", "z", "a b", "-", "\\a", "!a", "#a", "^", "a*")


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work tree of files and folders whose names look like patterns."""
    folder = tmp_path_factory.mktemp("odd")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for at, name in enumerate(NAMES):
        other, last = NAMES[(at * 7 + 3) % len(NAMES)], NAMES[(at * 4 + 1) % len(NAMES)]
        for place in (folder, folder / name, folder / other / name, folder / name / last / other):
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{name}.md").touch()
            (place / f"{last}.md").touch()
    return folder


@settings(max_examples=examples(100), deadline=None)
@given(LINES, LINES, LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "end"]), st.booleans())
def test_x23_what_is_shown_is_what_git_shows(
    odd_names: Path,
    home: Path,
    top: list[str],
    inner: list[str],
    exclude: list[str],
    mine: list[str],
    end: str,
    last: str,
    folds: bool,
):
    """X23, X5. Random patterns at the top, in a folder, in `info/exclude` and in the file of the user; with case and
    without."""
    config = odd_names / ".git" / "config"
    config.write_text(f"[core]\n\tignoreCase = {str(folds).lower()}\n", encoding="utf-8")
    for place, lines in (
        (odd_names / ".gitignore", top),
        (odd_names / "a" / ".gitignore", inner),
        (odd_names / ".git" / "info" / "exclude", exclude),
        (home / "mine", mine),
    ):
        place.write_bytes((end.join(lines) + (end if last else "")).encode())
    assert by_us(odd_names) == by_git(odd_names)


@pytest.mark.parametrize("where", ["default", "global", "own"])
def test_x23_the_patterns_of_the_user_hold_too(tmp_path: Path, home: Path, where: str):
    """X23. `core.excludesFile` of the user or of the work tree, or the file where git looks without it."""
    folder = tree(tmp_path / "r")
    (home / ".gitconfig").unlink()
    place = home / ".config" / "git" / "ignore" if where == "default" else home / "other"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("foo.md\n", encoding="utf-8")
    if where != "default":
        scope = ["--global"] if where == "global" else []
        subprocess.run(["git", "-C", str(folder), "config", *scope, "core.excludesFile", "~/other"], check=True)
    assert by_us(folder) == by_git(folder)
    assert "foo.md" not in by_us(folder)


@pytest.mark.parametrize(
    "line",
    [
        *("ignorecase", "ignoreCase = yes", "IGNORECASE=1 # c", 'ignorecase = "on"', "ignorecase = -1"),
        *("ignorecase = 0", "ignorecase =", "ignorecase = False ; c", "ignorecase = true\n\tignorecase = no"),
    ],
)
def test_x23_case_is_ignored_where_git_ignores_it(tmp_path: Path, home: Path, line: str):
    """X23. `git init` sets that on Windows and macOS."""
    folder = tree(tmp_path / "r")
    (folder / ".git" / "config").write_text(f"[core]\n\t{line}\n", encoding="utf-8")
    (folder / ".gitignore").write_text("FOO.md\nDocs/Keep/\n", encoding="utf-8")
    assert by_us(folder) == by_git(folder)


def test_x23_a_second_work_tree_has_the_patterns_of_the_first(tmp_path: Path, home: Path):
    """X23. There `.git` is a file that says where the configuration is."""
    folder = tree(tmp_path / "r")
    (folder / ".git" / "info" / "exclude").write_text("b.md\n", encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "w")], check=True, capture_output=True)
    for name in ("a.md", "b.md"):
        (tmp_path / "w" / name).touch()
    assert by_us(tmp_path / "w") == by_git(tmp_path / "w") == ["a.md"]


def test_x23_a_gitignore_that_is_a_link_is_not_followed(tmp_path: Path, home: Path):
    """X23. As git does."""
    folder = tree(tmp_path / "r")
    (tmp_path / "patterns").write_text("a.md\n", encoding="utf-8")
    (folder / ".gitignore").symlink_to(tmp_path / "patterns")
    assert by_us(folder) == by_git(folder)


@pytest.mark.parametrize("line", [r"a\ ", "a ", r"a\\ ", "a\t", "a \\", "  ", r"\  "])
def test_x23_blanks_at_the_end_of_a_line(tmp_path: Path, home: Path, line: str):
    """X23. A blank behind a backslash stays, and so does every tab."""
    folder = tree(tmp_path / "r")
    for name in ("a", "a ", "a\t", "a\\", " ", "a\\ "):
        (folder / name).mkdir()
        (folder / name / "x.md").touch()
    (folder / ".gitignore").write_text(f"{line}\n", encoding="utf-8")
    assert by_us(folder) == by_git(folder)


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


INSIDE = ("a", "b", ".hidden", ".github", "vendor", ".venv")
FOLDERS = st.lists(st.sampled_from(INSIDE), max_size=3).map("/".join)


def looked_at(folder: Path, *, agents: bool, passed: list[str]) -> Iterator[Path]:
    """Walk as a look at each folder before it is listed says."""
    yield from sorted(each for each in folder.iterdir() if each.suffix == ".md" and not each.name.startswith("."))
    inside = []
    for each in sorted(each for each in folder.iterdir() if each.is_dir()):
        dotted = each.name.startswith(".")
        if (dotted and not (agents and each.name in AGENT_FOLDERS)) or (not dotted and is_foreign(str(each))):
            passed.append(str(each))
        else:
            inside.append(each)
    for each in inside:
        yield from looked_at(each, agents=agents, passed=passed)


@settings(max_examples=examples(300))
@given(st.sets(FOLDERS, max_size=8), st.sets(FOLDERS, max_size=3), st.booleans())
def test_x5_a_walk_passes_what_a_look_at_each_folder_passes(places: set[str], environments: set[str], agents: bool):
    """X5: a Python environment shows when it is listed; what is read and what is skipped are the same, in one order."""
    with TemporaryDirectory() as name:
        top = Path(name).resolve()
        for each in places | environments:
            (top / each).mkdir(parents=True, exist_ok=True)
        for folder in [top, *(each for each in top.rglob("*"))]:
            (folder / "x.md").touch()
        for each in environments:
            (top / each / "pyvenv.cfg").touch()
        passed: list[str] = []
        skipped = Skipped()
        expected = [*looked_at(top, agents=agents, passed=passed)]
        assert documents_in([top], (".md",), RootedFiles(top), agents=agents, skipped=skipped) == expected
        assert skipped.folders == passed
        assert [each for each in top.rglob("x.md") if would_meet(top, each, agents=agents)] == [
            each for each in top.rglob("x.md") if each in expected
        ]
        plain = Walk((".md",), RootedFiles(top), most_folders=len({each.parent for each in expected}), agents=agents)
        assert [*plain.documents(top)] == expected
