"""Responses: what the service refuses in its own words, and what it answers, whole and as events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Required, TypedDict, cast

from prosa.adapters.agents.wires.exchange import (
    CREATED,
    Answered,
    Conversation,
    Refusal,
    ServiceTurn,
    ServiceWire,
    ToolOffer,
    merged,
    pieces,
    sse,
    text_of,
)
from prosa.adapters.agents.wires.openai import (
    Function,
    error,
    function_refusal,
    misfit_refusal,
    model_entry,
    model_list,
    schema_refusal,
)
from prosa.adapters.agents.wires.shapes import Choice, Either, Fields, Many, Shape, Tagged, misfit, tagged
from prosa.data import Value
from prosa.runtime.messages import ModelReply, ToolCall

_MOST_ID: Final = 64
_ANYTHING: Final = Fields(is_open=True)
_TEXT: Final[Mapping[str, Shape]] = {"text": "string"}
_INPUT_PARTS: Final[Mapping[str, Shape]] = {
    "input_text": tagged("type", Fields(_TEXT, {"prompt_cache_breakpoint": "any"})),
    "input_image": _ANYTHING,
    "input_file": _ANYTHING,
}
_OUTPUT_PARTS: Final[Mapping[str, Shape]] = {
    "output_text": tagged("type", Fields(_TEXT, {"annotations": "array", "logprobs": "array"})),
    "refusal": tagged("type", Fields({"refusal": "string"})),
}
_CONTENT: Final = Either(Many(Tagged("type", {**_INPUT_PARTS, **_OUTPUT_PARTS})))
_STATED: Final[Mapping[str, Shape]] = {"id": "string", "status": "string"}
_CALL: Final = Fields(
    {"call_id": "string", "name": "string", "arguments": "string"},
    {**_STATED, "async": "any", "caller": "any", "namespace": "string"},
)
_OUTPUT: Final = Fields(
    {"call_id": "string", "output": Either(Many(Tagged("type", {**_INPUT_PARTS})))},
    {**_STATED, "caller": "any", "name": "string", "namespace": "string"},
)
_ROLES: Final = ("assistant", "system", "developer", "user")
_OTHERS: Final = (
    "file_search_call",
    "computer_call",
    "computer_call_output",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "additional_tools",
    "configuration_update",
    "reasoning",
    "compaction",
    "image_generation_call",
    "code_interpreter_call",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "custom_tool_call_output",
    "custom_tool_call",
    "compaction_trigger",
    "item_reference",
    "program",
    "program_output",
)
"""Items of the service's own tools and of its state: known, and not looked into."""

ITEMS: Final[Mapping[str, Fields]] = {
    "message": tagged("type", Fields({"role": Choice(_ROLES), "content": _CONTENT}, {**_STATED, "phase": "string"})),
    "function_call": tagged("type", _CALL),
    "function_call_output": tagged("type", _OUTPUT),
    **dict.fromkeys(_OTHERS, _ANYTHING),
}
FUNCTION: Final = Fields(
    {"name": "string"},
    {
        "allowed_callers": "array",
        "async": "any",
        "defer_loading": "boolean",
        "description": "string",
        "output_schema": "object",
        "parameters": "object",
        "strict": "boolean",
    },
)
OTHER_TOOLS: Final = (
    "file_search",
    "computer",
    "computer_use_preview",
    "web_search",
    "web_search_2025_08_26",
    "mcp",
    "code_interpreter",
    "programmatic_tool_calling",
    "image_generation",
    "local_shell",
    "shell",
    "custom",
    "namespace",
    "tool_search",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "apply_patch",
)
FIELDS: Final[Mapping[str, Shape]] = {
    "access_programs": "any",
    "background": "boolean",
    "client_metadata": "object",
    "context_management": "any",
    "conversation": "any",
    "image": "any",
    "include": Many("string"),
    "input": Either(Many(Tagged("type", ITEMS, default="message"))),
    "instructions": "string",
    "max_output_tokens": "integer",
    "max_tool_calls": "integer",
    "metadata": "object",
    "moderation": "any",
    "parallel_tool_calls": "boolean",
    "previous_response_id": "string",
    "prompt": "object",
    "prompt_cache_key": "string",
    "prompt_cache_options": "any",
    "prompt_cache_retention": "string",
    "reasoning": "object",
    "safety_identifier": "string",
    "service_tier": "string",
    "store": "boolean",
    "stream": "boolean",
    "stream_options": Fields({}, {"include_obfuscation": "boolean"}),
    "temperature": "number",
    "text": Fields({}, {"format": "object", "verbosity": "string"}),
    "tool_choice": "any",
    "tools": Many(Tagged("type", {"function": tagged("type", FUNCTION), **dict.fromkeys(OTHER_TOOLS, _ANYTHING)})),
    "top_logprobs": "integer",
    "top_p": "number",
    "truncation": "string",
    "user": "string",
}
_SHAPE: Final = Fields({"model": "string"}, FIELDS)


