"""Anthropic asked natively (X7, LA4, X24, X26): its own words, its library as the oracle, and what never leaves."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.adapters.providers import messages
from prosa.adapters.providers.completion import shaped
from prosa.adapters.providers.failures import ExchangeProblem
from prosa.adapters.providers.messages import closed_schema
from prosa.adapters.providers.native import AnthropicProvider
from prosa.adapters.providers.prices import KnownPrices
from prosa.adapters.providers.request_shape import RequestShape
from prosa.adapters.providers.wire import decode, encode
from prosa.runtime.messages import Message, ModelReply, OutputFormat, ToolCall, Usage
from tests.adapters.providers.asking import KEY, OUTPUT, SCHEMA, TOOL, Way, request
from tests.depth import examples
from tests.model_server import messages as fake
from tests.model_server.server import ModelServer


def versioned() -> dict[str, str]:
    """Return the header that names the version which the library of the service was made for."""
    return {"anthropic-version": fake._version()}


def ask(server: ModelServer, *requests: Any, stream: bool = False, **options: Any) -> Any:
    return Way(server, "anthropic", stream, []).ask(*requests, **options)


def test_la4_l11_the_request_of_a_program(model_server: ModelServer) -> None:
    """LA4, L11: the system message apart, one user message, tools, and the schema in the words of the service."""
    model_server.script({"content": {"n": 2}})
    ask(model_server, request(tools=(TOOL,), parameters={"service_tier": "auto"}))
    assert model_server.bodies == [
        {
            "service_tier": "auto",
            "model": "m-1",
            "max_tokens": 32_000,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "one two"}]}],
            "system": "Count.",
            "tools": [{"name": TOOL.name, "description": TOOL.description, "input_schema": TOOL.parameters}],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
            "cache_control": {"type": "ephemeral"},
        }
    ]


# ---- what never leaves ----

HEADERS = ("x-custom", "authorization", "x-api-key", "X-API-KEY", "host", "anthropic-version", "content-length")


def test_x7_nothing_leaves_that_was_not_given(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """X7, X8: the library reads keys, addresses and headers from its environment; none of them is used or sent, and
    nothing is told about this machine."""
    theirs = {
        "ANTHROPIC_API_KEY": "sk-theirs",
        "ANTHROPIC_AUTH_TOKEN": "token-theirs",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "ANTHROPIC_CUSTOM_HEADERS": "\n".join(f"{name}: theirs" for name in HEADERS),
    }
    for name, value in theirs.items():
        monkeypatch.setenv(name, value)
    model_server.default = "ok"
    ask(model_server, request(output=None))
    ask(model_server, request(output=None), api_key=None)
    for made, key in zip(model_server.requests, (f"Bearer {KEY}", None), strict=True):
        assert "theirs" not in str(made.headers)
        assert made.headers.get("authorization") == key
        assert set(made.headers) <= {
            *("host", "connection", "content-length", "content-type", "accept", "accept-encoding", "user-agent"),
            *("authorization", "anthropic-version"),
        }
        assert made.headers["user-agent"].startswith("prosa/")
        assert made.path == "/v1/messages"


def test_the_base_url_may_end_in_the_version_or_not(model_server: ModelServer) -> None:
    model_server.default = "ok"
    for base_url in (model_server.base_url, model_server.base_url.removesuffix("/v1"), f"{model_server.base_url}/"):
        assert ask(model_server, request(output=None), base_url=base_url).content == "ok"
    assert {each.path for each in model_server.requests} == {"/v1/messages"}


# ---- replies ----


def test_x26_la27_what_is_cached_and_what_is_put_into_the_cache_is_counted(model_server: ModelServer) -> None:
    """The service counts them apart from its input; both are part of ours, each at its own price."""
    usage = {"input_tokens": 1000, "output_tokens": 10, "cached_input_tokens": 600, "written_input_tokens": 300}
    model_server.default = {"content": "x", "usage": usage}
    for stream in (False, True):
        assert ask(model_server, request(output=None), stream=stream).usage == Usage(1000, 10, 600, 300)
    prices, where = KnownPrices(), "https://api.anthropic.com/v1"
    plain, written = (prices.cost("claude-sonnet-4-5", each, where) for each in (Usage(1000), Usage(1000, 0, 0, 1000)))
    assert (plain, written) == (Decimal("0.003"), Decimal("0.00375"))


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("model_context_window_exceeded", "length"), ("pause_turn", "length"), ("stop_sequence", "stop")],
)
def test_every_reason_to_stop_is_known(model_server: ModelServer, finish: str, expected: str) -> None:
    model_server.default = {"content": "x", "finish": finish}
    assert [ask(model_server, request(output=None), stream=each).finish for each in (False, True)] == [expected] * 2


def test_thoughts_are_no_part_of_the_answer() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]
    assert messages.reply({"content": blocks, "stop_reason": "end_turn"}).content == "ab"


def test_an_answer_that_must_be_a_tool_call_is_the_text() -> None:
    call = {"type": "tool_use", "id": "t", "name": messages.ANSWER_TOOL, "input": {"n": 1}}
    reply = messages.reply({"content": [call], "stop_reason": "tool_use"})
    assert (json.loads(reply.content), reply.tool_calls, reply.finish) == ({"n": 1}, (), "stop")


NAMES = st.sampled_from(
    [
        *("type", "content", "text", "id", "name", "input", "usage", "stop_reason", "delta", "index", "message"),
        *("error", "partial_json", "content_block", "model", "stop_details", "output_tokens"),
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=12))
@settings(max_examples=examples(200), deadline=None)
def test_x9_whatever_a_service_sends_is_a_reply_or_a_problem(value: Any) -> None:
    data: Mapping[str, Any] = value if isinstance(value, dict) else {"content": value}
    for read in (messages.reply, _streamed):
        try:
            reply: Any = read(data)
        except ExchangeProblem as problem:
            reply = problem
        assert isinstance(reply, ModelReply | ExchangeProblem)


def _streamed(data: Mapping[str, Any]) -> ModelReply:
    for kind in ("message_start", "content_block_start", "content_block_delta", "message_delta", "error"):
        assembly = messages.MessageAssembly()
        assembly.feed(kind, {**data, "type": kind})
        assembly.feed("message_stop", {"type": "message_stop"})
        reply = assembly.finish()
    return reply


# ---- bounds ----


def test_x26_a_bound_is_always_sent_and_comes_down_to_what_the_model_can(model_server: ModelServer) -> None:
    model_server.refuses, model_server.default = {"large"}, {"content": {"n": 1}}
    ask(model_server, request(), request(), request(max_output=7), request(max_output=5000))
    assert [body["max_tokens"] for body in model_server.bodies] == [32_000, 1000, 1000, 7, 1000]


def test_x26_what_the_context_leaves_bounds_one_answer_and_is_not_remembered(model_server: ModelServer) -> None:
    model_server.refuses, model_server.default = {"room"}, {"content": {"n": 1}}
    ask(model_server, request(), request())
    assert [body["max_tokens"] for body in model_server.bodies] == [32_000, 10_000] * 2


def test_x26_what_the_user_knows_of_a_model_is_its_bound(model_server: ModelServer) -> None:
    model_server.default = {"content": {"n": 1}}
    ask(model_server, request(), request(parameters={"max_tokens": 99}), most=lambda name: 8192)
    assert [body["max_tokens"] for body in model_server.bodies] == [8192, 99]


# ---- the ladder ----


def test_la4_a_schema_without_words_there_is_the_form_of_a_tool(model_server: ModelServer) -> None:
    """An object of any names cannot be said in structured output; a tool may have it as its arguments."""
    free = OutputFormat("output", {"type": "object", "additionalProperties": {"type": "integer"}}, strict=False)
    call = {"name": messages.ANSWER_TOOL, "arguments": {"a": 1}}
    model_server.default = {"tool_calls": [call]}
    for stream in (False, True):
        way = Way(model_server, "anthropic", stream, [])
        reply = way.ask(request(output=free))
        assert (json.loads(reply.content), reply.tool_calls) == ({"a": 1}, ())
        assert json.loads("".join(way.pieces) or '{"a": 1}') == {"a": 1}
    body = model_server.bodies[0]
    assert body["tool_choice"] == {"type": "tool", "name": messages.ANSWER_TOOL}
    assert body["tools"][0]["input_schema"] == free.schema
    assert "output_config" not in body


def test_la4_with_tools_of_its_own_a_program_is_asked_for_json_in_words(model_server: ModelServer) -> None:
    free = OutputFormat("output", {"type": "object"}, strict=False)
    model_server.default = {"content": {"n": 1}}
    ask(model_server, request(output=free, tools=(TOOL,)))
    assert [each["name"] for each in model_server.bodies[0]["tools"]] == ["add"]
    assert not {"tool_choice", "output_config"} & model_server.bodies[0].keys()


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null"])
SCHEMAS: Any = st.deferred(
    lambda: st.one_of(
        st.builds(
            lambda kind, form: {"type": kind, "format": form, "minLength": 2}, KINDS, st.sampled_from(["date", "x"])
        ),
        st.builds(lambda values: {"enum": values}, st.lists(st.text(max_size=3), min_size=1, max_size=3)),
        st.builds(lambda value: {"const": value, "title": "one"}, st.integers()),
        st.builds(lambda kinds: {"type": kinds}, st.lists(KINDS, min_size=1, max_size=2, unique=True)),
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least}, SCHEMAS, st.integers(0, 3)
        ),
        st.builds(lambda each: {"anyOf": each, "description": "either"}, st.lists(SCHEMAS, min_size=1, max_size=2)),
        st.builds(lambda each: {"oneOf": each}, st.lists(SCHEMAS, min_size=1, max_size=2)),
        st.builds(
            lambda each: {"type": "object", "properties": each, "required": sorted(each)[:1], "maxProperties": 9},
            st.dictionaries(st.sampled_from(["a", "b", "$ref", "type"]), SCHEMAS, max_size=3),
        ),
        st.just({"$ref": "#/definitions/one"}),
        st.sampled_from([{}, {"type": "object"}, {"type": "array"}, {"type": "object", "additionalProperties": True}]),
    )
)


@given(SCHEMAS)
@settings(max_examples=examples(150), deadline=None)
def test_la4_a_schema_is_sent_as_the_library_itself_would_write_it(schema: Any) -> None:
    """What the library makes of our schema is our schema: nothing in it that the service does not take."""
    from anthropic.lib._parse._transform import transform_schema

    made = closed_schema({**schema, "definitions": {"one": {"type": "integer", "maximum": 3}}})
    if made is not None:
        assert transform_schema(made) == made
        assert "definitions" not in json.dumps(made)


def test_la4_what_a_closed_schema_cannot_say_is_not_said() -> None:
    inside = {"type": "object", "properties": {"a": {"type": "object", "patternProperties": {"x": {}}}}}
    for schema in ({"type": "object"}, inside, {"prefixItems": [{}]}, {"$ref": "#"}, {"enum": [{"a": 1}]}, {"not": {}}):
        assert closed_schema(schema) is None
    assert closed_schema({"properties": {"a": {"type": ["string", "null"]}}}) == {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "additionalProperties": False,
        "required": [],
    }


@pytest.mark.parametrize("odd", [[], ["date"], {"a": 1}, None, 3, True, "", [["a"]], [{"a": 1}]])
@pytest.mark.parametrize("keyword", ["type", "format", "required", "minItems", "enum", "$ref", "properties", "items"])
def test_la4_a_keyword_of_any_type_makes_no_traceback(keyword: str, odd: Any) -> None:
    """A schema of a tool of a server is not ours."""
    for around in ({"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "array"}):
        made = closed_schema({**around, keyword: odd})
        assert made is None or json.dumps(made)


# ---- messages ----

TEXTS = st.sampled_from(["", " ", "a text", "two\nlines", "\ud83d\ude00", "#"])
CALLS = st.lists(st.sampled_from(["a1", "b:2", "c 3", "a1 "]), unique=True, max_size=3).map(
    lambda ids: tuple(
        ToolCall(each, "add", arguments) for each, arguments in zip(ids, ('{"a": 1}', "", "[1"), strict=False)
    )
)
FORMS = st.builds(
    RequestShape,
    output=st.sampled_from(["json_schema", "json_object", "prompt"]),
    calls=st.sampled_from(["several", "one", "apart"]),
    most=st.sampled_from([100, messages.DEFAULT_OUTPUT]),
)


@given(
    st.lists(st.tuples(TEXTS, CALLS), max_size=4),
    FORMS,
    st.booleans(),
    st.sampled_from([(), (TOOL,)]),
    st.sampled_from([None, OUTPUT]),
    st.sampled_from([{}, {"stop": "x"}, {"reasoning_effort": "low", "output_config": {"effort": "high"}}]),
)
@settings(max_examples=examples(200), deadline=None)
def test_x24_the_service_takes_every_conversation(steps, form, stream, tools, output, parameters) -> None:
    """Every field is one of the library's types, roles alternate, calls have ids, tools and results of their own."""
    said = [Message("system", "Count."), Message("user", "one two", name="ada"), Message("user", "three", name="bob")]
    for text, calls in steps:
        said.append(Message("assistant", text, calls))
        said += [Message("tool", text, tool_call_id=call.id) for call in calls] or [Message("user", "go on")]
    asked = request(messages=tuple(said), tools=tools, output=output, parameters=parameters)
    body = decode(encode(messages.body(shaped(asked, form), form, stream)))
    assert fake.refusal(versioned(), body, set()) is None


