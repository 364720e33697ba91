"""What an agent asks its model for (X36): the request of each of the four wires, as far as a tap must know it.

In: the body of a request, which an agent made and nothing may be taken for granted in. Out: the model, the texts in
which skills are offered, the results of tools, the bound of the answer; or `BadRequest`, and never anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from prosa.data import Value
from prosa.records.agent import WireName
from prosa.runtime.messages import MOST_TOKENS

_PLAIN_PARAMETERS: Final = 64
"""Parameters that are kept, and characters of a text among them: they decide what a call costs."""


class BadRequest(Exception):
    """A body that no service would take, as a sentence for the agent."""


class ToolResult(Struct, frozen=True):
    """The result of one tool call as the agent hands it to the model. ``call`` is the id of the call, on a wire
    without ids the name of the tool."""

    call: str
    text: str
    is_error: bool = False


class AgentRequest(Struct, frozen=True):
    """One request of an agent.

    ``system`` and ``first``, the first text of the user, tell conversations apart. ``offered`` is everything in which
    skills may be listed: the system text, the tools, the texts of the user. ``results`` are those of the whole
    conversation, in order. ``bound`` is how many tokens the answer may have, all choices together; None where the
    request does not say. ``parameters`` are its plain ones.
    """

    model: str
    streams: bool
    system: str
    first: str
    offered: str
    results: tuple[ToolResult, ...]
    bound: int | None
    parameters: Mapping[str, Value]
    body: Mapping[str, Value]


class _Said(Struct):
    """What a reader finds in the messages of a request."""

    system: list[str]
    user: list[str]
    results: list[ToolResult]


def read_request(wire: WireName, body: bytes, model: str = "") -> AgentRequest:
    """Read a body. ``model`` is the name in the address, for the wire that has it there. Raises `BadRequest`."""
    value = _decoded(body)
    named = model or value.get("model")
    if not isinstance(named, str) or not named:
        raise BadRequest("the request names no model")
    transcript = _Said([], [], [])
    _READERS[wire](value, transcript)
    tools = value.get("tools")
    system = "\n".join(transcript.system)
    return AgentRequest(
        model=named,
        streams=value.get("stream") is True,
        system=system,
        first=transcript.user[0] if transcript.user else "",
        offered="\n".join([system, _listed_tools(tools), *transcript.user]),
        results=tuple(transcript.results),
        bound=_bound(wire, value),
        parameters=_plain(value),
        body=value,
    )


def bounded(wire: WireName, request: AgentRequest, tokens: int) -> bytes:
    """Return the body of a request with a bound on its answer."""
    value = dict(request.body)
    if wire == "gemini":
        config = value.get("generationConfig")
        value["generationConfig"] = {**(config if isinstance(config, dict) else {}), "maxOutputTokens": tokens}
    else:
        for name in _BOUNDS[wire]:
            value.pop(name, None)
        value[_BOUNDS[wire][0]] = tokens
    return json.dumps(value, separators=(",", ":")).encode()


def _decoded(body: bytes) -> Mapping[str, Value]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the request is not JSON") from None
    if not isinstance(value, dict):
        raise BadRequest("the request is not a JSON object")
    return value


_BOUNDS: Final[Mapping[WireName, tuple[str, ...]]] = {
    "messages": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "chat": ("max_completion_tokens", "max_tokens"),
    "gemini": ("maxOutputTokens", "max_output_tokens"),
}
"""The names under which each wire takes the most tokens of an answer; the first is the one that is written."""


def _bound(wire: WireName, value: Mapping[str, Value]) -> int | None:
    config = value.get("generationConfig", value.get("generation_config")) if wire == "gemini" else value
    if not isinstance(config, dict):
        return None
    asked = [_count(config[name]) for name in _BOUNDS[wire] if name in config]
    reply_count = _count(config.get("candidateCount" if wire == "gemini" else "n")) or 1
    known = [count for count in asked if count is not None]
    return max(known) * reply_count if known and len(known) == len(asked) else None


def _count(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS else None


def _plain(value: Mapping[str, Value]) -> dict[str, Value]:
    parameters = {
        name: member
        for name, member in value.items()
        if name not in ("model", "stream") and isinstance(member, str | int | float | bool)
        if len(name) <= _PLAIN_PARAMETERS and (not isinstance(member, str) or len(member) <= _PLAIN_PARAMETERS)
    }
    return dict(list(parameters.items())[:_PLAIN_PARAMETERS])


def _listed_tools(tools: Value) -> str:
    """Return the tools as text: their descriptions as they are, and the rest of them as JSON."""
    if not isinstance(tools, list):
        return ""
    texts: list[str] = []
    for entry in tools:
        declarations = entry.get("functionDeclarations") if isinstance(entry, dict) else None
        for tool in declarations if isinstance(declarations, list) else [entry]:
            inner = tool.get("function") if isinstance(tool, dict) else None
            named = inner if isinstance(inner, dict) else tool
            if isinstance(named, dict):
                texts.append(_clean(f"{named.get('name')}\n{named.get('description')}"))
            texts.append(json.dumps(tool, ensure_ascii=True))
    return "\n".join(texts)


# Each reader takes what it knows and passes over the rest: what a request means is for the service to say.


def _messages(value: Mapping[str, Value], transcript: _Said) -> None:
    transcript.system += _texts(value.get("system"))
    for message in _objects(value, "messages"):
        content = message.get("content")
        # Claude Code lists skills in a system message between the others.
        if message.get("role") in ("user", "system"):
            transcript.user += _texts(content)
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                text = "\n".join(_texts(block.get("content")))
                transcript.results.append(
                    ToolResult(_id(block.get("tool_use_id")), text, block.get("is_error") is True)
                )


def _responses(value: Mapping[str, Value], transcript: _Said) -> None:
    transcript.system += _texts(value.get("instructions"))
    if isinstance(value.get("input"), str):
        transcript.user += _texts(value["input"])
        return
    for item in _objects(value, "input"):
        kind = item.get("type", "message")
        if kind == "message":
            (transcript.user if item.get("role") == "user" else _not_assistant(item, transcript)).extend(
                _texts(item.get("content"))
            )
        elif isinstance(kind, str) and kind.endswith("_call_output"):
            transcript.results.append(ToolResult(_id(item.get("call_id")), "\n".join(_texts(item.get("output")))))


def _chat(value: Mapping[str, Value], transcript: _Said) -> None:
    for message in _objects(value, "messages"):
        texts, role = _texts(message.get("content")), message.get("role")
        if role == "tool":
            transcript.results.append(ToolResult(_id(message.get("tool_call_id")), "\n".join(texts)))
        else:
            (transcript.user if role == "user" else _not_assistant(message, transcript)).extend(texts)


def _gemini(value: Mapping[str, Value], transcript: _Said) -> None:
    system = value.get("systemInstruction", value.get("system_instruction"))
    transcript.system += _texts(system.get("parts") if isinstance(system, dict) else system)
    for content in _objects(value, "contents"):
        parts = content.get("parts")
        if content.get("role", "user") == "user":
            transcript.user += _texts(parts)
        for part in parts if isinstance(parts, list) else ():
            response = part.get("functionResponse") if isinstance(part, dict) else None
            if isinstance(response, dict):
                transcript.results.append(_function_response(response))


_READERS: Final[Mapping[WireName, Callable[[Mapping[str, Value], _Said], None]]] = {
    "messages": _messages,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}


def _function_response(response: Mapping[str, Value]) -> ToolResult:
    answer = response.get("response")
    inner = answer if isinstance(answer, dict) else {}
    text = inner.get("output", inner.get("error", answer))
    shown = text if isinstance(text, str) else json.dumps(text)
    return ToolResult(_id(response.get("id") or response.get("name")), _clean(shown), "error" in inner)


def _not_assistant(message: Mapping[str, Value], transcript: _Said) -> list[str]:
    """Return where the texts of a system message go; those of the model itself offer nothing."""
    return transcript.system if message.get("role") in ("system", "developer") else []


def _objects(value: Mapping[str, Value], name: str) -> Iterator[Mapping[str, Value]]:
    items = value.get(name)
    if not isinstance(items, list):
        raise BadRequest(f"`{name}` is not a list")
    for item in items:
        if isinstance(item, dict):
            yield item


def _texts(value: Value) -> list[str]:
    """Return the texts of a content: a text, or the parts that have one."""
    if isinstance(value, str):
        return [_clean(value)]
    parts = value if isinstance(value, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return [_clean(text) for text in texts if isinstance(text, str)]


def _id(value: Value) -> str:
    return _clean(value[:200]) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Return a text that can be written: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
