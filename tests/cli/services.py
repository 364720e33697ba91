"""The services that a run may ask, for scenarios that must go the same way with each of them (LA3, X7).

`service.asked(program)` is a run that asks the one at hand, at the fake server; `service.sent` is what it was sent, in
the words of Chat Completions, whatever it speaks itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.desk import Desk
from tests.cli.programs import prosa, user
from tests.model_server import messages
from tests.model_server.connection import Request
from tests.model_server.server import ModelServer

NAMES = ("chat", "responses", "anthropic", "google")
MODEL = "gpt-4o"


@dataclass(frozen=True)
class Service:
    """One of `NAMES`, at the fake server."""

    name: str
    server: ModelServer

    @property
    def base_url(self) -> str:
        """The address that errors name."""
        return self.server.google_url if self.name == "google" else self.server.base_url

    def asked(self, path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
        """A run that asks it."""
        return self.ran("run", path, *argv, **environ)

    def ran(self, command: str, path: Path, *argv: Any, **environ: str) -> tuple[int, Desk]:
        """A command that asks it."""
        prefix = "" if self.name in {"chat", "responses"} else f"{self.name}/"
        given = ("--model", f"{prefix}{MODEL}", *(() if prefix else ("--api", self.name)))
        return prosa(command, path, *given, *argv, environ=user(path.parent, **{**self.environ, **environ}))

    @property
    def environ(self) -> dict[str, str]:
        """What its user has set."""
        return {
            "anthropic": {"ANTHROPIC_BASE_URL": self.base_url, "ANTHROPIC_API_KEY": "sk-a"},
            "google": {"GOOGLE_GEMINI_BASE_URL": self.base_url, "GEMINI_API_KEY": "sk-g"},
        }.get(self.name, {"OPENAI_BASE_URL": self.base_url})

    @property
    def sent(self) -> list[dict[str, Any]]:
        """What it was sent: messages, tools, the schema of the answer, whether it streams; one for each request."""
        return [_plain(each) for each in self.server.requests if each.kind not in {"models", "other"}]


def service_at(name: str, server: ModelServer) -> Service:
    """One of `NAMES` that can answer at once."""
    if name == "anthropic":
        messages._types()  # takes seconds once: not while a request waits for its answer
    return Service(name, server)


def _plain(request: Request) -> dict[str, Any]:
    body = request.body
    read = {"chat": _chat, "responses": _responses, "messages": _messages, "generate": _generate}[request.kind]
    found = {**read(body), "stream": request.streams}
    return {name: value for name, value in found.items() if value not in (None, [])}


def _chat(body: Mapping[str, Any]) -> dict[str, Any]:
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    tools = [each["function"] for each in body.get("tools") or ()]
    return {"messages": body["messages"], "tools": tools, "schema": wanted.get("schema")}


def _responses(body: Mapping[str, Any]) -> dict[str, Any]:
    said = [{"role": "system", "content": body["instructions"]}]
    for item in body["input"]:
        if item["type"] == "function_call_output":
            said.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        elif item["type"] == "message":
            said.append({"role": item["role"], "content": item["content"][0]["text"]})
        else:
            said.append({"role": "assistant", "content": None})
    wanted = (body.get("text") or {}).get("format") or {}
    tools = [_tool(each["name"], each["description"], each["parameters"]) for each in body.get("tools") or ()]
    return {"messages": _calls_joined(said), "tools": tools, "schema": wanted.get("schema")}


def _messages(body: Mapping[str, Any]) -> dict[str, Any]:
    said = [{"role": "system", "content": body["system"]}]
    for message in body["messages"]:
        said += _blocks(message)
    wanted = (body.get("output_config") or {}).get("format") or {}
    tools = [_tool(each["name"], each["description"], each["input_schema"]) for each in body.get("tools") or ()]
    return {"messages": said, "tools": tools, "schema": wanted.get("schema")}


def _blocks(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    calls = [each for each in message["content"] if each["type"] == "tool_use"]
    texts = [each["text"] for each in message["content"] if each["type"] == "text"]
    for each in message["content"]:
        if each["type"] == "tool_result":
            yield {"role": "tool", "tool_call_id": each["tool_use_id"], "content": each["content"]}
    if calls or texts:
        yield {"role": message["role"], "content": "\n\n".join(texts) or None}


def _generate(body: Mapping[str, Any]) -> dict[str, Any]:
    said = [{"role": "system", "content": body["systemInstruction"]["parts"][0]["text"]}]
    for content in body["contents"]:
        said += _parts(content)
    schema = (body.get("generationConfig") or {}).get("responseJsonSchema")
    declared = [each for tool in body.get("tools") or () for each in tool["functionDeclarations"]]
    tools = [_tool(each["name"], each["description"], each["parametersJsonSchema"]) for each in declared]
    return {"messages": said, "tools": tools, "schema": schema}


def _parts(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for part in content["parts"]:
        if "functionResponse" in part:
            answer = part["functionResponse"]
            yield {"role": "tool", "tool_call_id": answer["id"], "content": answer["response"]["output"]}
    texts = [part["text"] for part in content["parts"] if "text" in part]
    if texts or any("functionCall" in part for part in content["parts"]):
        yield {"role": "user" if content["role"] == "user" else "assistant", "content": "\n\n".join(texts) or None}


def _tool(name: str, description: str, parameters: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": parameters}


def _calls_joined(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several calls of one reply as the one message that they are elsewhere."""
    found: list[dict[str, Any]] = []
    for each in said:
        if not (found and each == found[-1] == {"role": "assistant", "content": None}):
            found.append(each)
    return found