def test_the_fake_refuses_a_request_that_is_wrong() -> None:
    """That it takes everything would say nothing."""
    good = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    use = {"type": "tool_use", "id": "a", "name": "add", "input": {}}
    tool = {"name": "add", "input_schema": {"type": "object"}}
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "minProperties": 1}
    wrong: list[dict[str, Any]] = [
        {"seed": 1},
        {"max_tokens": "9"},
        {"messages": []},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "more": 1}]}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}]},
        {"messages": [*good["messages"], {"role": "assistant", "content": [use]}], "tools": [tool]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
        {"tools": [{**tool, "name": "a b"}]},
        {"tools": [tool, tool]},
        {"tool_choice": {"type": "auto"}},
        {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
        {"output_config": {"format": {"type": "json_object"}}},
    ]
    assert fake.refusal(versioned(), good, set()) is None
    assert fake.refusal({}, good, set()) is not None
    for each in wrong:
        assert fake.refusal(versioned(), {**good, **each}, set()) is not None, each


def test_x24_a_tool_that_is_gone_is_still_named_with_its_calls(model_server: ModelServer) -> None:
    """In the last iteration no tools are offered; the service wants every call that stands there to have its tool."""
    said = (
        Message("user", "Add."),
        Message("assistant", "", (ToolCall("c1", "add", "{}"),)),
        Message("tool", "3", tool_call_id="c1"),
    )
    model_server.default = {"content": {"n": 3}}
    ask(model_server, request(messages=said))
    assert model_server.bodies[0]["tool_choice"] == {"type": "none"}
    assert [each["name"] for each in model_server.bodies[0]["tools"]] == ["add"]


def test_x24_ids_that_come_again_are_told_apart() -> None:
    said = [Message("user", "x")]
    for _ in range(2):
        said += [
            Message("assistant", "", (ToolCall("call_1", "add", "{}"),)),
            Message("tool", "1", tool_call_id="call_1"),
        ]
    body = messages.body(request(messages=tuple(said), tools=(TOOL,)), messages.FIRST_SHAPE, False)
    ids = [(block.get("id"), block.get("tool_use_id")) for turn in body["messages"][1:] for block in turn["content"]]
    assert ids == [("call_1", None), (None, "call_1"), ("call_1_2", None), (None, "call_1_2")]


@pytest.mark.parametrize("stream", [False, True])
def test_x24_thoughts_go_back_with_the_results_of_their_calls(model_server: ModelServer, stream: bool) -> None:
    """As the service wants it of a model that was told to think; calls that another one made are sent without."""
    model_server.script({"tool_calls": [{"name": "add", "arguments": {"a": 1}, "id": "c1"}]}, "3", "3")
    asked = request(output=None, tools=(TOOL,), parameters={"thinking": {"type": "enabled", "budget_tokens": 1024}})
    made = ask(model_server, asked, stream=stream)
    for opaque in (made.opaque, '{"parts": []}'):
        said = (Message("assistant", made.content, made.tool_calls, opaque=opaque), Message("tool", "3", (), "c1"))
        ask(model_server, replace(asked, messages=(*asked.messages, *said)), stream=stream)
    _, kept, strange = model_server.bodies
    assert [block["type"] for block in kept["messages"][1]["content"]] == ["thinking", "tool_use"]
    assert kept["messages"][1]["content"][0]["thinking"] == "hm, hm"
    assert ("thinking" in kept, "thinking" in strange) == (True, False)


def test_pa17_a_last_message_of_the_assistant_is_never_sent(model_server: ModelServer) -> None:
    """This service always goes on with it."""
    said = (Message("user", "x"), Message("assistant", "y"))
    error = Way(model_server, "anthropic", False, []).fail(request(messages=said))
    assert error.kind == "bad-request"
    assert model_server.requests == []


# ---- trouble ----


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(529, "server", True), (429, "rate-limit", True), (413, "bad-request", False), (402, "bad-request", False)],
)
def test_x9_what_the_service_cannot_do_now(model_server: ModelServer, status: int, kind: str, retryable: bool) -> None:
    model_server.script({"status": status, "message": "Overloaded"})
    error = Way(model_server, "anthropic", False, []).fail()
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert len(model_server.requests) == 1  # the library tries nothing again


