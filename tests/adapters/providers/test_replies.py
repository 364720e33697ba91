"""What is asked and what comes back when all goes well, on both wires, whole and streamed (LA3, L11)."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.providers import chat, completion, gemini, messages, responses
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem
from prosa.adapters.providers.openai import OpenAIProvider
from prosa.adapters.providers.wire import Wire
from prosa.runtime.messages import MOST_TOKENS, Message, ModelReply, ToolCall, ToolSpec, Usage
from tests.adapters.providers.asking import KEY, OUTPUT, SCHEMA, TOOL, Way, only, request
from tests.depth import examples
from tests.model_server.server import ModelServer


def test_la3_text_usage_and_reported_model(way: Way) -> None:
    """LA3, L45: text, tokens with the cached ones, and the model name that the service reports."""
    usage = {"input_tokens": 1000, "output_tokens": 75, "cached_input_tokens": 800}
    way.server.script({"content": {"n": 2, "ü": "«»"}, "usage": usage, "model": "m-1-2026"})
    reply = way.ask()
    assert json.loads(reply.content) == {"n": 2, "ü": "«»"}
    assert (reply.usage, reply.model_name, reply.finish) == (Usage(1000, 75, 800), "m-1-2026", "stop")
    headers = way.server.requests[0].headers
    assert headers["x-goog-api-key" if way.api == "google" else "authorization"].removeprefix("Bearer ") == KEY


def test_streamed_text_arrives_in_pieces(way: Way) -> None:
    way.server.script({"content": "0123456789abcdefghij"})
    reply = way.ask(request(output=None))
    assert reply.content == "0123456789abcdefghij"
    assert way.pieces == (["01234567", "89abcdef", "ghij"] if way.stream else [])


@only("chat", "responses")
def test_tool_calls_keep_their_raw_arguments(way: Way) -> None:
    calls = [{"name": "add", "arguments": {"a": 1, "b": 22222}, "id": "c1"}, {"name": "add", "arguments": "{broken"}]
    way.server.script({"tool_calls": calls})
    reply = way.ask(request(tools=(TOOL,)))
    assert reply.tool_calls == (ToolCall("c1", "add", '{"a": 1, "b": 22222}'), ToolCall("call_2", "add", "{broken"))
    assert (reply.content, reply.finish) == ("", "tool_calls")


def test_text_beside_tool_calls(way: Way) -> None:
    way.server.script({"content": "I will add.", "tool_calls": [{"name": "add", "arguments": {"a": 1}, "id": "c1"}]})
    reply = way.ask(request(tools=(TOOL,)))
    (call,) = reply.tool_calls
    assert (reply.content, call.id, call.name, json.loads(call.arguments)) == ("I will add.", "c1", "add", {"a": 1})


@only("chat", "responses", "anthropic")
def test_a_refusal_is_a_reply_with_its_text(way: Way) -> None:
    way.server.script({"refusal": "I will not count that."})
    reply = way.ask()
    assert (reply.finish, reply.refusal, reply.content) == ("refusal", "I will not count that.", "")


@pytest.mark.parametrize(("finish", "expected"), [("length", "length"), ("content_filter", "filter")])
def test_a_cut_reply_says_why(way: Way, finish: str, expected: str) -> None:
    way.server.script({"content": '{"n":', "finish": finish})
    reply = way.ask()
    assert (reply.finish, reply.content) == (expected, '{"n":')


def test_a_reply_without_usage_counts_nothing(way: Way) -> None:
    way.server.script({"content": "x", "usage": None})
    assert way.ask(request(output=None)).usage == Usage()


def test_a_whole_conversation_goes_over_the_wire(way: Way) -> None:
    """L11: system, user, assistant with tool calls, tool results; the fake server refuses what does not fit."""
    messages = (
        Message("system", "Add."),
        Message("user", "1 and 2, a lone surrogate \ud83d and a zero \x00"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "add", '{"a": 1}'), ToolCall("c2", "add", ""))),
        Message("tool", "3", tool_call_id="c1"),
        Message("tool", "", tool_call_id="c2"),
        Message("assistant", "not JSON"),
        Message("user", "Again."),
    )
    way.server.script({"content": {"n": 3}})
    assert json.loads(way.ask(request(messages=messages, tools=(TOOL,))).content) == {"n": 3}
    text = json.dumps(way.server.bodies[0], ensure_ascii=False, separators=(",", ":"))
    assert "surrogate \ufffd and" in text
    empty = {"anthropic": '"input":{}', "google": '"args":{}'}.get(way.api, '"arguments":"{}"')
    assert empty in text


def test_l11_lw7_the_chat_request(model_server: ModelServer) -> None:
    """L11, LW7: model, system, one user message, tools, response_format json_schema {name, strict, schema}."""
    model_server.script({"content": {"n": 2}})
    Way(model_server, "chat", False, []).ask(request(tools=(TOOL,), parameters={"temperature": 0.5}))
    assert model_server.bodies == [
        {
            "temperature": 0.5,
            "model": "m-1",
            "messages": [{"role": "system", "content": "Count."}, {"role": "user", "content": "one two"}],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": TOOL.name, "description": TOOL.description, "parameters": TOOL.parameters},
                }
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "output", "strict": True, "schema": SCHEMA},
            },
        }
    ]


def test_la3_the_responses_request(model_server: ModelServer) -> None:
    """LA3: the same as instructions and items; nothing is stored unless a parameter asks for it."""
    model_server.script({"content": {"n": 2}}, {"content": {"n": 2}})
    way = Way(model_server, "responses", False, [])
    way.ask(request(tools=(TOOL,), parameters={"text": {"verbosity": "low"}}), request(parameters={"store": True}))
    first, second = model_server.bodies
    assert first == {
        "store": False,
        "text": {
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "output", "schema": SCHEMA, "strict": True},
        },
        "model": "m-1",
        "instructions": "Count.",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one two"}]}],
        "tools": [
            {
                "type": "function",
                "name": "add",
                "description": "Adds two numbers.",
                "parameters": TOOL.parameters,
                "strict": False,
            }
        ],
    }
    assert second["store"] is True


@only("chat", "responses", "anthropic")
def test_x7_parameters_cannot_change_the_structure(way: Way) -> None:
    """X7: a parameter is a temperature, not a tool of the service, a message or another model."""
    structure = {
        "model": "x",
        "messages": [],
        "input": "x",
        "tools": [{"type": "web_search"}],
        "stream": not way.stream,
    }
    way.server.script("ok")
    way.ask(request(output=None, parameters={**structure, "service_tier": "auto", "stream_options": {"x": 1}}))
    body = way.server.bodies[0]
    assert (body["model"], body["service_tier"], "tools" in body) == ("m-1", "auto", False)
    assert body.get("stream", False) is way.stream


def test_lw7_tools_keep_their_order(way: Way) -> None:
    """LW7: tools go out in the order given, every time."""
    tools = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("b", "a", "c"))
    way.server.script("ok")
    way.ask(request(output=None, tools=tools))
    offered = way.server.bodies[0]["tools"]
    offered = offered[0]["functionDeclarations"] if way.api == "google" else offered
    sent = [tool.get("name") or tool["function"]["name"] for tool in offered]
    assert sent == ["b", "a", "c"]


def test_a_cancelled_call_is_cancelled(way: Way) -> None:
    """Ctrl-C and limits of the run end a call at once; what ended it is not mistaken for the service's fault."""
    way.server.script({"content": "x", "fault": "hang"})

    async def cancelled() -> None:
        provider = way.provider()
        task = asyncio.create_task(provider.complete(request(), way.on_text))
        while not way.server.requests:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.aclose()

    asyncio.run(cancelled())
    assert len(way.server.requests) == 1


