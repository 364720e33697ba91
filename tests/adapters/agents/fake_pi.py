"""A fake of pi for tests, on the standard library alone: it lists skills, asks the Chat Completions API of its
settings, runs `read`, `write` and `bash`, and prints pi's stream. No model is behind it, and it decides nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TRIES = 3
NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}


def main() -> int:
    """Run one request, or do what FAKE_PI says instead."""
    mode = os.environ.get("FAKE_PI", "")
    if mode == "silent":
        print("no idea", file=sys.stderr)
        return 3
    if mode == "noise":
        print("Welcome! Please log in.")
        return 0
    if mode == "hang":
        time.sleep(600)
    settings = json.loads((Path.home() / ".pi/agent/models.json").read_text())["providers"]["tap"]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"Current working directory: {Path.cwd()}\n{listing()}"},
        {"role": "user", "content": sys.stdin.read()},
    ]
    show("session")
    if mode == "long":
        print("x" * (17 * 2**20))
    while True:
        reply = asked(settings, messages)
        if reply is None:
            if mode == "glosses":
                said = [{"type": "text", "text": "[API Error: 400]"}]
                show("message_end", message={"role": "assistant", "content": said, "usage": NOTHING})
            show("agent_end", messages=[])
            return 0
        messages.append(reply)
        results = [used(each) for each in reply.get("tool_calls") or ()]
        messages += results
        if not results:
            break
    if mode != "cut":
        show("agent_end", messages=[])
    if mode == "stays":
        time.sleep(600)
    return 0


def listing() -> str:
    """The skills, as pi lists them."""
    found = [*Path(".pi/skills").glob("*/SKILL.md"), *Path(".agents/skills").glob("*/SKILL.md")]
    entries = []
    for path in found:
        about = next(line[13:] for line in path.read_text().splitlines() if line.startswith("description: "))
        entries.append(
            f"<skill>\n<name>{path.parent.name}</name>\n<description>{about}</description>\n"
            f"<location>{path.absolute()}</location>\n</skill>"
        )
    return "<available_skills>\n" + "\n".join(entries) + "\n</available_skills>"


def tool(name: str, *arguments: str) -> dict[str, Any]:
    """A tool as the API wants it."""
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in arguments}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


def asked(settings: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Ask the model, and print what it said; None where it did not answer."""
    tools = [tool("read", "path"), tool("write", "path", "content"), tool("bash", "command")]
    body = json.dumps({"model": settings["models"][0]["id"], "messages": messages, "tools": tools})
    headers = {"content-type": "application/json", "authorization": f"Bearer {settings['apiKey']}"}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(TRIES):
        request = urllib.request.Request(f"{settings['baseUrl']}/chat/completions", body.encode(), headers)
        try:
            with opener.open(request, timeout=60) as response:
                answer = json.loads(response.read())
        except urllib.error.HTTPError as error:
            words = f"{error.code} {error.read()[:200]!r}"
            message = {"role": "assistant", "content": [], "usage": NOTHING, "stopReason": "error"}
            show("message_end", message={**message, "errorMessage": words})
            if error.code == 400:
                return None
            continue
        said: dict[str, Any] = answer["choices"][0]["message"]
        counted = {"input": answer["usage"]["prompt_tokens"], "output": answer["usage"]["completion_tokens"]}
        parts: list[dict[str, Any]] = [{"type": "text", "text": said["content"]}] if said.get("content") else []
        for each in said.get("tool_calls") or ():
            given = json.loads(each["function"]["arguments"])
            parts.append({"type": "toolCall", "id": each["id"], "name": each["function"]["name"], "arguments": given})
        show("message_end", message={"role": "assistant", "content": parts, "usage": {**NOTHING, **counted}})
        return said
    return None


def used(call: dict[str, Any]) -> dict[str, Any]:
    """Run a tool call, and return its result."""
    name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
    wrong = False
    try:
        if name == "read":
            text = Path(given["path"]).read_text()
        elif name == "write":
            Path(given["path"]).write_text(given["content"])
            text = "written"
        elif name == "bash":
            done = subprocess.run(["bash", "-c", given["command"]], capture_output=True, text=True, check=False)
            text, wrong = done.stdout + done.stderr, done.returncode != 0
        else:
            text, wrong = f"Tool {name} not found", True
    except OSError as error:
        text, wrong = str(error), True
    result = {"role": "toolResult", "toolCallId": call["id"], "content": [{"type": "text", "text": text}]}
    show("message_end", message={**result, "isError": wrong})
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def show(kind: str, **more: Any) -> None:
    """Print one line of the stream."""
    print(json.dumps({"type": kind, **more}), flush=True)


def install(folder: Path) -> Path:
    """Write the program `pi` into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "pi"
    program.write_text(f"#!{Path(sys.executable).resolve()} -IS\n{Path(__file__).read_text()}")
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