@pytest.mark.parametrize("code", ["overloaded_error", "rate_limit_error", "authentication_error"])
def test_x9_an_error_in_a_stream_has_its_kind(model_server: ModelServer, code: str) -> None:
    expected = {"overloaded_error": ("server", True), "rate_limit_error": ("rate-limit", True)}
    model_server.script({"content": {"n": 12345}, "fault": "error200", "code": code})
    error = Way(model_server, "anthropic", True, []).fail()
    assert (error.kind, error.retryable) == expected.get(code, ("auth", False))


def test_x29_limits_that_say_when_they_end_say_how_long_to_wait(model_server: ModelServer) -> None:
    """The gate of a batch closes for as long as the service says, in whichever header it says so."""
    headers = {
        "date": "Mon, 23 Nov 2026 10:00:00 GMT",
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2026-11-23T10:09:00Z",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-23T10:00:07Z",
    }
    model_server.script({"status": 429, "headers": headers})
    assert Way(model_server, "anthropic", False, []).fail().retry_after == 7.0


def test_a_prompt_that_is_too_long_is_told_as_such(model_server: ModelServer) -> None:
    model_server.script({"status": 400, "message": "prompt is too long: 210000 tokens > 200000 maximum"})
    error = Way(model_server, "anthropic", False, []).fail()
    assert "says that the input is too long for the model" in error.message
    assert len(model_server.requests) == 1


