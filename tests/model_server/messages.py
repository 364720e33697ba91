"""Anthropic's Messages as the fake server speaks them: what it refuses, in its words, and what it answers.

Both directions are held against the types of the service's own library: every field of a request must be one of theirs,
and every answer must be one that they read. What types do not say is checked beside them: roles in turn, results of
tools right behind their calls, texts that are not blank, the keywords of a schema.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

from tests.model_server.behaviour import Behaviour

_STOP = {"length": "max_tokens", "content_filter": "refusal", "stop": "end_turn", "tool_calls": "tool_use"}
_TYPE = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"} | {
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MOST = 64_000
"""Tokens that the models of this service write at most."""


@cache
def _types() -> Any:
    from anthropic import types

    return types


@cache
def _version() -> str:
    from anthropic._constants import ANTHROPIC_API_VERSION

    return ANTHROPIC_API_VERSION


def key_refusal(headers: Mapping[str, str], key: str) -> Behaviour | None:
    """What the service answers to a call without the right key."""
    given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if not given:
        return Behaviour(status=401, message="x-api-key header is required")
    return None if given == key else Behaviour(status=401, message=f"Incorrect API key provided: {given}")


# --- what comes in


def refusal(headers: Mapping[str, str], body: Mapping[str, Any], refuses: set[str]) -> str | None:
    """The sentence of a 400, or None for a request that is well."""
    if headers.get("anthropic-version") != _version():
        return "anthropic-version: header is required"
    streams = body.get("stream") is True
    kind = "MessageCreateParamsStreaming" if streams else "MessageCreateParamsNonStreaming"
    module = __import__("anthropic.types.message_create_params", fromlist=[kind])
    return (
        unlike(body, getattr(module, kind), "")
        or _bound(body, refuses)
        or _conversation(body["messages"], bool(body.get("tools")))
        or _thinking(body)
        or _tools(body)
        or _output(body, refuses)
        or _unsupported(body, refuses)
    )


def unlike(value: Any, kind: Any, place: str) -> str | None:
    """What is wrong with a value of a type; the fields of a mapping are those of its type and no others."""
    origin = get_origin(kind)
    if is_typeddict(kind):
        return _mapping(value, kind, place)
    if origin is typing.Union:
        return _one_of(value, get_args(kind), place)
    if origin is typing.Literal or str(origin).endswith("Literal"):
        return None if value in get_args(kind) else f"{place}: Input should be {get_args(kind)}"
    if kind in (Any, object):
        return None
    if kind in (str, int, float, bool):
        good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        return None if good else f"{place}: Input should be a valid {kind.__name__}"
    if kind is type(None):
        return None if value is None else f"{place}: Input should be null"
    if origin is dict:
        return None if isinstance(value, dict) else f"{place}: Input should be a valid dictionary"
    inner = (get_args(kind) or (Any,))[0]
    if not isinstance(value, list):
        return f"{place}: Input should be a valid list"
    return next((why for at, each in enumerate(value) if (why := unlike(each, inner, f"{place}.{at}"))), None)


def _mapping(value: Any, kind: Any, place: str) -> str | None:
    if not isinstance(value, dict):
        return f"{place}: Input should be a valid dictionary"
    fields = _fields(kind)
    start = f"{place}." if place else ""
    if unknown := sorted(value.keys() - fields.keys()):
        extra = getattr(kind, "__pydantic_config__", {}).get("extra") == "allow"
        return None if extra else f"{start}{unknown[0]}: Extra inputs are not permitted"
    if missing := sorted(kind.__required_keys__ - value.keys()):
        return f"{start}{missing[0]}: Field required"
    return next((why for name, each in value.items() if (why := unlike(each, fields[name], start + name))), None)


@cache
def _fields(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _one_of(value: Any, kinds: tuple[Any, ...], place: str) -> str | None:
    """The kind of the same `type` or `role` decides, so that its reason is the one that is told."""
    for tag in ("type", "role"):
        if isinstance(value, dict) and isinstance(value.get(tag), str):
            own = [each for each in kinds if is_typeddict(each) and _tagged(each, tag, value[tag])]
            kinds = tuple(own) or kinds
    reasons = [unlike(value, each, place) for each in kinds]
    return None if None in reasons else reasons[0]


def _tagged(kind: Any, tag: str, value: str) -> bool:
    found = _fields(kind).get(tag)
    return value in get_args(found)


def _bound(body: Mapping[str, Any], refuses: set[str]) -> str | None:
    most, name = (1000 if "large" in refuses else MOST), body["model"]
    if body["max_tokens"] > most:
        allowed = f"which is the maximum allowed number of output tokens for {name}"
        return f"max_tokens: {body['max_tokens']} > {most}, {allowed}"
    if "room" in refuses and 190_000 + body["max_tokens"] > 200_000:
        return f"input length and `max_tokens` exceed context limit: 190000 + {body['max_tokens']} > 200000, decrease"
    return None if body["max_tokens"] > 0 else "max_tokens: Input should be greater than or equal to 1"


def _conversation(messages: list[Any], has_tools: bool) -> str | None:
    if not messages:
        return "messages: at least one message is required"
    called: set[str] = set()
    waiting: list[str] = []
    before = None
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role not in {"user", "assistant"} or role == before:
            return f"messages.{at}: roles must alternate between user and assistant, found {role}"
        if not blocks:
            return f"messages.{at}: all messages must have non-empty content"
        if why := _blocks(at, role, blocks, called, waiting):
            return why
        uses = [each["id"] for each in blocks if each["type"] == "tool_use"]
        if uses and not has_tools:
            return "Requests which have `tool_use` or `tool_result` blocks must define tools"
        waiting, before = uses, role
    if waiting:
        return f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks: {waiting}"
    return None if before == "user" else "This model does not support assistant message prefill"


def _blocks(at: int, role: str, blocks: list[Any], called: set[str], waiting: list[str]) -> str | None:
    results = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    if sorted(results) != sorted(waiting):
        missing = sorted(set(waiting) ^ set(results))
        return f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
    if results and any(each["type"] != "tool_result" for each in blocks[: len(results)]):
        return f"messages.{at}: tool results must come first in the content"
    for number, each in enumerate(blocks):
        place = f"messages.{at}.content.{number}"
        if each["type"] == "text" and not each["text"].strip():
            return f"{place}: text content blocks must contain non-whitespace text"
        if each["type"] == "thinking" and each["signature"] != "c2lnbmF0dXJl":
            return f"{place}: Invalid `signature` in `thinking` block"
        if each["type"] == "tool_use":
            if role != "assistant" or not _ID.fullmatch(each["id"]):
                return f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if each["id"] in called:
                return f"{place}: `tool_use` ids must be unique"
            called.add(each["id"])
    return None


def _thinking(body: Mapping[str, Any]) -> str | None:
    """Who thinks as it is told to wants its thoughts back with its calls."""
    if (body.get("thinking") or {}).get("type") != "enabled":
        return None
    last = next((each["content"] for each in reversed(body["messages"]) if each["role"] == "assistant"), [])
    kinds = [each["type"] for each in last]
    if "tool_use" in kinds and kinds[0] != "thinking" and body["messages"][-1]["content"][0]["type"] == "tool_result":
        return "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    return None


def _tools(body: Mapping[str, Any]) -> str | None:
    names = [tool["name"] for tool in body.get("tools") or ()]
    for at, tool in enumerate(body.get("tools") or ()):
        if not _NAME.fullmatch(tool["name"]):
            return f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool["input_schema"].get("type") != "object":
            return f"tools.{at}.custom.input_schema.type: Field required"
    choice = body.get("tool_choice") or {}
    if choice and not names:
        return "tool_choice: may only be specified while providing `tools`"
    if choice.get("type") == "tool" and choice["name"] not in names:
        return f"tool_choice: Tool '{choice['name']}' not found in provided tools"
    return None if len(names) == len(set(names)) else "tools: Tool names must be unique."


def _output(body: Mapping[str, Any], refuses: set[str]) -> str | None:
    wanted = (body.get("output_config") or {}).get("format")
    if wanted is None:
        return None
    if "json_schema" in refuses:
        return f"output_config.format: '{body['model']}' does not support output format."
    from anthropic.lib._parse._transform import transform_schema

    try:
        if transform_schema(wanted["schema"]) == wanted["schema"]:
            return None
    except (ValueError, AssertionError, TypeError) as problem:
        return f"output_config.format.schema: {problem}"
    return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"


def _unsupported(body: Mapping[str, Any], refuses: set[str]) -> str | None:
    choice = (body.get("tool_choice") or {}).get("type")
    if "json_object" in refuses and choice == "tool":
        return "tool_choice: forcing a tool is not supported with this model."
    if "tools" in refuses and body.get("tools"):
        return "tools: this model does not support tools"
    return None


# --- what goes out


def error_body(entry: Behaviour) -> bytes:
    """The error object of an answer that is no success."""
    if entry.raw is not None:
        return entry.raw.encode()
    kind = entry.code or _TYPE.get(entry.status, "api_error")
    return _dump({"type": "error", "error": {"type": kind, "message": entry.message}, "request_id": "req_1"})


def body(entry: Behaviour, model: str) -> bytes:
    """A whole message; checked against the type that reads it."""
    made = _message(entry, model)
    _types().Message.model_validate(made, strict=True)
    if entry.fault == "missing_message":
        del made["content"]
    return _dump(made)


def _message(entry: Behaviour, model: str) -> dict[str, Any]:
    stop = _STOP.get(entry.finish or "", entry.finish) or ("tool_use" if entry.tool_calls else "end_turn")
    details = None
    if entry.refusal is not None:
        stop, details = "refusal", {"type": "refusal", "category": None, "explanation": entry.refusal}
    thoughts = [{"type": "thinking", "thinking": "hm, hm", "signature": "c2lnbmF0dXJl"}] if entry.tool_calls else []
    blocks: list[dict[str, Any]] = [{"type": "text", "text": entry.text, "citations": None}] if entry.text else []
    for number, call in enumerate(entry.tool_calls, 1):
        made = call.get("id") or f"toolu_{number}"
        arguments = call.get("arguments") or {}
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        blocks.append({"type": "tool_use", "id": made, "name": call["name"], "input": given, "caller": None})
    blocks = [{name: value for name, value in each.items() if value is not None} for each in blocks]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": entry.model or model,
        "content": [] if entry.fault == "empty_choices" else [*thoughts, *blocks],
        "stop_reason": None if entry.fault in {"empty_choices", "missing_message"} else stop,
        "stop_sequence": None,
        "stop_details": details,
        "usage": _usage(entry),
    }


def _usage(entry: Behaviour) -> dict[str, Any]:
    """The service counts apart what came out of its cache."""
    given, made, cached = entry.counts
    written = (entry.usage or {}).get("written_input_tokens", 0)
    return {
        "input_tokens": given - cached - written,
        "output_tokens": made,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }


def events(entry: Behaviour, model: str) -> list[bytes]:
    """The events of a streamed message; each is checked against the types that read it."""
    from pydantic import TypeAdapter

    adapter = _adapter(TypeAdapter)
    made = list(_events(entry, model))
    for each in made:
        adapter.validate_python(each)
    return [f"event: {each['type']}\ndata: ".encode() + _dump(each) + b"\n\n" for each in made]


@cache
def _adapter(make: Any) -> Any:
    return make(_types().RawMessageStreamEvent)


_DELTAS = {
    "text": ("text", "text_delta", "text"),
    "tool_use": ("input", "input_json_delta", "partial_json"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
}


def _events(entry: Behaviour, model: str) -> Iterator[dict[str, Any]]:
    whole = _message(entry, model)
    usage = whole["usage"]
    begun = {**usage, "output_tokens": min(1, usage["output_tokens"])}
    start = {**whole, "content": [], "stop_reason": None, "stop_details": None, "usage": begun}
    yield {"type": "message_start", "message": start}
    for at, block in enumerate(whole["content"]):
        name, kind, field = _DELTAS[block["type"]]
        empty = {**block, name: {} if name == "input" else ""} | ({"signature": ""} if name == "thinking" else {})
        yield {"type": "content_block_start", "index": at, "content_block": empty}
        text = json.dumps(block["input"], ensure_ascii=False) if name == "input" else block[name]
        for begin in range(0, len(text), entry.piece):
            delta = {"type": kind, field: text[begin : begin + entry.piece]}
            yield {"type": "content_block_delta", "index": at, "delta": delta}
        if name == "thinking":
            delta = {"type": "signature_delta", "signature": block["signature"]}
            yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None, "stop_details": whole["stop_details"]}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
