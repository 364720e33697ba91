"""Chat Completions: what the service refuses in its own words, and what it answers, whole and as events."""

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
from prosa.adapters.agents.wires.shapes import Either, Fields, Many, Shape, Tagged, misfit, tagged
from prosa.data import Value
from prosa.runtime.messages import ToolCall

_MOST_ID: Final = 40
"""Characters of the id of a call."""

_TEXT: Final = tagged("type", Fields({"text": "string"}, {"prompt_cache_breakpoint": "any", "cache_control": "object"}))
_TEXTS: Final = Either(Many(Tagged("type", {"text": _TEXT})))
_PARTS: Final = Either(
    Many(
        Tagged(
            "type",
            {
                "text": _TEXT,
                "image_url": tagged("type", Fields({"image_url": "object"}, is_open=True)),
                "input_audio": tagged("type", Fields({"input_audio": "object"}, is_open=True)),
                "file": tagged("type", Fields({"file": "object"}, is_open=True)),
            },
        )
    )
)
_SAID: Final = Either(Many(Tagged("type", {"text": _TEXT, "refusal": tagged("type", Fields({"refusal": "string"}))})))
_CALL: Final = Tagged(
    "type",
    {
        "function": tagged(
            "type",
            Fields({"id": "string", "function": Fields({"name": "string", "arguments": "string"})}, {"index": "any"}),
        ),
        "custom": tagged("type", Fields({"id": "string", "custom": "object"})),
    },
)
_NAMED: Final[Mapping[str, Shape]] = {"name": "string"}
ROLES: Final[Mapping[str, Fields]] = {
    "system": tagged("role", Fields({"content": _TEXTS}, _NAMED)),
    "developer": tagged("role", Fields({"content": _TEXTS}, _NAMED)),
    "user": tagged("role", Fields({"content": _PARTS}, _NAMED)),
    "assistant": tagged(
        "role",
        Fields(
            {},
            {
                **_NAMED,
                "audio": "object",
                "content": _SAID,
                "function_call": "object",
                "refusal": "string",
                "tool_calls": Many(_CALL),
            },
            is_open=True,  # services that think hand their thoughts back under names of their own
        ),
    ),
    "tool": tagged("role", Fields({"content": _TEXTS, "tool_call_id": "string"}, _NAMED)),
    "function": tagged("role", Fields({"name": "string"}, {"content": "string"})),
}
FUNCTION: Final = Fields({"name": "string"}, {"description": "string", "parameters": "object", "strict": "boolean"})
FIELDS: Final[Mapping[str, Shape]] = {
    "audio": "object",
    "frequency_penalty": "number",
    "function_call": "any",
    "functions": "array",
    "logit_bias": "object",
    "logprobs": "boolean",
    "max_completion_tokens": "integer",
    "max_tokens": "integer",
    "metadata": "object",
    "modalities": "array",
    "moderation": "any",
    "n": "integer",
    "parallel_tool_calls": "boolean",
    "prediction": "object",
    "presence_penalty": "number",
    "prompt_cache_key": "string",
    "prompt_cache_options": "any",
    "prompt_cache_retention": "string",
    "reasoning_effort": "string",
    "response_format": Fields({"type": "string"}, {"json_schema": "object"}),
    "safety_identifier": "string",
    "seed": "integer",
    "service_tier": "string",
    "stop": "any",
    "store": "boolean",
    "stream": "boolean",
    "stream_options": Fields({}, {"include_usage": "boolean", "include_obfuscation": "boolean"}),
    "temperature": "number",
    "tool_choice": "any",
    "tools": Many(
        Tagged(
            "type",
            {
                "function": tagged("type", Fields({"function": FUNCTION})),
                "custom": tagged("type", Fields({"custom": "object"})),
            },
        )
    ),
    "top_logprobs": "integer",
    "top_p": "number",
    "user": "string",
    "verbosity": "string",
    "web_search_options": "object",
}
_SHAPE: Final = Fields({"model": "string", "messages": Many(Tagged("role", ROLES))}, FIELDS)


class _FunctionCall(TypedDict):
    name: str
    arguments: str


