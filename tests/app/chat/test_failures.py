"""Whatever happens while a chat is answered: the file stays a chat, and what a model said is not lost (PW4)."""

from __future__ import annotations

import errno
import json
import os
from io import FileIO
from pathlib import Path

import pytest

from prosa.adapters.files import append, cache_dir
from prosa.adapters.files.lock import only_one
from prosa.app.chat import file as writing
from prosa.app.chat.answer import Spot
from prosa.app.chat.file import ReplyPlace, Stream, Writing, joint
from prosa.runtime.errors import ProviderError
from tests.app.chat.turns import ASK, User, talking
from tests.model_server.server import ModelServer

PARTLY = ASK + "\n### @assistant:\n\nOne\n\ntwo\n\n### @user:\n\n"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(writing, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(writing, "_STEP_SECONDS", 0.01)
    one = User(tmp_path)
    one.write(ASK)
    return one


def broken(retryable: bool = False) -> ProviderError:
    return ProviderError("the server went away", kind="network", retryable=retryable, retry_after=0)


def test_pw4_a_server_that_dies_in_the_middle_leaves_what_has_come(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4."""
    talking(monkeypatch, "One\n\ntw", "o", broken())
    done = user.chat("--model", user.script(), "--summary")
    assert (done.status, done.out, user.text) == (1, "", PARTLY)
    assert done.err.endswith("error: the server went away\n")
    summary = json.loads(done.err.removesuffix("error: the server went away\n"))
    assert (summary["success"], summary["error"]) == (False, "the server went away")


def test_pw4_a_real_stream_that_breaks_off_begins_anew(user: User):
    """PW4. What the first attempt said is taken away again."""
    with ModelServer() as server:
        server.script({"content": "Lost words\n\nand more", "fault": "truncated"}, "Hello.\n\nAll of it.")
        done = user.chat("--base-url", server.base_url)
    assert (done.status, done.out) == (0, "Hello.\n\nAll of it.\n")
    assert user.text == ASK + "\n### @assistant:\n\nHello.\n\nAll of it.\n\n### @user:\n\n"


def test_a_failure_before_anything_has_come_leaves_the_file_as_it_was(user: User, monkeypatch: pytest.MonkeyPatch):
    talking(monkeypatch, broken())
    done = user.chat("--model", user.script())
    assert (done.status, user.text, done.err) == (1, ASK, "error: the server went away\n")


def test_l44_ctrl_c_keeps_what_has_come(user: User, monkeypatch: pytest.MonkeyPatch):
    """L44."""
    talking(monkeypatch, "One\n\ntwo", lambda: os.kill(os.getpid(), 2), "", "never")
    done = user.chat("--model", user.script())
    assert (done.status, done.out, done.err) == (130, "", "interrupted\n")
    assert user.text == PARTLY


def test_an_open_fence_is_closed_when_a_reply_breaks_off(user: User, monkeypatch: pytest.MonkeyPatch):
    talking(monkeypatch, "```\ncode\n% n = 2", broken())
    assert user.chat("--model", user.script()).status == 1
    assert user.text.endswith("```\ncode\n% n = 2\n```\n\n### @user:\n\n")


def test_pw4_an_edit_of_the_question_is_kept_and_told(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4."""
    talking(monkeypatch, "One\n", lambda: user.write(user.text.replace("Hi.", "Ho.")), "two")
    done = user.chat("--model", user.script())
    assert (done.status, done.out) == (0, "One\ntwo\n")
    assert user.text == "### @user:\n\nHo.\n\n### @assistant:\n\nOne\ntwo\n\n### @user:\n\n"
    assert done.err == f"note: {user.path} was edited meanwhile: the reply answers the earlier version\n"


def test_pw4_a_file_that_an_editor_puts_in_its_place_gets_the_reply(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4. The editor knew nothing of the reply."""

    def replaced() -> None:
        other = user.folder / "other"
        other.write_text(ASK)
        other.replace(user.path)

    talking(monkeypatch, "One\n", replaced, "two")
    done = user.chat("--model", user.script())
    assert done.status == 0 and user.text == ASK + "\n### @assistant:\n\nOne\ntwo\n\n### @user:\n\n"
    assert done.err == (
        f"note: {user.path} was replaced without the reply, so the reply was written again at its end\n"
    )


def test_pw4_what_is_written_below_a_reply_stays_below_it(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4."""
    talking(monkeypatch, "One\n", lambda: user.write(user.text + "\n### @user:\n\nNext"), "two\n", "three")
    done = user.chat("--model", user.script())
    assert done.status == 0 and user.text == ASK + "\n### @assistant:\n\nOne\ntwo\nthree\n\n### @user:\n\nNext"
    assert done.err == f"note: {user.path} was edited below the reply: the reply is above your text\n"


def test_pw4_a_reply_whose_chat_vanished_is_saved_beside_it(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4."""
    (user.folder / "chat.reply.md").write_text("mine")
    talking(monkeypatch, "One\n", user.path.unlink, "two")
    done = user.chat("--model", user.script())
    saved = user.folder / "chat.reply-2.md"
    assert (done.status, done.out) == (1, "One\ntwo\n")
    words = f"{user.path}: the reply could not be written there (No such file or directory); it is saved in {saved}"
    assert done.err == f"error: {words}\n"
    assert saved.read_text() == "### @assistant:\n\nOne\ntwo\n" and not user.path.exists()
    assert (user.folder / "chat.reply.md").read_text() == "mine"


def test_pw4_a_chat_that_was_away_for_a_moment_gets_its_reply(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4: editors remove a file when they save it."""
    away = user.folder / "away"
    talking(monkeypatch, "One\n", lambda: user.path.rename(away), "two\n", lambda: away.rename(user.path), "three")
    assert user.chat("--model", user.script()).status == 0
    assert user.text == ASK + "\n### @assistant:\n\nOne\ntwo\nthree\n\n### @user:\n\n"


def test_a_reply_that_can_be_saved_nowhere_is_printed(user: User, monkeypatch: pytest.MonkeyPatch):
    def gone() -> None:
        (user.folder / "sub" / "chat.md").unlink()
        (user.folder / "sub").rmdir()

    (user.folder / "sub").mkdir()
    (user.folder / "sub" / "chat.md").write_text(ASK)
    talking(monkeypatch, "One\n", gone, "two")
    done = user.chat("--model", user.script(), file=user.folder / "sub" / "chat.md", terminal=True)
    assert (done.status, done.out) == (1, "One\ntwo\n")
    assert "it could be saved nowhere, and is printed" in done.err


def test_what_came_before_a_failure_and_can_be_saved_nowhere_is_printed(user: User, monkeypatch: pytest.MonkeyPatch):
    def gone() -> None:
        (user.folder / "sub" / "chat.md").unlink()
        (user.folder / "sub").rmdir()

    (user.folder / "sub").mkdir()
    (user.folder / "sub" / "chat.md").write_text(ASK)
    talking(monkeypatch, "One\n", gone, "two\n", broken())
    done = user.chat("--model", user.script(), file=user.folder / "sub" / "chat.md")
    assert (done.status, done.out) == (1, "### @assistant:\n\nOne\ntwo\n")
    assert "it could be saved nowhere, and is printed" in done.err


def test_pw4_a_full_disk_leaves_the_chat_whole(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4. The disk fills up while the reply comes, so that nothing can be saved beside it either."""

    class Full(FileIO):
        def write(self, data, /):
            raise OSError(errno.ENOSPC, "No space left on device")

    def fills_up() -> None:
        monkeypatch.setattr(append, "FileIO", Full)
        monkeypatch.setattr(append, "_write", lambda stream, data, size: Full.write(stream, data))

    talking(monkeypatch, "One\n", fills_up, "two")
    done = user.chat("--model", user.script())
    assert (done.status, done.out) == (1, "One\ntwo\n")
    assert "(No space left on device); it could be saved nowhere, and is printed" in done.err
    assert user.text == ASK + "\n### @assistant:\n\nOne\n"
    assert sorted(each.name for each in user.folder.glob("*.md")) == ["chat.md"]


def test_pw4_a_message_that_cannot_be_written_is_not_sent(user: User, monkeypatch: pytest.MonkeyPatch):
    """PW4."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    talker = talking(monkeypatch, "never")
    monkeypatch.setattr(append, "_write", full)
    done = user.chat("--message", "x", "--model", user.script())
    assert (done.status, done.out, user.text, talker.requests) == (1, "", ASK, [])
    words = "the message could not be written (No space left on device), so nothing was sent"
    assert done.err == f"error: {user.path}: {words}\n"


def test_l44_a_signal_keeps_what_has_come(user: User, monkeypatch: pytest.MonkeyPatch):
    """L44."""
    talking(monkeypatch, "One\n\ntwo", lambda: os.kill(os.getpid(), 15), "", "", "never")
    done = user.chat("--model", user.script())
    assert (done.status, done.err, user.text) == (143, "stopped by signal 15\n", PARTLY)


def test_p3_several_replies_at_once_stand_in_their_order_also_when_they_break_off(user: User):
    """P3."""
    below = append.Below(user.path, joint(), 10**6)
    streams = [Stream(ReplyPlace(0, number, f"### @assistant/{number}:")) for number in (1, 2, 3)]
    heard: list[tuple[int, str | None]] = []
    writing = Writing(below, ASK, "### @user:", streams, shown=lambda place, text: heard.append((place.number, text)))
    one, two, three = (Spot(0, number, None) for number in (1, 2, 3))
    writing.text(three, "third\n")
    writing.text(two, "wrong")
    writing.text(one, "first\nan")
    writing.again(two)
    writing.text(two, "second\n")
    assert "first" in user.text and "second" not in user.text
    writing.again(one)
    writing.text(one, "First\n")
    assert writing.finish() is None and writing.notices() == []
    replies = "### @assistant/1:\n\nFirst\n\n### @assistant/2:\n\nsecond\n\n### @assistant/3:\n\nthird\n"
    assert user.text == f"{ASK}\n{replies}\n### @user:\n\n"
    assert heard == [(1, "first\nan"), (1, None), (1, "First\n"), (2, "second\n"), (3, "third\n")]


def test_x19_a_reply_that_would_cut_off_the_chat_as_it_stands_now_is_saved_beside_it(user: User):
    """X19, PW4. Somebody puts `---` in front of the chat while the reply, which holds one too, is coming."""
    user.write(ASK)
    writing = Writing(
        append.Below(user.path, joint(), 10**6), ASK, "### @user:", [Stream(ReplyPlace(0, 1, "### @assistant:"))]
    )
    spot = Spot(0, 1, None)
    writing.text(spot, "first\n")
    user.path.write_text(f"---\n{user.text}")
    writing.text(spot, "---\nlast\n")
    saved = writing.finish()
    assert saved is not None and saved.beside is not None
    assert saved.why == "it would change how the text above is read"
    assert saved.beside.read_text() == "### @assistant:\n\nfirst\n---\nlast\n"
    assert user.text.rstrip() == f"---\n{ASK}".rstrip()


def refused(*_: object) -> bool:
    return False


def test_a_read_only_chat_is_refused_before_a_model_is_asked(user: User, monkeypatch: pytest.MonkeyPatch):
    talker = talking(monkeypatch, "never")
    monkeypatch.setattr(os, "access", refused)
    done = user.chat("--message", "x", "--model", user.script())
    assert (done.status, done.out, user.text, talker.requests) == (1, "", ASK, [])
    assert done.err.startswith(f"error: {user.path}: may not be written (Permission denied), so nothing was sent\n")
    done = user.chat("--message", "x", "--model", user.script(), file=user.folder / "new.md")
    assert done.status == 1 and "new.md: may not be written" in done.err and talker.requests == []


def test_a_chat_that_cannot_be_read_is_told(user: User):
    user.path.write_bytes(b"### @user:\n\n\xff\n")
    done = user.chat("--model", user.script())
    assert done.status == 2 and "is not UTF-8 text: byte 0xff in line 3" in done.err
    user.write("x" * 3000)
    done = user.chat("--model", user.script(), "--max-size", "2000")
    assert done.status == 2 and "is too large" in done.err


def test_errors_in_the_chat_stop_it_before_anything_is_sent(user: User, monkeypatch: pytest.MonkeyPatch):
    talker = talking(monkeypatch, "never")
    user.write("% temperature = warm\n\n" + ASK)
    done = user.chat("--model", user.script())
    assert (done.status, talker.requests) == (1, []) and "chat.md:1" in done.err
    assert "error: the chat has errors, so nothing was sent\n  run: prosa check" in done.err
    user.write("% include none.txt\n\n" + ASK)
    assert "`none.txt` is not included: there is no such file" in user.chat("--model", user.script()).err


def test_a_second_chat_on_the_same_file_is_refused(user: User, monkeypatch: pytest.MonkeyPatch):
    talker = talking(monkeypatch, "never")
    link = user.folder / "link.md"
    link.symlink_to(user.path)
    with only_one(user.path, cache_dir(user.environ)):
        done = user.chat("--message", "x", "--model", user.script(), file=link)
    assert (done.status, user.text, talker.requests) == (1, ASK, [])
    assert done.err.startswith(f"error: {link}: another `prosa chat` is answering it, so nothing was sent\n")


def test_an_empty_reply_is_told(user: User, monkeypatch: pytest.MonkeyPatch):
    talking(monkeypatch, "  \n")
    done = user.chat("--model", user.script())
    assert (done.status, user.text) == (0, ASK)
    assert done.err == f"note: {user.path}: the reply is empty, so nothing was written\n"


def test_without_a_key_the_three_ways_are_told_and_the_message_stays(user: User):
    """X17."""
    done = user.chat("--message", "And?")
    assert done.status == 1 and "Three ways on" in done.err
    assert user.text == ASK + "\n### @user:\n\nAnd?\n"
