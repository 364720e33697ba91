"""Moves on disk: the order of the steps, kills between them, errors in the middle, files that change meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from prosa.adapters.files import FileChanged
from prosa.app.corpus import move as moving
from prosa.app.corpus.move import carry_out, plan_for
from prosa.corpus.moves import Move, MoveRefused, NameRefused, Plan
from tests import warm
from tests.corpus.moves.disk import TEXTS, journal_of, shelf_of, tree, write

MOVE = Move("notes/b.md", "deep/er/bee.md")
ID = Move("y.mda", "y.mda", "y1", "why")


def planned(root: Path, cache: Path, move: Move) -> Plan:
    with shelf_of(root, cache) as store:
        return plan_for(move, store)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def moved(root: Path, cache: Path, move: Move) -> dict[str, str]:
    carry_out(planned(root, cache, move), root)
    return tree(root)


def test_a_move_writes_others_first_then_the_new_file_and_removes_the_old_last(root: Path, cache: Path):
    steps = list(moving.Work(root).steps(planned(root, cache, MOVE)))
    assert steps == ["a.md", "notes/c.md", "z.mda", "deep/er/bee.md", "notes/b.md"]
    found = tree(root)
    assert found["a.md"] == "# A\n\n[b](deep/er/bee.md#part) and [[bee|the note]]\n"
    assert found["deep/er/bee.md"] == "# B\n\n[a](../../a.md), [me](bee.md), ![p](../../notes/p.png)\n\n## Part\n"
    assert found["notes/c.md"] == "# C\n\n[b][r]\n\n[r]: ../deep/er/bee.md 'title'\n"
    assert "notes/b.md" not in found
    assert moved(root, cache, Move("deep/er/bee.md", "notes/b.md")) == {"prosa.toml": "", **TEXTS}


KILLED = """
import os, signal, sys
from pathlib import Path
from prosa.app.corpus.move import Work, plan_for
from prosa.corpus.moves import Move
from tests.corpus.moves.disk import journal_of, shelf_of
root, cache, steps, kept, *move = sys.argv[1:]
with shelf_of(Path(root), Path(cache)) as store:
    plan = plan_for(Move(*move), store)
if kept == "kept":
    journal_of(Path(root), Path(cache)).write(plan)
