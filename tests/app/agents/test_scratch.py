"""X36. Folders of a call: gone with it, and what a killed call left goes with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from prosa.app.agents.scratch import scratch_folder

HOLDS = """
import sys, tempfile, time
from prosa.app.agents.scratch import scratch_folder
tempfile.tempdir = sys.argv[1]
with scratch_folder("prosa-agents-") as folder:
    (folder / "a").mkdir()
    (folder / "a" / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_x36_a_folder_goes_with_its_call_whatever_is_in_it(tmp_path: Path):
    with scratch_folder("prosa-agents-") as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o777 == 0o700
        (folder / "a").mkdir()
        (folder / "a" / "file").write_text("x")
        (folder / "a").chmod(0)
    assert list(tmp_path.iterdir()) == []


def test_x36_what_a_killed_call_left_goes_with_the_next_and_what_another_holds_stays(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        held = Path(other.stdout.readline().strip())
        with scratch_folder("prosa-agents-"):
            assert (held / "a" / "file").read_text() == "x"
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert held.exists()
    with scratch_folder("prosa-agents-") as folder:
        assert not held.exists() and folder.exists()


def test_x36_folders_of_others_and_links_stay(tmp_path: Path):
    (tmp_path / "prosa-agents-mine").mkdir()
    (tmp_path / "other-1").mkdir()
    (tmp_path / "prosa-agents-link").symlink_to(tmp_path / "other-1")
    (tmp_path / "other-1" / "owner.lock").touch()
    with scratch_folder("prosa-agents-"):
        pass
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other-1", "prosa-agents-link", "prosa-agents-mine"]
    assert (tmp_path / "other-1" / "owner.lock").exists()
