"""The Messages wire, which Anthropic speaks and others have taken over (LA4, X24): functions from values to values.

In: a `ModelRequest`; an answer, whole or as events. Out: the body; a `ModelReply`. The system message stands apart,
roles alternate, results of tools are blocks of a user message, and every request says how long its answer may be. A
batch of the service carries the same bodies and the same replies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, problem_in_reply
from prosa.adapters.providers.prices import DEFAULT_OUTPUT
from prosa.adapters.providers.request_shape import RequestShape, lower_output
from prosa.adapters.providers.wire import (
    NoCount,
    Wire,
    count,
    counted,
    listed,
    optional_text,
    parameters,
    plain_text,
    tool_call,
    usage,
    with_ids,
)
from prosa.data import Plain, Value
from prosa.regex import regex
from prosa.runtime.messages import (
    Finish,
    Message,
    ModelReply,
    ModelRequest,
    OutputFormat,
    ToolCall,
    ToolSpec,
    Usage,
    joined,
)
from prosa.runtime.parameters import OUTPUT_NAMES, squashed

VERSION = "2026-10-21"
"""The version of the interface, which every request names: that of the library that the tests compare with."""

FIRST_SHAPE = RequestShape(limits=("max_tokens",), most=DEFAULT_OUTPUT)
ANSWER_TOOL = "give_the_answer"
"""The tool whose arguments are the answer, for a model or a schema that structured output is not there for."""

_FINISH: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
}
_OURS = frozenset({"parallel_tool_calls", "reasoning_effort", "n", "stop", "tool_choice", "system"})
_THOUGHTS = {"thinking": ("type", "thinking", "signature"), "redacted_thinking": ("type", "data")}
"""The blocks that a service wants back before its calls, each with its fields."""

_OPAQUE = "thoughts of messages"
_NO_ID = regex(r"[^A-Za-z0-9_-]")


def body(request: ModelRequest, shape: RequestShape, stream: bool) -> dict[str, Plain]:
    """Return the request. Parameters come first, the structure after them."""
    turns = list(_turns(request.messages))
    made: dict[str, Plain] = {
        **_parameters(request),
        "model": request.model_name,
        "max_tokens": _most(request, shape),
        "messages": turns,
    }
    if system := _system(request.messages, turns):
        made["system"] = system
    tools = [*map(_tool, request.tools), *_gone(request)]
    if tools:
        made["tools"] = tools
    if choice := _choice(request):
        made["tool_choice"] = choice
    if request.output is not None:
        _ask_for(made, request.output, shape)
    if _goes_on(request):
        made.setdefault("cache_control", {"type": "ephemeral"})
    if stream:
        made["stream"] = True
    return made


def _parameters(request: ModelRequest) -> dict[str, Value]:
    """Return the parameters under the names of this wire; a bound on the answer is set apart."""
    requested = parameters(request)
    made = {
        name: value for name, value in requested.items() if name not in _OURS and squashed(name) not in OUTPUT_NAMES
    }
    stop = requested.get("stop")
    if stop is not None:
        made.setdefault("stop_sequences", [stop] if isinstance(stop, str) else stop)
    effort = requested.get("reasoning_effort")
    if effort is not None:
        config = made.get("output_config")
        made["output_config"] = {**(config if isinstance(config, Mapping) else {}), "effort": effort}
    if _is_manual(made.get("thinking")) and _lacks_thoughts(request.messages):
        del made["thinking"]  # the service wants back the thoughts that belong to calls, and these are not there
    return made


def _is_manual(thinking: Value) -> bool:
    return isinstance(thinking, Mapping) and thinking.get("type") == "enabled"


def _lacks_thoughts(messages: Sequence[Message]) -> bool:
    """Return whether the last calls come from another service or from a continued run."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    return messages[-1].role == "tool" and last is not None and not _thoughts(last.opaque)


def _thoughts(opaque: str) -> list[dict[str, Value]]:
    """Return the thoughts of a reply, as they stand beside it; none where another adapter wrote it."""
    try:
        value = json.loads(opaque or "{}")
    except (ValueError, RecursionError):
        return []
    thoughts = value.get(_OPAQUE) if isinstance(value, dict) else None
    return cast("list[dict[str, Value]]", thoughts) if isinstance(thoughts, list) else []  # `_opaque` wrote it