for number, _ in enumerate(Work(Path(root)).steps(plan), start=1):
    if number == int(steps):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(root: Path, cache: Path, steps: int, move: Move, kept: str = "") -> None:
    """Carries out so many steps of a move in a process that is killed then."""
    words = [move.path, move.new_path, *([move.old_id, move.new_id] if move.new_id else [])]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", KILLED, str(root), str(cache), str(steps), kept, *words]
    assert warm.run(argv, env=environ, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("move", [MOVE, ID, Move("notes/c.md", "notes/d.md")], ids=["file", "id", "unchanged text"])
def test_a_move_that_was_killed_is_finished_by_asking_again(tmp_path: Path, move: Move):
    cache = tmp_path / "cache"
    whole = moved(write(tmp_path / "whole"), cache, move)
    count = len(list(moving.Work(write(tmp_path / "count")).steps(planned(tmp_path / "count", cache, move))))
    for steps in range(1, count):
        root = write(tmp_path / f"killed{steps}")
        killed(root, cache, steps, move)
        assert tree(root) != whole
        assert moved(root, cache, move) == whole


HIJACKED = {"A.md": "# A\n", "b.md": "# B\n", "c.md": "[[b]]\n", "d.md": "[b](b.md)\n"}
"""Half done, `[[a]]` in c.md leads to A.md: only who remembers the plan can go on."""


def test_a_journal_finishes_what_cannot_be_planned_again(root: Path, cache: Path, tmp_path: Path):
    root, move = write(tmp_path / "hijacked", HIJACKED), Move("b.md", "a.md")
    killed(root, cache, 1, move)
    with pytest.raises(MoveRefused, match=r"another reference leads: c\.md"):
        planned(root, cache, move)
    write(root, HIJACKED)
    for steps in (1, 2, 3):
        root = write(tmp_path / f"hijacked{steps}", HIJACKED)
        killed(root, cache, steps, move, "kept")
        journal = journal_of(root, cache)
        with shelf_of(root, cache) as store:
            carry_out(plan_for(move, store, journal), root, journal)
        rest = {"c.md": "[[a]]\n", "d.md": "[b](a.md)\n"}
        assert tree(root) == {"prosa.toml": "", "A.md": "# A\n", "a.md": "# B\n", **rest}
        assert journal.read() is None


def test_a_journal_counts_only_while_no_file_is_another(root: Path, cache: Path):
    killed(root, cache, 2, MOVE, "kept")
    journal = journal_of(root, cache)
    kept = journal.read()
    assert kept is not None
    assert moving.is_under_way(kept, root)
    write(root, {"z.mda": "somebody else\n"})
    assert not moving.is_under_way(kept, root)
    with shelf_of(root, cache) as store:
        assert "z.mda" not in [change.path for change in plan_for(MOVE, store, journal).others]
    journal.path.write_text("{")
    assert journal.read() is None


def test_an_error_while_a_move_is_finished_puts_everything_back(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    before, journal = tree(root), journal_of(root, cache)
    killed(root, cache, 2, MOVE, "kept")
    kept, real = journal.read(), moving.replace_file
    assert kept is not None

    def replace(path: Path, text: str, **how: str) -> None:
        if path == root / "deep/er/bee.md":
            raise OSError(28, "no space left on device", str(path))
        real(path, text, **how)

    monkeypatch.setattr(moving, "replace_file", replace)
    with pytest.raises(OSError):
        carry_out(kept, root, journal)
    assert tree(root) == before
    assert journal.read() is None


@pytest.mark.parametrize("failing", range(1, 6))
def test_an_error_in_the_middle_puts_everything_back(
    root: Path, cache: Path, failing: int, monkeypatch: pytest.MonkeyPatch
):
    plan, before, calls = planned(root, cache, MOVE), tree(root), []

    def replace(path: Path, text: str, **how: str) -> None:
        calls.append(path)
        if len(calls) == failing < 5:
            raise OSError(28, "no space left on device", str(path))
        real(path, text, **how)

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if failing == 5 and path == root / "notes/b.md":
            raise PermissionError(13, "permission denied", str(path))
        os.unlink(path)

    real = moving.replace_file
    monkeypatch.setattr(moving, "replace_file", replace)
    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(OSError):
        carry_out(plan, root)
    assert tree(root) == before
    assert not (root / "deep").exists()


def test_what_cannot_be_put_back_is_named(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    plan, real = planned(root, cache, MOVE), moving.replace_file

    def replace(path: Path, text: str, **how: str) -> None:
        if path == root / "notes/c.md" or (path == root / "a.md" and text == TEXTS["a.md"]):
            raise OSError(28, "no space left on device", str(path))
        real(path, text, **how)

    monkeypatch.setattr(moving, "replace_file", replace)
    with pytest.raises(moving.NotPutBack, match=r"no space left.*could not be put back: a\.md"):
        carry_out(plan, root)


def test_an_interrupt_after_the_old_file_is_gone_loses_nothing(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    plan, before = planned(root, cache, MOVE), tree(root)

    def unlink(path: Path, missing_ok: bool = False) -> None:
        os.unlink(path)
        if path == root / "notes/b.md":
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt):
        carry_out(plan, root)
    assert tree(root) == before


@pytest.mark.parametrize("path", ["a.md", "notes/b.md", "notes/c.md"])
def test_a_file_that_changed_meanwhile_stops_the_move(root: Path, cache: Path, path: str):
    plan = planned(root, cache, MOVE)
    (root / path).write_text("somebody else\n")
    before = tree(root)
    with pytest.raises(FileChanged, match="changed since it was read"):
        carry_out(plan, root)
    assert tree(root) == before


def test_a_new_file_that_appears_meanwhile_is_not_written_over(root: Path, cache: Path):
    plan = planned(root, cache, MOVE)
    write(root, {"deep/er/bee.md": "mine\n"})
    with pytest.raises(FileChanged):
        carry_out(plan, root)
    assert tree(root) == {"prosa.toml": "", **TEXTS, "deep/er/bee.md": "mine\n"}


def test_the_mode_of_a_file_moves_with_it(root: Path, cache: Path):
    (root / "notes/b.md").chmod(0o640)
    moved(root, cache, MOVE)
    assert stat.S_IMODE((root / "deep/er/bee.md").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("a.md", "exists already"),
        ("notes/b.md", "already"),
        ("../b.md", "outside the root"),
        ("notes/b.txt", "is not the name of a document"),
        ("notes/.b.md", "hidden"),
        ("no\nline.md", "printable"),
        (f"{'x' * 300}.md", "255 bytes"),
        ("a.md/b.md", "is not a folder"),
        ("ignored/b.md", "git ignores"),
        ("out/b.md", "outside the root"),
        ("folder.md", "exists already"),
    ],
)
def test_an_impossible_name_is_refused(root: Path, cache: Path, new: str, words: str):
    (root / ".gitignore").write_text("ignored/\n")
    (root / "out").symlink_to(root.parent)
    (root / "folder.md").mkdir()
    with pytest.raises(NameRefused, match=words):
        planned(root, cache, Move("notes/b.md", new))


def test_a_link_is_not_moved(root: Path, cache: Path):
    (root / "link.md").symlink_to("a.md")
    with pytest.raises(MoveRefused, match=r"is a link to a\.md"):
        planned(root, cache, Move("link.md", "l.md"))
