"""X36. Requests of agents are read on four wires, and a hostile body is refused or passed over, never a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.agents.requests import AgentRequest, BadRequest, ToolResult, bounded, read_request
from prosa.adapters.agents.sightings import Sightings
from prosa.records.agent import WireName
from prosa.runtime.messages import ModelReply, ToolCall

WIRES: tuple[WireName, ...] = ("messages", "responses", "chat", "gemini")

REQUESTS: dict[WireName, dict[str, Any]] = {
    "messages": {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "You are"}, {"type": "text", "text": "an agent"}],
        "tools": [{"name": "Skill", "description": "Loads a skill", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "do it"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Skill", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "done"}]},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                ],
            },
        ],
    },
    "responses": {
        "model": "m",
        "max_output_tokens": 100,
        "stream": True,
        "instructions": "You are",
        "tools": [{"type": "function", "name": "Skill", "description": "Loads a skill", "parameters": {}}],
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "an agent"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<reminder>"}]},
            {"role": "user", "content": "do it"},
            {"type": "function_call", "call_id": "c1", "name": "Skill", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "no"}]},
        ],
    },
    "chat": {
        "model": "m",
        "max_tokens": 50,
        "n": 2,
        "stream": True,
        "tools": [{"type": "function", "function": {"name": "Skill", "description": "Loads a skill"}}],
        "messages": [
            {"role": "system", "content": "You are"},
            {"role": "developer", "content": [{"type": "text", "text": "an agent"}]},
            {"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "do it"}]},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "no"}]},
        ],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "You are"}, {"text": "an agent"}]},
        "tools": [{"functionDeclarations": [{"name": "Skill", "description": "Loads a skill"}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "<reminder>"}, {"text": "do it"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "Skill", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "Skill", "response": {"output": "done"}}},
                    {"functionResponse": {"name": "c2", "response": {"error": "no"}}},
                ],
            },
        ],
        "generationConfig": {"maxOutputTokens": 100},
    },
}


def read(wire: WireName, value: object) -> AgentRequest:
    return read_request(wire, json.dumps(value).encode(), "m" if wire == "gemini" else "")


@pytest.mark.parametrize("wire", WIRES)
def test_x36_every_wire_says_the_same(wire: WireName):
    request = read(wire, REQUESTS[wire])
    knows_errors = wire in ("messages", "gemini")
    assert (request.model, request.system, request.first) == ("m", "You are\nan agent", "<reminder>")
    assert request.results == (ToolResult("c1", "done"), ToolResult("c2", "no", is_error=knows_errors))
    assert request.bound == 100 and request.streams == (wire != "gemini")
    for text in ("Skill\nLoads a skill", "do it", "an agent"):
        assert text in request.offered
    assert "done" not in request.offered  # what a tool read offers nothing


@pytest.mark.parametrize("wire", WIRES)
def test_x36_a_bound_can_be_put_in(wire: WireName):
    request = read(wire, {**REQUESTS[wire], "note": "\ud800"})
    again = read_request(wire, bounded(wire, request, 7), "m")
    assert again.bound == (14 if wire == "chat" else 7)
    assert again.results == request.results


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b"{}", b"null", b'{"model": 3}', b"[" * 100_000, b'{"model": "m"}']
)
def test_x36_what_is_no_request_is_refused(wire: WireName, body: bytes):
    with pytest.raises(BadRequest):
        read_request(wire, body)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
NAMES = sorted(
    {"model", "system", "messages", "input", "contents", "content", "parts", "role", "type", "text", "tools", "name"}
    | {"tool_use_id", "tool_call_id", "call_id", "output", "functionResponse", "response", "id", "function", "n"}
    | {"functionDeclarations", "generationConfig", "maxOutputTokens", "max_tokens", "instructions", "is_error"}
)
WORDS = ["user", "system", "tool", "developer", "message", "tool_result", "function_call_output", "m", "candidateCount"]
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=40,
)


@given(st.sampled_from(WIRES), st.dictionaries(st.sampled_from(NAMES), hostile | values, max_size=8))
def test_x36_hostile_bodies_are_read_or_refused(wire: WireName, body: dict[str, Any]):
    try:
        request = read_request(wire, json.dumps({"model": "m", **body}).encode(), "m" if wire == "gemini" else "")
    except BadRequest:
        return
    bounded(wire, request, 10)
    seen = Sightings(())
    conversation = seen.request(request)
    seen.reply(ModelReply("x", (ToolCall("c", "t", request.offered),)), conversation)
    for step in seen.steps:
        assert json.dumps([step.text, step.arguments]).encode()
        assert step.text.encode().decode() == step.text


@given(st.sampled_from(WIRES), st.binary(max_size=200))
def test_x36_any_bytes_are_read_or_refused(wire: WireName, body: bytes):
    try:
        assert isinstance(read_request(wire, body, "m"), AgentRequest)
    except BadRequest as problem:
        assert str(problem)


def test_x36_a_system_message_between_the_others_may_list_skills():
    messages = [{"role": "user", "content": "When?"}, {"role": "system", "content": "- refunds: Decides on refunds."}]
    request = read_request("messages", json.dumps({"model": "m", "messages": messages}).encode())
    assert "refunds: Decides" in request.offered
    assert request.first == "When?"
