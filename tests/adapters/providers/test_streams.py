"""Event streams cut anywhere, and pieces of replies put together in every form that services send them."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.providers.chat import ChatAssembly
from prosa.adapters.providers.completion import EventDecoder
from prosa.adapters.providers.failures import ExchangeProblem, retry_after
from prosa.adapters.providers.responses import ResponseAssembly
from prosa.runtime.messages import ModelReply, ToolCall, Usage
from tests.depth import examples

LINES = st.lists(
    st.sampled_from(["data: a", "data:b", "data", "event: e", ": note", "id: 1", "retry: 5", "data: ü«", "", "x: y"]),
    max_size=14,
)


def decode(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = EventDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + list(decoder.finish())


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"\xef\xbb\xbfdata: a\r\n\r\ndata:  b\r\rdata: c", [("", "a"), ("", " b"), ("", "c")]),
        (b"event: e\ndata: a\ndata: b\n\nevent: f\n\ndata\n\n", [("e", "a\nb"), ("", "")]),
        (b": only a note\n\n", []),
    ],
)
def test_events(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert decode(stream) == expected


@settings(max_examples=examples(80), deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 200), max_size=8))
def test_events_do_not_depend_on_where_the_stream_is_cut(lines: list[str], end: str, cuts: list[int]) -> None:
    data = end.join(lines).encode()
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    chunks = [data[a:b] for a, b in pairwise(places)]
    assert decode(*chunks) == decode("\n".join(lines).encode())


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_decode(data: bytes) -> None:
    assert decode(data) == decode(*(data[i : i + 1] for i in range(len(data))))


def chat(*deltas: dict[str, Any], finish: str | None = "stop", **last: Any) -> ModelReply:
    assembly = ChatAssembly()
    for delta in deltas:
        assembly.feed("", {"choices": [{"delta": delta}]})
    assembly.feed("", {"choices": [{"delta": {}, "finish_reason": finish}], **last})
    return assembly.finish()


@pytest.mark.parametrize(
    "deltas",
    [
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
        ],
        [  # without index: a new id opens the next call
            {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x"'}}]},
            {"tool_calls": [{"id": "a", "function": {"arguments": ":1}"}}]},
            {"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": "{}"}}]},
        ],
        [  # all at once, and the head repeated
            {
                "tool_calls": [
                    {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":1}'}},
                    {"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}},
                ]
            },
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]},
        ],
    ],
)
def test_pieces_of_tool_calls(deltas: list[dict[str, Any]]) -> None:
    calls = (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", "{}"))
    assert chat(*deltas, finish="tool_calls").tool_calls == calls


def test_usage_in_the_last_chunk_counts() -> None:
    reply = chat({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": 1}, model="m")
    assert (reply.usage, reply.model_name) == (Usage(3, 1), "m")


def test_odd_chunks_are_passed_over() -> None:
    reply = chat(
        {"content": None}, {"content": 5}, {"tool_calls": ["x"], "content": "ok"}, {"content": [{"text": "!"}]}
    )
    assert reply.content == "ok!"


def test_a_response_whose_last_event_lacks_the_output() -> None:
    """The closing event of some services is bare; what came before it counts."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    assembly = ResponseAssembly()
    assembly.feed("", {"type": "response.output_item.done", "item": call})
    assembly.feed("", {"type": "response.completed", "response": {"status": "completed", "output": []}})
    assert assembly.finish().tool_calls == (ToolCall("c", "f", "{}"),)
    assembly = ResponseAssembly()
    assert assembly.feed("response.output_text.delta", {"delta": "hi"}) == "hi"
    assembly.feed("", {"type": "response.completed", "response": {"status": "completed", "output": []}})
    assert assembly.finish().content == "hi"


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("server_error", "server", True),
        ("rate_limit_exceeded", "rate-limit", True),
        ("invalid_prompt", "bad-request", False),
    ],
)
def test_a_failed_response(code: str, kind: str, retryable: bool) -> None:
    assembly = ResponseAssembly()
    error = {"code": code, "message": "sorry"}
    assembly.feed("", {"type": "response.failed", "response": {"status": "failed", "error": error}})
    with pytest.raises(ExchangeProblem) as caught:
        assembly.finish()
    assert (caught.value.kind, caught.value.retryable, caught.value.quoted) == (kind, retryable, "sorry")


KEYS = (
    *("choices", "message", "delta", "content", "tool_calls", "function", "name", "arguments", "id", "index"),
    *("usage", "prompt_tokens", "error", "code", "type", "output", "text", "refusal", "item", "response"),
    *("status", "incomplete_details", "reason", "finish_reason", "call_id", "model"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["stop", "message", "function_call", "x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=examples(100), deadline=None)
@given(st.dictionaries(st.sampled_from(["choices", "output", "error", "usage", "status", "type", "item"]), JSON))
def test_any_json_is_a_reply_or_a_problem(value: dict[str, Any]) -> None:
    """Whatever a service sends, whole or as an event, nothing but `ExchangeProblem` comes out."""
    from prosa.adapters.providers import chat as chat_wire
    from prosa.adapters.providers import responses as responses_wire

    for wire in (chat_wire.WIRE, responses_wire.WIRE):
        for made in (lambda wire=wire: wire.reply(value), lambda wire=wire: _assembled(wire, value)):
            try:
                assert isinstance(made(), ModelReply)
            except ExchangeProblem as problem:
                assert problem.reason


def _assembled(wire: Any, value: dict[str, Any]) -> ModelReply:
    assembly = wire.assembly()
    for data in (value, {"type": "response.completed", "response": value}):
        assert isinstance(assembly.feed("", data), str)
    assembly.complete = True
    return assembly.finish()


@pytest.mark.parametrize("text", ["Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 2015", "9" * 400, "", "nan"])
def test_l16_any_retry_after_is_a_wait_or_nothing(text: str) -> None:
    wait = retry_after({"retry-after": text, "date": "also wrong"})
    assert wait is None or wait == 0.0


def test_heavy_libraries_load_at_the_first_call() -> None:
    """Importing the adapters, and asking for nothing, loads neither client nor prices."""
    code = (
        "import sys, prosa.adapters.providers, prosa.testing\n"
        "prosa.adapters.providers.OpenAIProvider(api_key='k', base_url=None)\n"
        "prosa.adapters.providers.KnownPrices()\n"
        "print([name for name in ('openai', 'httpx2', 'aiohttp', 'genai_prices') if name in sys.modules])"
    )
    assert json.loads(subprocess.check_output([sys.executable, "-c", code], text=True)) == []