def _most(request: ModelRequest, shape: RequestShape) -> int:
    """Return the tokens that the answer may have: as many as were asked for, within what the model can."""
    asked = request.max_output
    if asked is None:
        limits = [value for name, value in request.parameters.items() if squashed(name) in OUTPUT_NAMES]
        asked = next((value for value in limits if isinstance(value, int) and not isinstance(value, bool)), None)
    bounds = [shape.room, shape.most if asked is None or shape.most != DEFAULT_OUTPUT else None, asked]
    return min((bound for bound in bounds if bound is not None), default=DEFAULT_OUTPUT)


def _goes_on(request: ModelRequest) -> bool:
    """Return whether what is sent now will be sent again with more below it, so that it is worth a place in the
    cache."""
    return bool(request.tools) or any(message.role == "assistant" for message in request.messages)


# ---- messages ----


def _system(messages: Sequence[Message], turns: Sequence[Mapping[str, Plain]]) -> str:
    """Return the text of the system messages; nothing where they are all there is, and are sent as those of a user."""
    system = [message for message in messages if message.role == "system" and message.content.strip()]
    return joined(system).content if system and len(system) < len(messages) and turns else ""


def _turns(messages: Sequence[Message]) -> Iterator[dict[str, Plain]]:
    """Yield the messages with roles in turn; neighbours of one role share a message, block by block."""
    spoken = [message for message in messages if message.role != "system"] or list(messages)
    ids, named = _Ids(), len({message.name for message in spoken if message.role == "user"}) > 1
    role, blocks = "", list[dict[str, Value]]()
    for message in spoken:
        of, message_blocks = (
            "assistant" if message.role == "assistant" else "user",
            list(_blocks(message, ids, named=named)),
        )
        if message_blocks and of != role:
            if blocks:
                yield {"role": role, "content": blocks}
            role, blocks = of, []
        blocks += message_blocks
    if blocks:
        yield {"role": role, "content": blocks}


def _blocks(message: Message, ids: _Ids, *, named: bool) -> Iterator[dict[str, Value]]:
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": ids.answered(message.tool_call_id), "content": message.content}
        return
    yield from _thoughts(message.opaque) if message.tool_calls else ()
    text = f"{message.name}:\n{message.content}" if named and message.name else message.content
    if text.strip():  # the service refuses a text of nothing but blanks
        yield {"type": "text", "text": text}
    for call in message.tool_calls:
        yield {"type": "tool_use", "id": ids.called(call), "name": call.name, "input": _input(call.arguments)}


def _input(arguments: str) -> dict[str, Value]:
    """Return the arguments of a call as an object; anything else stands in one, as the model wrote it."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}


class _Ids:
    """The ids of calls as the service takes them: letters of its alphabet, each once in a conversation."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._now: dict[str, str] = {}

    def called(self, call: ToolCall) -> str:
        """Return the id of a call."""
        plain = made = _NO_ID.sub("_", call.id) or "call"
        number = 1
        while made in self._taken:
            number += 1
            made = f"{plain}_{number}"
        self._taken.add(made)
        self._now[call.id] = made
        return made

    def answered(self, call_id: str | None) -> str:
        """Return the id of the last call that had this one."""
        return self._now.get(call_id or "", _NO_ID.sub("_", call_id or "") or "call")


# ---- tools and output ----


def _tool(tool: ToolSpec) -> dict[str, Plain]:
    return {"name": tool.name, "description": tool.description, "input_schema": {"type": "object", **tool.parameters}}


def _gone(request: ModelRequest) -> Iterator[dict[str, Plain]]:
    """Yield tools that were called and are offered no more: the service wants every call to have its tool."""
    names = {call.name: None for message in request.messages for call in message.tool_calls}
    for name in names.keys() - {tool.name for tool in request.tools}:
        yield {"name": name, "description": "It is not there any more.", "input_schema": {"type": "object"}}


def _choice(request: ModelRequest) -> dict[str, Value] | None:
    if not request.tools:
        return {"type": "none"} if any(message.tool_calls for message in request.messages) else None
    if request.parameters.get("parallel_tool_calls") is False:
        return {"type": "auto", "disable_parallel_tool_use": True}
    return None


