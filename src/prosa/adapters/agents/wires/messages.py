"""Anthropic's Messages: what the service refuses in its own words, and what it answers, whole and as events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Required, TypedDict, cast

from prosa.adapters.agents.wires.exchange import (
    Answered,
    Conversation,
    Refusal,
    ServiceTurn,
    ServiceWire,
    ToolOffer,
    arguments_of,
    compact,
    merged,
    pieces,
    sse,
    text_of,
)
from prosa.adapters.agents.wires.shapes import Choice, Either, Fields, Many, Misfit, Shape, Tagged, misfit, tagged
from prosa.data import Value
from prosa.regex import regex
from prosa.runtime.messages import ModelReply, ToolCall, Usage

_ID = regex(r"[a-zA-Z0-9_-]+")
_NAME = regex(r"[a-zA-Z0-9_-]{1,128}")
_MOST_MARKS: Final = 4
"""Places that a request may mark for the cache."""

_LEAST_THINKING: Final = 1024

_CACHE: Final[Mapping[str, Shape]] = {"cache_control": "object"}
_TEXT: Final = Fields({"text": "string"}, {**_CACHE, "citations": "any"})
_IMAGE: Final = Fields({"source": "object"}, {**_CACHE, "transformations": "any"})
_DOCUMENT: Final = Fields({"source": "object"}, {**_CACHE, "citations": "any", "context": "string", "title": "string"})
_SEARCHED: Final = Fields({"content": "array", "source": "string", "title": "string"}, {**_CACHE, "citations": "any"})
_ANYTHING: Final = Fields(is_open=True)
_RESULT_PARTS: Final = Tagged(
    "type",
    {
        "text": tagged("type", _TEXT),
        "image": tagged("type", _IMAGE),
        "document": tagged("type", _DOCUMENT),
        "search_result": tagged("type", _SEARCHED),
        "tool_reference": _ANYTHING,
    },
)
_USE: Final = Fields(
    {"id": "string", "name": "string", "input": "object"}, {**_CACHE, "caller": "any", "toolset_name": "any"}
)
_RESULT: Final = Fields(
    {"tool_use_id": "string"},
    {**_CACHE, "content": Either(Many(_RESULT_PARTS)), "is_error": "boolean", "toolset_name": "any"},
)
_OF_SERVERS: Final = (
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "container_upload",
    "advisor_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "compaction",
    "tool_addition",
    "tool_removal",
    "mcp_tool_listing",
    "fallback",
)
"""Blocks of the service's own tools: known, and not looked into."""

BLOCKS: Final[Mapping[str, Fields]] = {
    "text": tagged("type", _TEXT),
    "image": tagged("type", _IMAGE),
    "document": tagged("type", _DOCUMENT),
    "search_result": tagged("type", _SEARCHED),
    "thinking": tagged("type", Fields({"thinking": "string", "signature": "string"})),
    "redacted_thinking": tagged("type", Fields({"data": "string"})),
    "tool_use": tagged("type", _USE),
    "tool_result": tagged("type", _RESULT),
    **dict.fromkeys(_OF_SERVERS, _ANYTHING),
}
_CONTENT: Final = Either(Many(Tagged("type", BLOCKS)))
_ROLES: Final = ("user", "assistant", "system")
_MESSAGE: Final = Fields({"role": Choice(_ROLES), "content": _CONTENT})
TOOL: Final = Fields(
    {"name": "string", "input_schema": "object"},
    {
        **_CACHE,
        "allowed_callers": "array",
        "defer_loading": "boolean",
        "description": "string",
        "eager_input_streaming": "boolean",
        "input_examples": "array",
        "strict": "boolean",
        "type": Choice(("custom",)),
    },
)
FIELDS: Final[Mapping[str, Shape]] = {
    "cache_control": "object",
    "container": "any",
    "diagnostics": "any",
    "inference_geo": "string",
    "metadata": "object",
    "output_config": "object",
    "service_tier": "string",
    "speed": "string",
    "stop_sequences": Many("string"),
    "stream": "boolean",
    "system": Either(Many(Tagged("type", {"text": tagged("type", _TEXT)}))),
    "temperature": "number",
    "thinking": "object",
    "tool_choice": Fields(
        {"type": Choice(("auto", "any", "tool", "none"))},
        {"name": "string", "disable_parallel_tool_use": "boolean", "toolset_name": "any"},
    ),
    "tools": Many("object"),
    "top_k": "integer",
    "top_p": "number",
    "user_profile_id": "string",
    "workspace_id": "string",
}
BETA_FIELDS: Final[Mapping[str, Shape]] = {
    "billing_policy": "any",
    "compaction": "any",
    "context_management": "object",
    "fallback_credit_token": "any",
    "fallbacks": "any",
    "mcp_servers": "array",
    "thread": "any",
}
"""Fields that a request has only with the header `anthropic-beta`."""

