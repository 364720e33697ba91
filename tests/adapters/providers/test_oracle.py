"""The openai package as the oracle of the wire (LA3, X24): its types accept every request, its client reads what the
fake server answers, and both read the same."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from prosa.adapters.providers import chat, gemini, messages, responses
from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.request_shape import RequestShape
from prosa.adapters.providers.wire import decode, encode
from prosa.runtime.messages import Message, ModelRequest, ToolCall
from tests.adapters.providers.asking import TOOL, WAYS, Way, camel, request
from tests.depth import examples

PARAMETERS = {
    "chat": ("openai.types.chat.completion_create_params", "CompletionCreateParams"),
    "responses": ("openai.types.responses.response_create_params", "ResponseCreateParams"),
}


@cache
def types_of(api: str, *, stream: bool) -> TypeAdapter[Any]:
    """Return the type of a request. The libraries of the services take seconds to import: only who asks them does."""
    module, name = PARAMETERS[api]
    return TypeAdapter(getattr(import_module(module), f"{name}{'Streaming' if stream else 'NonStreaming'}"))


BODIES = {"chat": chat.body, "responses": responses.body}


def validate(api: str, body: Any, *, stream: bool = False) -> None:
    """Raises `ValidationError`. Lists are validated as they are read, so everything is read."""
    waiting = [types_of(api, stream=stream).validate_python(body)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, Iterable) and not isinstance(value, str):
            waiting += value


TEXTS = st.sampled_from(["", "a text", "two\nlines", "\ud83d\ude00", "#"])
CALLS = st.lists(st.sampled_from(["a1", "b2", "c3"]), unique=True, max_size=3).map(
    lambda ids: tuple(ToolCall(each, "add", '{"a": 1}') for each in ids)
)


def conversation(steps: list[tuple[str, tuple[ToolCall, ...]]]) -> tuple[Message, ...]:
    made = [Message("system", "Count."), Message("user", "one two", name="ada")]
    for text, calls in steps:
        made.append(Message("assistant", text, calls))
        made += [Message("tool", text, tool_call_id=call.id) for call in calls] or [Message("user", text)]
    return tuple(made)


FORMS = st.builds(
    RequestShape,
    output=st.sampled_from(["json_schema", "json_object", "prompt"]),
    joined_users=st.booleans(),
    system_role=st.booleans(),
    calls=st.sampled_from(["several", "one", "apart"]),
)


@given(st.lists(st.tuples(TEXTS, CALLS), max_size=4), FORMS, st.booleans(), st.sampled_from(["chat", "responses"]))
@settings(max_examples=examples(200), deadline=None)
def test_la3_x24_the_types_of_openai_accept_every_request(steps, form, stream, api) -> None:
    asked = request(messages=conversation(steps), tools=(TOOL,), parameters={"temperature": 0.5})
    body = dict(decode(encode(BODIES[api](shaped(asked, form), form, stream))))
    validate(api, body, stream=stream)
    assert set(body) <= _known(api, stream)


@cache
def _known(api: str, stream: bool) -> frozenset[str]:
    return frozenset(types_of(api, stream=stream).json_schema()["properties"])


def test_the_oracle_refuses_a_request_that_is_wrong() -> None:
    """That the types accept everything would say nothing."""
    for wrong in ({"messages": [{"role": "robot", "content": "x"}]}, {"messages": [{"role": "tool", "content": "x"}]}):
        with pytest.raises(ValidationError):
            validate("chat", {"model": "m", **wrong})
    with pytest.raises(ValidationError):
        validate("responses", {"model": "m", "input": [{"type": "message", "content": 3}]})


@pytest.mark.parametrize(
    "entry",
    [
        {"content": "two words"},
        {"content": {"n": 2}, "usage": {"input_tokens": 9, "output_tokens": 4, "cached_input_tokens": 3}},
        {"content": "", "tool_calls": [{"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": {}}]},
        {"refusal": "no"},
        {"content": "é \u2028\r\n\U0001f600 data: two", "piece": 1},
        {"content": "and", "tool_calls": [{"name": "add", "arguments": {"a": "ü"}}], "piece": 2},
    ],
)
def test_la3_what_a_service_answers_reads_the_same_as_with_its_own_client(way: Way, entry: dict[str, Any]) -> None:
    way.server.script(entry, entry)
    ours = way.ask(request(output=None, tools=(TOOL,)))
    ask = {"anthropic": _asked_natively, "google": _asked_google}.get(way.api, _asked)
    theirs = asyncio.run(ask(way, request(output=None, tools=(TOOL,))))
    calls = [(each.name, json.loads(each.arguments)) for each in ours.tool_calls]
    refusal = None if way.api == "google" else ours.refusal  # ours is a sentence; its client gives a reason
    assert (ours.content, calls, refusal) == (theirs[0], [(name, _read(it)) for name, it in theirs[1]], theirs[2])
    assert (ours.usage.input_tokens, ours.usage.output_tokens) == theirs[3:]


def _read(arguments: Any) -> Any:
    """Arguments as a client gives them: the text of the model, or what it says."""
    return json.loads(arguments) if isinstance(arguments, str) else arguments


async def _asked_natively(way: Way, asked: ModelRequest) -> tuple[Any, ...]:
    """Text, calls, refusal and tokens as the anthropic client reads them, from a whole answer or from a stream."""
    from anthropic import AsyncAnthropic

    body = dict(decode(encode(messages.body(asked, messages.FIRST_SHAPE, False))))
    address = way.server.base_url.removesuffix("/v1")
    async with AsyncAnthropic(api_key="k", base_url=address, max_retries=0, timeout=30) as client:
        if way.stream:
            async with client.messages.stream(**body) as stream:
                found = await stream.get_final_message()
        else:
            found = await client.messages.create(**body)
    text = "".join(each.text for each in found.content if each.type == "text")
    calls = [(each.name, each.input) for each in found.content if each.type == "tool_use"]
    refusal = found.stop_details.explanation if found.stop_details is not None else None
    counts = found.usage
    given = counts.input_tokens + (counts.cache_read_input_tokens or 0) + (counts.cache_creation_input_tokens or 0)
    return text, calls, refusal, given, counts.output_tokens


@cache
def _certificates() -> ssl.SSLContext:
    """What each client of Google reads twice, though it talks to the loopback interface alone."""
    return ssl.create_default_context()


async def _asked_google(way: Way, asked: ModelRequest) -> tuple[Any, ...]:
    """Text, calls and tokens as the client of Google reads them, from a whole answer or from pieces."""
    from google.genai import Client
    from google.genai.types import HttpOptions

    made = gemini.body(asked, gemini.FIRST_SHAPE, False)
    args = {"verify": _certificates(), "ssl": _certificates()}
    address = way.server.google_url.removesuffix("/v1beta")
    options = HttpOptions(base_url=address, api_version="v1beta", client_args=args, async_client_args=args)
    client = Client(api_key="k", vertexai=False, http_options=options).aio
    config = {**made.pop("generationConfig", {}), **made}
    given = {"model": asked.model_name, "contents": config.pop("contents"), "config": config}
    if way.stream:
        pieces = [piece async for piece in await client.models.generate_content_stream(**given)]
    else:
        pieces = [await client.models.generate_content(**given)]
    await client.aclose()
    parts = [part for piece in pieces for part in piece.candidates[0].content.parts or ()]
    text = "".join(part.text for part in parts if part.text and not part.thought)
    calls = [(part.function_call.name, part.function_call.args) for part in parts if part.function_call]
    counts = pieces[-1].usage_metadata
    return text, calls, None, counts.prompt_token_count, counts.candidates_token_count


async def _asked(way: Way, asked: ModelRequest) -> tuple[Any, ...]:
    """Text, calls, refusal and tokens as the openai client reads them, from a whole answer."""
    from openai import AsyncOpenAI

    body = dict(decode(encode(BODIES[way.api](asked, RequestShape(), False))))
    async with AsyncOpenAI(api_key="k", base_url=way.server.base_url, max_retries=0) as client:
        if way.api == "chat":
            found = await client.chat.completions.create(**body)
            message, usage = found.choices[0].message, found.usage
            calls = [(each.function.name, each.function.arguments) for each in message.tool_calls or ()]
            return message.content or "", calls, message.refusal, usage.prompt_tokens, usage.completion_tokens
        answer = await client.responses.create(**body)
        calls = [(each.name, each.arguments) for each in answer.output if each.type == "function_call"]
        parts = [part for each in answer.output if each.type == "message" for part in each.content]
        refusal = next((part.refusal for part in parts if part.type == "refusal"), None)
        return answer.output_text, calls, refusal, answer.usage.input_tokens, answer.usage.output_tokens


@pytest.mark.parametrize(
    "way", [each for each in WAYS if each[0] != "responses" and each != ("chat", True)], indirect=True
)
def test_both_clients_send_the_same_request(way: Way) -> None:
    """LA3: the method, the path and the body of the client of the service, and the key where it puts it."""
    way.server.script("ok", "ok")
    asked = request(tools=(TOOL,), max_output=99)
    way.ask(asked, api_key="k")
    ask = {"anthropic": _asked_natively, "google": _asked_google}.get(way.api, _asked)
    asyncio.run(ask(way, shaped(asked, way.provider()._shape(asked))))
    ours, theirs = way.server.requests
    assert (ours.method, ours.path) == (theirs.method, theirs.path)
    spelled = camel if way.api == "google" else dict
    assert spelled(ours.body) == spelled(theirs.body)
    for name in {"authorization", "content-type", "x-goog-api-key", "anthropic-version"} & theirs.headers.keys():
        assert ours.headers[name] == theirs.headers[name]