def _ask_for(made: dict[str, Plain], output: OutputFormat, shape: RequestShape) -> None:
    """Ask for the form of the answer: as the service has it, else as the arguments of a tool that must be called."""
    config = made.get("output_config")
    plain = {name: value for name, value in config.items() if name != "format"} if isinstance(config, Mapping) else {}
    schema = closed_schema(output.schema) if shape.output == "json_schema" else None
    if schema is not None:
        made["output_config"] = {**plain, "format": {"type": "json_schema", "schema": schema}}
        return
    if isinstance(config, Mapping):
        made["output_config"] = plain
    if shape.output != "prompt" and "tools" not in made and "thinking" not in made:
        arguments = {"type": "object", **output.schema}
        made["tools"] = [{"name": ANSWER_TOOL, "description": "Gives the answer.", "input_schema": arguments}]
        made["tool_choice"] = {"type": "tool", "name": ANSWER_TOOL}


# ---- replies ----


def reply(value: Mapping[str, Value]) -> ModelReply:
    """Read a whole message."""
    if value.get("type") == "error" or value.get("error"):
        raise problem_in_reply(value)
    if not isinstance(value.get("content"), list):
        raise ExchangeProblem("sent a reply without a message", retryable=True)
    blocks = listed(value["content"], "content")
    text = "".join(plain_text(block.get("text")) for block in blocks if block.get("type") == "text")
    used = [block for block in blocks if block.get("type") == "tool_use"]
    calls = [tool_call(block.get("id"), block.get("name"), block.get("input")) for block in used]
    counts, model = _usage(value.get("usage")), optional_text(value.get("model"))
    return _reply(text, calls, value, counts, model, [block for block in blocks if _is_thought(block)])


def _is_thought(block: Mapping[str, Value]) -> bool:
    return isinstance(kind := block.get("type"), str) and kind in _THOUGHTS


def _opaque(thoughts: Sequence[Mapping[str, Value]]) -> str:
    """Return what goes back with the results of the calls: the thoughts before them, as they were."""
    kept = [{name: thought.get(name, "") for name in _THOUGHTS[str(thought["type"])]} for thought in thoughts]
    return json.dumps({_OPAQUE: kept}, ensure_ascii=False, separators=(",", ":")) if kept else ""


def _reply(
    text: str,
    calls: list[ToolCall],
    value: Mapping[str, Value],
    counts: Usage,
    model: str | None,
    thoughts: Sequence[Mapping[str, Value]] = (),
) -> ModelReply:
    """Return the reply; ``value`` has the reason why it ended."""
    reason = value.get("stop_reason")
    if not isinstance(reason, str):
        raise ExchangeProblem("sent a reply without the reason why it ended", retryable=True)
    finish = _FINISH.get(reason, "stop")
    answer = next((call for call in calls if call.name == ANSWER_TOOL), None)
    if answer is not None:
        text, calls = answer.arguments, []
    if finish == "refusal":
        refusal = _refusal(value)
        return ModelReply("" if refusal else text, (), counts, model, "refusal" if refusal else "filter", refusal)
    if calls and finish == "stop":
        finish = "tool_calls"
    return ModelReply(text, with_ids(calls), counts, model, finish, opaque=_opaque(thoughts) if calls else "")


def _refusal(value: Mapping[str, Value]) -> str | None:
    """Return what the service says of a refusal; without a word it has cut off what the model was writing."""
    details = value.get("stop_details")
    fields = details if isinstance(details, Mapping) else {}
    return optional_text(fields.get("explanation")) or optional_text(fields.get("category"))


@counted
def _usage(value: Value) -> Usage:
    """Return what came out of the cache and what went into it are counted apart by the service."""
    read, written = count(value, "cache_read_input_tokens"), count(value, "cache_creation_input_tokens")
    counts = usage(count(value, "input_tokens") + read + written, count(value, "output_tokens"), read)
    return Usage(counts.input_tokens, counts.output_tokens, counts.cached_input_tokens, written)


