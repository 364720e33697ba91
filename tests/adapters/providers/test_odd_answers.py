"""LA4, X17, X29: a field of another type than the interface has is a wrong answer like any other, never a fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from prosa.adapters.providers import chat, completion, gemini, messages, responses
from prosa.adapters.providers.anthropic_batches import AnthropicBatches
from prosa.adapters.providers.embeddings import read_vectors
from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.failures import ExchangeProblem, StatusProblem, problem_in_reply
from prosa.adapters.providers.listing import Listed, list_models
from prosa.adapters.providers.openai_batches import OpenAIBatches
from prosa.adapters.providers.wire import Wire
from prosa.records.batch import LineResult, RemoteBatch, RoundPart
from prosa.runtime.messages import ModelReply
from tests.adapters.providers.test_local import find, listening

T = TypeVar("T")
PART = RoundPart("p", "b", 1, "chat", "http://127.0.0.1", "m", 2, 10, "2026-11-01T00:00:00+00:00")


def answered(body: Any, ask: Callable[[Endpoint], Awaitable[T]]) -> T:
    """Return what is made of the answer of a server that has this one."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"

    async def asked(port: int) -> T:
        return await ask(Endpoint(f"http://127.0.0.1:{port}/v1", "key", {}))

    with listening(head.encode() + data) as port:
        return asyncio.run(asked(port))


@pytest.mark.parametrize("size", ["8k", 8192.0, -1, True, [8192], {"tokens": 8192}])
def test_x17_a_context_window_that_is_no_number_of_tokens_is_unknown(size: Any) -> None:
    listed = {"data": [{"id": "a", "context_length": size, "max_model_len": 4096}, {"id": "b"}]}
    found = answered(listed, lambda endpoint: list_models("openai", endpoint))
    assert found == (Listed("a", 4096), Listed("b"))


@pytest.mark.parametrize("methods", [3, True, {"generateContent": {}}, None])
def test_x17_a_model_whose_methods_are_no_list_answers_no_messages(methods: Any) -> None:
    named = {"models": [{"name": "models/a", "supportedGenerationMethods": methods}]}
    assert answered(named, lambda endpoint: list_models("google", endpoint)) == ()


def test_x17_an_owner_that_is_no_text_is_no_known_server() -> None:
    with listening(b'HTTP/1.1 200 OK\r\n\r\n{"data": [{"id": "x", "owned_by": ["vllm"]}]}') as port:
        assert find(other=port).kind == "a compatible server"


def test_a_number_too_large_for_a_vector_is_refused() -> None:
    with pytest.raises(ExchangeProblem, match="not a vector of numbers"):
        read_vectors({"data": [{"embedding": [10**400]}]}, 1)


def test_a_status_of_thousands_of_digits_is_none() -> None:
    problem = problem_in_reply({"error": {"message": "busy", "code": "0400" + "0" * 5000}})
    assert (problem.kind, problem.status, problem.quoted) == ("server", None, "busy")


@pytest.mark.parametrize("status", [["completed"], {"name": "completed"}, 3, None])
def test_x29_a_batch_of_an_unknown_state_is_under_way(status: Any) -> None:
    found = answered({"id": "b", "status": status}, lambda endpoint: OpenAIBatches(endpoint).state("b"))
    assert found == RemoteBatch("b", "working", 0)


@pytest.mark.parametrize("code", [["batch_expired"], {"code": "batch_expired"}, 3])
def test_x29_an_error_whose_code_is_no_text_is_not_tried_again(code: Any) -> None:
    line = json.dumps({"custom_id": "a", "error": {"message": "no", "code": code}}).encode()

    async def first(endpoint: Endpoint) -> LineResult:
        return await anext(aiter(OpenAIBatches(endpoint).results(RemoteBatch("b", "ended", 1, ("f",)))))

    assert answered(line, first) == LineResult("a", None, "no")


