"""`prosa chat --watch`: a reply after every save that asks for one, a clean end at Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from prosa.cli.chat import turn as watch
from tests.adapters.mcp.support import wait_until
from tests.app.chat.turns import ASK, User, started_chat, talking


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def asleep(monkeypatch: pytest.MonkeyPatch, *moves) -> None:
    """While the watch waits, these happen one after the other, and then Ctrl-C."""
    left = list(moves)

    def sleep(seconds: float) -> None:
        if seconds != watch.STEP_SECONDS:
            return
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr(watch.time, "sleep", sleep)


def test_a_save_with_a_message_is_answered_and_others_are_not(user: User, monkeypatch: pytest.MonkeyPatch):
    waiting = f"watching {user.path}; Ctrl-C ends\n"
    asleep(
        monkeypatch,
        lambda: user.write(user.text + "Hi.\n"),
        lambda: None,
        lambda: user.write(user.text + "<!-- a thought -->\n"),
        lambda: user.write(user.text + "And?\n"),
    )
    done = user.chat("--watch", "--model", user.script("Ho."))
    assert (done.status, done.out) == (0, "Ho.\nHo.\n")
    assert done.err.count(waiting) == 4
    assert done.err.startswith(
        f"{user.path}: a new chat; write your message at its end, then run this again\n{waiting}"
    )
    assert "Hi.\n\n### @assistant:\n\nHo.\n\n### @user:\n\n<!-- a thought -->\nAnd?\n" in user.text


def test_what_is_said_while_a_reply_comes_is_answered_next(user: User, monkeypatch: pytest.MonkeyPatch):
    user.write(ASK)
    asleep(monkeypatch)
    said = iter([lambda: user.write(user.text + "\n### @user:\n\nAnd?\n"), lambda: None])
    talking(monkeypatch, "One\n", lambda: next(said)(), "two")
    done = user.chat("--watch", "--model", user.script())
    assert (done.status, done.out) == (0, "One\ntwo\nOne\ntwo\n")
    reply = "### @assistant:\n\nOne\ntwo\n"
    assert user.text == f"{ASK}\n{reply}\n### @user:\n\nAnd?\n\n{reply}\n### @user:\n\n"


def test_a_failure_is_told_and_the_next_save_is_waited_for(user: User, monkeypatch: pytest.MonkeyPatch):
    user.write("% temperature = hot\n\n" + ASK)
    asleep(
        monkeypatch,
        lambda: user.path.unlink(),
        lambda: user.write(ASK),
    )
    done = user.chat("--watch", "--model", user.script("Ho."))
    assert done.status == 0 and done.out == "Ho.\n" and "error: " in done.err
    assert user.text.startswith(ASK + "\n### @assistant:\n\nHo.\n")


def test_ctrl_c_ends_a_watch_that_waits(user: User):
    user.write(ASK)
    with started_chat(user, "--watch", "--model", user.script("Ho.")) as process:
        assert wait_until(lambda: "Ho." in user.text)
        assert process.stderr is not None
        assert process.stderr.readline() == f"watching {user.path}; Ctrl-C ends\n".encode()
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=120)
    assert (process.returncode, out, rest) == (0, b"Ho.\n", b"")


def test_what_no_save_can_mend_ends_the_watch(user: User):
    done = user.chat("--watch", file=user.folder / "none" / "chat.md")
    assert done.status == 2 and "does not exist" in done.err
    assert user.chat("--watch", file=user.folder).status == 2