_OTHER_TOOL: Final = Fields(
    {}, {"type": "string", "name": "string", "description": "string", "input_schema": "object"}, is_open=True
)
"""A tool of the service's own: what of it is read."""

_COUNTED: Final = ("system", "tools", "messages")


class _Block(TypedDict, total=False):
    type: Required[str]
    text: str
    id: str
    name: str
    input: dict[str, Value]
    tool_use_id: str
    content: Value


class _Message(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]


class _Tool(TypedDict, total=False):
    type: str
    name: str
    description: str
    input_schema: dict[str, Value]


class _Choice(TypedDict, total=False):
    type: Required[str]
    name: str


class _Body(TypedDict, total=False):
    """What is read of a body that has the shape; what is optional may be null."""

    messages: Required[list[_Message]]
    max_tokens: int
    system: Value
    temperature: float
    thinking: dict[str, Value]
    tool_choice: _Choice
    tools: list[_Tool]


def _refusal(body: dict[str, Value], headers: Mapping[str, str], path: str) -> Refusal | None:
    why = _headers(headers) or _misfit(body, headers, counts=path.endswith("/count_tokens"))
    if why is None:
        asked = cast("_Body", body)
        why = _bounds(asked) or _cached(body) or _tools(asked) or _conversation(asked)
    return None if why is None else Refusal(why)


def _headers(headers: Mapping[str, str]) -> str | None:
    return None if headers.get("anthropic-version") else "anthropic-version: header is required"


def _misfit(body: dict[str, Value], headers: Mapping[str, str], *, counts: bool) -> str | None:
    required: dict[str, Shape] = {"model": "string", "messages": Many(_MESSAGE)}
    if not counts:
        required["max_tokens"] = "integer"
    optional = {**FIELDS, **(BETA_FIELDS if headers.get("anthropic-beta") else {})}
    fault = misfit(body, Fields(required, optional))
    if fault is not None:
        return worded(fault)
    for at, tool in enumerate(cast("list[dict[str, Value]]", body.get("tools") or [])):
        is_custom = tool.get("type") in (None, "custom")
        fault = misfit(tool, TOOL, ("tools", at, ":custom")) if is_custom else misfit(tool, _OTHER_TOOL, ("tools", at))
        if fault is not None:
            return worded(fault)
    return None


def worded(fault: Misfit) -> str:
    """Return a misfit as this service says it: the place has dots, and the tags that chose a shape."""
    parts = [str(step).removeprefix(":") for step in fault.place]
    if fault.problem in ("missing", "unknown"):
        parts.append(fault.name)
    message = {
        "missing": "Field required",
        "unknown": "Extra inputs are not permitted",
        "kind": f"Input should be a valid {_KINDS.get(fault.expected, fault.expected)}",
        "value": f"Input should be {fault.expected}",
    }[fault.problem]
    if fault.problem == "value" and fault.place[-1] == "type":
        parts.pop()
        message = (
            f"Input tag '{fault.found}' found using 'type' does not match any of the expected tags: {fault.expected}"
        )
    return f"{'.'.join(parts)}: {message}"


_KINDS: Final = {"object": "dictionary", "array": "list"}


def _bounds(body: _Body) -> str | None:
    most = body.get("max_tokens", 1)
    if most < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    if not 0 <= (body.get("temperature") or 0) <= 1:
        return "temperature: range: 0..1"
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < _LEAST_THINKING:
            return f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_THINKING}"
        if "max_tokens" in body and budget >= most:
            return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return None


