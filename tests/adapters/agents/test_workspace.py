"""X36. Workspaces: what is laid into them, what they turn into, and how they go, however an agent treats them."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.agents import workspace as module
from prosa.adapters.agents.workspace import Workspace, WorkspaceLimits, WorkspaceProblem, remove_folder


@pytest.fixture
def contents(tmp_path: Path) -> Path:
    made = tmp_path / "contents"
    made.mkdir()
    return made


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "work", [(b"a,b\n1,2\n", "data/in.csv"), (b"old\nkept\n", "notes.md")])


def test_x36_a_workspace_has_the_files_of_the_case_and_is_private(made: Workspace, tmp_path: Path):
    script = tmp_path / "run.sh"
    script.write_bytes(b"#!/bin/sh\n")
    script.chmod(0o755)
    made.lay([(script, "scripts/run.sh")])
    assert (made.folder / "data/in.csv").read_bytes() == b"a,b\n1,2\n"
    assert os.access(made.folder / "scripts/run.sh", os.X_OK)
    assert not os.access(made.folder / "notes.md", os.X_OK) or not (made.folder / "notes.md").stat().st_mode & 0o111
    assert made.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", ".", "a\\b", "c:/x", "a/", "a\0b", "\udc80"])
def test_x36_a_file_goes_nowhere_else(made: Workspace, path: str):
    with pytest.raises(WorkspaceProblem, match="not a path below the workspace"):
        made.lay([(b"", path)])


@given(st.text(alphabet="ab./\\:\0é\n~", max_size=12))
def test_x36_any_path_is_refused_or_stays_inside(tmp_path_factory: pytest.TempPathFactory, path: str):
    top = tmp_path_factory.mktemp("any")
    made = Workspace.create(top / "work")
    try:
        made.lay([(b"x", path)])
    except WorkspaceProblem:
        pass
    else:
        assert list(made.snapshot().files.values()) == [module.FileState(hashlib.sha256(b"x").hexdigest(), 1)]
    assert os.listdir(top) == ["work"]


def test_x36_two_files_at_one_path_are_refused(made: Workspace):
    for path in ("notes.md", "notes.md/more"):
        with pytest.raises(WorkspaceProblem, match="two files are to be laid at"):
            made.lay([(b"", path)])


def test_x36_a_case_lays_no_links_devices_or_folders(made: Workspace, tmp_path: Path):
    (tmp_path / "secret").write_text("canary")
    (tmp_path / "link").symlink_to("secret")
    for source in (tmp_path / "link", Path("/dev/null"), tmp_path, tmp_path / "missing"):
        with pytest.raises(WorkspaceProblem, match=str(source)):
            made.lay([(source, "x")])
    assert "x" not in made.snapshot().files


def test_x36_a_skill_is_copied_without_its_evals_and_its_links(made: Workspace, tmp_path: Path):
    skill = tmp_path / "skill"
    (skill / "evals").mkdir(parents=True)
    (skill / "sub").mkdir()
    (skill / "SKILL.md").write_text("# skill")
    (skill / "sub/help.md").write_text("help")
    (skill / "evals/evals.json").write_text("answers")
    (skill / "passwd").symlink_to("/etc/passwd")
    (skill / "etc").symlink_to("/etc")
    left_out = made.copy(skill, ".claude/skills/skill", without=frozenset({"evals"}))
    laid = {path for path in made.snapshot().files if path.startswith(".claude")}
    assert laid == {".claude/skills/skill/SKILL.md", ".claude/skills/skill/sub/help.md"}
    assert sorted(left_out) == ["etc", "passwd"]


def test_x36_changes_are_added_changed_and_deleted_files(made: Workspace, contents: Path):
    before = made.snapshot(contents)
    (made.folder / "notes.md").write_text("new\nkept\n")
    (made.folder / "data/in.csv").unlink()
    (made.folder / "out").mkdir()
    (made.folder / "out/a.bin").write_bytes(b"\x89\0\1")
    (made.folder / "out/t.txt").write_text("é\n")
    changes = made.changes(before, made.snapshot(), contents)
    assert [(each.kind, each.path, each.is_text) for each in changes] == [
        ("deleted", "data/in.csv", False),
        ("changed", "notes.md", True),
        ("added", "out/a.bin", False),
        ("added", "out/t.txt", True),
    ]
    assert changes[1].diff == "--- a/notes.md\n+++ b/notes.md\n@@ -1,2 +1,2 @@\n-old\n+new\n kept\n"
    assert changes[3].diff == "--- /dev/null\n+++ b/out/t.txt\n@@ -0,0 +1 @@\n+é\n"
    assert "-1,2" in changes[0].diff and changes[0].digest == ""
    for each in changes[1:]:
        assert (contents / each.digest).read_bytes() == (made.folder / each.path).read_bytes()
        assert each.digest == hashlib.sha256((contents / each.digest).read_bytes()).hexdigest()


def test_x36_long_texts_have_a_cut_diff_or_none(made: Workspace, contents: Path):
    before = made.snapshot(contents)
    (made.folder / "wide.txt").write_text("x" * (module.MOST_DIFF + 500))
    (made.folder / "long.txt").write_text("é" * module.MOST_DIFFED)
    changes = {each.path: each for each in made.changes(before, made.snapshot(), contents)}
    assert changes["wide.txt"].diff.endswith("more characters]\n") and len(changes["wide.txt"].diff) < 21_000
    assert changes["long.txt"].is_text and changes["long.txt"].diff == ""
    assert (contents / changes["long.txt"].digest).stat().st_size == 2 * module.MOST_DIFFED


def test_x36_no_link_device_or_file_from_outside_is_an_output(made: Workspace, contents: Path, tmp_path: Path):
    canary = tmp_path / "canary"
    canary.mkdir()
    (canary / "secret").write_text("canary")
    before = made.snapshot(contents)
    work = made.folder
    (work / "file").symlink_to(canary / "secret")
    (work / "folder").symlink_to(canary)
    (work / "device").symlink_to("/dev/zero")
    (work / "data/in.csv").unlink()
    (work / "data").rmdir()
    (work / "data").symlink_to(canary)  # a folder that was there is another one now
    os.link(canary / "secret", work / "hard")
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(work / "socket"))
    os.link(work / "notes.md", work / "twin.md")
    after = made.snapshot()
    kinds = dict.fromkeys(("file", "folder", "device", "data"), "a link") | {"pipe": "a pipe", "socket": "a socket"}
    assert after.refused == kinds | {"hard": "a file that is linked to from outside the workspace"}
    changes = made.changes(before, after, contents)
    assert [(each.kind, each.path) for each in changes] == [("deleted", "data/in.csv"), ("added", "twin.md")]
    assert b"canary" not in b"".join(each.read_bytes() for each in contents.iterdir())


def test_x36_a_file_that_becomes_a_link_is_not_read_through(made: Workspace, contents: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("canary")
    before = made.snapshot(contents)
    (made.folder / "new.txt").write_text("fine")
    after = made.snapshot()
    (made.folder / "new.txt").unlink()
    (made.folder / "new.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(WorkspaceProblem, match=r"`new.txt` in the workspace changed while it was read"):
        made.changes(before, after, contents)
    (made.folder / "new.txt").unlink()
    (made.folder / "data/in.csv").write_text("new")
    after = made.snapshot()
    (made.folder / "data").rename(made.folder / "moved")
    (made.folder / "data").symlink_to(made.folder / "moved")
    with pytest.raises(WorkspaceProblem, match="changed while it was read"):
        made.changes(before, after, contents)


def test_x36_the_insides_of_a_repository_are_no_output_but_count(made: Workspace, contents: Path):
    before = made.snapshot(contents)
    (made.folder / ".git/objects").mkdir(parents=True)
    for number in range(5):
        (made.folder / f".git/objects/{number}").write_text("x")
    after = made.snapshot()
    assert made.changes(before, after, contents) == ()
    assert Workspace(made.folder, WorkspaceLimits(files=6)).excess() == "more than 6 files and folders"


def test_x36_a_sparse_file_of_10_gb_is_over_the_limit(made: Workspace):
    with (made.folder / "big").open("wb") as file:
        file.truncate(10 * 2**30)
    assert made.excess() == "more than 256 MB"
    snapshot = made.snapshot()
    assert snapshot.excess == "more than 256 MB" and "big" not in snapshot.files


def test_x36_too_many_files_are_over_the_limit(made: Workspace, contents: Path):
    before = made.snapshot(contents)
    for number in range(module.MOST_FILES):
        os.symlink("nowhere", made.folder / f"{number}")
    assert made.excess() == "more than 10,000 files and folders"
    after = made.snapshot()
    assert after.excess and not [each for each in made.changes(before, after, contents) if each.kind == "deleted"]
    made.remove()
    assert not made.folder.exists()


def test_x36_too_many_files_of_a_case_are_refused(tmp_path: Path):
    files = [(b"12345", f"{number}") for number in range(3)]
    with pytest.raises(WorkspaceProblem, match="the files of the case are too many: more than 2 files"):
        Workspace.create(tmp_path / "a", files, WorkspaceLimits(files=2))
    with pytest.raises(WorkspaceProblem, match="more than 0 MB"):
        Workspace.create(tmp_path / "b", files, WorkspaceLimits(size=12))


def test_x36_growth_is_noticed_while_an_agent_works(made: Workspace):
    small = Workspace(made.folder, WorkspaceLimits(size=1 << 20))

    async def run() -> str:
        watching = asyncio.create_task(small.overflow(0.01))
        await asyncio.sleep(0.05)
        assert not watching.done()
        (made.folder / "log").write_bytes(bytes(2 << 20))
        return await watching

    assert asyncio.run(run()) == "more than 1 MB"


def test_x36_a_stamp_changes_with_files_but_not_with_what_agents_keep(made: Workspace):
    first = made.stamp()
    (made.folder / ".claude").mkdir()
    (made.folder / ".claude/state.json").write_text("{}")
    assert made.stamp() == first
    (made.folder / "data/in.csv").write_text("a,b\n3,4\n")
    assert made.stamp() != first


def test_x36_names_that_no_report_can_carry_are_refused(made: Workspace):
    (made.folder / os.fsdecode(b"\xff")).write_text("x")
    assert made.snapshot().refused == {"\udcff": "a file whose name is not UTF-8"}


def test_x36_deep_folders_are_refused_and_deleted(made: Workspace):
    deep = os.open(made.folder, os.O_RDONLY)
    for _ in range(1_200):
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    assert list(made.snapshot().refused.values()) == ["more than 100 folders deep"]
    made.remove()
    assert not made.folder.exists()


def test_x36_deletion_follows_no_link_and_passes_read_only_folders(made: Workspace, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (made.folder / "out").symlink_to(outside)
    (made.folder / "data/out").symlink_to(outside / "kept")
    (made.folder / "data").chmod(0)
    made.folder.chmod(0)
    made.remove()
    made.remove()  # a second time there is nothing to do
    assert not made.folder.exists() and (outside / "kept").read_text() == "kept"


def test_x36_a_workspace_replaced_by_a_link_is_not_emptied(made: Workspace, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    made.folder.rename(tmp_path / "away")
    made.folder.symlink_to(outside)
    with pytest.raises(WorkspaceProblem):
        remove_folder(made.folder)
    with pytest.raises(WorkspaceProblem):
        made.snapshot()
    assert (outside / "kept").read_text() == "kept"


def test_x36_a_full_disk_is_a_sentence(made: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*given: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "open", full)
    with pytest.raises(WorkspaceProblem, match=f"there is no space left on the disk of {made.folder}"):
        made.lay([(b"x", "more.txt")])


def test_x36_a_workspace_that_is_gone_is_an_error_and_not_an_empty_one(made: Workspace):
    made.remove()
    with pytest.raises(WorkspaceProblem, match="no such file"):
        made.snapshot()