class _Part(TypedDict, total=False):
    type: Required[str]
    text: str


class _Item(TypedDict, total=False):
    type: str
    role: str
    content: str | list[_Part]
    call_id: str
    name: str
    arguments: str
    output: str | list[_Part]


class _Tool(Function, total=False):
    type: Required[str]


class _Text(TypedDict, total=False):
    format: dict[str, Value]


class _Body(TypedDict, total=False):
    """What is read of a body that has the shape; what is optional may be null."""

    background: bool
    input: str | list[_Item]
    instructions: str
    max_output_tokens: int
    prompt: dict[str, Value]
    stream: bool
    stream_options: dict[str, Value]
    text: _Text
    tool_choice: Value
    tools: list[_Tool]


def _refusal(body: dict[str, Value], headers: Mapping[str, str], path: str) -> Refusal | None:
    del headers
    fault = misfit(body, _SHAPE)
    if fault is not None:
        return misfit_refusal(fault, "Unknown parameter: '{}'.")
    asked = cast("_Body", body)
    content, counts = asked.get("input"), path.endswith("/input_tokens")
    if not content and not asked.get("prompt") and not counts:
        names = "'input', 'prompt', or 'conversation'"
        return Refusal(f"Missing required parameter: one of {names} must be provided.", "input")
    items = content if isinstance(content, list) else ()
    return _options(asked) or _tools(asked) or _roles(items) or _calls(items) or _format(asked)


def _options(body: _Body) -> Refusal | None:
    if body.get("stream_options") is not None and not body.get("stream"):
        return Refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    most = body.get("max_output_tokens")
    if most is not None and most < 16:
        message = "integer below minimum value. Expected a value >= 16"
        return Refusal(
            f"Invalid 'max_output_tokens': {message}, but got {most} instead.",
            "max_output_tokens",
            "integer_below_min_value",
        )
    if body.get("background"):
        return Refusal("The scripted service answers at once: `background` is not supported.", "background")
    return None


def _tools(body: _Body) -> Refusal | None:
    functions = [(at, tool) for at, tool in enumerate(body.get("tools") or ()) if tool["type"] == "function"]
    for at, function in functions:
        if refused := function_refusal(function, f"tools[{at}]"):
            return refused
    choice = body.get("tool_choice")
    names = [function["name"] for _, function in functions]
    if isinstance(choice, Mapping) and choice.get("type") == "function" and choice.get("name") not in names:
        return Refusal(f"Tool choice 'function' not found in 'tools' parameter: {choice.get('name')}.", "tool_choice")
    return None


def _roles(items: Sequence[_Item]) -> Refusal | None:
    """Refuse parts that only the other side writes."""
    for at, item in enumerate(items):
        content = item.get("content")
        if item.get("type", "message") != "message" or not isinstance(content, list):
            continue
        known = _OUTPUT_PARTS if item["role"] == "assistant" else _INPUT_PARTS
        for index, part in enumerate(content):
            if part["type"] not in known:
                supported = ", ".join(f"'{kind}'" for kind in known)
                message = f"Invalid value: '{part['type']}'. Supported values are: {supported}."
                return Refusal(message, f"input[{at}].content[{index}]", "invalid_value")
    return None


def _calls(items: Sequence[_Item]) -> Refusal | None:
    called: list[str] = []
    answered: set[str] = set()
    for at, item in enumerate(items):
        if item.get("type") == "function_call":
            if not 0 < len(item["call_id"]) <= _MOST_ID:
                message = f"Invalid 'input[{at}].call_id': expected 1 to {_MOST_ID} characters."
                return Refusal(message, f"input[{at}].call_id")
            called.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in called:
                message = f"No tool call found for function call output with call_id {item['call_id']}."
                return Refusal(message, "input")
            answered.add(item["call_id"])
    missing = [call_id for call_id in called if call_id not in answered]
    return Refusal(f"No tool output found for function call {missing[0]}.", "input") if missing else None


def _format(body: _Body) -> Refusal | None:
    wanted = (body.get("text") or {}).get("format") or {}
    return schema_refusal(wanted, "text.format") if wanted.get("type") == "json_schema" else None