def _cached(body: Mapping[str, Value]) -> str | None:
    marks = sum(_marks(body.get(name)) for name in _COUNTED)
    if marks > _MOST_MARKS:
        return f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
    return None


def _marks(value: Value) -> int:
    """Return the number of marks for the cache in blocks, messages or tools."""
    if not isinstance(value, list):
        return 0
    inner = (item for item in value if isinstance(item, Mapping))
    return sum((item.get("cache_control") is not None) + _marks(item.get("content")) for item in inner)


def _tools(body: _Body) -> str | None:
    tools = body.get("tools") or ()
    names = [tool.get("name") for tool in tools]
    for at, tool in enumerate(tools):
        if tool.get("type") not in (None, "custom"):
            continue
        if not _NAME.fullmatch(tool["name"]):
            return f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool["input_schema"].get("type") != "object":
            return f"tools.{at}.custom.input_schema.type: Input should be 'object'"
    if len(names) != len(set(names)):
        return "tools: Tool names must be unique."
    choice = body.get("tool_choice")
    if choice and not names:
        return "tool_choice: may only be specified while providing `tools`"
    if choice and choice["type"] == "tool" and choice.get("name") not in names:
        return f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"
    return None


def _conversation(body: _Body) -> str | None:
    messages = [(at, message["role"], _blocks(message)) for at, message in enumerate(body["messages"])]
    if not messages:
        return "messages: at least one message is required"
    if messages[0][1] != "user":
        return f"messages.0: the first message must use the 'user' role, found '{messages[0][1]}'"
    waiting: list[str] = []
    known: set[str] = set()
    before = ""
    for at, role, blocks in messages:
        if role == "system":
            continue
        if role != before and (why := _unanswered(at, blocks, waiting)):
            return why
        if why := _texts(at, blocks) or _uses(at, role, blocks, known):
            return why
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        waiting = [*waiting, *uses] if role == before and role == "assistant" else uses
        before = role
    if waiting:
        return _without_result(len(messages) - 1, waiting)
    if before == "assistant":
        return "This model does not support assistant message prefill. The conversation must end with a user message."
    uses_tools = any(block["type"] in ("tool_use", "tool_result") for _, _, blocks in messages for block in blocks)
    if uses_tools and not body.get("tools"):
        return "Requests which have `tool_use` or `tool_result` blocks must define `tools`"
    return None


