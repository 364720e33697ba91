"""X36: one script drives any agent: which tool loads a skill or writes a file comes from the request that asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from prosa.testing import ScriptedService

STORY = [
    {"load": "tide-times"},
    {"write": {"out.txt": "06:12 UTC"}},
    {"shell": "wc -c out.txt"},
    {"content": "High water is at 06:12 UTC."},
]


def tool(name: str, *required: str, **types: str) -> dict[str, Any]:
    properties = {each: {"type": types.get(each, "string")} for each in (*required, *types)}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(required)}}


HERE = "/srv/ws"
LISTED = "- tide-times: Tells when it is high water."
LOCATED = f"<location>{HERE}/.agents/skills/tide-times/SKILL.md</location>"
ROOTS = f"- `r0` = `/opt/own`\n- `r1` = `{HERE}/.agents/skills`\n- tide-times: Tells it. (file: r1/tide-times/SKILL.md)"
FILE = f"{HERE}/.agents/skills/tide-times/SKILL.md"
SHELLED = "printf %s '06:12 UTC' > out.txt"

AGENTS: dict[str, tuple[str, list[dict[str, Any]], list[tuple[str, Mapping[str, Any]]]]] = {
    "capitals": (
        f"{LISTED}\n - Primary working directory: {HERE}\n",
        [tool("Skill", "skill"), tool("Write", "file_path", "content"), tool("Bash", "command")],
        [
            ("Skill", {"skill": "tide-times"}),
            ("Write", {"file_path": f"{HERE}/out.txt", "content": "06:12 UTC"}),
            ("Bash", {"command": "wc -c out.txt"}),
        ],
    ),
    "a shell alone": (
        ROOTS,
        [tool("exec_command", "cmd")],
        [
            ("exec_command", {"cmd": f"cat {FILE}"}),
            ("exec_command", {"cmd": SHELLED}),
            ("exec_command", {"cmd": "wc -c out.txt"}),
        ],
    ),
    "a list of words": (
        ROOTS,
        [tool("shell", "command", command="array")],
        [
            ("shell", {"command": ["bash", "-lc", f"cat {FILE}"]}),
            ("shell", {"command": ["bash", "-lc", SHELLED]}),
            ("shell", {"command": ["bash", "-lc", "wc -c out.txt"]}),
        ],
    ),
    "a reader": (
        f"{LOCATED}\nCurrent working directory: {HERE}",
        [tool("read", "path"), tool("write", "path", "content"), tool("bash", "command")],
        [
            ("read", {"path": FILE}),
            ("write", {"path": f"{HERE}/out.txt", "content": "06:12 UTC"}),
            ("bash", {"command": "wc -c out.txt"}),
        ],
    ),
    "names and further arguments": (
        f"{LISTED} I'm currently working in the directory: {HERE}\n",
        [
            tool("activate_skill", "name"),
            tool("write_file", "file_path", "content"),
            tool("run_shell_command", "command", "is_background", "description", is_background="boolean"),
        ],
        [
            ("activate_skill", {"name": "tide-times"}),
            ("write_file", {"file_path": f"{HERE}/out.txt", "content": "06:12 UTC"}),
            (
                "run_shell_command",
                {"command": "wc -c out.txt", "is_background": False, "description": "as the script says"},
            ),
        ],
    ),
    "a creator": (
        f"{LISTED}\n<cwd>{HERE}</cwd>",
        [tool("skill", "skill"), tool("create", "path", "file_text"), tool("bash", "command")],
        [
            ("skill", {"skill": "tide-times"}),
            ("create", {"path": f"{HERE}/out.txt", "file_text": "06:12 UTC"}),
            ("bash", {"command": "wc -c out.txt"}),
        ],
    ),
}


def ask(service: ScriptedService, messages: list[Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "m", "messages": messages}
    if tools:
        body["tools"] = [{"type": "function", "function": each} for each in tools]
    answer = httpx2.post(
        f"{service.base_url('chat')}/chat/completions", json=body, headers={"authorization": f"Bearer {service.key}"}
    )
    if answer.status_code != 200:
        return {"error": answer.json()["error"]["message"]}
    message: dict[str, Any] = answer.json()["choices"][0]["message"]
    return {name: value for name, value in message.items() if value is not None}


def played(service: ScriptedService, system: str, tools: list[dict[str, Any]], *before: Any) -> list[Any]:
    """What a conversation is answered until a text ends it: pairs of tool and arguments, and the text."""
    messages: list[Any] = [
        {"role": "system", "content": system},
        *before,
        {"role": "user", "content": "When is it dry?"},
    ]
    seen: list[Any] = []
    for _ in range(6):
        message = ask(service, messages, tools)
        messages.append(message)
        for call in message.get("tool_calls") or ():
            seen.append((call["function"]["name"], json.loads(call["function"]["arguments"])))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
        if "tool_calls" not in message:
            return [*seen, message.get("content") or message["error"]]
    raise AssertionError(seen)


@pytest.fixture(scope="module")
def service() -> Any:
    with ScriptedService(STORY, per_conversation=True) as running:
        yield running


@pytest.mark.parametrize("agent", AGENTS)
def test_one_script_drives_every_agent(service: ScriptedService, agent: str):
    system, tools, wanted = AGENTS[agent]
    assert played(service, system, tools) == [*wanted, STORY[-1]["content"]]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_skill_that_is_not_listed_is_not_loaded(service: ScriptedService, agent: str):
    _, tools, wanted = AGENTS[agent]
    seen = played(service, f"Working directory: {HERE}", tools)
    assert [name for name, _ in seen[:-1]] == [name for name, _ in wanted[1:]]


def test_words_that_an_agent_puts_into_the_mouth_of_the_model_do_not_count(service: ScriptedService):
    system, tools, wanted = AGENTS["capitals"]
    before = [{"role": "user", "content": "The context."}, {"role": "assistant", "content": "Got it."}]
    assert played(service, system, tools, *before) == [*wanted, STORY[-1]["content"]]


def test_a_request_without_tools_gets_a_text_and_what_comes_later_the_last_one(service: ScriptedService):
    messages: list[Any] = [{"role": "user", "content": "A title for this?"}]
    first = ask(service, messages, [])
    assert first == {"role": "assistant", "content": STORY[-1]["content"]}
    assert ask(service, [*messages, first, {"role": "user", "content": "And now?"}], []) == first


def test_every_conversation_meets_the_errors_of_the_script_once():
    script = [{"error": {"message": "busy", "status": 503}}, {"content": "Hello."}]
    with ScriptedService(script, per_conversation=True) as service:
        for text in ("one", "two"):
            answers = [ask(service, [{"role": "user", "content": text}], []) for _ in range(2)]
            assert answers == [{"error": "busy"}, {"role": "assistant", "content": "Hello."}]


def test_a_tool_that_is_not_offered_is_named():
    with ScriptedService([{"shell": "ls"}]) as service:
        answer = ask(service, [{"role": "user", "content": "hi"}], [tool("look", "path")])
    assert answer["error"] == ("the script wants to run a command, and the request offers no tool for it: look")


def test_odd_schemas_of_a_tool_are_filled_as_far_as_they_go():
    odd = tool("bash", "command", "mode")
    odd["parameters"]["required"].append({})
    odd["parameters"]["properties"]["mode"]["enum"] = 1
    with ScriptedService([{"shell": "ls"}]) as service:
        call = ask(service, [{"role": "user", "content": "x"}], [odd])["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"command": "ls", "mode": "as the script says"}
