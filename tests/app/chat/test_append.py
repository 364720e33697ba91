"""Text below a file that others change meanwhile: it is never lost and nothing else is overwritten (PW4)."""

from __future__ import annotations

import errno
import os
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files import append
from prosa.adapters.files.append import PAGE, Below, check_appendable, save_beside
from prosa.adapters.files.lock import Locked, only_one
from prosa.app.chat.file import joint
from prosa.source import FileProblem
from tests.depth import examples

HEADING = "### @assistant:\n\n"
MOVES = ["add", "cut", "append", "front", "over", "rename", "blanks", "gone", "back"]
FILES = ["", "hi", "hi\r\n", "### @user:\r\n\r\nHi.\r\n", "```\nopen", "a\n\n", "\ufeff", "\ufeffhi\n", "  ", "a\rb\r"]


def below(path: Path, text: str | None = None, max_size: int = 10**6) -> Below:
    """Text below a file that holds ``text``."""
    if text is not None:
        path.write_bytes(text.encode())
    return Below(path, joint(), max_size)


def read(path: Path) -> str:
    return path.read_bytes().decode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.md"


@pytest.mark.parametrize("text", FILES)
def test_p3_pw4_what_is_written_comes_below_and_goes_again(path: Path, text: str):
    """P3, PW4."""
    ours = below(path, text)
    ours.add(HEADING, "Hello\n")
    end = "\r\n" if "\r\n" in text else "\r" if "\r" in text else "\n"
    assert read(path).startswith(text) and read(path).endswith(f"### @assistant:{end}{end}Hello{end}")
    assert ours.follows(text)
    ours.cut(1)
    ours.add("Anew\n")
    assert read(path).endswith(f"### @assistant:{end}{end}Anew{end}")
    ours.cut(0)
    assert read(path) == text


def test_pw4_an_editor_that_puts_its_own_file_there_gets_the_rest(path: Path, tmp_path: Path):
    """PW4."""
    ours = below(path, "### @user:\n\nHi.\n")
    ours.add(HEADING, "One  \n")
    other = tmp_path / "other"
    other.write_text(read(path).replace("Hi.", "Hi!").rstrip())
    other.replace(path)
    ours.add("two\n")
    ours.finish()
    assert read(path) == "### @user:\n\nHi!\n\n### @assistant:\n\nOne  \ntwo\n"
    assert (ours.lost, ours.state) == (False, "below")


def test_pw4_what_an_editor_wrote_over_is_written_again(path: Path):
    """PW4."""
    ours = below(path, "### @user:\n\nHi.\n")
    ours.add(HEADING, "One\n")
    path.write_text("### @user:\n\nHi, again.")
    ours.add("two\n")
    assert read(path) == "### @user:\n\nHi, again.\n\n### @assistant:\n\nOne\ntwo\n"
    assert ours.lost


def test_pw4_what_somebody_writes_below_stays_below(path: Path):
    """PW4."""
    ours = below(path, "### @user:\n\nHi.\n")
    ours.add(HEADING, "One\n")
    path.write_text(read(path) + "\n### @user:\n\nNext")
    ours.add("two\n")
    assert "two" not in read(path) and ours.state == "between"
    ours.add("three\n")
    ours.finish()
    assert read(path) == "### @user:\n\nHi.\n\n### @assistant:\n\nOne\ntwo\nthree\n\n### @user:\n\nNext"


def test_pw4_what_somebody_wrote_below_and_took_away_is_no_matter(path: Path):
    """PW4."""
    ours = below(path, "Hi.\n")
    ours.add(HEADING, "One\n")
    kept = read(path)
    path.write_text(kept + "\nNext")
    ours.add("two\n")
    path.write_text(kept + "\n\n")
    ours.add("three\n")
    assert read(path) == "Hi.\n\n### @assistant:\n\nOne\ntwo\nthree\n"


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(MOVES), max_size=9))
def test_pw4_whatever_others_do_ours_is_there_once_and_theirs_too(tmp_path_factory, moves):
    """PW4."""
    path = tmp_path_factory.mktemp("any") / "chat.md"
    ours, theirs = below(path, "start\n"), {"start"}
    kept = b""
    ours.add(HEADING)
    for number, move in enumerate(moves):
        if move == "add":
            ours.add(f"ours {number}\n")
        elif move == "cut":
            ours.cut(1)
        elif move == "gone" and path.exists():
            kept = path.read_bytes()
            path.unlink()
        elif move == "back" and not path.exists():
            path.write_bytes(kept)
        elif path.exists() and move in ("append", "front"):
            text = read(path)
            mine = f"theirs {number}\n"
            path.write_bytes((f"{text}\n{mine}" if move == "append" else mine + text).encode())
            theirs.add(mine.strip())
        elif path.exists() and move == "over":
            path.write_text("start\n")
            theirs = {"start"}
        elif path.exists() and move == "rename":
            other = path.with_name("other")
            other.write_bytes(path.read_bytes())
            other.replace(path)
        elif path.exists() and move == "blanks":
            path.write_bytes(path.read_bytes().rstrip())
    if not path.exists():
        path.write_bytes(kept)
    ours.add("last\n")
    ours.finish()
    block = "".join(ours.pieces)
    assert read(path).count(block) == 1
    assert read(path).count("### @assistant:") == 1
    assert theirs <= set(read(path).splitlines())


