"""What git says of a path that moved: where its file is now, once per check, without running anything (issue 28)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import prosa
from prosa.adapters.files import git_files
from prosa.adapters.files.git_files import renames_below
from prosa.cli.main import main
from prosa.diagnostics import Applicability
from prosa.rules.moves import ends_of
from prosa.source import Renamed

TEXT = "".join(f"line {at}\n" for at in range(30))


def git(folder: Path, *arguments: str) -> None:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ("-c", "user.name=a", "-c", "user.email=a@a.dev", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=folder, env=environ, check=True, capture_output=True)


def committed(folder: Path, **moves: str) -> None:
    for before, after in moves.items():
        (folder / after).parent.mkdir(parents=True, exist_ok=True)
        git(folder, "mv", before, after)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository in which `src/a.py` went to `src/b.py` and on to `lib/c.py`, and `docs/one.md` to `guide/one.md`."""
    (tmp_path / "src").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "src/a.py").write_text(TEXT)
    (tmp_path / "src/keep.py").write_text("keep\n")
    (tmp_path / "docs/one.md").write_text(f"# One\n\n{TEXT}")
    (tmp_path / "docs/keep.md").write_text("# Keep\n")
    git(tmp_path, "init", "-q", "-b", "main")
    committed(tmp_path)
    committed(tmp_path, **{"src/a.py": "src/b.py"})
    committed(tmp_path, **{"src/b.py": "lib/c.py", "docs/one.md": "guide/one.md"})
    return tmp_path


def commit(folder: Path) -> str:
    words = ["git", "log", "-1", "--format=%h", "--abbrev=7"]
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_a_path_in_backticks_an_import_and_a_link_name_the_file_that_moved(folder: Path):
    (folder / "AGENTS.md").write_text("See `src/a.py`.\n")
    (folder / "docs/CLAUDE.md").write_text("Read @one.md first.\n")
    (folder / "docs/AGENTS.md").write_text("See [one](one.md#one) and `docs/one.md`.\n")
    last = commit(folder)
    here = sorted(prosa.check(folder), key=lambda each: (each.rule, each.path))
    assert [(each.rule, Path(each.path).relative_to(folder).as_posix(), each.message) for each in here] == [
        ("missing-import", "docs/CLAUDE.md", "the import `@one.md` does not exist"),
        ("missing-path", "AGENTS.md", "`src/a.py` does not exist"),
        ("missing-path", "docs/AGENTS.md", "`docs/one.md` does not exist"),
        ("unresolved-link", "docs/AGENTS.md", "`one.md` does not exist"),
    ]
    assert [each.notes[0] for each in here] == [
        f"it moved to `guide/one.md` in commit {last}",
        f"it moved to `lib/c.py` in commit {last}",
        f"it moved to `guide/one.md` in commit {last}",
        f"it moved to `guide/one.md` in commit {last}",
    ]
    assert all(each.fix is not None and each.fix.applicability is Applicability.SAFE for each in here)
    assert main(["check", "--fix", "--no-cache", str(folder)]) == 0
    assert (folder / "AGENTS.md").read_text() == "See `lib/c.py`.\n"
    assert (folder / "docs/CLAUDE.md").read_text() == "Read @../guide/one.md first.\n"
    assert (folder / "docs/AGENTS.md").read_text() == "See [one](../guide/one.md#one) and `guide/one.md`.\n"
    assert prosa.check(folder) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a) [x](y.md", "See [one](docs/one.md).\n"),
        ("a#b.md", "See [one](docs/one.md).\n"),
        ("a%20b.md", "See [one](docs/one.md).\n"),
        ("a` b.md", "See `docs/one.md`.\n"),
        ("a b.md", "Read @docs/one.md first.\n"),
    ],
)
def test_a_name_that_would_end_in_its_place_gets_no_fix(folder: Path, name: str, text: str):
    """Anyone may have chosen the name, and the fix is safe."""
    git(folder, "checkout", "-q", "HEAD~1")
    committed(folder, **{"docs/one.md": f"guide/{name}"})
    (folder / "CLAUDE.md").write_text(text)
    found = [each for each in prosa.check(folder) if each.rule in ("missing-path", "unresolved-link", "missing-import")]
    assert [each.fix for each in found] == [None] and "it moved to" in found[0].notes[0]


def test_below_the_top_of_a_repository_paths_start_at_the_root(folder: Path):
    """The root is where `prosa.toml` stands; what went out of it is not named."""
    (folder / "prosa.toml").write_text("")
    below = folder / "guide"
    (below / "prosa.toml").write_text("")
    (below / "deep").mkdir()
    (below / "deep/keep.md").write_text("# Keep\n")
    committed(folder, **{"guide/one.md": "guide/deep/two.md"})
    (below / "AGENTS.md").write_text("See [one](one.md) and [other](../src/a.py).\n")
    [finding] = prosa.check(below)
    assert finding.notes[0] == f"it moved to `deep/two.md` in commit {commit(folder)}"


