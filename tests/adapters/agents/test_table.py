"""The rows of the agents: settings that hold any model name, patterns of a listed and a loaded skill."""

from __future__ import annotations

import json
import tomllib

import pytest

from prosa.adapters.agents.streams import FORMS
from prosa.adapters.agents.table import AGENTS, Setting, is_tried

ODD = 'a "model" \\ of ünits 🦔'
SKILL = "<skill>\n<name>refunds</name>\n<description>Decides on refunds.</description>"
LISTED = {
    "claude": "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n"
    "- verify: Checks.\n- refunds: Decides on refunds.\n</system-reminder>",
    "codex": "<skills_instructions>\n- refunds: Decides. (file: r1/refunds/SKILL.md)\n</skills_instructions>",
    "copilot": SKILL,
    "pi": SKILL,
    "gemini": SKILL,
    "qwen": "<skill>\n<name>\nrefunds\n</name>\n<description>\nDecides. (project)\n</description>",
    "opencode": SKILL,
}
NAMED = {
    "claude": "The following skills are available for use with the Skill tool:\n\n- refunds\n- verify: Checks.",
    "codex": "the folder /work/.agents/skills/refunds/SKILL.md",
    "copilot": "also available: verify, refunds, tide-times",
}


@pytest.mark.parametrize("name", AGENTS)
def test_settings_are_data_whatever_the_model_is_called(name: str) -> None:
    agent = AGENTS[name]
    for wire in agent.wires:
        setting = Setting("http://127.0.0.1:1", "tap-token", ODD, wire, "/home/agent")
        for path, text in agent.files(setting).items():
            found = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
            assert "127.0.0.1" in str(found) or "security" in found
        said = [*agent.arguments(setting), *agent.environment(setting).values(), *agent.files(setting).values()]
        assert any(json.dumps(ODD, ensure_ascii=False)[1:-1] in each or ODD in each for each in said)
        assert not any(part.startswith("tap-token") for part in agent.arguments(setting)), "no key in a command line"


@pytest.mark.parametrize("name", AGENTS)
def test_a_listed_skill_has_a_description(name: str) -> None:
    pattern = AGENTS[name].lists("refunds")
    assert pattern.search(LISTED[name])
    assert not pattern.search(LISTED[name].replace("refunds", "refunds-abroad"))
    assert not pattern.search("Read skills/refunds/SKILL.md, please: refunds.")
    if name in NAMED:
        assert not pattern.search(NAMED[name])


@pytest.mark.parametrize("name", AGENTS)
def test_a_skill_is_loaded_by_name_or_by_its_file(name: str) -> None:
    agent = AGENTS[name]
    for way in agent.loads:
        value = "refunds" if way.by == "name" else "cat '/work/.x/skills/refunds/SKILL.md' && ls"
        assert agent.loaded("refunds", way.tool, {way.argument: value})
        assert not agent.loaded("funds", way.tool, {way.argument: value})
        assert not agent.loaded("refunds", way.tool, {"other": value})
        assert not agent.loaded("refunds", way.tool, {way.argument: "skills/refunds/SKILL.md.bak"})
        assert not agent.loaded("refunds", way.tool, None)
    assert not any(agent.loaded("refunds", tool, {"path": "skills/refunds/SKILL.md"}) for tool in agent.writes)


def test_a_command_may_be_a_list() -> None:
    assert AGENTS["codex"].loaded("refunds", "shell", {"command": ["bash", "-lc", "cat /s/refunds/SKILL.md"]})


def test_every_row_has_a_reader_and_its_tried_versions() -> None:
    for name, agent in AGENTS.items():
        assert agent.name == name
        assert agent.form in FORMS
        assert all(is_tried(agent, each) for each in agent.tried)
        assert not is_tried(agent, "99.0.0")
        assert not is_tried(agent, "0.0.1")
    assert [each.name for each in AGENTS.values() if each.supported] == ["claude", "codex", "copilot", "pi"]