def test_pw4_a_full_disk_leaves_no_half_of_it(path: Path, monkeypatch: pytest.MonkeyPatch):
    """PW4. What could not be written is written later."""
    ours = below(path, "Hi.\n")
    real = FileIO.write

    class Full(FileIO):
        def write(self, data, /):
            if len(data) > 3:
                return real(self, bytes(data[:3]))
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(append, "FileIO", Full)
    ours.add(HEADING, "Hello\n")
    assert read(path) == "Hi.\n" and ours.problem is not None
    with pytest.raises(OSError, match="No space left"):
        ours.finish()
    monkeypatch.setattr(append, "FileIO", FileIO)
    ours.finish()
    assert read(path) == "Hi.\n\n### @assistant:\n\nHello\n" and ours.problem is None


@pytest.mark.parametrize("missing", range(1, 18))
def test_pw4_no_heading_lies_across_two_pages_when_it_is_appended(path: Path, missing: int, monkeypatch):
    """PW4: whoever is killed while a page is written leaves all of it or nothing."""
    written: list[tuple[int, bytes]] = []
    real = append._write
    monkeypatch.setattr(append, "_write", lambda to, data, size: (written.append((size, data)), real(to, data, size)))
    text = "x" * (PAGE - missing - 1) + "\n"
    ours = below(path, text)
    ours.add(HEADING, "Hello\n")
    ours.add("more\n")
    assert read(path) == f"{text}\n{HEADING}Hello\nmore\n"
    for size, data in written:
        at = data.find(b"###")
        assert at < 0 or (size + at) // PAGE == (size + at + len(HEADING) - 2) // PAGE


def test_a_link_is_followed_and_stays_one(path: Path, tmp_path: Path):
    target = tmp_path / "deep" / "real.md"
    target.parent.mkdir()
    target.write_text("Hi.\n")
    path.symlink_to(target)
    ours = below(path)
    ours.add(HEADING, "Hello\n")
    ours.finish()
    assert path.is_symlink() and read(target) == "Hi.\n\n### @assistant:\n\nHello\n"


def test_x9_a_file_that_grew_too_large_is_an_error(path: Path):
    """X9."""
    ours = below(path, "Hi.\n", max_size=100)
    ours.add(HEADING)
    path.write_text("x" * 200)
    ours.add("Hello\n")
    with pytest.raises(FileProblem, match="more than 100"):
        ours.finish()
    assert read(path) == "x" * 200


def test_what_is_no_file_is_refused(tmp_path: Path):
    with pytest.raises(FileProblem, match="not a regular file"):
        check_appendable(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileProblem, match="not a regular file"):
        check_appendable(tmp_path / "pipe")


def test_pw4_a_reply_is_saved_beside_and_nothing_is_overwritten(path: Path):
    """PW4."""
    assert [save_beside(path, text).name for text in "ab"] == ["chat.reply.md", "chat.reply-2.md"]
    assert read(path.with_name("chat.reply.md")) == "a"
    with pytest.raises(FileNotFoundError):
        save_beside(path.parent / "gone" / "chat.md", "c")


def test_two_at_once_are_refused_by_any_name(path: Path, tmp_path: Path):
    path.write_text("Hi.\n")
    other = tmp_path / "link.md"
    other.symlink_to(path)
    folder = tmp_path / "cache"
    folder.mkdir()
    with only_one(path, folder):
        with pytest.raises(Locked), only_one(other, folder):
            raise AssertionError
        with only_one(tmp_path / "another.md", folder):
            pass
    with only_one(other, folder):
        pass
    assert list((folder / "locks").iterdir()) == []
