"""A fake of Claude Code for tests: it lists skills, asks the Messages API at its base URL, runs the tools Skill, Write
and Bash, and prints the stream of its headless mode. It is no agent: no model is behind it, and it decides nothing.

Installed as a program `claude` in a folder on PATH by `install`; it runs on the standard library alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

VERSION = "2.1.197"


def main() -> int:
    if "--version" in sys.argv:
        print(f"{VERSION} (Claude Code)")
        return 0
    prompt = sys.argv[-1] if not sys.stdin or sys.stdin.isatty() else (sys.stdin.read() or sys.argv[-1])
    mode = os.environ.get("FAKE_CLAUDE", "")
    if mode == "silent":
        return 3
    skills = sorted(Path(".claude/skills").glob("*/SKILL.md"))
    listing = "".join(f"\n- {path.parent.name}: {_description(path)}" for path in skills)
    about = "The following skills are available for use with the Skill tool:"
    text = f"<system-reminder>\n{about}\n{listing}\n</system-reminder>"
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": text}, {"type": "text", "text": prompt}]}
    ]
    _begin([path.parent.name for path in skills])
    turns = 0
    while True:
        turns += 1
        try:
            reply = _ask(messages)
        except urllib.error.HTTPError as error:
            words = json.loads(error.read() or b"{}").get("error", {}).get("message", str(error))
            _print(
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": True,
                    "result": f"API Error: {error.code} {words}",
                    "num_turns": turns,
                    "session_id": "s",
                }
            )
            return 1
        messages.append({"role": "assistant", "content": reply["content"]})
        _print({"type": "assistant", "message": reply, "parent_tool_use_id": None, "session_id": "s"})
        calls = [each for each in reply["content"] if each["type"] == "tool_use"]
        if not calls:
            said = "".join(each.get("text", "") for each in reply["content"])
            _print(
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": False,
                    "result": said,
                    "num_turns": turns,
                    "stop_reason": "end_turn",
                    "session_id": "s",
                    "usage": reply["usage"],
                    "total_cost_usd": 0.01,
                }
            )
            return 0
        results = [{"type": "tool_result", "tool_use_id": each["id"], "content": _use(each)} for each in calls]
        messages.append({"role": "user", "content": results})
        _print({"type": "user", "message": messages[-1], "parent_tool_use_id": None, "session_id": "s"})


def _begin(skills: list[str]) -> None:
    _print(
        {
            "type": "system",
            "subtype": "init",
            "cwd": os.getcwd(),
            "tools": ["Skill", "Write", "Bash"],
            "skills": skills,
            "claude_code_version": VERSION,
            "session_id": "s",
        }
    )


def _description(path: Path) -> str:
    return next(
        line.partition(":")[2].strip() for line in path.read_text().splitlines() if line.startswith("description:")
    )


def _tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {key: {"type": "string", "description": about} for key, about in properties.items()},
    }
    return {"name": name, "description": f"the tool {name}", "input_schema": schema}


TOOLS = [
    _tool("Skill", skill="the name of the skill"),
    _tool("Write", file_path="an absolute path", content="the text"),
    _tool("Bash", command="the command", description="what it does"),
]


def _ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = {
        "model": os.environ["ANTHROPIC_MODEL"],
        "max_tokens": 1000,
        "messages": messages,
        "tools": TOOLS,
        "system": f"You are a fake. The working directory is {os.getcwd()}",
    }
    request = urllib.request.Request(
        f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages",
        json.dumps(body).encode(),
        {
            "content-type": "application/json",
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "anthropic-version": "2023-06-01",
        },
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as response:
        found: dict[str, Any] = json.loads(response.read())
    return found


def _use(call: dict[str, Any]) -> str:
    given = call["input"]
    if call["name"] == "Skill":
        return Path(".claude/skills", given["skill"], "SKILL.md").read_text()
    if call["name"] == "Write":
        Path(given["file_path"]).parent.mkdir(parents=True, exist_ok=True)
        Path(given["file_path"]).write_text(given["content"])
        return "written"
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _print(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def install(folder: Path) -> Path:
    """Write the program into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "claude"
    program.write_text(f"#!{Path(sys.executable).resolve()} -IS\n" + Path(__file__).read_text())
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