def test_a_key_that_is_missing_is_asked_for_under_its_own_name(model_server: ModelServer) -> None:
    model_server.key = "sk-right"
    error = Way(model_server, "anthropic", False, []).fail(api_key=None)
    assert error.hint == "set ANTHROPIC_API_KEY"


def test_one_provider_serves_several_loops(model_server: ModelServer) -> None:
    model_server.default = {"content": {"n": 1}}
    provider = AnthropicProvider(api_key=KEY, base_url=model_server.base_url)

    async def twice() -> None:
        for _ in range(2):
            await provider.complete(request())
        await provider.aclose()
        await provider.aclose()

    before = model_server.connections
    asyncio.run(twice())
    asyncio.run(twice())
    assert model_server.connections == before + 2


@pytest.mark.parametrize("name", ["AnthropicProvider", "GoogleProvider"])
def test_no_library_of_a_service_is_loaded_and_the_http_library_at_the_first_question(
    model_server: ModelServer, name: str
) -> None:
    model_server.script("ok")
    code = f"""
import asyncio, sys
from prosa.adapters.providers.native import {name} as P
from prosa.runtime.messages import Message, ModelRequest
provider, loaded = P(api_key='k', base_url=sys.argv[1]), ('anthropic', 'google.genai', 'httpx2', 'pydantic')
print(*[each in sys.modules for each in loaded])
print(asyncio.run(provider.complete(ModelRequest('m', (Message('user', 'x'),)))).content)
print(*[each in sys.modules for each in loaded])
"""
    url = model_server.google_url if name == "GoogleProvider" else model_server.base_url
    ran = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [*["False"] * 4, "ok", "False", "False", "True", "False"]
