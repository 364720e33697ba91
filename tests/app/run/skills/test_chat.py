"""Skills in a chat: offered with `--skill`, loaded by the model (X32)."""

from __future__ import annotations

from pathlib import Path

import pytest

import prosa as package
from prosa.testing import ScriptedProvider
from tests.app.run.skills.worlds import call, skill, write
from tests.cli.programs import prosa, script, user

CHAT = "### @user:\n\nGreet Ada.\n"


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    skill(tmp_path / "skills", files={"references/styles.md": "Say `Ahoy`.\n"})
    skill(tmp_path / "skills", "farewell", body="Say goodbye.\n", description="Bids farewell.")
    return write(tmp_path / "chat.md", CHAT)


def test_x32_a_chat_offers_skills_that_the_model_loads(chat):
    replies = (call("skill", name="greeting"), call("skill_read", skill="greeting", path="references/styles.md"))
    model = script(chat.parent, *replies, {"content": "Ahoy, Ada."})
    status, at = prosa("chat", chat, "--skill", chat.parent / "skills", "--model", model, environ=user(chat.parent))
    assert status == 0, at.err
    text = chat.read_text()
    assert "Ahoy, Ada." in text and "`skill_read` was called" in text


def test_x32_a_dry_run_of_a_chat_shows_names_and_descriptions(chat):
    status, at = prosa("chat", chat, "--skill", chat.parent / "skills", "--dry-run", environ=user(chat.parent))
    assert status == 0
    assert "- farewell: Bids farewell." in at.out and "Say goodbye" not in at.out


def test_x32_a_chat_in_python_takes_skills(chat):
    provider = ScriptedProvider([call("skill", name="farewell"), {"content": "Bye."}])
    result = package.chat(chat, skills=[chat.parent / "skills"], provider=provider, environ={})
    assert result.reply == "Bye." and result.summary.skills == ("farewell",)
    assert [each.name for each in provider.requests[0].tools] == ["skill", "skill_read"]


@pytest.mark.parametrize("named", ["skills/none", "."])
def test_x32_a_folder_without_skills_is_named(chat, named):
    at = prosa("chat", chat, "--skill", chat.parent / named, "--dry-run", environ=user(chat.parent))
    assert at[0] == 2 and "skill" in at[1].err


def test_x32_skills_of_one_name_collide_and_the_same_one_twice_does_not(chat):
    skill(chat.parent / "other")
    skills = ("--skill", chat.parent / "skills", "--skill", chat.parent / "skills" / "greeting")
    assert prosa("chat", chat, *skills, "--dry-run", environ=user(chat.parent))[0] == 0
    at = prosa("chat", chat, *skills, "--skill", chat.parent / "other", "--dry-run", environ=user(chat.parent))
    assert at[0] == 1 and "two skills are named 'greeting'" in at[1].err


def test_x32_a_skill_that_only_users_start_is_offered_where_it_is_named(chat):
    skill(chat.parent / "skills", "alone", more="disable-model-invocation: true\n", description="Is alone.")
    shown = prosa("chat", chat, "--skill", chat.parent / "skills", "--dry-run", environ=user(chat.parent))[1].out
    assert "Is alone." not in shown and "Bids farewell." in shown
    home = chat.parent / "skills" / "alone"
    assert "Is alone." in prosa("chat", chat, "--skill", home, "--dry-run", environ=user(chat.parent))[1].out