def test_responses_input_is_never_empty(model_server: ModelServer) -> None:
    model_server.script("ok")
    way = Way(model_server, "responses", False, [])
    assert way.ask(request(messages=(Message("system", "Say ok."),), output=None)).content == "ok"


def test_a_service_that_cannot_stream_still_answers(way: Way) -> None:
    """A service that ignores `stream` sends one whole reply; it is handed over as one piece."""
    whole = {
        "chat": {"choices": [{"message": {"content": "whole"}}]},
        "responses": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "whole"}]}]},
    }
    whole["anthropic"] = {"content": [{"type": "text", "text": "whole"}], "stop_reason": "end_turn"}
    whole["google"] = {"candidates": [{"content": {"parts": [{"text": "whole"}]}, "finishReason": "STOP"}]}
    way.server.script({"raw": json.dumps(whole[way.api])})
    assert way.ask(request(output=None)).content == "whole"
    assert way.pieces == (["whole"] if way.stream else [])


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"content": "ab", "tool_calls": None, "refusal": None},
        {"content": "ab", "tool_calls": [], "refusal": ""},
    ],
)
def test_variations_of_a_message(model_server: ModelServer, message: dict[str, object]) -> None:
    model_server.script({"raw": json.dumps({"choices": [{"message": message}]})})
    reply = Way(model_server, "chat", False, []).ask(request(output=None))
    assert (reply.content, reply.tool_calls, reply.refusal, reply.model_name) == ("ab", (), None, None)


