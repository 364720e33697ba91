"""The raw completion wire: a prompt in, the text that follows it out (PA12). Only `@prompt` messages of chats use it.

What comes in: a `ModelRequest` whose one message is the prompt. It knows no roles, no tools and no output schema.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from msgspec.structs import replace

from prosa.adapters.providers.failures import ExchangeProblem, problem_in_reply
from prosa.adapters.providers.request_shape import RequestShape
from prosa.adapters.providers.wire import Wire, count, counted, optional_text, parameters, text_of, usage
from prosa.data import Plain, Value
from prosa.runtime.messages import Finish, Message, ModelReply, ModelRequest, Usage, join_neighbours, joined
from prosa.schema.lower import without_booleans

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "filter"}


def body(request: ModelRequest, shape: RequestShape, stream: bool) -> dict[str, Plain]:
    """Return the request."""
    prompt = "\n\n".join(message.content for message in request.messages)
    made: dict[str, Plain] = {**parameters(request, ("max_tokens",)), "model": request.model_name, "prompt": prompt}
    if stream:
        made["stream"] = True
        if shape.stream_usage:
            made["stream_options"] = {"include_usage": True}
    return made


def reply(value: Mapping[str, Value]) -> ModelReply:
    """Read a whole completion."""
    if value.get("error"):
        raise problem_in_reply(value)
    choice = _choice(value)
    if choice is None:
        raise ExchangeProblem("sent a reply without choices", retryable=True)
    return _reply(
        text_of(choice.get("text")), choice.get("finish_reason"), _usage(value.get("usage")), value.get("model")
    )


class CompletionAssembly:
    """Puts a streamed completion together."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reason: str | None = None
        self._usage = Usage()
        self._model: str | None = None
        self.complete = False

    def feed(self, event: str, data: Mapping[str, Value]) -> str:
        """Take one chunk, and return the text it adds."""
        if data.get("error") or event == "error":
            raise problem_in_reply(data)
        self._model = self._model or optional_text(data.get("model"))
        if isinstance(data.get("usage"), Mapping):
            self._usage = _usage(data["usage"])
        choice = _choice(data)
        if choice is None:
            return ""
        self._reason = optional_text(choice.get("finish_reason")) or self._reason
        text = text_of(choice.get("text"))
        self._text.append(text)
        return text

    def finish(self) -> ModelReply:
        """Return the reply, or the reason why there is none."""
        if self._reason is None and not self.complete:
            raise ExchangeProblem("ended the stream before the reply was complete", kind="network", retryable=True)
        return _reply("".join(self._text), self._reason, self._usage, self._model)


def _choice(value: Mapping[str, Value]) -> Mapping[str, Value] | None:
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _reply(text: str, reason: Value, counts: Usage, model: Value) -> ModelReply:
    finish = _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"
    return ModelReply(text, (), counts, optional_text(model), finish)


@counted
def _usage(value: Value) -> Usage:
    return usage(count(value, "prompt_tokens"), count(value, "completion_tokens"), 0)


WIRE = Wire("/completions", body, reply, CompletionAssembly, last_reply="sent")


# A request in the shape that a service takes: user messages joined, no system role, one tool call at a time (X24).
#
# In: a request as every service should take it, and a form. Out: the same request for one that refused a part of it.
# The content stays the same, in the same order.

ONE_CALL = "parallel_tool_calls"


def shaped(request: ModelRequest, shape: RequestShape) -> ModelRequest:
    """Return the request in the shape of the form."""
    if request.output is not None:
        schema = without_booleans(request.output.schema)
        request = (
            request
            if schema is request.output.schema
            else replace(request, output=replace(request.output, schema=schema))
        )
    messages: Sequence[Message] = request.messages
    parameters = request.parameters
    if not shape.system_role:
        messages = _without_system(messages)
    if shape.joined_users:
        messages = join_neighbours(messages, "user")
    if shape.calls != "several":
        messages = tuple(_one_call_each(messages))
        if request.tools:
            parameters = {name: value for name, value in parameters.items() if name != ONE_CALL}
            parameters |= {ONE_CALL: False} if shape.calls == "one" else {}
    if messages is request.messages and parameters is request.parameters:
        return request
    return replace(request, messages=tuple(messages), parameters=parameters)


def _without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """System messages as the beginning of the first user message."""
    system = [replace(message, role="user", name=None) for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    at = next((at for at, message in enumerate(rest) if message.role == "user"), None)
    if not system or at is None:
        return (*system, *rest)
    return (*rest[:at], joined([*system, rest[at]]), *rest[at + 1 :])


def _one_call_each(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield several calls of one reply as several replies, each with its own result. Replies may repeat the ids of
    others."""
    waiting: list[Message] = []
    for message in messages:
        if len(message.tool_calls) > 1:
            first, *rest = message.tool_calls
            yield replace(message, tool_calls=(first,))
            waiting = [replace(message, content="", tool_calls=(call,)) for call in rest]
            continue
        yield message
        if message.role == "tool" and waiting:
            yield waiting.pop(0)


# Server-sent events: bytes in, `(event, data)` out, as the HTML standard (9.2.6) reads a stream.
#
# An event without data is dropped. Whether the stream ended well is for the caller to say; an event that was not
# closed by an empty line is handed out all the same, because some services leave out the last one.


class EventDecoder:
    """Collects bytes and hands out events. Linear: a line is searched for its end once."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._rest: list[str] = []
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield events that this chunk completes."""
        text = self._decode(chunk)
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        self._after_cr = self._after_cr or text.endswith("\r")
        *lines, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if lines:
            lines[0] = "".join([*self._rest, lines[0]])
            self._rest = []
        if rest:
            self._rest.append(rest)
        for line in lines:
            yield from self._line(line)

    def finish(self) -> Iterator[tuple[str, str]]:
        """Yield what is left when the stream ends."""
        rest, self._rest = "".join(self._rest), []
        yield from self._line(rest)
        yield from self._line("")

    def _line(self, line: str) -> Iterator[tuple[str, str]]:
        if not line:
            if self._data:
                yield self._event, "\n".join(self._data)
            self._event, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, str]]:
    """Decode a stream."""
    decoder = EventDecoder()
    async for chunk in chunks:
        for event in decoder.feed(chunk):
            yield event
    for event in decoder.finish():
        yield event