def _read(body: Mapping[str, Value]) -> Conversation:
    asked = cast("_Body", body)  # its shape was checked before
    content = asked.get("input") or []
    items: list[_Item] = [{"role": "user", "content": content}] if isinstance(content, str) else content
    systems, turns = [asked.get("instructions") or ""], []
    for item in items:
        kind = item.get("type") or "message"
        if kind == "function_call":
            call = ToolCall(item["call_id"], item["name"], item["arguments"])
            turns.append(ServiceTurn("assistant", calls=(call,)))
        elif kind == "function_call_output":
            turns.append(ServiceTurn("user", results=((item["call_id"], text_of(item["output"])),)))
        elif kind == "message" and item["role"] in ("system", "developer"):
            systems.append(text_of(item["content"]))
        elif kind == "message":
            turns.append(ServiceTurn("assistant" if item["role"] == "assistant" else "user", text_of(item["content"])))
    tools = [
        ToolOffer(tool["name"], tool.get("description") or "", tool.get("parameters") or {})
        for tool in asked.get("tools") or ()
        if tool["type"] == "function"
    ]
    return Conversation("\n\n".join(system for system in systems if system), tuple(tools), merged(turns))


_ENDS: Final = {"length": "max_output_tokens", "filter": "content_filter"}


def _items(answered: Answered) -> list[dict[str, Value]]:
    reply, number = answered.reply, answered.number
    parts: list[Value] = [_part(kind, text) for kind, text in _texts(reply)]
    items: list[dict[str, Value]] = []
    if parts or not reply.tool_calls:
        head = {"type": "message", "id": f"msg_{number}", "status": "completed", "role": "assistant"}
        items.append({**head, "content": parts})
    for at, call in enumerate(reply.tool_calls, 1):
        head = {"type": "function_call", "id": f"fc_{number}_{at}", "status": "completed"}
        items.append({**head, "call_id": call.id, "name": call.name, "arguments": call.arguments})
    return items


def _texts(reply: ModelReply) -> list[tuple[str, str]]:
    """Return what a reply says, each text with its kind."""
    parts = (("output_text", reply.content), ("refusal", reply.refusal or ""))
    return [(kind, text) for kind, text in parts if text]


def _part(kind: str, text: str) -> dict[str, Value]:
    if kind == "refusal":
        return {"type": kind, "refusal": text}
    return {"type": kind, "text": text, "annotations": [], "logprobs": []}


def _response(answered: Answered) -> dict[str, Value]:
    reason = _ENDS.get(answered.reply.finish)
    usage, body = answered.usage, answered.body
    return {
        "id": f"resp_{answered.number}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": answered.model,
        "output": list(_items(answered)),
        "parallel_tool_calls": body.get("parallel_tool_calls", True) is not False,
        "previous_response_id": body.get("previous_response_id"),
        "store": body.get("store") is not False,
        "temperature": body.get("temperature"),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p"),
        "truncation": body.get("truncation") or "disabled",
        "metadata": body.get("metadata") or {},
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_input_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.total_tokens,
        },
    }


def _events(answered: Answered) -> Iterator[bytes]:
    for number, (name, data) in enumerate(_named_events(answered)):
        yield sse({"type": name, "sequence_number": number, **data}, name)


def _named_events(answered: Answered) -> Iterator[tuple[str, dict[str, Value]]]:
    whole = _response(answered)
    started: dict[str, Value] = {
        **whole,
        "status": "in_progress",
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    items, calls = _items(answered), answered.reply.tool_calls
    for index, item in enumerate(items):
        number = index - (len(items) - len(calls))  # a message comes before the calls
        empty: dict[str, Value] = {"arguments": ""} if number >= 0 else {"content": []}
        yield "response.output_item.added", {"output_index": index, "item": {**item, "status": "in_progress", **empty}}
        events = _call_events(calls[number]) if number >= 0 else _message_events(answered.reply)
        for name, data in events:
            yield name, {"item_id": item["id"], "output_index": index, **data}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{whole['status']}", {"response": whole}


def _call_events(call: ToolCall) -> Iterator[tuple[str, dict[str, Value]]]:
    for piece in pieces(call.arguments):
        yield "response.function_call_arguments.delta", {"delta": piece}
    yield "response.function_call_arguments.done", {"name": call.name, "arguments": call.arguments}


def _message_events(reply: ModelReply) -> Iterator[tuple[str, dict[str, Value]]]:
    for place, (kind, text) in enumerate(_texts(reply)):
        here: dict[str, Value] = {"content_index": place}
        name = "refusal" if kind == "refusal" else "text"
        logged: dict[str, Value] = {"logprobs": []} if kind == "output_text" else {}
        yield "response.content_part.added", {**here, "part": _part(kind, "")}
        for piece in pieces(text):
            yield f"response.{kind}.delta", {**here, "delta": piece, **logged}
        yield f"response.{kind}.done", {**here, name: text, **logged}
        yield "response.content_part.done", {**here, "part": _part(kind, text)}


RESPONSES: Final = ServiceWire(
    name="responses",
    counted=("instructions", "input", "tools"),
    refusal=_refusal,
    read=_read,
    whole=_response,
    events=_events,
    error=error,
    models=model_list,
    model=model_entry,
    count=lambda tokens: {"object": "response.input_tokens", "input_tokens": tokens},
)
