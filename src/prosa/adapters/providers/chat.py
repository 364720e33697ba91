"""The Chat Completions wire: the form that every compatible service speaks (LA3, L11)."""

from __future__ import annotations

from collections.abc import Mapping

from prosa.adapters.providers.failures import ExchangeProblem, problem_in_reply
from prosa.adapters.providers.request_shape import RequestShape
from prosa.adapters.providers.wire import (
    Wire,
    count,
    counted,
    encode,
    listed,
    optional_text,
    parameters,
    text_of,
    tool_call,
    usage,
    with_ids,
)
from prosa.data import Plain, Value
from prosa.runtime.messages import Finish, Message, ModelReply, ModelRequest, OutputFormat, ToolCall, ToolSpec, Usage
from prosa.schema.decodable import decodable

GRAMMAR = "%llguidance {}\nstart: %json "
"""What stands before a schema that llama.cpp decodes by LLGuidance. Its `response_format` goes through a converter of
its own, which passes over many keywords in silence."""

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "filter"}


def body(request: ModelRequest, shape: RequestShape, stream: bool) -> dict[str, Plain]:
    """Return the request. Parameters come first, the structure after them."""
    made: dict[str, Plain] = {
        **parameters(request, shape.limits),
        "model": request.model_name,
        "messages": [_message(message) for message in request.messages],
    }
    if request.tools:
        made["tools"] = [_tool(tool) for tool in request.tools]
    if request.output is not None and not (shape.apart and request.tools):
        _ask_for(made, request, request.output, shape)
    if stream:
        made["stream"] = True
        if shape.stream_usage:
            made["stream_options"] = {"include_usage": True}
    return made


def _message(message: Message) -> dict[str, Plain]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    made: dict[str, Plain] = {"role": message.role, "content": message.content}
    if message.name:
        made["name"] = message.name
    if message.tool_calls:
        made["content"] = message.content or None
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in message.tool_calls
        ]
    return made


def _tool(tool: ToolSpec) -> dict[str, Plain]:
    head = {"name": tool.name, "description": tool.description}
    return {"type": "function", "function": {**head, "parameters": tool.parameters}}


def _ask_for(made: dict[str, Plain], request: ModelRequest, output: OutputFormat, shape: RequestShape) -> None:
    if shape.output == "grammar":
        schema = decodable(output.schema if request.schema is None else request.schema)
        made["grammar"] = GRAMMAR + encode({**schema, "x-guidance": {"whitespace_flexible": False}}).decode()
    elif shape.output == "json_schema":
        form: dict[str, Plain] = {"name": output.name, "strict": output.strict, "schema": output.schema}
        made["response_format"] = {"type": "json_schema", "json_schema": form}
    elif shape.output == "json_object":
        made["response_format"] = {"type": "json_object"}
    else:
        made.pop("response_format", None)


def reply(value: Mapping[str, Value]) -> ModelReply:
    """Read a whole completion."""
    if value.get("error"):
        raise problem_in_reply(value)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ExchangeProblem("sent a reply without choices", retryable=True)
    choice = choices[0]
    if not isinstance(choice, Mapping) or not isinstance(message := choice.get("message"), Mapping):
        raise ExchangeProblem("sent a reply without a message", retryable=True)
    return _reply(
        content=text_of(message.get("content")),
        refusal=optional_text(message.get("refusal")),
        calls=_calls(message.get("tool_calls")),
        reason=choice.get("finish_reason"),
        counts=_usage(value.get("usage")),
        model=optional_text(value.get("model")),
    )


def _reply(
    *, content: str, refusal: str | None, calls: list[ToolCall], reason: Value, counts: Usage, model: str | None
) -> ModelReply:
    finish: Finish = _FINISH.get(reason, "tool_calls" if calls else "stop") if isinstance(reason, str) else "stop"
    if refusal is not None:
        finish = "refusal"
    elif calls and finish == "stop":
        finish = "tool_calls"
    return ModelReply(content, with_ids(calls), counts, model, finish, refusal)


def _calls(value: Value) -> list[ToolCall]:
    calls = []
    for call in listed(value, "tool_calls"):
        function = call.get("function")
        if not isinstance(function, Mapping):
            raise ExchangeProblem("sent a tool call without a function", retryable=True)
        calls.append(tool_call(call.get("id"), function.get("name"), function.get("arguments")))
    return calls


@counted
def _usage(value: Value) -> Usage:
    cached = count(value, "prompt_tokens_details", "cached_tokens") or count(value, "prompt_cache_hit_tokens")
    return usage(count(value, "prompt_tokens"), count(value, "completion_tokens"), cached)


class ChatAssembly:
    """Puts a streamed completion together from its chunks."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._reason: str | None = None
        self._usage = Usage()
        self._model: str | None = None
        self._choices = 0
        self._odd: ExchangeProblem | None = None
        self.complete = False

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one chunk, and return the text it adds."""
        if data.get("error") or event == "error":
            raise problem_in_reply(data)
        self._model = self._model or optional_text(data.get("model"))
        if isinstance(data.get("usage"), Mapping):
            self._usage = _usage(data["usage"])
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return ""
        self._choices += 1
        self._reason = optional_text(choice.get("finish_reason")) or self._reason
        delta = choice.get("delta")
        return self._delta(delta) if isinstance(delta, Mapping) else ""

    def _delta(self, delta: Mapping[str, Value]) -> str:
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, Mapping):
                self._call(call)
        self._refusal.append(optional_text(delta.get("refusal")) or "")
        try:
            text = text_of(delta.get("content"))
        except ExchangeProblem as problem:
            self._odd = problem
            return ""
        self._text.append(text)
        return text

    def _call(self, call: Mapping[str, Value]) -> None:
        """Pieces belong together by index; without one, a piece with a new id opens the next call."""
        index, made_id = call.get("index"), optional_text(call.get("id"))
        if not isinstance(index, int):
            last = max(self._calls, default=0)
            opens = made_id is not None and last in self._calls and self._calls[last].id not in (None, made_id)
            index = last + 1 if opens else last
        open_call = self._calls.setdefault(index, _OpenCall())
        open_call.take(made_id, call.get("function"))

    def finish(self) -> ModelReply:
        """Return the reply, or the reason why there is none."""
        if self._reason is None and not self.complete:
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        if not self._choices:
            raise ExchangeProblem("sent a stream without a reply", retryable=True)
        content = "".join(self._text)
        if self._odd is not None and not content and not self._calls:
            raise self._odd
        return _reply(
            content=content,
            refusal="".join(self._refusal) or None,
            calls=[tool_call(c.id, c.name, "".join(c.arguments)) for _, c in sorted(self._calls.items())],
            reason=self._reason,
            counts=self._usage,
            model=self._model,
        )


class _OpenCall:
    """A tool call whose pieces are still coming."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []

    def take(self, made_id: str | None, function: Value) -> None:
        self.id = self.id or made_id
        if isinstance(function, Mapping):
            self.name = self.name or optional_text(function.get("name"))
            self.arguments.append(optional_text(function.get("arguments")) or "")


WIRE = Wire("/chat/completions", body, reply, ChatAssembly)