def test_two_files_with_one_past_get_no_fix(folder: Path):
    """`src/a.py` was written again and moved elsewhere, so either file may be meant."""
    (folder / "src/a.py").write_text(TEXT.replace("line", "other"))
    committed(folder)
    committed(folder, **{"src/a.py": "src/d.py"})
    (folder / "AGENTS.md").write_text("See `src/a.py`.\n")
    [finding] = prosa.check(folder)
    assert finding.fix is None and "moved" not in "".join(finding.notes)


def test_a_file_that_is_gone_after_its_move_is_not_named(folder: Path):
    (folder / "lib/c.py").unlink()
    (folder / "AGENTS.md").write_text("See `src/a.py`.\n")
    [finding] = prosa.check(folder)
    assert finding.fix is None


def test_git_is_asked_once_and_only_where_a_path_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, ...]] = []
    ask = git_files._git

    def spied(where: Path, *arguments: str, **options: float) -> bytes | None:
        asked.append(arguments)
        return ask(where, *arguments, **options)

    monkeypatch.setattr(git_files, "_git", spied)
    (folder / "AGENTS.md").write_text("See `src/keep.py`, `path/to/file.py` and [keep](docs/keep.md).\n")
    assert prosa.check(folder) == [] and asked == []
    (folder / "AGENTS.md").write_text("See `src/a.py`, `src/x.py`, `docs/one.md` and [x](docs/x.md).\n")
    assert len(prosa.check(folder)) == 4
    assert [each[0] for each in asked].count("log") == 1
    (folder / "README.md").write_text("See [x](x.md).\n")
    (folder / "AGENTS.md").unlink()
    asked.clear()
    assert len(prosa.check(folder)) == 1 and asked == []


def test_nothing_of_the_repository_is_executed(folder: Path):
    for name in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "pager.log", "diff.canary.textconv"):
        git(folder, "config", name, f"touch {folder}/ran;")
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "core.hooksPath", str(folder / "hooks"))
    (folder / ".gitattributes").write_text("* diff=canary filter=canary\n")
    (folder / "AGENTS.md").write_text("See `src/a.py`.\n")
    [finding] = prosa.check(folder)
    assert "it moved to" in finding.notes[0] and not list(folder.rglob("ran"))


def test_without_a_repository_or_a_commit_nothing_is_known(tmp_path: Path):
    assert renames_below(tmp_path) == ()
    git(tmp_path, "init", "-q")
    assert renames_below(tmp_path) == ()
    (tmp_path / "src").mkdir()
    (tmp_path / "AGENTS.md").write_text("See `src/a.py`.\n")
    assert [each.rule for each in prosa.check(tmp_path)] == []


def test_the_history_that_is_read_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(git_files, "MAX_COMMITS", 1)
    git_files._renames.cache_clear()
    assert {each.before for each in renames_below(folder)} == {"src/b.py", "docs/one.md"}
    git_files._renames.cache_clear()


def test_chains_end_where_a_file_is():
    """Newest first. Two renames of one commit are no chain, and a circle ends."""
    chain = (Renamed("b", "c", "2"), Renamed("a", "b", "1"))
    assert ends_of("a", chain) == {"b": "1", "c": "2"}
    swap = (Renamed("a", "b", "1"), Renamed("b", "a", "1"))
    assert ends_of("a", swap) == {"b": "1"}
    older = (Renamed("a", "b", "2"), Renamed("b", "c", "1"))
    assert ends_of("a", older) == {"b": "2"}
    circle = tuple(Renamed(*names, str(at)) for at, names in enumerate([("b", "a"), ("a", "b")] * 50))
    assert ends_of("a", circle).keys() == {"a", "b"}


def test_a_path_that_differs_in_case_alone_is_corrected(tmp_path: Path):
    git(tmp_path, "init", "-q")
    for name in ("src/Main.py", "src/x/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    (tmp_path / "AGENTS.md").write_text("See `src/main.py`, `./src/X/readme.md` and `src/X/`.\n")
    if (tmp_path / "src/main.py").exists():  # the file system does not tell them apart
        return
    here = prosa.check(tmp_path)
    assert [each.notes[0] for each in here] == [
        "there is `src/Main.py`: upper and lower case matter on most systems",
        "there is `./src/x/README.md`: upper and lower case matter on most systems",
        "there is `src/x/`: upper and lower case matter on most systems",
    ]
    assert main(["check", "--fix", "--no-cache", str(tmp_path)]) == 0
    assert (tmp_path / "AGENTS.md").read_text() == "See `src/Main.py`, `./src/x/README.md` and `src/x/`.\n"