def _blocks(message: _Message) -> list[_Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _unanswered(at: int, blocks: Sequence[_Block], waiting: Sequence[str]) -> str | None:
    """Return what is wrong between the calls of the turn before and the results of this one."""
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for index, block in enumerate(blocks):
        if block["type"] == "tool_result" and block["tool_use_id"] not in waiting:
            return (
                f"messages.{at}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                "previous message."
            )
    missing = [call_id for call_id in waiting if call_id not in results]
    if missing:
        return _without_result(at - 1, missing)
    twice = next((result for result in results if results.count(result) > 1), None)
    if twice is not None:
        message = "each tool_use must have a single result. Found multiple `tool_result` blocks with id:"
        return f"messages.{at}.content: {message} {twice}"
    return None


def _without_result(at: int, missing: Sequence[str]) -> str:
    return (
        f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _texts(at: int, blocks: Sequence[_Block]) -> str | None:
    if not blocks:
        return (
            f"messages.{at}: all messages must have non-empty content except for the optional final assistant message"
        )
    for block in blocks:
        if block["type"] == "text" and not block["text"]:
            return "messages: text content blocks must be non-empty"
        if block["type"] == "text" and not block["text"].strip():
            return "messages: text content blocks must contain non-whitespace text"
    return None


def _uses(at: int, role: str, blocks: Sequence[_Block], known: set[str]) -> str | None:
    for index, block in enumerate(blocks):
        place = f"messages.{at}.content.{index}"
        if block["type"] in ("tool_use", "thinking", "redacted_thinking") and role != "assistant":
            return f"{place}: `{block['type']}` blocks can only be in `assistant` messages"
        if block["type"] == "tool_result" and role != "user":
            return f"{place}: `tool_result` blocks can only be in `user` messages"
        if block["type"] == "tool_use":
            if not _ID.fullmatch(block["id"]):
                return f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if block["id"] in known:
                return f"{place}: `tool_use` ids must be unique"
            known.add(block["id"])
    return None


def _read(body: Mapping[str, Value]) -> Conversation:
    asked = cast("_Body", body)  # its shape was checked before
    systems = [text_of(asked.get("system"))]
    turns = []
    for message in asked["messages"]:
        blocks = _blocks(message)
        if message["role"] == "system":
            systems.append(text_of(blocks))
            continue
        calls = [
            ToolCall(block["id"], block["name"], compact(block["input"]))
            for block in blocks
            if block["type"] == "tool_use"
        ]
        results = [
            (block["tool_use_id"], text_of(block.get("content"))) for block in blocks if block["type"] == "tool_result"
        ]
        text_blocks = [block for block in blocks if block["type"] == "text"]
        turns.append(ServiceTurn(message["role"], text_of(text_blocks), tuple(calls), tuple(results)))
    tools = [
        ToolOffer(tool.get("name") or "", tool.get("description") or "", schema)
        for tool in asked.get("tools") or ()
        if (schema := tool.get("input_schema")) is not None
    ]
    return Conversation("\n\n".join(system for system in systems if system), tuple(tools), merged(turns))


_STOPS: Final = {"length": "max_tokens", "tool_calls": "tool_use", "refusal": "refusal", "filter": "refusal"}


def _content(reply: ModelReply) -> Iterator[dict[str, Value]]:
    if text := reply.content or reply.refusal:
        yield {"type": "text", "text": text}
    for call in reply.tool_calls:
        yield {"type": "tool_use", "id": _use_id(call.id), "name": call.name, "input": arguments_of(call)}


def _usage(usage: Usage) -> dict[str, Value]:
    return {
        "input_tokens": usage.input_tokens - usage.cached_input_tokens - usage.written_input_tokens,
        "cache_creation_input_tokens": usage.written_input_tokens,
        "cache_read_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _message(answered: Answered) -> dict[str, Value]:
    return {
        "id": f"msg_{answered.number}",
        "type": "message",
        "role": "assistant",
        "model": answered.model,
        "content": list(_content(answered.reply)),
        "stop_reason": _STOPS.get(answered.reply.finish, "end_turn"),
        "stop_sequence": None,
        "usage": _usage(answered.usage),
    }


def _use_id(call_id: str) -> str:
    """Return an id as this service writes it."""
    return call_id.replace("call_", "toolu_", 1)


def _events(answered: Answered) -> Iterator[bytes]:
    whole = _message(answered)
    usage = _usage(answered.usage)
    start: dict[str, Value] = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield sse({"type": "message_start", "message": start}, "message_start")
    for index, block in enumerate(_content(answered.reply)):
        text = block.get("text")
        if isinstance(text, str):
            empty, deltas = {**block, "text": ""}, map(_text_delta, pieces(text))
        else:
            empty, deltas = {**block, "input": {}}, map(_json_delta, pieces(compact(block["input"])))
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended: dict[str, Value] = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage=usage)
    yield _event("message_stop")


def _text_delta(piece: str) -> dict[str, Value]:
    return {"type": "text_delta", "text": piece}


def _json_delta(piece: str) -> dict[str, Value]:
    return {"type": "input_json_delta", "partial_json": piece}


def _event(name: str, **more: Value) -> bytes:
    return sse({"type": name, **more}, name)


_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _error(refusal: Refusal) -> dict[str, Value]:
    usual = "api_error" if refusal.status >= 500 else "invalid_request_error"
    kind = _TYPES.get(refusal.status, usual)
    return {"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_scripted"}


def _model(name: str) -> dict[str, Value]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2023-11-14T22:13:20Z"}


def _models(names: Sequence[str]) -> dict[str, Value]:
    first, last = (names[0], names[-1]) if names else (None, None)
    return {"data": [_model(name) for name in names], "has_more": False, "first_id": first, "last_id": last}


MESSAGES: Final = ServiceWire(
    name="messages",
    counted=_COUNTED,
    refusal=_refusal,
    read=_read,
    whole=_message,
    events=_events,
    error=_error,
    models=_models,
    model=_model,
    count=lambda tokens: {"input_tokens": tokens},
)