@pytest.mark.parametrize("name", [["b"], {"id": "b"}, 3])
def test_x29_a_batch_whose_id_is_no_text_is_refused(name: Any) -> None:
    """As it is where no batch is known yet."""
    ours = {"data": [{"id": name, "metadata": {"prosa_wave": "p"}}]}
    with pytest.raises(Exception, match="sent an object without an id"):
        answered(ours, lambda endpoint: OpenAIBatches(endpoint).find(PART, {"other"}))


@pytest.mark.parametrize("data", [3, True, "batches", {"id": "b"}])
def test_x29_a_page_that_is_no_list_has_no_batches(data: Any) -> None:
    assert answered({"data": data}, lambda endpoint: AnthropicBatches(endpoint).find(PART, ())) == []


@pytest.mark.parametrize("created", ["2026-11-02T00:00:00", "yesterday", 3, None])
def test_x29_a_batch_whose_time_says_no_zone_may_be_the_lost_one(created: Any) -> None:
    """As any whose time cannot be read."""
    listed = {"data": [{"id": "b", "created_at": created, "request_counts": {"processing": 2}}]}
    found = answered(listed, lambda endpoint: AnthropicBatches(endpoint).find(PART, ()))
    assert [each.id for each in found] == ["b"]


ODD: tuple[Any, ...] = (None, True, 3, 2.5, -1, "x", "", [], [1], ["x"], [[]], [{}], {}, {"a": 1})
USAGE = {"prompt_tokens": 1, "input_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
CALL = {"id": "1", "type": "function", "function": {"name": "n", "arguments": "{}"}}
PARTS = [{"text": "x", "thought": True}, {"functionCall": {"id": "1", "name": "n", "args": {}}}, {"text": "a"}]
RATED = {"safetyRatings": [{"blocked": True, "category": "c"}]}
ANSWERS: dict[str, tuple[Wire, dict[str, Any]]] = {
    "chat": (
        chat.WIRE,
        {"usage": USAGE, "choices": [{"finish_reason": "stop", "message": {"content": "x", "tool_calls": [CALL]}}]},
    ),
    "completion": (completion.WIRE, {"usage": USAGE, "choices": [{"text": "x", "finish_reason": "length"}]}),
    "responses": (
        responses.WIRE,
        {
            "status": "completed",
            "incomplete_details": {"reason": "r"},
            "usage": USAGE,
            "output": [
                {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"},
                {"type": "custom_tool_call", "call_id": "d", "name": "n", "input": "x"},
                {"type": "message", "content": [{"type": "output_text", "text": "x", "refusal": "r"}]},
            ],
        },
    ),
    "messages": (
        messages.WIRE,
        {
            "stop_reason": "refusal",
            "stop_details": {"explanation": "x", "category": "c"},
            "usage": USAGE,
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}},
            ],
        },
    ),
    "gemini": (
        gemini.WIRE,
        {
            "usageMetadata": {"promptTokenCount": 1},
            "promptFeedback": {"blockReason": "b", **RATED},
            "candidates": [{"finishReason": "STOP", "content": {"parts": PARTS}, **RATED}],
        },
    ),
}


def altered(value: Any) -> Iterator[Any]:
    """Yield an answer once for each of its parts and each thing that may stand in its place."""
    yield from ODD
    if isinstance(value, dict):
        yield from ({**value, name: other} for name, each in value.items() for other in altered(each))
    if isinstance(value, list):
        yield from ([*value[:at], other, *value[at + 1 :]] for at, each in enumerate(value) for other in altered(each))


@pytest.mark.parametrize("name", ANSWERS)
def test_la4_whatever_stands_in_an_answer_it_is_a_reply_or_refused(name: str) -> None:
    wire, answer = ANSWERS[name]
    for each in (*altered(answer), {"error": {"message": "m", "code": "c", "type": "t"}}, *altered({"error": {}})):
        if isinstance(each, dict):
            with suppress(ExchangeProblem, StatusProblem):
                assert isinstance(wire.reply(each), ModelReply)
