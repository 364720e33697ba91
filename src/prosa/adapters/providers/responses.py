"""The Responses wire (LA3): the same conversation as instructions and items.

Nothing is stored at the service unless a parameter asks for it: `store` is false, as it is for chat completions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prosa.adapters.providers.failures import ExchangeProblem, problem_in_reply
from prosa.adapters.providers.request_shape import RequestShape
from prosa.adapters.providers.wire import (
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
from prosa.runtime.messages import Finish, Message, ModelReply, ModelRequest, OutputFormat, ToolCall, ToolSpec, Usage

_INCOMPLETE: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "filter"}


def body(request: ModelRequest, shape: RequestShape, stream: bool) -> dict[str, Plain]:
    """Return the request. Leading system messages are the instructions; `store` is off unless a parameter sets it."""
    made: dict[str, Plain] = {
        "store": False,
        **parameters(request, ("max_output_tokens",) if shape.limits else ()),
        "model": request.model_name,
    }
    instructions, rest = _instructions(request.messages)
    if instructions:
        made["instructions"] = instructions
    made["input"] = [item for at, message in enumerate(rest, 1) for item in _items(message, at)]
    if request.tools:
        made["tools"] = [_tool(tool) for tool in request.tools]
    if request.output is not None:
        _ask_for(made, request.output, shape)
    if stream:
        made["stream"] = True
    return made


def _instructions(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    leading = 0
    while leading < len(messages) and messages[leading].role == "system":
        leading += 1
    if leading == len(messages):  # an input must not be empty
        return "", messages
    return "\n\n".join(message.content for message in messages[:leading]), messages[leading:]


def _items(message: Message, at: int) -> list[dict[str, Plain]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}]
    items: list[dict[str, Plain]] = []
    if message.content or not message.tool_calls:
        items.append(_item(message, at))
    for call in message.tool_calls:
        arguments = call.arguments or "{}"
        items.append({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
    return items


def _item(message: Message, at: int) -> dict[str, Plain]:
    """Return a message with its type and its parts, as services give it: not every one takes the short form (X24)."""
    if message.role != "assistant":
        part: dict[str, Plain] = {"type": "input_text", "text": message.content}
        return {"type": "message", "role": message.role, "content": [part]}
    part = {"type": "output_text", "text": message.content, "annotations": []}
    return {"type": "message", "id": f"msg_{at}", "role": "assistant", "status": "completed", "content": [part]}


def _tool(tool: ToolSpec) -> dict[str, Plain]:
    # `strict` is on by default here, and would refuse most schemas.
    head = {"type": "function", "name": tool.name, "description": tool.description}
    return {**head, "parameters": tool.parameters, "strict": False}


def _ask_for(made: dict[str, Plain], output: OutputFormat, shape: RequestShape) -> None:
    text_options = made.get("text")
    text: dict[str, Plain] = dict(text_options) if isinstance(text_options, Mapping) else {}
    text.pop("format", None)
    if shape.output == "json_schema":
        head = {"type": "json_schema", "name": output.name}
        text["format"] = {**head, "schema": output.schema, "strict": output.strict}
    elif shape.output == "json_object":
        text["format"] = {"type": "json_object"}
    if text:
        made["text"] = text
    else:
        made.pop("text", None)


def reply(value: Mapping[str, Value]) -> ModelReply:
    """Read a whole response."""
    return _reply(value, value.get("output"), "")


def _reply(value: Mapping[str, Value], output: Value, streamed_text: str) -> ModelReply:
    if value.get("error") or value.get("status") in ("failed", "cancelled"):
        raise problem_in_reply(value if value.get("error") else {})
    if not isinstance(output, list):
        raise ExchangeProblem("sent a reply without a message", retryable=True)
    finish = _finish(value)
    if not output and finish == "stop" and not streamed_text:
        raise ExchangeProblem("sent a reply without output", retryable=True)
    texts, refusals, calls = _read(output)
    refusal = "".join(refusals) or None
    if refusal is not None:
        finish = "refusal"
    elif calls and finish == "stop":
        finish = "tool_calls"
    content = "".join(texts) or streamed_text
    return ModelReply(
        content, with_ids(calls), _usage(value.get("usage")), optional_text(value.get("model")), finish, refusal
    )


def _finish(value: Mapping[str, Value]) -> Finish:
    details = value.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    if isinstance(reason, str) and reason in _INCOMPLETE:
        return _INCOMPLETE[reason]
    return "length" if value.get("status") == "incomplete" else "stop"


def _read(output: Sequence[Value]) -> tuple[list[str], list[str], list[ToolCall]]:
    texts: list[str] = []
    refusals: list[str] = []
    calls: list[ToolCall] = []
    for item in output:
        if not isinstance(item, Mapping):
            continue
        if item.get("type") == "function_call":
            calls.append(tool_call(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments")))
        elif item.get("type") == "custom_tool_call":  # of an agent's own: its input is a text
            arguments = {"input": plain_text(item.get("input"))}
            calls.append(tool_call(item.get("call_id") or item.get("id"), item.get("name"), arguments))
        elif item.get("type") == "message":
            for part in listed(item.get("content"), "content"):
                texts.append(plain_text(part.get("text")))
                refusals.append(plain_text(part.get("refusal")))
    return texts, refusals, calls


@counted
def _usage(value: Value) -> Usage:
    cached = count(value, "input_tokens_details", "cached_tokens")
    return usage(count(value, "input_tokens"), count(value, "output_tokens"), cached)


class ResponseAssembly:
    """Puts a streamed response together. The closing event carries it whole; items seen before fill what it lacks."""

    def __init__(self) -> None:
        self._items: list[Value] = []
        self._text: list[str] = []
        self._whole: Mapping[str, Value] | None = None
        self.complete = False

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one event, and return the text it adds."""
        kind = data.get("type") or event
        if kind == "error" or (not data.get("type") and data.get("error")):
            raise problem_in_reply(data)
        if kind == "response.output_text.delta":
            text = plain_text(data.get("delta"))
            self._text.append(text)
            return text
        if kind == "response.output_item.done":
            self._items.append(data.get("item"))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            whole = data.get("response")
            self._whole = whole if isinstance(whole, Mapping) else {}
            self.complete = True
        return ""

    def finish(self) -> ModelReply:
        """Return the reply, or the reason why there is none."""
        if self._whole is None:
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        output = self._whole.get("output")
        return _reply(self._whole, output or self._items or output, "".join(self._text))


WIRE = Wire("/responses", body, reply, ResponseAssembly)
