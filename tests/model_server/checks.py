"""What a careful model service refuses in a request, so that a wrong body fails here and not only in the field.

Comes in: the decoded body. Goes out: the sentence of a 400 answer, or None. It checks shapes, not meaning. The order of
messages is that of X24, as the strictest services want it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
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
    if open_calls:
        return f"tool calls {sorted(open_calls)} were not answered", "messages"
    if disorder := _disorder([message["role"] for message in messages]):
        return disorder, "messages"
    names = [tool.get("function", {}).get("name") for tool in body.get("tools") or ()]
    return _tools(names) or _format((body.get("response_format") or {}).get("json_schema"), "response_format")


def _disorder(roles: list[str]) -> str | None:
    """What X24 forbids in an order of roles."""
    if roles[-1] not in {"user", "tool"}:
        return f"Expected last role User or Tool for serving but got {roles[-1]}"
    for at, (before, role) in enumerate(pairwise(roles), 1):
        if before == role == "assistant":
            return f"messages[{at}]: two assistant messages in a row"
        if role in {"system", "developer"}:
            return f"messages[{at}]: System message must be at the beginning."
    return None


def _responses(body: Mapping[str, Any]) -> tuple[str, str] | None:
    if "messages" in body or "response_format" in body or "stream_options" in body:
        return "Unknown parameter: this is the responses endpoint", "messages"
    if not body.get("input"):
        return "input: expected a text or a list of items", "input"
    if isinstance(body["input"], list) and (problem := _items(body["input"])):
        return problem, "input"
    names = [tool.get("name") for tool in body.get("tools") or ()]
    wanted = (body.get("text") or {}).get("format") or {}
    return _tools(names) or _format(wanted if wanted.get("type") == "json_schema" else None, "text.format")


def _items(items: list[Any]) -> str | None:
    """What is wrong with the items of a response's input. Only typed items are taken."""
    called: set[str] = set()
    roles = []
    for index, item in enumerate(items):
        kind, role = item.get("type"), item.get("role")
        if kind == "function_call":
            called.add(item["call_id"])
            roles.append("call")
        elif kind == "function_call_output":
            if item.get("call_id") not in called:
                return f"No tool call found for function call output with call_id {item.get('call_id')}"
            called.discard(item["call_id"])
            roles.append("tool")
        elif kind != "message":
            return "Cannot determine type of 'item'"
        elif role not in {"system", "developer", "user", "assistant"}:
            return f"input[{index}].role: unknown role {role!r}"
        else:
            part = "output_text" if role == "assistant" else "input_text"
            if any(each.get("type") != part for each in item["content"]):
                return f"input[{index}].content: 'type' must be '{part}'"
            roles.append(role)
    return f"No tool output found for function call {sorted(called)}" if called else _disorder(roles)


def template_refusal(refuses: set[str], body: Mapping[str, Any]) -> tuple[str, str] | None:
    """The words of chat templates that refuse a shape of messages."""
    items = [item for item in body.get("messages") or body.get("input") or () if isinstance(item, Mapping)]
    roles = [item.get("role") or item.get("type") for item in items]
    if "system" in refuses and ("system" in roles or body.get("instructions")):
        return "System role not supported", "messages"
    if "two-users" in refuses and ("user", "user") in pairwise(role for role in roles if role != "system"):
        return "Conversation roles must alternate user/assistant/user/assistant/...", "messages"
    several = any(len(item.get("tool_calls") or ()) > 1 for item in items)
    if "several-calls" in refuses and (several or ("function_call", "function_call") in pairwise(roles)):
        return "This model only supports single tool-calls at once!", "messages"
    return None


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


def limit_refusal(refuses: set[str], body: Mapping[str, Any]) -> tuple[str, str] | None:
    """What services say of bounds on an answer, in their words."""
    names = [name for name in ("max_completion_tokens", "max_tokens", "max_output_tokens") if name in body]
    if "two-limits" in refuses and len(names) > 1:
        return f"Setting '{names[1]}' and '{names[0]}' at the same time is not supported.", names[1]
    if "large" in refuses and names and body[names[0]] > 1000:
        most = "This model supports at most 1000 completion tokens"
        return f"{names[0]} is too large: {body[names[0]]}. {most}", names[0]
    return None