def test_calls_without_an_id_get_one_each(model_server: ModelServer) -> None:
    call = {"function": {"name": "add", "arguments": {"a": 1}}}
    model_server.script(
        {"raw": json.dumps({"choices": [{"message": {"tool_calls": [call, {**call, "id": "x"}, call]}}]})}
    )
    reply = Way(model_server, "chat", False, []).ask(request(tools=(TOOL,)))
    assert [call.id for call in reply.tool_calls] == ["call_1", "x", "call_3"]
    assert reply.tool_calls[0].arguments == '{"a":1}'


def test_one_provider_serves_many_calls_and_several_loops(model_server: ModelServer) -> None:
    """Connections are kept within a loop; a second `asyncio.run` gets its own; closing twice is safe."""
    model_server.default = {"content": {"n": 1}}
    provider = OpenAIProvider(api_key=KEY, base_url=model_server.base_url)
    before = model_server.connections

    async def twice() -> None:
        for _ in range(5):
            await provider.complete(request())
        await provider.complete(request(), lambda _: None)
        await provider.complete(request())
        await provider.aclose()
        await provider.aclose()

    asyncio.run(twice())
    assert model_server.connections == before + 1
    asyncio.run(twice())
    assert model_server.connections == before + 2


def test_calls_run_at_the_same_time(model_server: ModelServer) -> None:
    model_server.default = {"content": {"n": 1}, "delay": 0.1}

    async def many() -> None:
        provider = OpenAIProvider(api_key=KEY, base_url=model_server.base_url)
        await asyncio.gather(*(provider.complete(request()) for _ in range(8)))
        await provider.aclose()

    asyncio.run(many())
    assert model_server.most_in_flight == 8


def test_output_is_only_asked_for_when_wanted(way: Way) -> None:
    way.server.script("free text")
    assert way.ask(request(output=None)).content == "free text"
    assert not {"response_format", "text", "tools"} & set(way.server.bodies[0])
    assert OUTPUT.strict


@pytest.mark.parametrize("content", [5, True, {"text": "x"}, ["x"], [{"text": 5}]])
def test_la3_a_content_that_is_neither_text_nor_parts_is_no_reply(model_server: ModelServer, content: object) -> None:
    """LA3, LA6. What cannot be read is not taken for an empty answer."""
    model_server.script({"raw": json.dumps({"choices": [{"message": {"content": content}}]})})
    error = Way(model_server, "chat", False, []).fail(request(output=None))
    assert (error.kind, error.retryable) == ("malformed", True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
NAMES = (
    *("choices", "message", "content", "tool_calls", "function", "name", "arguments", "usage", "prompt_tokens"),
    *("delta", "text", "type", "output", "error", "code", "status", "incomplete_details", "reason", "finish_reason"),
    *("refusal", "index", "id", "content_block", "stop_reason", "partial_json", "item", "response", "candidates"),
    *("parts", "functionCall", "args", "finishReason", "usageMetadata", "promptFeedback", "safetyRatings", "input"),
)
KINDS = (
    *("message", "function_call", "tool_use", "text", "error", "message_start", "content_block_start", "message_stop"),
    *("content_block_delta", "message_delta", "input_json_delta", "text_delta", "response.completed"),
    *("response.output_item.done", "response.output_text.delta", "output_text", "thinking", "signature_delta"),
)
HOSTILE = st.recursive(
    VALUES | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=examples(100, share=20))
@given(data=st.dictionaries(st.sampled_from(NAMES), HOSTILE, max_size=6), several=st.lists(HOSTILE, max_size=4))
@pytest.mark.parametrize("wire", [chat.WIRE, responses.WIRE, completion.WIRE, messages.WIRE, gemini.WIRE])
def test_x26_whatever_comes_is_a_reply_or_a_problem(wire: Wire, data: dict[str, object], several: list[object]) -> None:
    """X26. Nothing that a service sends ends in another error, whole or as events; and counts are counts."""
    with suppress(ExchangeProblem, StatusProblem):
        _require_counts(wire.reply(data))
    assembly = wire.assembly()
    with suppress(ExchangeProblem, StatusProblem):
        for each in (data, *several):
            if isinstance(each, dict):
                assembly.feed("", each)
        _require_counts(assembly.finish())


def _require_counts(reply: ModelReply) -> None:
    assert isinstance(reply.content, str)
    assert all(isinstance(each.arguments, str) for each in reply.tool_calls)
    assert 0 <= reply.usage.cached_input_tokens <= reply.usage.input_tokens <= 3 * MOST_TOKENS
    assert 0 <= reply.usage.output_tokens <= 2 * MOST_TOKENS
