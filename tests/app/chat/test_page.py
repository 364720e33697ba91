"""The page about chats says what is true: each chat on it sends what the page shows, and every name has its place."""

from __future__ import annotations

from prosa.app.chat.prepare import prepare
from prosa.app.options import Options
from prosa.dialects.prapti.commands import BUILT_IN, CHAT_ROLES, TEXT_ROLES
from prosa.dialects.prapti.fields import SETTINGS
from prosa.render.turns import turns_text
from tests.app.chat.chats import around
from tests.house.examples import fences
from tests.house.tree import ROOT

PAGE = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8")


def test_every_chat_of_the_page_sends_what_the_page_shows(tmp_path):
    shown, compared = "", 0
    for fence in fences(PAGE):
        if fence.file:
            (tmp_path / fence.file).write_text(fence.text)
            if fence.file.endswith(".md"):
                turns = prepare(tmp_path / fence.file, Options(), around(tmp_path)).turns
                shown = turns_text(turns)
        elif fence.language == "text":
            assert fence.text.strip() == shown
            compared += 1
    assert compared == 3


def test_every_setting_command_and_role_is_on_the_page():
    names = [setting.path.removeprefix("vars.") for setting in SETTINGS]
    assert [name for name in (*names, *BUILT_IN, *CHAT_ROLES, *TEXT_ROLES) if f"{name}" not in PAGE] == []