class _Call(TypedDict, total=False):
    id: Required[str]
    type: Required[str]
    function: _FunctionCall


class _Message(TypedDict, total=False):
    role: Required[str]
    content: Value
    refusal: str
    tool_call_id: str
    tool_calls: list[_Call]


class _Tool(TypedDict, total=False):
    type: Required[str]
    function: Function


class _StreamOptions(TypedDict, total=False):
    include_usage: bool


class _Format(TypedDict, total=False):
    type: str
    json_schema: dict[str, Value]


class _Body(TypedDict, total=False):
    """What is read of a body that has the shape; what is optional may be null."""

    messages: Required[list[_Message]]
    max_completion_tokens: int
    max_tokens: int
    n: int
    parallel_tool_calls: bool
    response_format: _Format
    stream: bool
    stream_options: _StreamOptions
    temperature: float
    tool_choice: Value
    tools: list[_Tool]


def _refusal(body: dict[str, Value], headers: Mapping[str, str], path: str) -> Refusal | None:
    del headers, path
    fault = misfit(body, _SHAPE)
    if fault is not None:
        return misfit_refusal(fault, "Unrecognized request argument supplied: {}")
    asked = cast("_Body", body)
    return _options(asked) or _tools(asked) or _messages(asked["messages"]) or _format(asked)


def _options(body: _Body) -> Refusal | None:
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        return Refusal(message, "stream_options")
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        return Refusal(message, "max_tokens", "invalid_parameter_combination")
    bounds = {"max_tokens": body.get("max_tokens"), "max_completion_tokens": body.get("max_completion_tokens")}
    for name, most in bounds.items():
        if most is not None and most < 1:
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {most} instead."
            return Refusal(message, name, "integer_below_min_value")
    if (body.get("n") or 1) != 1:
        return Refusal("The scripted service answers with one choice.", "n")
    if not 0 <= (body.get("temperature") or 0) <= 2:
        message = "Invalid 'temperature': decimal out of range. Expected a value from 0 to 2."
        return Refusal(message, "temperature", "decimal_out_of_range")
    return None