class MessageAssembly:
    """Puts a streamed message together from its events."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._calls: dict[int, _OpenCall] = {}
        self._thoughts: dict[int, dict[str, Value]] = {}
        self._usage: dict[str, Value] = {}
        self._end: Mapping[str, Value] = {}
        self._model: str | None = None
        self.complete = False

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one event, and return the text it adds."""
        kind = data.get("type") or event
        if kind == "error" or data.get("error"):
            raise problem_in_reply(data)
        if kind == "message_start":
            message = data.get("message")
            if isinstance(message, Mapping):
                self._model = optional_text(message.get("model"))
                self._count(message.get("usage"))
        elif kind == "content_block_start":
            return self._start(data.get("index"), data.get("content_block"))
        elif kind == "content_block_delta":
            return self._add(data.get("index"), data.get("delta"))
        elif kind == "message_delta":
            delta = data.get("delta")
            self._end = delta if isinstance(delta, Mapping) else {}
            self._count(data.get("usage"))
        elif kind == "message_stop":
            self.complete = True
        return ""

    def _count(self, value: Value) -> None:
        """Update the usage with counts for the whole message so far; a count never decreases."""
        for name in value if isinstance(value, Mapping) else ():
            try:
                self._usage[name] = max(count(value, name), count(self._usage, name))
            except NoCount:
                self._usage[name] = -1  # no further one can be either

    def _start(self, index: Value, block: Value) -> str:
        if not isinstance(index, int) or not isinstance(block, Mapping):
            return ""
        if block.get("type") == "tool_use":
            self._calls[index] = _OpenCall(block)
            return ""
        if _is_thought(block):
            self._thoughts[index] = dict(block)
        return self._text(index, block.get("text")) if block.get("type") == "text" else ""

    def _add(self, index: Value, delta: Value) -> str:
        if not isinstance(index, int) or not isinstance(delta, Mapping):
            return ""
        if delta.get("type") == "text_delta":
            return self._text(index, delta.get("text"))
        if delta.get("type") in ("thinking_delta", "signature_delta"):
            self._think(index, delta)
        call = self._calls.get(index)
        if delta.get("type") != "input_json_delta" or call is None:
            return ""
        piece = plain_text(delta.get("partial_json"))
        call.pieces.append(piece)
        return piece if call.name == ANSWER_TOOL else ""

    def _think(self, index: int, delta: Mapping[str, Value]) -> None:
        thought, name = self._thoughts.get(index), "thinking" if "thinking" in delta else "signature"
        if thought is not None:
            thought[name] = (optional_text(thought.get(name)) or "") + (optional_text(delta.get(name)) or "")

    def _text(self, index: int, text: Value) -> str:
        piece = plain_text(text)
        self._texts.setdefault(index, []).append(piece)
        return piece

    def finish(self) -> ModelReply:
        """Return the reply, or the reason why there is none."""
        if not self.complete and not self._end.get("stop_reason"):
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        text = "".join(piece for _, pieces in sorted(self._texts.items()) for piece in pieces)
        calls = [call.made() for _, call in sorted(self._calls.items())]
        thoughts = [thought for _, thought in sorted(self._thoughts.items())]
        return _reply(text, calls, self._end, _usage(self._usage), self._model, thoughts)


class _OpenCall:
    """A tool call whose arguments are still coming."""

    __slots__ = ("given", "id", "name", "pieces")

    def __init__(self, block: Mapping[str, Value]) -> None:
        self.id, self.name, self.given = block.get("id"), block.get("name"), block.get("input")
        self.pieces: list[str] = []

    def made(self) -> ToolCall:
        """Return the call; arguments that came at once stand in its first event."""
        return tool_call(self.id, self.name, "".join(self.pieces) or self.given)


# What a refusal says about another request.

_TOO_MUCH = regex(r"max_tokens: (\d{1,9}) > (\d{1,9})")
_NO_ROOM = regex(r"exceed context limit: (\d{1,9}) \+ (\d{1,9}) > (\d{1,9})")


def _downgrade(shape: RequestShape, request: ModelRequest, problem: StatusProblem) -> RequestShape | None:
    """Return a shape with a lower bound on the answer, where the service says how much it takes, or one that forces no
    tool."""
    if match := _TOO_MUCH.search(problem.text):
        most = int(match[2])
        return replace(shape, most=most) if 0 < most < min(shape.most or most, int(match[1])) else None
    if match := _NO_ROOM.search(problem.text):
        room = int(match[3]) - int(match[1])
        return replace(shape, room=room) if 0 < room < int(match[2]) else None
    forced = problem.status == 400 and not request.tools and "tool_choice" in problem.raw
    return lower_output(shape, request) if forced else None


