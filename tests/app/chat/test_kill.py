"""Killed at any moment, a chat leaves a file that is the chat it was and the beginning of the reply (PW4)."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prosa.dialects.prapti.content import sent_text
from tests import warm
from tests.adapters.mcp.support import wait_until
from tests.app.chat.chats import chat
from tests.app.chat.turns import User, started_chat
from tests.model_server.server import ModelServer

LINES = [
    "Hello.", "", "### @user:", "% n = 2", "```", "% code", "```", "> % quoted", "<div>", "- a", "", "  more", "ünï",
]  # fmt: skip
REPLY = "\n".join(LINES * 12)
ASK = "% n = 1\n\n### @system:\n\nBe brief.\n\n### @user/Ada:\n\nHi.\n"

WRITER = """
import sys
from pathlib import Path
from prosa.adapters.files.append import Below
from prosa.app.chat.file import joint
from prosa.app.chat.file import ReplyPlace, Stream, Writing
from prosa.app.chat.answer import Spot

path, reply = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
while True:
    before = path.read_text()
    stream = Stream(ReplyPlace(0, 1, "### @assistant:"))
    writing = Writing(Below(path, joint(), 10**7), before, "### @user/Ada:", [stream])
    for at in range(0, len(reply), 7):
        writing.text(Spot(0, 1, None), reply[at : at + 7])
    writing.finish()
"""


def said(text: str) -> list[tuple[str, str | None, str]]:
    model = chat(text)
    return [(each.role, each.name, sent_text(each, model.document, {})) for each in model.messages]


def check(text: str) -> int:
    """Asserts what has to hold; gives the number of replies that have begun."""
    found = said(text)
    asked = said(ASK)
    assert found[: len(asked)] == asked
    for number, (role, name, content) in enumerate(found[len(asked) :]):
        if number % 2:
            assert (role, name, content) == ("user", "Ada", "")
        else:
            assert (role, name) == ("assistant", None)
            assert REPLY.startswith((content, content.removesuffix("```").rstrip()))
    assert text.endswith("\n")
    return len(found) - len(asked)


def test_pw4_killed_while_it_writes(tmp_path: Path):
    """PW4. Many turns at full speed, killed at random; on a busy machine more of them until enough have begun."""
    path, chance, begun, killed = tmp_path / "chat.md", random.Random(4), 0, 0
    while killed < 10 or (begun <= 10 and killed < 100):
        killed += 1
        path.write_text(ASK)
        command = [sys.executable, "-c", WRITER, str(path), REPLY]
        with warm.popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.random() * 0.05)
            process.kill()
        begun += check(path.read_text())
    assert begun > 10


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_pw4_killed_while_a_model_answers(tmp_path: Path, share: float):
    """PW4. The chat goes on afterwards: what is there was said."""
    one = User(tmp_path)
    one.write(ASK)
    with ModelServer() as server:
        server.script({"content": REPLY, "fault": "slow_drip", "interval": 0.0002, "piece": 64}, "Well again.")
        with started_chat(one, "--base-url", server.base_url) as process:
            assert wait_until(lambda: len(one.text) > len(ASK) + share * len(REPLY))
            process.kill()
        assert check(one.text) == 1
        done = one.chat("--message", "Go on", "--base-url", server.base_url)
        assert done.status == 0, done.err
        assert said(one.text)[-2:] == [("assistant", None, "Well again."), ("user", "Ada", "")]
