"""What a careful model service refuses in a request, so that a wrong body fails here and not only in the field.

Comes in: the decoded body. Goes out: the sentence of a 400 answer, or None. It checks shapes, not meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STRICT_ONLY = "must list every property under `required` and have `additionalProperties: false`"


def refusal(kind: str, body: Mapping[str, Any]) -> tuple[str, str] | None:
    """(message, param) for a body that a real service would answer with 400, else None."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter", "model"
    return _chat(body) if kind == "chat" else _responses(body)


def _chat(body: Mapping[str, Any]) -> tuple[str, str] | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: expected a list with at least one message", "messages"
    if "system" in body or "instructions" in body or "input" in body:
        return "Unrecognized request argument supplied: this is the chat completions endpoint", "system"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options is only allowed when stream is on", "stream_options"
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in {"system", "developer", "user", "assistant", "tool"}:
            return f"messages[{index}].role: unknown role {role!r}", f"messages[{index}].role"
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{index}]: a tool message must answer a tool call", f"messages[{index}]"
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            return f"messages[{index}]: tool calls {sorted(open_calls)} were not answered", f"messages[{index}]"
        if role == "assistant":
            open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    names = [tool.get("function", {}).get("name") for tool in body.get("tools") or ()]
    return _tools(names) or _format((body.get("response_format") or {}).get("json_schema"), "response_format")


def _responses(body: Mapping[str, Any]) -> tuple[str, str] | None:
    if "messages" in body or "response_format" in body or "stream_options" in body:
        return "Unknown parameter: this is the responses endpoint", "messages"
    if not body.get("input"):
        return "input: expected a text or a list of items", "input"
    called: set[str] = set()
    for index, item in enumerate(body["input"] if isinstance(body["input"], list) else ()):
        if item.get("type") == "function_call":
            called.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item.get("call_id") not in called:
                return f"No tool call found for function call output with call_id {item.get('call_id')}", "input"
        elif item.get("role") not in {"system", "developer", "user", "assistant"}:
            return f"input[{index}].role: unknown role {item.get('role')!r}", f"input[{index}]"
    names = [tool.get("name") for tool in body.get("tools") or ()]
    wanted = (body.get("text") or {}).get("format") or {}
    return _tools(names) or _format(wanted if wanted.get("type") == "json_schema" else None, "text.format")


def _tools(names: list[Any]) -> tuple[str, str] | None:
    for name in names:
        if not isinstance(name, str) or not 0 < len(name) <= 64 or not name.replace("-", "_").isidentifier():
            if isinstance(name, str) and name.replace("-", "_").lstrip("0123456789_").isalnum() and len(name) <= 64:
                continue
            return f"tools: invalid function name {name!r}", "tools"
    return ("tools: two functions have one name", "tools") if len(set(names)) < len(names) else None


def _format(wanted: Mapping[str, Any] | None, param: str) -> tuple[str, str] | None:
    if wanted is None:
        return None
    if not wanted.get("name") or "schema" not in wanted:
        return f"Missing required parameter: '{param}.json_schema' needs name and schema", param
    if not wanted.get("strict"):
        return None
    place = _not_strict(wanted["schema"], "")
    return (
        None if place is None else (f"Invalid schema for {param} 'output': {place or 'the root'} {STRICT_ONLY}", param)
    )


def _not_strict(schema: Any, place: str) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties", {})
    is_object = schema.get("type") == "object" or "properties" in schema
    is_closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(properties)
    if is_object and not is_closed:
        return place
    inner = [(f"{place}/{name}", value) for name, value in properties.items()]
    inner += [(f"{place}/items", schema.get("items"))]
    inner += [(f"{place}/anyOf/{index}", value) for index, value in enumerate(schema.get("anyOf", ()))]
    inner += [(f"{place}/$defs/{name}", value) for name, value in schema.get("$defs", {}).items()]
    for where, value in inner:
        found = _not_strict(value, where)
        if found is not None:
            return found
    return None
