"""Replacing files: whole or not at all, never over somebody else's change."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.adapters.files import FileChanged, RootedFiles, replace_file, write_output
from tests import warm


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_read_is_replaced_with_every_line_end_kept(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_bytes(b"one\r\n")
    source = RootedFiles().read(path)
    replace_file(path, "\ufeffzwei ä\r\n\n\r", expect_digest=source.digest)
    assert path.read_bytes() == "\ufeffzwei ä\r\n\n\r".encode()
    assert names(tmp_path) == ["a.md"]


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("one")
    source = RootedFiles().read(path)
    path.write_text("two")
    with pytest.raises(FileChanged, match=r"a\.md: changed since it was read; nothing was written"):
        replace_file(path, "three", expect_digest=source.digest)
    assert (path.read_text(), names(tmp_path)) == ("two", ["a.md"])
    path.unlink()
    with pytest.raises(FileChanged):
        replace_file(path, "three", expect_digest=source.digest)
    assert names(tmp_path) == []


def test_an_empty_digest_means_that_there_is_no_file_yet(tmp_path: Path):
    replace_file(tmp_path / "new.md", "x", expect_digest="")
    with pytest.raises(FileChanged):
        replace_file(tmp_path / "new.md", "y", expect_digest="")
    assert (tmp_path / "new.md").read_text() == "x"


def test_mode_stays_and_a_new_file_follows_the_umask(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("x")
    path.chmod(0o754)
    replace_file(path, "y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "new.md", "x")
        replace_file(tmp_path / "private.md", "x", private=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.md").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "private.md").stat().st_mode) == 0o600


def test_owner_and_group_stay_or_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.md"
    path.write_text("x")
    asked: list[tuple[int, int]] = []
    theirs = os.stat_result((stat.S_IFREG | 0o644, 0, 0, 1, 4321, 1234, 1, 0, 0, 0))
    monkeypatch.setattr("prosa.adapters.files.write._existing", lambda path, target: theirs)
    monkeypatch.setattr("prosa.adapters.files.write.os.fchown", lambda fd, uid, gid: asked.append((uid, gid)))
    replace_file(path, "y")
    assert (asked, path.read_text()) == ([(4321, 1234)], "y")

    def refuse(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("prosa.adapters.files.write.os.fchown", refuse)
    with pytest.raises(PermissionError):
        replace_file(path, "z")
    assert (path.read_text(), names(tmp_path)) == ("y", ["a.md"])


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "real.md").write_text("x")
    (tmp_path / "link.md").symlink_to("sub/real.md")
    replace_file(tmp_path / "link.md", "y")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "sub" / "real.md").read_text() == "y"


def test_what_cannot_be_written_is_refused_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(FileNotFoundError) as caught:
        replace_file(tmp_path / "none" / "a.md", "x")
    assert caught.value.filename == str(tmp_path / "none" / "a.md")
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, "x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is not a regular file"):
        replace_file(tmp_path / "pipe", "x")
    (tmp_path / "fixed.md").write_text("x")
    monkeypatch.setattr("prosa.adapters.files.write.os.access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="is write-protected"):
        replace_file(tmp_path / "fixed.md", "y")


def test_a_long_name_can_be_replaced(tmp_path: Path):
    path = tmp_path / ("é" * 127)
    replace_file(path, "x")
    assert names(tmp_path) == [path.name]


def test_a_failure_in_the_middle_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.md"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prosa.adapters.files.write.os.fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        replace_file(path, "new")
    assert raised.value.filename == str(path)
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.md"])


WRITER = """
import os, sys, pathlib
from prosa.adapters.files import write
path = pathlib.Path(sys.argv[1])
real = os.write
def slow(descriptor, data):
    real(descriptor, data[:1000])
    print("half", flush=True)
    import time
    time.sleep(60)
write.os.write = slow
write.replace_file(path, "n" * 5000)
"""


def test_killed_in_the_middle_of_writing_the_old_file_is_whole(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("old")
    with warm.popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "half\n"
        writer.send_signal(signal.SIGKILL)
        writer.wait(120)
    assert path.read_text() == "old"
    left = [name for name in names(tmp_path) if name != "a.md"]
    assert [name.startswith(".a.md.") and name.endswith(".tmp") for name in left] == [True]


def test_readers_never_see_half_a_file(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("0" * 300_000)
    code = "import sys,pathlib\nfrom prosa.adapters.files import replace_file\np=pathlib.Path(sys.argv[1])\n"
    code += "for i in range(30): replace_file(p, str(i % 10) * 300_000)"
    with warm.popen([sys.executable, "-c", code, str(path)]) as writer:
        seen = set()
        deadline = time.monotonic() + 120
        while writer.poll() is None and time.monotonic() < deadline:
            text = path.read_text()
            seen.add((len(text), len(set(text))))
    assert (writer.returncode, seen) == (0, {(300_000, 1)})


def test_output_goes_to_a_file_or_into_a_pipe(tmp_path: Path):
    write_output(tmp_path / "result.json", "{}\n")
    assert (tmp_path / "result.json").read_bytes() == b"{}\n"
    write_output(Path("/dev/null"), "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    code = (
        "from pathlib import Path; from prosa.adapters.files import write_output as w; w(Path('/dev/stdout'), 'é\\n')"
    )
    done = warm.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == "é\n".encode()
