"""A fake of pi for tests, on the standard library alone: it lists skills, asks the Chat Completions API of its
settings, runs `read`, `write` and `bash`, and prints pi's stream. No model is behind it, and it decides nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from _socket import AF_INET, SOCK_STREAM, socket
from glob import glob

TYPE_CHECKING = False
if TYPE_CHECKING:  # a start takes a third of the time without `typing`, `pathlib`, `subprocess` and `urllib`
    from collections.abc import Iterator
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
    settings = json.loads(text_of(f"{os.environ['HOME']}/.pi/agent/models.json"))["providers"]["tap"]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"Current working directory: {os.getcwd()}\n{listing()}"},
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
    entries = []
    for path in (*glob(".pi/skills/*/SKILL.md"), *glob(".agents/skills/*/SKILL.md")):
        about = next(line[13:] for line in text_of(path).splitlines() if line.startswith("description: "))
        entries.append(
            f"<skill>\n<name>{path.split('/')[-2]}</name>\n<description>{about}</description>\n"
            f"<location>{os.path.abspath(path)}</location>\n</skill>"
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
    for _ in range(TRIES):
        status, data = posted(f"{settings['baseUrl']}/chat/completions", headers, body.encode())
        if status >= 400:
            words = f"{status} {data[:200]!r}"
            message = {"role": "assistant", "content": [], "usage": NOTHING, "stopReason": "error"}
            show("message_end", message={**message, "errorMessage": words})
            if status == 400:
                return None
            continue
        answer = json.loads(data)
        said: dict[str, Any] = answer["choices"][0]["message"]
        counted = {"input": answer["usage"]["prompt_tokens"], "output": answer["usage"]["completion_tokens"]}
        parts: list[dict[str, Any]] = [{"type": "text", "text": said["content"]}] if said.get("content") else []
        for each in said.get("tool_calls") or ():
            given = json.loads(each["function"]["arguments"])
            parts.append({"type": "toolCall", "id": each["id"], "name": each["function"]["name"], "arguments": given})
        show("message_end", message={"role": "assistant", "content": parts, "usage": {**NOTHING, **counted}})
        return said
    return None


def posted(url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
    """Send a request, and return the status and the body of the answer."""
    place, _, path = url.removeprefix("http://").partition("/")
    host, _, port = place.partition(":")
    head = {"host": place, "content-length": str(len(body)), "connection": "close", **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    there = socket(AF_INET, SOCK_STREAM)
    there.settimeout(60)
    there.connect((host, int(port)))
    there.sendall(f"POST /{path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
    answer = b""
    while piece := there.recv(1 << 16):
        answer += piece
    there.close()
    first, _, data = answer.partition(b"\r\n\r\n")
    if b"\r\ntransfer-encoding: chunked" in first.lower():
        data = b"".join(chunks(data))
    return int(first.split()[1]), data


def chunks(data: bytes) -> Iterator[bytes]:
    """The parts of a body."""
    while data:
        size, _, rest = data.partition(b"\r\n")
        yield rest[: int(size, 16)]
        data = rest[int(size, 16) + 2 :]


def text_of(path: str) -> str:
    """Return the text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def used(call: dict[str, Any]) -> dict[str, Any]:
    """Run a tool call, and return its result."""
    name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
    wrong = False
    try:
        if name == "read":
            text = text_of(given["path"])
        elif name == "write":
            with open(given["path"], "w", encoding="utf-8") as file:
                file.write(given["content"])
            text = "written"
        elif name == "bash":
            import subprocess

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
    text = text_of(__file__)
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{text}")
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
