"""What a killed process left half-written is removed by the next write, and nothing of a process that lives."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from prosa.adapters.files import replace_file, write
from prosa.adapters.files.write import sweep, temporary_beside
from tests import warm
from tests.adapters.files.killing import killed

CODE = """\
import sys
from pathlib import Path
from prosa.adapters.files import replace_file

replace_file(Path(arguments[0]), "new " * 1000)
"""
HOLDER = """\
import sys
from pathlib import Path
from prosa.adapters.files.write import temporary_beside
with temporary_beside(Path(sys.argv[1]), 0o600) as made:
    print(made.path, flush=True)
    sys.stdin.readline()
"""


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_killed_at_any_point_of_a_write_the_next_one_clears_up(tmp_path: Path):
    left = 0
    for step in count(1):
        folder = tmp_path / str(step)
        folder.mkdir()
        (folder / "a.md").write_text("old")
        was_killed = killed(step, CODE, str(folder / "a.md"))
        assert (folder / "a.md").read_text() in ("old", "new " * 1000)
        left += len(names(folder)) > 1
        replace_file(folder / "b.md", "other")
        assert names(folder) == ["a.md", "b.md"]
        if not was_killed:
            break
    assert left > 0


def test_the_second_write_of_a_process_clears_up_what_was_left_since_the_first(tmp_path: Path):
    replace_file(tmp_path / "b.md", "one")
    assert killed(2, CODE, str(tmp_path / "a.md"))
    assert len(names(tmp_path)) == 2
    replace_file(tmp_path / "b.md", "two")
    assert names(tmp_path) == ["b.md"]


def test_what_a_living_process_is_writing_stays(tmp_path: Path):
    argv = [sys.executable, "-c", HOLDER, str(tmp_path / "a.md")]
    with warm.popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None and other.stdout is not None
        held = Path(other.stdout.readline().strip())
        replace_file(tmp_path / "b.md", "x")
        sweep(tmp_path)
        assert held.exists()
        other.stdin.write("\n")
        other.stdin.close()
        assert other.wait(120) == 0
    assert names(tmp_path) == ["b.md"]


def test_what_this_process_is_writing_stays(tmp_path: Path):
    with temporary_beside(tmp_path / "a.md", 0o600) as made:
        sweep(tmp_path)
        replace_file(tmp_path / "b.md", "x")
        os.write(made.descriptor, b"whole")
        made.move_to(tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text() == "whole"


def test_a_file_that_is_taken_for_dead_before_its_lock_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Between the making of a file and its lock another process may sweep."""
    lock, swept = write.try_lock, []

    def late(descriptor: int) -> None:
        if not swept:
            swept.append(True)
            with monkeypatch.context() as patch:
                patch.setattr(write, "try_lock", lock)
                sweep(tmp_path)
        lock(descriptor)

    monkeypatch.setattr(write, "try_lock", late)
    replace_file(tmp_path / "a.md", "whole")
    assert (swept, names(tmp_path), (tmp_path / "a.md").read_text()) == ([True], ["a.md"], "whole")


@pytest.mark.parametrize("name", [".a.md.0123456789ab.tmp", "a.md.0123456789ab.prosa.tmp", ".a.md.012345.prosa.tmp"])
def test_files_of_others_stay(name: str, tmp_path: Path):
    (tmp_path / name).write_text("mine")
    target = tmp_path / ".x.0123456789ab.prosa.tmp"
    target.symlink_to(name)
    (tmp_path / ".y.0123456789ab.prosa.tmp").mkdir()
    replace_file(tmp_path / "b.md", "x")
    assert (tmp_path / name).read_text() == "mine"
    assert len(names(tmp_path)) == 4


def test_without_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(descriptor: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(write, "try_lock", refuse)
    (tmp_path / ".x.0123456789ab.prosa.tmp").write_text("of somebody elsewhere")
    replace_file(tmp_path / "a.md", "x")
    assert len(names(tmp_path)) == 2