_FORMATS = frozenset(
    ("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"),
)
_PLAIN = frozenset(("string", "integer", "number", "boolean", "null"))
_REFERENCES = ("#/$defs/", "#/definitions/")
_WORDS = ("description", "title")


class _Unspeakable(Exception):
    """A schema that the service has no words for."""


def closed_schema(schema: Mapping[str, Value]) -> dict[str, Plain] | None:
    """Return the schema in the words of the service; None where it has none."""
    try:
        made = _schema(schema)
        shared = {**_definitions(schema, "definitions"), **_definitions(schema, "$defs")}
    except (_Unspeakable, RecursionError):
        return None
    return {"$defs": shared, **made} if shared else made


def _definitions(schema: Mapping[str, Value], keyword: str) -> dict[str, Plain]:
    definitions = schema.get(keyword)
    return (
        {name: _schema(definition) for name, definition in definitions.items()}
        if isinstance(definitions, Mapping)
        else {}
    )


def _schema(schema: Value | Mapping[str, Value]) -> dict[str, Plain]:
    if not isinstance(schema, Mapping):
        raise _Unspeakable
    if "$ref" in schema:
        return _reference(schema["$ref"])
    texts = {name: schema[name] for name in _WORDS if isinstance(schema.get(name), str)}
    return {**_meaning(schema), **texts}


def _reference(target: Value) -> dict[str, Plain]:
    for start in _REFERENCES:
        if isinstance(target, str) and target.startswith(start) and "/" not in (name := target.removeprefix(start)):
            return {"$ref": f"#/$defs/{name}"}
    raise _Unspeakable


def _meaning(schema: Mapping[str, Value]) -> dict[str, Plain]:
    """Return what the schema says of values, without its words for people."""
    for literal in ("enum", "const"):
        if literal in schema:
            return {literal: _literals(schema[literal], literal)}
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        return {"anyOf": [_typed(choice, schema) for choice in kind]}
    if kind is not None:
        return _typed(kind, schema)
    for keyword, sent in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if isinstance(branches := schema.get(keyword), list) and branches:
            return {sent: [_schema(branch) for branch in branches]}
    raise _Unspeakable


def _literals(value: Value, keyword: str) -> Value:
    literals = value if keyword == "enum" and isinstance(value, list) else [value]
    if not literals or not all(one is None or isinstance(one, str | int | float | bool) for one in literals):
        raise _Unspeakable
    return value


def _typed(kind: Value, schema: Mapping[str, Value]) -> dict[str, Plain]:
    if kind == "object":
        return _object(schema)
    if kind == "array":
        return _array(schema)
    if not isinstance(kind, str) or kind not in _PLAIN:
        raise _Unspeakable
    form = schema.get("format")
    return (
        {"type": kind, "format": form}
        if kind == "string" and isinstance(form, str) and form in _FORMATS
        else {"type": kind}
    )


def _object(schema: Mapping[str, Value]) -> dict[str, Plain]:
    properties, others = schema.get("properties"), schema.get("additionalProperties", False)
    if not isinstance(properties, Mapping) or others is not False or "patternProperties" in schema:
        raise _Unspeakable
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in properties for name in required):
        raise _Unspeakable
    return {
        "type": "object",
        "properties": {name: _schema(field) for name, field in properties.items()},
        "additionalProperties": False,
        "required": list(required),
    }


def _array(schema: Mapping[str, Value]) -> dict[str, Plain]:
    if "prefixItems" in schema:
        raise _Unspeakable
    made: dict[str, Plain] = {"type": "array", "items": _schema(schema.get("items"))}
    return {**made, "minItems": schema["minItems"]} if schema.get("minItems") in (0, 1) else made


WIRE = Wire(
    "/messages",
    body,
    reply,
    MessageAssembly,
    last_reply="continued",
    version="v1",
    headers={"anthropic-version": VERSION},
    downgrade=_downgrade,
)