def _tools(body: _Body) -> Refusal | None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and body.get("tools") is None:
            return Refusal(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
    tools = body.get("tools")
    if tools == []:
        message = (
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        return Refusal(message, "tools", "empty_array")
    functions = [(at, tool["function"]) for at, tool in enumerate(tools or ()) if tool["type"] == "function"]
    for at, function in functions:
        if refused := function_refusal(function, f"tools[{at}].function"):
            return refused
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        named = choice.get("function")
        wanted = named.get("name") if isinstance(named, Mapping) else None
        if wanted not in [function["name"] for _, function in functions]:
            message = (
                f"Invalid value for 'tool_choice': no function named '{wanted}' was specified in the 'tools' parameter."
            )
            return Refusal(message, "tool_choice")
    return None


def _messages(messages: Sequence[_Message]) -> Refusal | None:
    if not messages:
        detail = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        return Refusal(detail, "messages", "empty_array")
    waiting: list[str] = []
    answers = False
    for at, message in enumerate(messages):
        place = f"messages.[{at}].role"
        if message["role"] == "tool":
            if not answers or message["tool_call_id"] not in waiting:
                detail = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                return Refusal(f"{detail}'tool_calls'.", place)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return _unanswered(waiting, place)
        answers = bool(message.get("tool_calls"))
        if message["role"] == "assistant" and (refused := _assistant(message, at)):
            return refused
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return _unanswered(waiting, f"messages.[{len(messages)}].role") if waiting else None


def _unanswered(waiting: Sequence[str], place: str) -> Refusal:
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    )
    which = f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    return Refusal(f"{message} {which}", place)


def _assistant(message: _Message, at: int) -> Refusal | None:
    calls = message.get("tool_calls")
    if calls == []:
        place = f"messages[{at}].tool_calls"
        detail = (
            f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        return Refusal(detail, place, "empty_array")
    if not calls and message.get("content") is None and message.get("refusal") is None:
        detail = "Invalid value for 'content': expected a string, got null."
        return Refusal(detail, f"messages.[{at}].content")
    ids = [call["id"] for call in calls or ()]
    for index, call_id in enumerate(ids):
        if not 0 < len(call_id) <= _MOST_ID:
            place = f"messages[{at}].tool_calls[{index}].id"
            detail = f"Invalid '{place}': string of {len(call_id)} characters. Expected 1 to {_MOST_ID}."
            return Refusal(detail, place, "string_above_max_length" if call_id else "empty_string")
    if len(set(ids)) < len(ids):
        return Refusal(f"Duplicate value for 'tool_call_id' in messages[{at}].tool_calls.", f"messages.[{at}]")
    return None


def _format(body: _Body) -> Refusal | None:
    wanted = body.get("response_format") or {}
    if wanted.get("type") not in (None, "text", "json_object", "json_schema"):
        known = "'json_object', 'json_schema', and 'text'"
        message = f"Invalid value: '{wanted.get('type')}'. Supported values are: {known}."
        return Refusal(message, "response_format.type", "invalid_value")
    if wanted.get("type") != "json_schema":
        return None
    return schema_refusal(wanted.get("json_schema"), "response_format.json_schema")


def _read(body: Mapping[str, Value]) -> Conversation:
    asked = cast("_Body", body)  # its shape was checked before
    systems, turns = [], []
    for message in asked["messages"]:
        role, text = message["role"], text_of(message.get("content"))
        if role in ("system", "developer"):
            systems.append(text)
        elif role == "assistant":
            calls = [
                ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls") or ()
                if call.get("type", "function") == "function"
            ]
            turns.append(ServiceTurn("assistant", text, tuple(calls)))
        elif role == "tool":
            turns.append(ServiceTurn("user", results=((message["tool_call_id"], text),)))
        else:
            turns.append(ServiceTurn("user", text))
    functions = [tool["function"] for tool in asked.get("tools") or () if tool["type"] == "function"]
    tools = [
        ToolOffer(function["name"], function.get("description") or "", function.get("parameters") or {})
        for function in functions
    ]
    return Conversation("\n\n".join(systems), tuple(tools), merged(turns))


_FINISHES: Final = {"filter": "content_filter", "refusal": "stop"}


def _finish(answered: Answered) -> str:
    return _FINISHES.get(answered.reply.finish, answered.reply.finish)


def _usage(answered: Answered) -> dict[str, Value]:
    usage = answered.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _head(answered: Answered, kind: str) -> dict[str, Value]:
    made = f"chatcmpl-{answered.number}"
    return {"id": made, "object": kind, "created": CREATED, "model": answered.model, "system_fingerprint": None}


def _completion(answered: Answered) -> dict[str, Value]:
    reply = answered.reply
    message: dict[str, Value] = {"role": "assistant", "content": reply.content or None, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    choice: dict[str, Value] = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answered)}
    return {**_head(answered, "chat.completion"), "choices": [choice], "usage": _usage(answered)}


def _events(answered: Answered) -> Iterator[bytes]:
    head = _head(answered, "chat.completion.chunk")
    counts = bool((cast("_Body", answered.body).get("stream_options") or {}).get("include_usage"))
    unknown: dict[str, Value] = {"usage": None} if counts else {}

    def event(delta: dict[str, Value], finish: str | None = None) -> bytes:
        choice: dict[str, Value] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return sse({**head, "choices": [choice], **unknown})

    reply = answered.reply
    yield event({"role": "assistant", "content": "", "refusal": None})
    for piece in pieces(reply.content):
        yield event({"content": piece})
    for piece in pieces(reply.refusal or ""):
        yield event({"refusal": piece})
    for index, call in enumerate(reply.tool_calls):
        function: dict[str, Value] = {"name": call.name, "arguments": ""}
        yield event({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in pieces(call.arguments):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield event({}, _finish(answered))
    if counts:
        yield sse({**head, "choices": [], "usage": _usage(answered)})
    yield b"data: [DONE]\n\n"


CHAT: Final = ServiceWire(
    name="chat",
    counted=("messages", "tools"),
    refusal=_refusal,
    read=_read,
    whole=_completion,
    events=_events,
    error=error,
    models=model_list,
    model=model_entry,
    count=lambda tokens: {"input_tokens": tokens},
)
